"""The log of a run: one line of JSON for each pair of gold and prediction that was scored.

Lines are only ever appended, so after a crash all but the last can be trusted. Nothing here opens
a file: text in, records out, and back.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from modularsql.json_values import text
from modularsql.rows import dup_ratio

NOT_RUN, TOO_SLOW = "not_run", "timeout"


@dataclass(frozen=True, slots=True, kw_only=True)
class Ran:
    """One execution. `rows` and `distinct` are None where there is no (whole) result.

    `status` is ok, truncated, error, timeout, refused, locked, unbound, too_large, died,
    no_database, no_sql or not_run; `ms` the time to the last row.
    """

    status: str
    rows: int | None = None
    distinct: int | None = None
    ms: float | None = None
    error: str | None = None

    @property
    def ok(self) -> bool:
        """Whether the whole result is known."""
        return self.status == "ok"

    @property
    def dup_ratio(self) -> float | None:
        """The share of rows that are copies (paper, equation 1); None where not counted."""
        if self.rows is None or self.distinct is None:
            return None
        return dup_ratio(self.rows, self.distinct)


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """The first rows of a result for a reader, cells as JSON; `differs` tells which the other
    side does not have (so often). `places` are the rows' 0-based positions in the result."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    differs: tuple[bool, ...]
    places: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Guarded:
    """What the guard made of a prediction under one policy.

    `scores` are set_ex and multiset_ex of its final result (None: not known); `found` its
    findings as (rule, severity). `ratio` is the dup ratio of the final result, `factor` how often
    a row came back on average where a repair of a list changed that, `signs` are those that spoke
    against its repairs; of the outcome that heeds none, those that were passed over in what it
    applied.
    """

    policy: str
    status: str
    applied: tuple[str, ...] = ()
    found: tuple[tuple[str, str], ...] = ()
    set_ex: float | None = None
    multiset_ex: float | None = None
    ratio: float | None = None
    factor: float | None = None
    signs: tuple[str, ...] = ()
    probe_ms: float | None = None
    repair_ms: float | None = None
    sql: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """One scored pair; `pair` is its number in the plan. `scores` holds None for undecided.

    `columns` says where the rows are the same but for their columns, for each of gold's the place
    of the prediction's that stands for it. `smells` are those of its gold (smells.py), and
    `pred_smells` those of the prediction, where somebody asked for them.
    """

    pair: int
    gold: Ran
    pred: Ran
    scores: Mapping[str, float | None] = field(default_factory=dict)
    cause: str | None = None
    columns: tuple[int | None, ...] | None = None
    gold_side: Side | None = None
    pred_side: Side | None = None
    guarded: tuple[Guarded, ...] = ()
    smells: tuple[str, ...] = ()
    pred_smells: tuple[str, ...] = ()


def to_line(record: Record) -> str:
    """One record as one line, without the line break."""
    fields = {
        "pair": record.pair,
        "gold": _ran(record.gold),
        "pred": _ran(record.pred),
        "scores": dict(record.scores),
        "cause": record.cause,
    }
    if record.gold_side or record.pred_side:
        fields["sides"] = [side_fields(record.gold_side), side_fields(record.pred_side)]
    if record.columns is not None:
        fields["columns"] = list(record.columns)
    if record.smells:
        fields["smells"] = list(record.smells)
    if record.pred_smells:
        fields["pred_smells"] = list(record.pred_smells)
    if record.guarded:
        fields["guarded"] = [guarded_fields(one) for one in record.guarded]
    return json.dumps(fields, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def read_log(lines: Iterable[bytes]) -> dict[int, Record]:
    """The records of a log by pair; a later record of a pair replaces an earlier one.

    Raises `ValueError` for a broken line.
    """
    return {record.pair: record for record in _records(lines)}


def _records(lines: Iterable[bytes]) -> Iterator[Record]:
    for number, line in enumerate(lines, 1):
        try:
            yield _record(json.loads(line))
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise ValueError(f"line {number}: {error}") from error


def _record(found: Mapping[str, Any]) -> Record:
    gold_side, pred_side = found.get("sides", (None, None))
    return Record(
        pair=found["pair"],
        gold=Ran(**found["gold"]),
        pred=Ran(**found["pred"]),
        scores=found["scores"],
        cause=found["cause"],
        columns=None if (columns := found.get("columns")) is None else tuple(columns),
        gold_side=read_side(gold_side),
        pred_side=read_side(pred_side),
        guarded=tuple(map(read_guarded, found.get("guarded", ()))),
        smells=tuple(found.get("smells", ())),
        pred_smells=tuple(found.get("pred_smells", ())),
    )


def _ran(ran: Ran) -> dict[str, Any]:
    found = {
        "status": ran.status,
        "rows": ran.rows,
        "distinct": ran.distinct,
        "ms": None if ran.ms is None else round(ran.ms, 3),
        "error": None if ran.error is None else text(ran.error[:500]),
    }
    return {name: value for name, value in found.items() if value is not None}


def side_fields(side: Side | None) -> dict[str, Any] | None:
    """One side as a JSON object."""
    return None if side is None else {name: getattr(side, name) for name in side.__slots__}


def read_side(found: Mapping[str, Any] | None) -> Side | None:
    """The side that an object was made from."""
    if found is None:
        return None
    return Side(
        columns=tuple(found["columns"]),
        rows=tuple(map(tuple, found["rows"])),
        differs=tuple(found["differs"]),
        places=tuple(found["places"]),
    )


def guarded_fields(one: Guarded) -> dict[str, Any]:
    """One outcome of the guard as a JSON object."""
    return {name: getattr(one, name) for name in one.__slots__}


def read_guarded(found: Mapping[str, Any]) -> Guarded:
    """The outcome that an object was made from."""
    lists = {
        "applied": tuple(found["applied"]),
        "found": tuple(map(tuple, found["found"])),
        "signs": tuple(found.get("signs") or ()),
    }
    return Guarded(**{**found, **lists})
