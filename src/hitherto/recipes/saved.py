"""The application's own recipes: saved under a name in the catalog, versioned, and from then on named like any other."""

import json
import re
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from hitherto.errors import InvalidInput, StoreError
from hitherto.recipes import book as recipe_book
from hitherto.recipes.model import Recipe
from hitherto.store.catalog import Catalog, Document

KIND: Final = "recipe"
_NAME: Final = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")


@dataclass(frozen=True, slots=True)
class Chosen:
    """The recipe of a context, and what should be said about it."""

    recipe: Recipe
    warnings: tuple[str, ...] = ()


class SavedRecipes:
    """The recipes that a tenant has saved."""

    def __init__(self, catalog: Catalog, *, tenant: str) -> None:
        self._catalog = catalog
        self._tenant = tenant

    async def define(self, recipe: Recipe, *, now: datetime) -> Recipe:
        """A new version, unless the newest says the same."""
        if _NAME.fullmatch(recipe.name) is None:
            raise InvalidInput(
                f"{recipe.name!r} cannot be a recipe's name; use small letters, digits, hyphens and underscores"
            )
        if recipe.name in recipe_book.names():
            raise InvalidInput(f"{recipe.name!r} comes with Hitherto and stays as it is; choose another name")
        # Checked again from its fields: a copy with changed fields may carry the canonical text of what it was copied from.
        body = recipe_book.check(recipe.model_dump(mode="json"), origin=recipe.name).canonical
        return _read(await self._catalog.put(self._tenant, KIND, recipe.name, body, at=now))

    async def all(self) -> list[Recipe]:
        return [_read(document) for document in await self._catalog.documents(self._tenant, KIND)]

    async def chosen(self, name: str, *, usual: Recipe) -> Chosen:
        """The recipe of that name: a bundled one, a saved one, or a file. A catalog that cannot be read costs the saved
        recipe, not the conversation: the usual one serves, with a warning."""
        if name in recipe_book.names() or _NAME.fullmatch(name) is None:
            return Chosen(recipe_book.load(name))
        try:
            found = await self._catalog.documents(self._tenant, KIND, [name])
        except StoreError as error:
            return Chosen(usual, (f"recipe {name!r} could not be read, {usual.name!r} is used: {error}",))
        return Chosen(_read(found[0]) if found else recipe_book.load(name))


def _read(document: Document) -> Recipe:
    return recipe_book.check(json.loads(document.body), origin=document.name)
