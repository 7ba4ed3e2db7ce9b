"""Which of several readings a question asks for."""

import pytest

from modularsql.multiplicity.question import asks_for_so_many, asks_for_unmatched, read_question


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Every desk with its red lamp, if it has one.", True),
        ("List all desks and their lamps, if any.", True),
        ("Number of programmes of each channel, even those without programmes.", True),
        ("Desks with or without a lamp", True),
        ("Show each desk's lamp, whether it has one or not", True),
        ("Every desk with its lamp, if there is one.", True),
        ("Show each desk's lamp if it is red.", False),
        ("Number of programmes of each channel.", False),
        ("Which desks have no lamp?", False),
        ("Which desks are without a lamp?", False),
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
