"""From a finding to what a reader can check it by: rows after each join, values, examples.

Each function makes one query that the database answers with a handful of rows. A query of FROM
and WHERE is read with the identity of the entity's rows and put together by it, so that every
row of the entity is counted once and as often as it occurs in one pass.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp

from modularsql.multiplicity.aggregates import AVERAGES, COUNTS, SUMS, arguments, is_distinct
from modularsql.multiplicity.measure import bare, groups_of, identity_of, key_of, with_definitions
from modularsql.multiplicity.model import Aggregate, Block, Query, Source
from modularsql.multiplicity.registry import Issue
from modularsql.multiplicity.steps import Step, read_step
from modularsql.sql.quote import quoted

EXAMPLES = 3
_SOME_GROUPS = ("having", "limit", "offset", "distinct", "qualify")


@dataclass(frozen=True, slots=True, kw_only=True)
class Values:
    """A query of one row: an aggregate as it is, the same with each row of the entity once.

    `groups` are the names of the columns before these two: the group in which they differ most.
    """

    select: exp.Select
    groups: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class AtGrain:
    """A query of what some output columns of a SELECT are to hold; `outputs` are their numbers."""

    select: exp.Select
    outputs: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Examples:
    """A query of few rows: keys, groups, and how often the row of that key occurs there."""

    select: exp.Select
    keys: tuple[str, ...]
    groups: tuple[str, ...]


def step_counts(
    block: Block, query: Query, number: int, step: Step, entity: Sequence[Source]
) -> exp.Select:
    """Rows of a step, rows in which the entity is there, and its different rows among them.

    Where the entity is not read yet, or has no identity, both are NULL.
    """
    identity = _identity(entity) if all(s in step.sources for s in entity) else []
    conditions = (*step.before, *step.conditions)
    rows = read_step(block, query, number, _named(identity, "c") or [_one()], conditions)
    if not identity:
        nothing = [exp.null(), exp.null()]
        return exp.select(_count(), *nothing).from_(rows.subquery("q"), copy=False)
    names = [f"c{i}" for i in range(1, len(identity) + 1)]
    copies = _copies(rows, names)
    there = exp.Sum(this=exp.Case().when(exp.not_(_is_null(names[0])), exp.column("n")))
    return exp.select(
        _or_zero(exp.Sum(this=exp.column("n"))),
        _or_zero(there),
        exp.Count(this=exp.column(names[0])),
    ).from_(copies.subquery("d"), copy=False)


def values_of(issue: Issue, query: Query) -> Values | None:
    """The value of an aggregate now and at the grain of its entity.

    Only for sums, counts and averages of what the entity's row settles; an argument that also
    depends on the rows it is joined with has no value at that grain.
    """
    groups = _groups(issue)
    both = _by_group(issue, query.node.args.get("with_"))
    if both is None or not groups:
        return None if both is None else Values(select=both, groups=())
    apart = exp.Abs(this=exp.column("a") - exp.column("b"))
    worst = exp.select("*").from_(both.subquery("w"), copy=False)
    by = [exp.column(f"g{i}") for i in range(1, len(groups) + 1)]
    worst.order_by(exp.Ordered(this=apart, desc=True, nulls_first=False), *by, copy=False)
    return Values(select=worst.limit(1, copy=False), groups=_labels(groups))


def at_grain(issue: Issue, definitions: exp.With | None) -> AtGrain | None:
    """What the SELECT shows of an aggregate, had each group each row of the entity once.

    None where it shows it together with what changes from row to row, and where HAVING, LIMIT or
    DISTINCT let only some of the groups through.
    """
    block = issue.block
    both = _by_group(issue, definitions)
    if both is None or any(block.select.args.get(clause) for clause in _SOME_GROUPS):
        return None
    groups = {exp.column(f"g{i}"): g for i, g in enumerate(_groups(issue), 1)}
    shown: dict[int, exp.Expr] = {}
    for number, output in enumerate(block.outputs):
        own = [part for part in output.expression.walk() if part is issue.node]
        term = next((name for name, g in groups.items() if g == output.expression), None)
        if term is not None:
            shown[number] = term
        elif own and (value := _with_value(output.expression, issue.node)) is not None:
            shown[number] = value
    if not any(column not in groups for column in shown.values()):
        return None
    columns = [exp.alias_(column.copy(), f"c{n}") for n, column in enumerate(shown.values())]
    select = exp.select(*columns).from_(both.subquery("w"), copy=False)
    return AtGrain(select=select, outputs=tuple(shown))


def _with_value(expression: exp.Expr, aggregate: exp.Expr) -> exp.Expr | None:
    """An expression over an aggregate with its value `b` instead; None where it needs more."""
    if expression is aggregate:
        return exp.column("b")
    nodes = list(expression.walk())
    at = next(i for i, part in enumerate(nodes) if part is aggregate)
    copy = expression.copy()
    list(copy.walk())[at].replace(exp.column("b"))
    columns = list(copy.find_all(exp.Column, exp.AggFunc, exp.Query))
    return copy if columns == [exp.column("b")] else None


def _groups(issue: Issue) -> list[exp.Expr]:
    return groups_of(issue.block) if issue.within else []


def _by_group(issue: Issue, definitions: exp.Expr | None) -> exp.Select | None:
    """For each group (`g1` …) the aggregate as it is, `a`, and with each row once, `b`."""
    block = issue.block
    aggregate = next((a for a in block.aggregates if a.node is issue.node), None)
    identity = _identity(issue.entity)
    if aggregate is None or not identity or not _is_plain(aggregate, issue):
        return None
    columns = [*_named(_groups(issue), "g"), *_named(identity, "c")]
    value = exp.alias_(arguments(aggregate)[0].copy(), "v")
    rows = bare(block.select, [*columns, value])
    if definitions is not None and rows.args.get("with_") is None:
        rows.set("with_", definitions.copy())
    copies = _copies(rows, [*(column.alias for column in columns), "v"])
    by = [exp.column(column.alias) for column in columns if column.alias.startswith("g")]
    now, once = (exp.alias_(part, name) for part, name in zip(_both(aggregate), "ab", strict=True))
    both = exp.select(*(b.copy() for b in by), now, once).from_(copies.subquery("d"), copy=False)
    return both.group_by(*by, copy=False) if by else both


def examples_of(issue: Issue, query: Query) -> Examples | None:
    """Rows of the entity that occur most often; within groups where the issue is about these."""
    block = issue.block
    keys = [(source, name) for source in issue.entity for name in key_of(source) or [""]]
    if not keys or any(not name for _, name in keys):
        return None
    columns = [source.column(name) for source, name in keys]
    groups = groups_of(block) if issue.within else []
    named = [*_named(columns, "c"), *_named(groups, "g")]
    rows = bare(block.select, list(named))
    for source in issue.entity:
        if source.optional:
            first = next(c for c, (of, _) in zip(columns, keys, strict=True) if of is source)
            rows.where(exp.not_(first.copy().is_(exp.null())), append=True, copy=False)
    with_definitions(rows, query)
    names = [column.alias for column in named]
    copies = _copies(rows, names)
    copies.having(_count() > 1, copy=False)
    order = exp.Ordered(this=exp.column("n"), desc=True, nulls_first=False)
    copies.order_by(order, *(exp.column(name) for name in names), copy=False)
    several = len(issue.entity) > 1
    shown = tuple(f"{source.alias}.{name}" if several else name for source, name in keys)
    return Examples(select=copies.limit(EXAMPLES, copy=False), keys=shown, groups=_labels(groups))


def _is_plain(aggregate: Aggregate, issue: Issue) -> bool:
    """Whether its value follows from its argument's values, and these from the entity's rows."""
    if is_distinct(aggregate) or issue.block.is_regrouped:
        return False
    if isinstance(aggregate.node.parent, exp.Filter | exp.Window | exp.WithinGroup):
        return False
    known = aggregate.kind in SUMS | COUNTS or (aggregate.kind in AVERAGES and _is_avg(aggregate))
    mine = all(source in issue.entity for source in aggregate.sources)
    return known and mine and len(arguments(aggregate)) == 1


def _is_avg(aggregate: Aggregate) -> bool:
    return isinstance(aggregate.node, exp.Avg)


def _both(aggregate: Aggregate) -> tuple[exp.Expr, exp.Expr]:
    """The aggregate over `v`, taken `n` times and taken once."""
    times = exp.Mul(this=exp.column("v"), expression=exp.column("n"))
    given = exp.Case().when(exp.not_(_is_null("v")), exp.column("n"))
    if aggregate.kind in COUNTS:
        return _or_zero(exp.Sum(this=given)), exp.Count(this=exp.column("v"))
    if aggregate.kind in AVERAGES:
        whole = exp.Mul(this=exp.Sum(this=times), expression=exp.Literal.number("1.0"))
        return exp.Div(this=whole, expression=exp.Sum(this=given)), exp.Avg(this=exp.column("v"))
    return exp.Sum(this=times), exp.Sum(this=exp.column("v"))


def _copies(rows: exp.Select, names: Sequence[str]) -> exp.Select:
    """Different rows, and as `n` how often each occurs."""
    columns = [exp.column(name) for name in names]
    found = exp.select(*columns, exp.alias_(_count(), "n")).from_(rows.subquery("q"), copy=False)
    return found.group_by(*(column.copy() for column in columns), copy=False)


def _identity(entity: Sequence[Source]) -> list[exp.Expr]:
    """Columns that tell the entity's rows apart, together; none where a source has no such."""
    parts = [identity_of(source) for source in entity]
    return [] if None in parts else [column for part in parts for column in part or ()]


def _named(columns: Sequence[exp.Expr], letter: str) -> list[exp.Expr]:
    return [exp.alias_(c.copy(), f"{letter}{i}") for i, c in enumerate(columns, 1)]


def _labels(groups: Sequence[exp.Expr]) -> tuple[str, ...]:
    """The names of groups for people: the column's, else the expression as written."""
    return tuple(g.name if isinstance(g, exp.Column) else quoted(g) for g in groups)


def _count() -> exp.Count:
    return exp.Count(this=exp.Star())


def _one() -> exp.Expr:
    return exp.alias_(exp.Literal.number(1), "one")


def _is_null(name: str) -> exp.Expr:
    return exp.Is(this=exp.column(name), expression=exp.Null())


def _or_zero(value: exp.Expr) -> exp.Expr:
    return exp.Coalesce(this=value, expressions=[exp.Literal.number(0)])
