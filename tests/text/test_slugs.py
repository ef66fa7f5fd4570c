import pytest
from hypothesis import given
from hypothesis import strategies as st

from hitherto.text.names import entity_ref, memory_key, slug


@pytest.mark.req("R3.2")
@pytest.mark.parametrize(
    ("label", "expected"),
    [
        ("John Doe", "john_doe"),
        ("Acme Corp.", "acme_corp"),
        ("Austin, Texas", "austin_texas"),
        ("dashboard-redesign", "dashboard_redesign"),
        ("  O'Brien  &  Sons ", "obrien_sons"),
        ("Zoë", "zoë"),
        ("東京", "東京"),
        ("!!!", ""),
    ],
)
def test_slugs(label: str, expected: str) -> None:
    assert slug(label) == expected


@given(st.text())
def test_a_slug_is_its_own_slug(label: str) -> None:
    once = slug(label)
    assert slug(once) == once
    assert " " not in once
    assert "|" not in once


@pytest.mark.req("R3.4")
def test_the_key_has_the_seeds_four_parts_and_the_attribute() -> None:
    ref = entity_ref("person", "John Doe")
    assert ref == "person:john_doe"
    key = memory_key("PEOPLE", entity_type="person", entity=ref, fact_type="relationship")
    assert key == "people|person|john_doe|relationship"
    assert (
        memory_key("PEOPLE", entity_type="person", entity="John Doe", fact_type="fact", attribute="lives in")
        == "people|person|john_doe|fact|lives_in"
    )
