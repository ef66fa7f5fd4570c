"""What the routes share: the memory, the settings, the keys, the channels, and whose memory a request is about."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any

from fastapi import Depends, Path, Request

from hitherto.clock import Clock, system_clock
from hitherto.deliver import telegram
from hitherto.deliver.apikeys import Keys, Scope
from hitherto.deliver.http.gate import Caller
from hitherto.deliver.http.models import Name
from hitherto.deliver.http.telemetry import Metrics
from hitherto.deliver.voice.line import VoiceLine
from hitherto.errors import InvalidInput, NotFound, NotPermitted
from hitherto.settings import Settings

if TYPE_CHECKING:
    from hitherto import Hitherto


@dataclass(slots=True)
class Service:
    """One running service."""

    engine: "Hitherto"
    settings: Settings
    keys: Keys
    metrics: Metrics = field(default_factory=Metrics)
    clock: Clock = system_clock
    _tenants: "dict[str, Hitherto]" = field(default_factory=dict)

    def memory(self, tenant: str) -> "Hitherto":
        """The memory as that tenant sees it."""
        found = self._tenants.get(tenant)
        if found is None:
            found = self._tenants[tenant] = self.engine.for_tenant(tenant)
        return found

    @staticmethod
    def of(request: Request) -> "Service":
        service: object = request.app.state.service
        assert isinstance(service, Service), "create_app puts it there"
        return service


@dataclass(frozen=True, slots=True)
class Channels:
    """The adapters of one service. `line` always exists: which platforms may call is decided by their secrets."""

    telegram: telegram.Telegram | None
    line: VoiceLine
    line_tenant: str
    has_voice: bool = True
    """Whether any platform may call at all."""

    @staticmethod
    def of(request: Request) -> "Channels":
        channels: object = request.app.state.channels
        assert isinstance(channels, Channels), "create_app puts it there"
        return channels

    def touched(self, *, tenant: str, user: str) -> None:
        """Something of this user was recorded."""
        if tenant == self.line_tenant:
            self.line.touched(user)

    def linked(self, *, tenant: str, external_id: str) -> None:
        """A channel's id now refers to a user."""
        if tenant == self.line_tenant:
            self.line.linked(external_id)

    def forgot(self, *, tenant: str, user: str) -> None:
        """Something of this user was forgotten."""
        if tenant == self.line_tenant:
            self.line.drop(user)


def channels(service: Service) -> Channels:
    settings = service.settings
    line = VoiceLine(
        service.memory(settings.voice_tenant),
        clock=service.clock,
        persona=settings.voice_persona,
        lookups=settings.voice_lookups,
    )
    secrets = (settings.voice_secret, settings.vapi_secret, settings.retell_secret)
    return Channels(
        telegram=_telegram(service, settings),
        line=line,
        line_tenant=settings.voice_tenant,
        has_voice=any(secret is not None for secret in secrets),
    )


def _telegram(service: Service, settings: Settings) -> telegram.Telegram | None:
    if settings.telegram_secret is None:
        return None
    telegram.check_secret(settings.telegram_secret.get_secret_value())
    memory = service.memory(settings.telegram_tenant)
    bot = telegram.Bot(settings.telegram_bot, settings.telegram_username, settings.telegram_persona)
    return telegram.Telegram(memory, bot=bot, links=memory)


# --- whose memory a request is about ----------------------------------------------------------------------------------
#
# The user comes from the key or, for a key of the whole application, from the request; other users' data is answered as if
# it did not exist.


@dataclass(frozen=True, slots=True)
class Subject:
    """One user's memory, as far as the caller may use it."""

    memory: "Hitherto"
    user: str


@dataclass(frozen=True, slots=True)
class Tenancy:
    """A tenant's memory, for calls that are not about a single user."""

    memory: "Hitherto"
    tenant: str


def caller_of(request: Request) -> Caller:
    caller: object = request.scope["state"].get("caller")
    assert isinstance(caller, Caller), "the gate lets nobody else in"
    return caller


def subject_of(request: Request, *, user: str | None, scope: Scope) -> Subject:
    """The user that the request names or the key belongs to."""
    caller = caller_of(request)
    caller.must(scope)
    name = user or caller.user
    if name is None:
        raise InvalidInput("user: name the user; this key belongs to none")
    if caller.user not in (None, name):
        raise NotFound
    return Subject(memory=_memory(request, caller), user=name)


def _memory(request: Request, caller: Caller) -> "Hitherto":
    """The tenant's memory, whose audit log names the key."""
    return Service.of(request).memory(caller.tenant).acting(f"key:{caller.key}")


PathUser = Annotated[Name, Path(description="The application's own id of the user.")]


def _in_path(scope: Scope, *, known: bool) -> Callable[[Request, str], Awaitable[Subject]]:
    async def subject(request: Request, user: PathUser) -> Subject:
        found = subject_of(request, user=user, scope=scope)
        if known and await found.memory.head(user=user) == 0:
            raise NotFound
        return found

    return subject


async def _forgettable(request: Request, user: PathUser) -> Subject:
    """A user of whom anything is kept, if only a link or a question from before they said anything."""
    found = subject_of(request, user=user, scope="forget")
    memory = found.memory
    if (
        await memory.head(user=user) == 0
        and not await memory.snapshots(user=user, limit=1)
        and user not in await memory.linked()
    ):
        raise NotFound
    return found


def _tenant_wide(scope: Scope) -> Callable[[Request], Tenancy]:
    def tenancy(request: Request) -> Tenancy:
        caller = caller_of(request)
        caller.must(scope)
        if caller.user is not None:
            raise NotPermitted("This key belongs to one user and may not do that.")
        return Tenancy(memory=_memory(request, caller), tenant=caller.tenant)

    return tenancy


def of_existing_user(scope: Scope) -> Any:
    """A user about whom something was written; any other is not found."""
    return Annotated[Subject, Depends(_in_path(scope, known=True))]


def of_user(scope: Scope) -> Any:
    """Any user."""
    return Annotated[Subject, Depends(_in_path(scope, known=False))]


def of_tenant(scope: Scope) -> Any:
    """The tenant as a whole; a key that belongs to one user is refused."""
    return Annotated[Tenancy, Depends(_tenant_wide(scope))]


Reading = Annotated[Subject, Depends(_in_path("read", known=True))]
"""A user about whom something was written; any other is not found."""
Asking = Annotated[Subject, Depends(_in_path("read", known=False))]
Writing = Annotated[Subject, Depends(_in_path("write", known=False))]
Changing = Annotated[Subject, Depends(_in_path("write", known=True))]
Forgetting = Annotated[Subject, Depends(_forgettable)]
Deciding = Annotated[Subject, Depends(_in_path("admin", known=False))]
Administering = Annotated[Tenancy, Depends(_tenant_wide("admin"))]
Consulting = Annotated[Tenancy, Depends(_tenant_wide("read"))]
Removing = Annotated[Tenancy, Depends(_tenant_wide("forget"))]
Operating = Annotated[Tenancy, Depends(_tenant_wide("operate"))]
Measuring = Annotated[Tenancy, Depends(_tenant_wide("metrics"))]
