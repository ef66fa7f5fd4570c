"""Personas: defined by the application, versioned in the catalog, looked up for every context."""

import json
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime

from hitherto.errors import InvalidInput, PersonaTooLarge, StoreError
from hitherto.ingest import validation as validate
from hitherto.recipes.recipe import Recipe
from hitherto.store.catalog import Catalog, Document
from hitherto.store.codec import dump
from hitherto.store.protocol import TenantDocuments
from hitherto.tokens import Tokenizer
from hitherto.types import Persona

KIND = "persona"
UNNAMED = Persona(id=None, name="Assistant", text="You are a helpful assistant.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Resolved:
    """The persona of a context, and any warning about it."""

    persona: Persona
    warnings: tuple[str, ...] = ()


class Personas:
    """The tenant's personas."""

    def __init__(self, catalog: Catalog, *, tenant: str) -> None:
        self._catalog = catalog
        self._tenant = tenant

    async def define(self, persona: Persona, *, now: datetime) -> Persona:
        """Saves a new version, unless the newest says the same."""
        assert persona.id is not None, "only a named persona can be defined"
        body = dump({k: v for k, v in asdict(persona).items() if k not in ("id", "version")})
        return _read(await self._catalog.put(self._tenant, KIND, persona.id, body, at=now))

    async def all(self) -> list[Persona]:
        return [_read(document) for document in await self._catalog.documents(self._tenant, KIND)]

    async def versions(self, name: str) -> Sequence[Persona]:
        return [_read(document) for document in await self._catalog.versions(self._tenant, KIND, name)]


def asking(name: str | None) -> tuple[TenantDocuments, ...]:
    """What to ask the user's store for, together with its other reads: nothing for the unnamed persona."""
    return () if name is None else (TenantDocuments(kind=KIND, names=(name,)),)


def resolved(name: str | None, found: tuple[Document, ...] | StoreError) -> Resolved:
    """The persona of that name; an undefined one is a minimal default and a warning."""
    if name is None:
        return Resolved(persona=UNNAMED)
    if isinstance(found, StoreError):
        return Resolved(persona=default(name), warnings=(f"personas could not be read: {found}",))
    if found:
        return Resolved(persona=_read(found[0]))
    return Resolved(persona=default(name), warnings=(f"persona {name!r} is not defined; a minimal default is used",))


def default(name: str) -> Persona:
    """Who answers under a name that was never defined."""
    title = re.sub(r"[\s_-]+", " ", name).strip().title() or name
    return Persona(id=name, name=title, text=f"You are {title}.")


def check(persona: Persona, *, recipe: Recipe, tokenizer: Tokenizer) -> Persona:
    """The persona with its texts checked, or a typed error that says by how much it is over."""
    validate.name(persona.id, what="persona")
    if not persona.name.strip() or not persona.text.strip():
        raise InvalidInput(f"persona {persona.id!r} needs a name and a text")
    for what, value in (("text", persona.text), ("boundaries", persona.boundaries), ("style", persona.style)):
        validate.text(value, what=f"persona {what}", empty=True)
    texts = {"persona": persona.text, "boundaries": persona.boundaries, "style": persona.style}
    for name, group in recipe.groups.items():
        parts = [section for section in group.sections if texts.get(section)]
        tokens = sum(tokenizer.count(texts[part] + "\n\n") for part in parts)
        if tokens > group.cap:
            raise PersonaTooLarge(
                f"persona {persona.id!r} takes {tokens} tokens in {tokenizer.family} for {' and '.join(parts)}; recipe"
                f" {recipe.name!r} allows {group.cap} for {name!r}"
            )
    return persona


def _read(document: Document) -> Persona:
    persona = Persona(id=document.name, **json.loads(document.body))
    return replace(persona, version=document.version)
