"""Who looks at a page: the caller that the gate let in, and the token that their forms carry."""

import hmac
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256

from fastapi import Request

from hitherto.deliver.apikeys import Scope
from hitherto.deliver.http import pages
from hitherto.deliver.http.gate import Caller, token_of
from hitherto.deliver.http.subjects import Subject, subject_of
from hitherto.errors import InvalidInput, NotFound, NotPermitted

FIELD = "form_token"


@dataclass(frozen=True, slots=True)
class Visit:
    """A caller, or with none somebody who has not signed in."""

    caller: Caller | None
    form_token: str

    @staticmethod
    def of(request: Request) -> "Visit":
        caller: object = request.scope.get("state", {}).get("caller")
        return Visit(caller if isinstance(caller, Caller) else None, form_token(request))

    def may(self, scope: Scope) -> bool:
        return self.caller is not None and scope in self.caller.scopes

    def may_everywhere(self, scope: Scope) -> bool:
        """Whether the key has this scope for the whole tenant."""
        return self.may(scope) and self.caller is not None and self.caller.user is None


def form_token(request: Request) -> str:
    """What a form of this caller carries. It follows from the key, which no other site knows, and does not tell it."""
    headers = dict(request.scope["headers"])
    token = token_of(headers) or pages.token_in(headers)
    return hmac.new(token.encode(), b"form", sha256).hexdigest() if token else ""


async def looking(request: Request, user: str | None) -> Subject:
    """The user that a page is about, if there is anything about them."""
    subject = subject_of(request, user=user, scope="read")
    if await subject.memory.head(user=subject.user) == 0:
        raise NotFound
    return subject


@dataclass(frozen=True, slots=True)
class Form:
    """What a person filled in, from a form of ours."""

    fields: Mapping[str, str]

    def __getitem__(self, name: str) -> str:
        if name not in self.fields:
            raise InvalidInput(f"{name}: the form lacks it")
        return self.fields[name]

    def get(self, name: str) -> str | None:
        """The field, or None when it is missing or empty."""
        return self.fields.get(name) or None


async def form(request: Request) -> Form:
    """The form that was sent, if it was ours: no other site can send one with its token."""
    sent = await request.form()
    given = Form({name: value for name, value in sent.multi_items() if isinstance(value, str)})
    expected = form_token(request)
    if not expected or not hmac.compare_digest(given.fields.get(FIELD, "").encode(), expected.encode()):
        raise NotPermitted("This form is not from here, or you signed in anew since; reload the page and try again.")
    return given
