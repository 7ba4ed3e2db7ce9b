"""Gold beside a file of questions, as Spider 2.0 publishes it: queries, results, how to compare.

    sql/ID.sql              a query
    exec_result/ID.csv      its result; ID_a.csv, ID_b.csv, … are right as well
    *_eval.jsonl            {"instance_id", "condition_cols", "ignore_order"}: the columns that
                            count, 0-based (one list, or one for each result), and whether any
                            order of the rows will do

Results count where there are some, as in the published evaluator; else the query does.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from modularsql.errors import InputError
from modularsql.evaluation.texts import holds, is_plain, json_values, read_utf8, shown

HOMES = ("evaluation_suite/gold", "gold")
"""Where the folder may lie, beside the file of questions."""

_QUERIES, _RESULTS, _STANDARD = "sql", "exec_result", "*_eval.jsonl"


@dataclass(frozen=True, slots=True, kw_only=True)
class GoldFile:
    """A published result (CSV). `columns` are those that count, 0-based; empty: all of them.
    `ordered`: its rows must come in this order."""

    path: str
    columns: tuple[int, ...] = ()
    ordered: bool = False


Gold = str | GoldFile
"""What is right: a query, or a result."""


@dataclass(frozen=True)
class GoldFolder:
    """Published gold."""

    home: Path

    def parts(self) -> tuple[Path, ...]:
        """The files and folders that gold is read from."""
        found = [self.home / _QUERIES, self.home / _RESULTS, *self._standards]
        return tuple(part for part in found if holds(part.exists))

    def query(self, id_: str) -> str | None:
        """The query of a question; most are not published."""
        file = self.home / _QUERIES / f"{id_}.sql"
        return read_utf8(file).strip() or None if is_plain(id_) and holds(file.is_file) else None

    def results(self, id_: str) -> tuple[GoldFile, ...]:
        """The results of a question, each of which is right. Raises `InputError`."""
        names = self._names.get(id_, ())
        standard = self._standard.get(id_, {})
        columns = _columns(standard.get("condition_cols"), len(names))
        if columns is None:
            raise InputError(
                f"{self._standards[0]}: condition_cols of {shown(id_)} are no columns",
                "write a list of 0-based numbers, or one such list for each result",
            )
        return tuple(
            GoldFile(
                path=str(self.home / _RESULTS / name),
                columns=one,
                ordered=not standard.get("ignore_order", True),
            )
            for name, one in zip(names, columns, strict=True)
        )

    @cached_property
    def _standards(self) -> list[Path]:
        found = sorted(self.home.glob(_STANDARD))
        if len(found) > 1:
            raise InputError(
                f"{self.home} holds {len(found):,} files {_STANDARD}", "leave the one that counts"
            )
        return found

    @cached_property
    def _names(self) -> dict[str, list[str]]:
        """The names of the files of each question, in their order."""
        names: dict[str, list[str]] = {}
        for file in sorted((self.home / _RESULTS).glob("*.csv")):
            # An id may end like the mark of a further result: local_a.csv is one of both.
            for id_ in {file.stem, re.sub(r"_[a-z]$", "", file.stem)}:
                names.setdefault(id_, []).append(file.name)
        return names

    @cached_property
    def _standard(self) -> dict[str, Mapping[str, Any]]:
        entries = [v.value for path in self._standards for v in json_values(read_utf8(path), path)]
        return {
            str(entry["instance_id"]): entry
            for entry in entries
            if isinstance(entry, dict) and "instance_id" in entry
        }


def gold_folder(questions: Path) -> GoldFolder | None:
    """The gold that lies beside a file of questions, or None."""
    homes = (questions.parent / name for name in HOMES)
    return next((GoldFolder(home) for home in homes if holds(home.is_dir)), None)


def _columns(given: Any, files: int) -> list[tuple[int, ...]] | None:
    """The columns that count of each result; None where that is not what stands there.

    A result beyond the given lists counts with all its columns.
    """
    if given in (None, [], [None]):
        return [()] * files
    if not isinstance(given, list):
        return None
    lists = given if all(isinstance(one, list) for one in given) else [given] * files
    if not all(isinstance(at, int) and at >= 0 for one in lists for at in one):
        return None
    found: Sequence[tuple[int, ...]] = [tuple(one) for one in lists[:files]]
    return [*found, *[()] * (files - len(found))]
