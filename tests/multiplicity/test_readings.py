"""Which of several readings a question asks for."""

import pytest

from modularsql.multiplicity.question import asks_for_so_many, asks_for_unmatched, read_question


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Every desk with its red lamp, if it has one.", True),
        ("List all desks and their lamps, if any.", True),
        ("Number of programmes of each channel, even those without programmes.", True),
        ("All channels, including the ones without any programme", True),
        ("Each desk and its lamp; also list those without one.", True),
        ("Desks with their lamps, also desks without one", True),
        ("The lamps of each desk, even if it has none", True),
        ("Each desk with its lamp or none", True),
        ("Desks with or without a lamp", True),
        ("How many desks with and without a lamp are there in each room?", True),
        ("Show each desk's lamp, whether it has one or not", True),
        ("Every desk with its lamp, if there is one.", True),
        ("For each desk tell whether or not there is a lamp", True),
        ("Show each desk's lamp if it is red.", False),
        ("Number of programmes of each channel.", False),
        ("Which desks have no lamp?", False),
        ("Which desks are without a lamp?", False),
        ("Which desks are without a lamp and also without a chair?", False),
        ("Which desks without a lamp are red, including those without a chair?", False),
        ("How many desks are there? Also list the desks without a lamp.", False),
        ("Which desks are red or without a lamp?", False),
        ("Which desks stand even without a wall?", False),
        ("If there are any, which lamps stand on desks?", False),
        ("Which desk has the lamp? State whether it is red or not.", False),
        ("List the lamps and whether each has been sold or not.", False),
    ],
)
def test_asks_for_unmatched(text: str, expected: bool) -> None:
    question = read_question(text)
    assert question is not None
    assert asks_for_unmatched(question) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Tracks of the 5 latest plays.", True),
        ("Tracks of the five most recent plays", True),
        ("The 5 latest tracks that were played", False),
        ("Tracks of the 3 latest plays", False),
    ],
)
def test_asks_for_so_many(text: str, expected: bool) -> None:
    question = read_question(text)
    assert question is not None
    assert asks_for_so_many(question, 5, "plays") == expected
