"""The page on languages shows what is measured."""

from pathlib import Path

from bench.languages import page_table

PAGE = Path(__file__).parents[2] / "docs" / "languages.md"


def test_the_table_is_what_the_bench_finds() -> None:
    assert page_table() in PAGE.read_text("utf-8"), "python -m bench.languages --page prints the table anew"
