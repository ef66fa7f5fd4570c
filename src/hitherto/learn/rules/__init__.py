"""Extraction without a model: patterns that are honest about their reach, right rather than complete."""
