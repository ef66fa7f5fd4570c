"""Turns a recipe and the material gathered for it into a context."""
