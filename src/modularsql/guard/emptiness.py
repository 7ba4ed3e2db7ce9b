"""Why no row comes back: which table, join or condition took the last rows away.

A few probes, most of which stop at their first row. What they do not find out is not said.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from typing import Any

from sqlglot import exp

from modularsql.guard.session import Purse
from modularsql.multiplicity.emptiness import (
    Compared,
    Kind,
    Restriction,
    compared,
    groups_before_having,
    never_true,
    restrictions,
    rows_before_limit,
)
from modularsql.multiplicity.model import Block, Query
from modularsql.multiplicity.words import text
from modularsql.records import Finding

_SOME = 1_000  # values looked through for a near one
_DEEPEST = 4  # derived tables within derived tables


@dataclass(frozen=True, slots=True, kw_only=True)
class _Reason:
    """The reason in words, as the end of a sentence; more sentences; those that quote the data;
    the numbers."""

    words: str
    more: str = ""
    quotes: str = ""
    facts: Mapping[str, Any] = field(default_factory=dict)


def why_empty(finding: Finding, query: Query, purse: Purse, values: bool = True) -> Finding:
    """The finding with the reason, where one is found; without `values` its message quotes no
    data."""
    reason = _of_query(query, query, purse, _DEEPEST)
    if reason is None:
        return finding
    words = f"No row comes back: {reason.words}. That may be right.{reason.more}"
    words += reason.quotes if values else ""
    measured = {**finding.measured, **reason.facts, "rows_after": 0}
    return replace(finding, message=words, measured=measured)


def _of_query(query: Query, whole: Query, purse: Purse, deep: int) -> _Reason | None:
    block = query.block
    if block is None or block.correlated or deep == 0:
        return None
    if (never := never_true(block)) is not None:
        return _Reason(
            words=f"{text(never)} compares with NULL, which holds for no row",
            more=" IS NULL and IS NOT NULL ask for it.",
            facts={"removed_by": text(never), "kind": "null_comparison"},
        )
    parts = restrictions(block, whole)
    if not parts:
        return None
    last = purse.run(parts[-1].any_row())
    if last is None:
        return None
    return _after(block, whole, purse) if last.rows else _first(parts, purse, deep)


def _after(block: Block, whole: Query, purse: Purse) -> _Reason | None:
    """FROM and WHERE leave rows: then HAVING, or LIMIT and OFFSET, take them."""
    having = block.select.args.get("having")
    if having is not None:
        groups = _number(groups_before_having(block, whole), purse)
        if groups:
            what = text(having.this)
            return _reason(what, "having", groups, _none_meets(what, groups, "group"))
    if block.is_cut:
        rows = _number(rows_before_limit(block, whole), purse)
        if rows:
            clauses = [block.select.args.get(name) for name in ("limit", "offset")]
            what = " ".join(text(clause) for clause in clauses if clause is not None)
            return _reason(what, "limit", rows, f"{what} leaves none of the {rows:,} rows")
    return None


def _reason(what: str, kind: str, rows: int, words: str) -> _Reason:
    return _Reason(words=words, facts={"removed_by": what, "kind": kind, "rows_before": rows})


def _first(parts: list[Restriction], purse: Purse, deep: int) -> _Reason | None:
    """The first restriction without rows, found by halving."""
    low, high = 0, len(parts) - 1
    while low < high:
        middle = (low + high) // 2
        outcome = purse.run(parts[middle].any_row())
        if outcome is None:
            return None
        low, high = (middle + 1, high) if outcome.rows else (low, middle)
    killer = parts[low]
    if killer.kind != Kind.CONDITION and (empty := _empty_table(killer, purse, deep)) is not None:
        return empty
    before = _number(parts[low - 1].count(), purse) if low else None
    facts: dict[str, Any] = {"removed_by": killer.text, "kind": killer.kind.value}
    if before is not None:
        facts["rows_before"] = before
    if killer.kind != Kind.CONDITION:
        rows = "rows" if before is None else f"{before:,} rows"
        return _Reason(words=f"{killer.text} leaves none of the {rows} before it", facts=facts)
    alone = low == 1
    of = f" of {killer.step.added[0].name}" if alone and killer.step.added else " before it"
    words = _none_meets(killer.text, before, "row", of)
    return _closer(_Reason(words=words, facts=facts), killer, alone, purse)


def _none_meets(what: str, number: int | None, noun: str, of: str = "") -> str:
    if number == 1:
        return f"the one {noun}{of} does not meet {what}"
    several = f"{noun}s" if number is None else f"{number:,} {noun}s"
    return f"none of the {several}{of} meets {what}"


def _empty_table(killer: Restriction, purse: Purse, deep: int) -> _Reason | None:
    """A table without rows; of a derived table, what left it without."""
    outcome = purse.run(killer.of_the_table())
    if outcome is None or outcome.rows or len(killer.step.added) != 1:
        return None
    source = killer.step.added[0]
    if source.query is not None:
        inner = _of_query(source.query, killer.query, purse, deep - 1)
        if inner is not None:
            return replace(inner, words=f"in {source.name or 'the subquery'}, {inner.words}")
    facts = {"removed_by": source.name, "kind": "table"}
    return _Reason(words=f"{source.name or 'the subquery'} holds no rows", facts=facts)


def _closer(reason: _Reason, killer: Restriction, alone: bool, purse: Purse) -> _Reason:
    """A look at the column: does the condition hold anywhere, and what is near its value?"""
    one = compared(killer.node, killer.block)
    if one is None:
        return reason
    matching = 0 if alone else _number(one.alone(killer.node), purse)
    if matching is not None:
        reason = replace(reason, facts={**reason.facts, "matches_alone": matching})
    if matching:
        rows = "one row" if matching == 1 else f"{matching:,} rows"
        return replace(reason, more=f" Of all {one.source.name}, {rows} would meet it.")
    texts = [value for value in one.values if isinstance(value, str)]
    if isinstance(killer.node, exp.EQ | exp.In) and texts:
        near = list(dict.fromkeys(n for value in texts[:3] for n in _near(value, one, purse)))
        words, facts = f" {one.name} holds {_listed(near)}.", {"near_values": near}
        return replace(reason, quotes=words, facts={**reason.facts, **facts}) if near else reason
    return reason if isinstance(killer.node, exp.Like) else _bounds(reason, one, purse)


def _near(value: str, one: Compared, purse: Purse) -> list[str]:
    """Values like the one asked for: in other case or spacing, else spelled much like it."""
    same = purse.run(one.like(value))
    if same is not None and same.rows:
        return [str(row[0]) for row in same.rows]
    some = purse.run(one.some(_SOME))
    names = {str(row[0]).casefold(): str(row[0]) for row in some.rows} if some is not None else {}
    close = get_close_matches(value.strip().casefold(), names, n=3, cutoff=0.75)
    return [names[name] for name in close]


def _bounds(reason: _Reason, one: Compared, purse: Purse) -> _Reason:
    outcome = purse.run(one.bounds())
    if outcome is None or outcome.rows[0][0] is None:
        return reason
    least, most = outcome.rows[0]
    words = f" The values of {one.name} go from {least} to {most}."
    if least == most:
        words = f" {one.name} holds only {least}."
    return replace(reason, quotes=words, facts={**reason.facts, "lowest": least, "highest": most})


def _listed(values: list[str]) -> str:
    return " and ".join(f"'{value}'" for value in values)


def _number(select: exp.Select, purse: Purse) -> int | None:
    outcome = purse.run(select)
    return None if outcome is None else int(outcome.rows[0][0])
