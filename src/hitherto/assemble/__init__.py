"""From a recipe and what was gathered for it to a context."""
