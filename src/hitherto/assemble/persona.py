"""A persona that does not fit is an error where it is defined, not where a context is built."""

from hitherto.errors import PersonaTooLarge
from hitherto.recipes.model import Recipe
from hitherto.tokens import Tokenizer
from hitherto.types import Persona


def check_persona(persona: Persona, recipe: Recipe, tokenizer: Tokenizer) -> None:
    """Raises PersonaTooLarge when the persona's text with its boundaries, or its style, is over its cap."""
    texts = {"persona": persona.text, "boundaries": persona.boundaries, "style": persona.style}
    for name, group in recipe.groups.items():
        parts = [section for section in group.sections if section in texts]
        tokens = sum(tokenizer.count(texts[part] + "\n\n") for part in parts if texts[part])
        if tokens > group.cap:
            raise PersonaTooLarge(
                f"persona {persona.id!r} takes {tokens} tokens for {' and '.join(parts)}, but recipe"
                f" {recipe.name!r} has {group.cap} for {name!r}; shorten it or raise the cap"
            )
