"""What a question says of its subject, by stems and a few phrases. English only.

Names are split into words (`has_pet`, `StuID`, `country code`) and both sides are stemmed, so
that "countries" meets `Country`.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from snowballstemmer.english_stemmer import EnglishStemmer

_WORD = re.compile(r"[^\W_]+")
_NAME_PART = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+")
_FILLERS = frozenset(
    "the a an all any some each every those these that their its his her of".split()
)
_DIFFERENT = frozenset("differ distinct uniqu various".split())
_OF = frozenset("of for from per by".split())
_TABLE_KINDS = frozenset("ref tbl dim fact lookup lkp stg".split())
_EACH = frozenset("each every per".split())
_ASKING = frozenset("which what".split())
_BEFORE_ASKING = frozenset("in on at for from of to under with".split())
_IS = frozenset("is was are were".split())
_IT = frozenset("it they he she".split())
_HAVE = frozenset("has have had".split())
_EVEN = frozenset("also even including".split())
_WITHOUT = frozenset("without none".split())
_THOSE = frozenset("those ones".split())
_REQUESTS = frozenset("list show give find name tell return count state what which how who".split())
_MOST = frozenset("most highest largest greatest biggest top maximum".split())
_NUMBERS = "zero one two three four five six seven eight nine ten eleven twelve".split()

Stems = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Question:
    """The words of a question in order, as they stand (lower case) and as stems."""

    words: tuple[str, ...]
    stems: Stems


def read_question(text: str | None) -> Question | None:
    """The question; None where there is none."""
    words = tuple(word.lower() for word in _WORD.findall(text or ""))
    return Question(words, _stemmed(words)) if words else None


@lru_cache(maxsize=10_000)
def name_stems(name: str) -> Stems:
    """The stems of the words in a table's or column's name."""
    found = [part for word in _WORD.findall(name) for part in _NAME_PART.findall(word) or [word]]
    parts = [part.lower() for part in found]
    # What a modeller puts before a name says what kind of table it is, not what it holds.
    return _stemmed(parts[1:] if len(parts) > 1 and parts[0] in _TABLE_KINDS else parts)


def asks_for_different(question: Question | None) -> bool:
    """Whether it names different, distinct or unique things."""
    return question is not None and not _DIFFERENT.isdisjoint(question.stems)


def mentions(question: Question, name: str) -> bool:
    """Whether a name's words stand in it, side by side or written as one."""
    return bool(_places(question, name))


def asks_of(question: Question, name: str) -> bool:
    """Whether it asks for something *of* (for, per) the things a name stands for."""
    for start, _ in _places(question, name):
        at = start - 1
        while at >= 0 and question.words[at] in _FILLERS - _OF:
            at -= 1
        if at >= 0 and question.words[at] in _OF:
            return True
    return False


def asks_of_each(question: Question, name: str) -> bool:
    """Whether it asks for something of each of the things a name stands for."""
    return any(
        start > 0 and question.words[start - 1] in _EACH for start, _ in _places(question, name)
    )


def asks_how_many(question: Question, name: str) -> bool:
    """Whether it asks for the number of the things a name stands for."""
    for start, _ in _places(question, name):
        before = question.words[max(0, start - 2) : start]
        if before[-1:] == ("many",) or before == ("number", "of"):
            return True
    return False


def asks_for_values(question: Question, column: str) -> bool:
    """Whether its subject is the column itself: "which regions speak …", "in which years …".

    Not where the values are those *of* something else: "what are the names of …".
    """
    at = 1 if question.words[0] in _BEFORE_ASKING else 0
    if len(question.words) <= at or question.words[at] not in _ASKING:
        return False
    at += 1
    while at < len(question.words) and question.words[at] in _IS | _FILLERS:
        at += 1
    for start, end in _places(question, column):
        if start == at:
            return end >= len(question.words) or question.words[end] not in _OF | {"and"}
    return False


def asks_for_unmatched(question: Question) -> bool:
    """Whether things are asked for that have no partner: "if it has one", "even those without"."""
    words = question.words
    for at, word in enumerate(words):
        after = words[at + 1 : at + 5]
        # At the start, "if there are any" is no more than a courtesy.
        if word == "if" and at and (after[:1] == ("any",) or _is_had(after[:2])):
            return True
        if word in _EVEN and _WITHOUT.isdisjoint(words[:at]) and _are_without(after):
            return True
        if word == "with" and after[:2] in (("or", "without"), ("and", "without")):
            return True
        if (word, *after[:1]) == ("or", "none"):
            return True
        if word == "whether" and _may_lack(words[at + 1 : at + 8]):
            return True
    return False


def _are_without(words: tuple[str, ...]) -> bool:
    """`those without`, `all desks without`; not `list the desks without`, which is a request of its
    own, nor `without` alone, one more condition on the same things."""
    end = next((at for at, word in enumerate(words) if word in _WITHOUT), 0)
    return end > 0 and (words[0] not in _REQUESTS or not _THOSE.isdisjoint(words[:end]))


def _may_lack(words: tuple[str, ...]) -> bool:
    """`it has one or not`, `there is one or not`; not `it is red or not`."""
    had = any(one in _HAVE and other != "been" for one, other in pairwise((*words, "")))
    return "not" in words and (had or "there" in words)


def _is_had(words: tuple[str, ...]) -> bool:
    """`it has`, `there is`; not `it is`, which tells what it is like."""
    subject, verb = words if len(words) == 2 else ("", "")
    return (subject in _IT and verb in _HAVE) or (subject == "there" and verb in _IS)


def asks_for_so_many(question: Question, number: int, name: str) -> bool:
    """Whether it asks for that many of the things a name stands for: "the 5 latest plays"."""
    written = {str(number), *_NUMBERS[number : number + 1]}
    return any(
        not written.isdisjoint(question.words[max(0, start - 3) : start])
        for start, _ in _places(question, name)
    )


def asks_for_most(question: Question) -> bool:
    """Whether it asks for what has the most of something."""
    return not _MOST.isdisjoint(question.words)


def names_one_of_several(question: Question) -> bool:
    """Whether it asks in the singular: "what is the publisher for A, B and C"."""
    return question.words[0] in (*_ASKING, "who") and question.words[1:2] in (("is",), ("was",))


def _places(question: Question, name: str) -> list[tuple[int, int]]:
    """Where the words of a name stand: start and end (exclusive) among the question's words."""
    wanted = name_stems(name)
    if not wanted:
        return []
    found = []
    size = len(wanted)
    for start in range(len(question.stems)):
        if question.stems[start : start + size] == wanted:
            found.append((start, start + size))
    joined = "".join(name_stems(name.replace("_", "").replace(" ", "").lower()))
    for start in range(len(question.words)):
        for length in (1, 2, 3):
            part = question.words[start : start + length]
            if len(part) == length and "".join(_stemmed(["".join(part)])) == joined:
                found.append((start, start + length))
    return sorted(set(found))


@lru_cache(maxsize=50_000)
def _stem(word: str) -> str:
    return str(EnglishStemmer().stemWord(word))


def _stemmed(words: Iterable[str]) -> Stems:
    return tuple(_stem(word) for word in words)
