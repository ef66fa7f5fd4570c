"""Which known entity a name means: the same name, an alias, or a variant that only spells it otherwise."""

from collections.abc import Sequence

from recollect.text.slugs import slug
from recollect.types import Entity, EntityType


def alike(name: str, kind: EntityType, known: Sequence[Entity]) -> Entity | None:
    """The one entity of that kind that goes by this name or an alias of it; None when none or several do."""
    wanted = slug(name)
    found = [
        entity
        for entity in known
        if entity.type == kind and wanted in {slug(entity.label), *(slug(alias) for alias in entity.aliases)}
    ]
    return found[0] if len(found) == 1 else None
