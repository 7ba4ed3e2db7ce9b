"""Which sources of a block no condition connects: every row of one meets every row of the other."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from sqlglot import exp

from modularsql.catalog import ForeignKey
from modularsql.multiplicity.columns import conjuncts
from modularsql.multiplicity.model import Block, JoinKind, Source
from modularsql.multiplicity.registry import Analysis


class Why(StrEnum):
    """What is wrong with the condition."""

    NONE = "none"  # there is none
    ONE_SIDED = "one-sided"  # an ON that compares a table with itself or with constants
    CROSS = "cross"  # CROSS JOIN or ON TRUE: somebody asked for all pairs
    EITHER = "either"  # an OR of which one side does not connect
    PART = "part"  # some, not all, of the columns of a foreign key


@dataclass(frozen=True, slots=True, kw_only=True)
class Loose:
    """`apart` meet `others` without a condition that connects them; `node` shows where."""

    apart: tuple[Source, ...]
    others: tuple[Source, ...]
    why: Why
    node: exp.Expr


@dataclass(frozen=True, slots=True)
class _Condition:
    """One condition with the sources it depends on."""

    node: exp.Expr
    ends: frozenset[int]


def loose(block: Block, analysis: Analysis) -> list[Loose]:
    """Every pair of groups of sources that are not, or not wholly, connected."""
    return analysis.once(("loose", id(block)), lambda: _loose(block))


def _loose(block: Block) -> list[Loose]:
    several = [s for s in block.sources if not _is_single(s, block)]
    if len(several) < 2:
        return []
    homes = homes_of(block)
    conditions = _conditions(block, homes)
    if conditions is None:
        return []
    groups = _groups(block.sources, conditions)
    found = _apart(groups, several, block)
    return [*found, *_either(groups, conditions, several, block, homes), *_parts(block)]


def cut_loose(block: Block, analysis: Analysis, entity: Sequence[Source]) -> tuple[Source, ...]:
    """The sources that repeat the entity's rows because nothing connects them properly."""
    result: list[Source] = []
    for one in loose(block, analysis):
        if any(s in one.others for s in entity):
            result += one.apart
        if any(s in one.apart for s in entity) and one.why != Why.PART:
            result += one.others
    return tuple(s for s in result if s not in entity)


def _is_single(source: Source, block: Block) -> bool:
    """Whether at most one of its rows takes part, or it is nothing that rows can be counted of."""
    if source.kind == JoinKind.SEMI or (source.table is None and source.query is None):
        return True
    if isinstance(source.node, exp.Lateral) or isinstance(source.node.parent, exp.Lateral):
        return True
    return not source.relation.ids & ~block.rows.closure(0)


def homes_of(block: Block) -> dict[int, int]:
    """From columns, also those in subqueries, to the source each belongs to."""
    homes = {key: id(found[0]) for key, found in block.columns.items()}
    pending = list(block.subqueries)
    while pending:
        query = pending.pop()
        for inner in query.blocks():
            homes.update((key, id(found[0])) for key, found in inner.columns.items())
    return homes


def _conditions(block: Block, homes: dict[int, int]) -> list[_Condition] | None:
    """The conditions of ON and WHERE; None where one has a column that is not understood."""
    found: list[_Condition] = []
    literals = {id(column) for column in block.literals}
    for number, source in enumerate(block.sources):
        join = source.join
        if join is None:
            continue
        if join.args.get("using") or (join.args.get("method") or "").upper() == "NATURAL":
            ends = frozenset((id(source), id(block.sources[number - 1])))
            if source.predicate.mentioned or source.predicate.opaque:
                found.append(_Condition(join, ends))
            continue
        for part in conjuncts(join.args.get("on")):
            found.append(_Condition(part, _ends(part, homes)))
    where = block.select.args.get("where")
    for part in conjuncts(where.this if where else None):
        found.append(_Condition(part, _ends(part, homes)))
    for condition in found:
        columns = (c for c in condition.node.find_all(exp.Column) if not c.is_star)
        if any(id(c) not in homes and id(c) not in literals for c in columns):
            return None
    return found


def _ends(part: exp.Expr, homes: dict[int, int]) -> frozenset[int]:
    return frozenset(homes[id(c)] for c in part.find_all(exp.Column) if id(c) in homes)


