"""Solved questions for the generator that learns from them, the nearest or the farthest.

Likeness is measured on masked questions (paper, S5): by the cosine of an embedder's vectors, and
without one by the words that two questions have in common, in their order (rapidfuzz).
"""

import json
from collections.abc import Callable, Sequence
from heapq import nlargest, nsmallest
from pathlib import Path

from rapidfuzz.distance.Indel import normalized_similarity

from modularsql.errors import InputError
from modularsql.ports import Embedder, Example

CHOICES = {"nearest": nlargest, "farthest": nsmallest}
"""Which are shown, by the setting `example_choice`; the farthest are for a study (paper, RQ5)."""


class Examples:
    """Solved questions with their masked form; `choice` is a name of `CHOICES`."""

    def __init__(
        self,
        examples: Sequence[Example],
        mask: Callable[[str], str],
        embedder: Embedder | None = None,
        choice: str = "nearest",
    ) -> None:
        self._choose = CHOICES[choice]
        self._examples = list(examples)
        self._masked = [mask(example.question) for example in self._examples]
        self._embedder = embedder
        self._vectors = embedder.embed(self._masked) if embedder and self._masked else None

    def chosen(self, masked: str, count: int) -> list[Example]:
        """See `ports.ExampleIndex`."""
        if not self._examples or count < 1:
            return []
        scores = self._by_words(masked) if self._vectors is None else self._by_meaning(masked)
        best = self._choose(count, range(len(scores)), key=scores.__getitem__)
        return [self._examples[i] for i in best]

    def _by_words(self, masked: str) -> list[float]:
        words = masked.casefold().split()
        return [normalized_similarity(known.casefold().split(), words) for known in self._masked]

    def _by_meaning(self, masked: str) -> list[float]:
        assert self._embedder is not None
        assert self._vectors is not None
        scores: list[float] = (self._vectors @ self._embedder.embed([masked])[0]).tolist()
        return scores


def read_examples(path: Path) -> list[Example]:
    """Examples from JSON Lines of `{"question": …, "sql": …}` (`query` and `SQL` will do too).

    Raises `InputError` with the line that does not fit.
    """
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"cannot read examples from {path}: {reason}") from error
    return [_example(line, f"{path}, line {n}") for n, line in enumerate(lines, 1) if line.strip()]


def _example(line: str, where: str) -> Example:
    try:
        value = json.loads(line)
    except ValueError as error:
        raise InputError(f"{where} is no JSON", 'write {"question": "…", "sql": "…"}') from error
    sql = next((value[k] for k in ("sql", "query", "SQL") if k in value), None)
    if not isinstance(value.get("question"), str) or not isinstance(sql, str):
        raise InputError(f"{where} has no question or no SQL", 'write {"question": …, "sql": …}')
    return Example(question=value["question"], sql=sql)
