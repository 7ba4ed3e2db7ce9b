"""Parts of the pipeline by name, so that a study can leave one out."""

from collections.abc import Iterable
from difflib import get_close_matches

from modularsql.config import Settings
from modularsql.errors import InputError
from modularsql.pipeline.checkers import CHECKERS
from modularsql.pipeline.generation import GENERATORS
from modularsql.pipeline.linking import LINKERS

PARTS: tuple[str, ...] = (
    "values",
    "values.keywords",
    "linking",
    *(f"linking.{name}" for name, _ in LINKERS),
    *(f"generation.{name}" for name in GENERATORS),
    "generation.examples",
    "revision",
    *(f"revision.{checker.name}" for checker in CHECKERS),
    "selection.judge",
    "guard",
)
"""What the setting `without` takes."""


def parts_left_out(settings: Settings) -> tuple[str, ...]:
    """The names in the setting `without`."""
    return tuple(filter(None, (name.strip() for name in settings.without.split(","))))


def check_parts(names: Iterable[str]) -> None:
    """Raises `InputError` for a name that is none, and where no generator is left."""
    left = set(GENERATORS)
    for name in names:
        if name not in PARTS:
            close = get_close_matches(name, PARTS, 1)
            hint = f"did you mean {close[0]}?" if close else f"known: {', '.join(PARTS)}"
            raise InputError(f"without {name!r} names no part of the pipeline", hint)
        left.discard(name.removeprefix("generation."))
    if not left:
        raise InputError("without leaves no generator", f"keep one of {', '.join(GENERATORS)}")
