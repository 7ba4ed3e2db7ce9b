"""What every prompt about a question holds, and the solved examples that go with it."""

from collections.abc import Sequence

from modularsql.asking.prompts import as_data, clipped
from modularsql.catalog import Catalog
from modularsql.pipeline.deps import Deps
from modularsql.pipeline.state import State
from modularsql.ports import Example

MASK = "<MASK>"
LONGEST = {"question": 4_000, "hint": 2_000, "definitions": 4_000}
"""Characters of them that a prompt holds."""


def asked(state: State, deps: Deps, schema: str) -> dict[str, str]:
    """Schema, definitions, question and hint; the part that never changes stands first in them."""
    return {
        "dialect": deps.catalog.dialect,
        "schema": as_data(schema, 1_000_000),
        "definitions": as_data(deps.definitions, LONGEST["definitions"]),
        **words(state),
    }


def words(state: State) -> dict[str, str]:
    """Question and hint."""
    return {
        "question": as_data(state.question, LONGEST["question"]),
        "hint": as_data(state.hint, LONGEST["hint"]),
    }


def cut_short(question: str, hint: str, definitions: str) -> tuple[str, ...]:
    """What of these is too long to be sent whole, in sentences."""
    given = {"question": question, "hint": hint, "definitions": definitions}
    return tuple(
        f"{name}: only the first {LONGEST[name]:,} of {len(text):,} characters were sent"
        for name, text in given.items()
        if len(text) > LONGEST[name]
    )


def shots(state: State, deps: Deps) -> str:
    """Questions that were solved before and are built alike; empty where there are none."""
    if deps.examples is None or not deps.has("generation.examples"):
        return shots_text(())
    found = deps.examples.chosen(masked(state.question, deps.catalog), deps.settings.examples)
    return shots_text(found)


def shots_text(examples: Sequence[Example]) -> str:
    """Examples as a prompt shows them."""
    lines = [f"Question: {clipped(e.question, 500)}\nSQL: {clipped(e.sql, 1500)}" for e in examples]
    return as_data("\n\n".join(lines), 10_000)


def masked(question: str, catalog: Catalog) -> str:
    """The question with names of tables and columns masked, so that its build is compared.

    Paper, S5, after DAIL-SQL. A name counts as its words: `birth_date` is masked in "birth date".
    """
    names = {_words(t.name) for t in catalog} | {_words(c.name) for t in catalog for c in t.columns}
    longest = max(map(len, names), default=0)
    words = question.split()
    folded = [_bare(word) for word in words]
    kept: list[str] = []
    at = 0
    while at < len(words):
        size = next(
            (
                n
                for n in range(min(longest, len(words) - at), 0, -1)
                if _is_name(folded[at : at + n], names)
            ),
            0,
        )
        kept.append(MASK if size else words[at])
        at += size or 1
    return " ".join(kept)


def _is_name(words: Sequence[str], names: set[tuple[str, ...]]) -> bool:
    return tuple(words) in names or (*words[:-1], words[-1].removesuffix("s")) in names


def _words(name: str) -> tuple[str, ...]:
    return tuple(name.casefold().replace("_", " ").replace("-", " ").split())


def _bare(word: str) -> str:
    return word.casefold().strip(".,;:?!()\"'")