def _groups(sources: Sequence[Source], conditions: Iterable[_Condition]) -> dict[int, int]:
    """For each source a number that it shares with those it is connected to."""
    group = {id(source): number for number, source in enumerate(sources)}
    for condition in conditions:
        joined = {group.setdefault(end, -end) for end in condition.ends}
        if len(joined) > 1:
            first = min(joined)
            for key, value in group.items():
                if value in joined:
                    group[key] = first
    return group


def _apart(groups: dict[int, int], several: Sequence[Source], block: Block) -> list[Loose]:
    found = []
    done: list[Source] = []
    for source in several:
        same = [s for s in several if groups[id(s)] == groups[id(source)]]
        if source is not same[0]:
            continue
        if done:
            # The group's first source has the join that should have connected it.
            found.append(
                Loose(
                    apart=tuple(same),
                    others=tuple(done),
                    why=_why(same, done, block),
                    node=source.join or block.select,
                )
            )
        done += same
    return found


def _why(apart: Sequence[Source], others: Sequence[Source], block: Block) -> Why:
    join = apart[0].join
    if join is None:
        return Why.NONE
    condition = join.args.get("on")
    if condition is None or isinstance(condition, exp.Boolean):
        return Why.CROSS if is_written(join) else Why.NONE
    constant = next(condition.find_all(exp.Column), None) is None
    return Why.CROSS if constant else Why.ONE_SIDED


def is_written(join: exp.Join) -> bool:
    """Whether CROSS JOIN or ON TRUE stands in the text.

    sqlglot reads a comma as CROSS JOIN and, in some dialects, a bare JOIN as one ON TRUE. What
    tells them apart is which arguments it fills, and in which order.
    """
    filled = list(join.args)
    if "pivots" not in filled:
        return False
    if (join.kind or "").upper() == "CROSS":
        return True
    return "on" in filled and filled.index("on") < filled.index("pivots")


def _either(
    groups: dict[int, int],
    conditions: list[_Condition],
    several: Sequence[Source],
    block: Block,
    homes: dict[int, int],
) -> list[Loose]:
    """A OR B, where A connects two sources and B does not (AND binds tighter than OR)."""
    found = []
    for condition in conditions:
        sides = list(_alternatives(condition.node))
        if len(sides) < 2 or len(condition.ends) < 2:
            continue
        others = [c for c in conditions if c is not condition]
        for side in sides:
            parts = [_Condition(p, _ends(p, homes)) for p in conjuncts(side)]
            now = _groups(block.sources, [*others, *parts])
            lost = [s for s in several if now[id(s)] != now[id(several[0])]]
            kept = (
                [s for s in several if s not in lost and groups[id(s)] == groups[id(lost[0])]]
                if lost
                else []
            )
            if kept:
                found.append(
                    Loose(apart=tuple(lost), others=tuple(kept), why=Why.EITHER, node=side)
                )
                break
    return found


def _alternatives(node: exp.Expr) -> Iterable[exp.Expr]:
    stack = [node]
    while stack:
        part = stack.pop()
        if isinstance(part, exp.Paren):
            stack.append(part.this)
        elif isinstance(part, exp.Or):
            stack += [part.expression, part.this]
        else:
            yield part


def _parts(block: Block) -> list[Loose]:
    """A declared foreign key of several columns, of which the query compares only some."""
    found = []
    for child in block.sources:
        for key in child.table.foreign_keys if child.table else ():
            if len(key.columns) < 2 or not key.resolved:
                continue
            for parent in block.sources:
                if parent is not child and _is_part(child, parent, key, block):
                    node = (parent.join or child.join) or block.select
                    found.append(Loose(apart=(parent,), others=(child,), why=Why.PART, node=node))
    return found


def _is_part(child: Source, parent: Source, key: ForeignKey, block: Block) -> bool:
    if parent.table is None or not key.refers_to(parent.table):
        return False
    pairs = [
        (child.columns.get(a.casefold(), 0), parent.columns.get(b.casefold(), 0))
        for a, b in zip(key.columns, key.target_columns, strict=False)
    ]
    if not all(a and b for a, b in pairs):
        return False
    fixed = block.rows.closure(0)
    equal = [bool(b & (block.rows.closure(a) | fixed)) for a, b in pairs]
    unsettled = parent.relation.ids & ~block.rows.closure(child.relation.ids)
    return any(equal) and not all(equal) and bool(unsettled)
