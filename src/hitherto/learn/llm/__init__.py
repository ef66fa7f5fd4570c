"""Extraction and summaries by a model: structured answers, each part held against the turns that it names."""
