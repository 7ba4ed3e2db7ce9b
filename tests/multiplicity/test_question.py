"""What is read from a question."""

import pytest

from modularsql.multiplicity.question import (
    asks_for_different,
    asks_for_values,
    asks_of,
    asks_of_each,
    mentions,
    name_stems,
    names_one_of_several,
    read_question,
)


@pytest.mark.parametrize(
    ("text", "column", "expected"),
    [
        ("Which regions speak Dutch?", "Region", True),
        ("In which years were cars made?", "year", True),
        ("What are the regions that use English?", "region", True),
        ("What are the names of singers?", "name", False),
        ("What is the publisher for Hawkman?", "publisher_name", False),
        ("List the regions", "region", False),
        ("", "region", False),
    ],
)
def test_asks_for_values(text: str, column: str, expected: bool) -> None:
    question = read_question(text)
    assert (question is not None and asks_for_values(question, column)) == expected


@pytest.mark.parametrize("word", ["different", "distinct", "unique"])
def test_asks_for_different(word: str) -> None:
    assert asks_for_different(read_question(f"What are the {word} cities?"))
    assert not asks_for_different(read_question("What are the cities?"))
    assert not asks_for_different(None)


def test_names_meet_words_across_number_case_and_spelling() -> None:
    question = read_question("the ids of high schoolers in all countries")
    assert question is not None
    assert mentions(question, "Highschooler")
    assert mentions(question, "high_schooler")
    assert mentions(question, "Country")
    assert not mentions(question, "city")
    assert asks_of(question, "Highschooler")
    assert not asks_of(question, "Country")


def test_each_is_told_from_all() -> None:
    each = read_question("the grade of each student")
    every = read_question("the grade of all students")
    assert each is not None
    assert every is not None
    assert asks_of_each(each, "student")
    assert not asks_of_each(every, "student")


def test_names_one_of_several() -> None:
    one = read_question("What is the publisher for A, B and C?")
    many = read_question("What are the publishers of A and B?")
    assert one is not None
    assert many is not None
    assert names_one_of_several(one)
    assert not names_one_of_several(many)


def test_prefixes_that_modellers_use_are_no_part_of_a_name() -> None:
    assert name_stems("Ref_Template_Types") == name_stems("template type")
    assert name_stems("ref") == ("ref",)


def test_odd_questions_do_no_harm() -> None:
    for text in ("?", "   ", "which", "of", "日本語の質問", "x" * 10_000, "a\x00b"):
        question = read_question(text)
        if question is not None:
            for ask in (mentions, asks_of, asks_of_each, asks_for_values):
                ask(question, "any name")
            names_one_of_several(question)
