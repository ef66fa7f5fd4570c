import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from hitherto.safety.markup import inert

MARKDOWN = MarkdownIt("commonmark", {"html": True})
LOADED = re.compile(r"(?:href|src)=\"(?:[a-z][a-z0-9+.-]*:|//|\\\\)|<(?:img|script|iframe)", re.IGNORECASE)
SIGNS = [
    "!",
    "[",
    "]",
    "(",
    ")",
    "<",
    ">",
    '"',
    " ",
    "\n",
    "words",
    "[ref]: ",
    "<a href=",
    "img src=",
    "//",
    "www.",
]
PLACES = [
    "https://evil.example/p?q=1",
    "//evil.example",
    "\\\\evil.example",
    "ftp://h",
    "http:",
    "&colon;",
    "data:x",
]
PIECES = st.sampled_from([*SIGNS, *PLACES, "javascript:", "img src=", "&colon;"])


@pytest.mark.parametrize(
    ("text", "rendered"),
    [
        ("no link at all", "no link at all"),
        ("![cat](https://evil.example/c.png?d=secret)", "(image: cat)"),
        ("![](http://evil.example/x)", "(image)"),
        ("see [the plan](https://docs.example/a) please", "see the plan (docs.example) please"),
        ("[docs.example](https://docs.example)", "docs.example"),
        ("my site is https://ana.dev/blog", "my site is ana.dev/blog"),
        ("<https://evil.example/a>", "evil.example/a"),
        ("visit www.evil.example now", "visit evil.example now"),
        ("[run](javascript:alert(1))", "run"),
        ('<img src="https://evil.example/x.png">', "(evil.example) "),
        ("[ref]: https://evil.example/x", "ref: evil.example/x"),
        ("either/or, and/or, 5 < 6 > 2, a[0](b)", "either/or, and/or, 5 < 6 > 2, a0"),
        ("at 10:30, note: fine", "at 10:30, note: fine"),
        ("[nested [words]](https://evil.example)", "nested [words] (evil.example)"),
    ],
)
def test_links_become_words(text: str, rendered: str) -> None:
    assert inert(text) == rendered


@given(st.lists(PIECES, max_size=14).map("".join))
@settings(max_examples=400)
def test_nothing_loads_from_a_foreign_host(text: str) -> None:
    once = inert(text)
    assert LOADED.search(MARKDOWN.render(once)) is None, once
    assert "://" not in once


@pytest.mark.parametrize(
    "text",
    [
        "if x <y and z = 3 then stay",
        "he wrote <img src='a.jp and stopped here",
        "I <use tabs and more",
        "a <a b",
    ],
)
def test_an_angle_bracket_that_is_no_tag_costs_no_words(text: str) -> None:
    assert inert(text).replace("< ", "<") == text
