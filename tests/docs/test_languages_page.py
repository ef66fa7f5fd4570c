"""The page on languages shows what is measured."""

from bench.languages import PAGE, page_table


def test_the_table_is_what_the_bench_finds() -> None:
    assert page_table() in PAGE.read_text("utf-8"), "python -m bench.languages --page writes the table anew"
