import pytest

from hitherto.testing import START
from hitherto.text.names import alike, may_be
from hitherto.types import Entity


def person(label: str, *aliases: str) -> Entity:
    return Entity(id=label, key=f"person:{label.lower()}", label=label, aliases=aliases, at=START)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Makesh", "Mukesh"),
        ("Jon", "John"),
        ("Bob", "Robert"),
        ("Liz", "Elizabeth Warner"),
        ("Dr. Doe", "John Doe"),
        ("John", "John Doe"),
        ("Katherine", "Catherine"),
        ("Nikhil", "Nikil"),
        ("Priyanka Rao", "Preyanka Rao"),
        ("JOHN", "john"),
        ("Thed", "Thedoric"),
        ("Theddy", "Thedoric"),
        ("Vesh", "Veshanti Rao"),
        ("Vessie", "Vesanti"),
        ("Aggy", "Agnes"),
        ("Fred", "Manfred"),
        ("Thorvald", "Thorvaldur"),
        ("Edit", "Edith"),
        ("Nihkil", "Nikil"),
    ],
)
@pytest.mark.req("R3.13")
def test_one_person(one: str, other: str) -> None:
    assert may_be(one, other)
    assert may_be(other, one)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Maria", "Mario"),
        ("Maria", "Marie"),
        ("John", "Joan"),
        ("Daniel", "Daniela"),
        ("Martin", "Marvin"),
        ("Mukesh", "Rakesh"),
        ("John Doe", "John Smith"),
        ("Lena", "Lina"),
        ("Ann", "Ian"),
        ("Emma", "Emily"),
        ("李雷", "李蕾"),
        ("Marissa", "Mary"),
        ("August", "Augustina"),
        ("Vesh", "Veshan"),
        ("Corey", "Cornelius"),
        ("Lucy", "Lucretia"),
        ("Abel", "Isabel"),
        ("Anna", "Susanna"),
        ("Casey", "Cassandra"),
        ("Marty", "Marvin"),
    ],
)
@pytest.mark.req("R3.13")
def test_two_people(one: str, other: str) -> None:
    assert not may_be(one, other)


def test_a_name_that_could_be_several_is_none_of_them() -> None:
    known = [person("John Doe"), person("John Smith")]
    assert alike("John", "person", known) is None
    assert alike("John Doe", "person", known) == known[0]
    assert alike("Johnny", "person", [person("Jack", "Johnny")]) is not None


def test_a_place_is_no_person() -> None:
    assert alike("Paris", "place", [person("Paris")]) is None
