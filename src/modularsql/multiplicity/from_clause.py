"""FROM and WHERE: what a block reads, how its parts are joined, and which rows stay."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from sqlglot import exp

from modularsql.multiplicity.algebra import (
    TRUE,
    Dependency,
    Predicate,
    Relation,
    dependent,
    filtered,
    full_join,
    inner_join,
    left_join,
    only_row,
    opaque,
    union,
)
from modularsql.multiplicity.context import Context, Scope
from modularsql.multiplicity.model import UNNAMED, Block, Found, JoinKind, Merged, Source
from modularsql.multiplicity.names import named
from modularsql.multiplicity.predicates import predicate
from modularsql.multiplicity.sources import source_of


@dataclass(slots=True)
class _Item:
    """A part of FROM: one source, or joins in parentheses (`group`).

    `kind`, `join` and `predicate` say how it joins what stands before it. `merged`: the columns
    that an outer join with USING made of two, each with these. `coalesced`: they hold whichever
    of the two is there, and no more is compared.
    """

    sources: list[Source]
    group: list["_Item"] = field(default_factory=list)
    join: exp.Join | None = None
    kind: JoinKind = JoinKind.FIRST
    predicate: Predicate = TRUE
    merged: list[tuple[int, int, int]] = field(default_factory=list)
    coalesced: bool = False

    @property
    def columns(self) -> int:
        """All attributes that are columns of its sources."""
        return union(a for source in self.sources for a in source.columns.values())


def read_from(block: Block, scope: Scope, context: Context) -> None:
    """Fill `block.sources`, `block.where` and `block.rows`, what FROM and WHERE let through."""
    clause = block.select.args.get("from_")
    where = block.select.args.get("where")
    items: list[_Item] = []
    if clause is not None:
        items = [_item(clause.this, None, scope, block, context)]
        for join in block.select.args.get("joins") or ():
            items.append(_item(join.this, join, scope, block, context))
        for lateral in block.select.args.get("laterals") or ():
            items.append(_item(lateral, None, scope, block, context))
    if context.reads.comma_binds_weaker:
        items = _by_comma(items)
    _read_conditions(items, block, context)
    if where is not None:
        block.where = predicate(where.this, block, context)
    if not context.reads.padded_with_null and any(map(_pads, items)):
        _fill(items)
        block.unknown.append("which rows an outer join pads with default values")
        rows = opaque(context.attributes.new("row"), 0)
    elif items:
        rows = _joined(items, block.where.not_null)
    else:
        rows = only_row(opaque(context.attributes.new("the one row"), 0))
    block.rows = filtered(rows, block.where)
    if block.select.args.get("connect") or block.select.args.get("match"):
        block.unknown.append("the rows of CONNECT BY or MATCH_RECOGNIZE")
        block.rows = opaque(context.attributes.new("row"), 0)


def _item(
    node: exp.Expr, join: exp.Join | None, scope: Scope, block: Block, context: Context
) -> _Item:
    if _is_parenthesis(node):
        item = _item(node.this, None, scope, block, context)
    else:
        source = source_of(node, scope, block, context)
        block.sources.append(source)
        block.attributes |= source.relation.own
        item = _Item([source])
    more = node.args.get("joins") or ()
    if more:
        group = [item, *(_item(inner.this, inner, scope, block, context) for inner in more)]
        item = _grouped(group)
    item.join, item.kind = join, _kind(join)
    item.sources[0].join, item.sources[0].kind = join, item.kind
    return item


def _pads(item: _Item) -> bool:
    outer = (JoinKind.LEFT, JoinKind.RIGHT, JoinKind.FULL)
    return item.kind in outer or any(map(_pads, item.group))


def _fill(items: Sequence[_Item]) -> None:
    """Mark what may be padded with values that look like those of a row."""
    before: list[Source] = []
    for item in items:
        _fill(item.group)
        for source in _padded(item, item.kind, before):
            source.filled = True
        before += item.sources


def _grouped(group: list[_Item]) -> _Item:
    for part in group[1:]:
        # It pads less than all that stands before it in the block.
        if part.kind == JoinKind.RIGHT:
            part.sources[0].kind = JoinKind.FULL
    return _Item([source for part in group for source in part.sources], group)


def _by_comma(items: list[_Item]) -> list[_Item]:
    """In the standard a comma binds weaker than JOIN: `a, b JOIN c` is `a, (b JOIN c)`."""
    words = ("side", "kind", "method", "on", "using")
    groups: list[list[_Item]] = []
    for item in items:
        if not groups or item.join is None or not any(item.join.args.get(w) for w in words):
            groups.append([])
        groups[-1].append(item)
    if len(groups) < 2:
        return items
    found = []
    for group in groups:
        whole = _grouped(group) if len(group) > 1 else group[0]
        whole.join, whole.kind = group[0].join, group[0].kind
        found.append(whole)
    return found


def _is_parenthesis(node: exp.Expr) -> bool:
    """Whether it only holds a join, or a table: `(a JOIN b ON ...)`."""
    if not isinstance(node, exp.Subquery) or node.alias:
        return False
    inner = node.this
    if isinstance(inner, exp.Subquery):
        return bool(inner.alias or inner.args.get("joins")) or _is_parenthesis(inner)
    return isinstance(inner, exp.Table)


def _kind(join: exp.Join | None) -> JoinKind:
    if join is None:
        return JoinKind.INNER
    if (join.method or "").upper() == "POSITIONAL":
        return JoinKind.FULL
    side = (join.side or "").lower()
    if (join.kind or "").upper() in ("SEMI", "ANTI") and side in ("", "left"):
        return JoinKind.SEMI
    if join.args.get("match_condition"):
        return JoinKind.LEFT  # Snowflake's ASOF JOIN keeps rows without a match
    return JoinKind(side) if side in ("left", "right", "full") else JoinKind.INNER


def _read_conditions(items: Sequence[_Item], block: Block, context: Context) -> None:
    """The condition of each join, over the names that are seen in it."""
    before: list[Source] = []
    for number, item in enumerate(items):
        _read_conditions(item.group, block, context)
        if number == 0:
            item.kind = JoinKind.FIRST
            item.sources[0].kind = JoinKind.FIRST
        else:
            block.visible = block.sources.index(item.sources[-1]) + 1
            item.predicate = _condition(item, before, block, context)
            block.visible = None
            item.sources[0].predicate = item.predicate
        if item.kind != JoinKind.SEMI:
            before += item.sources


def _condition(item: _Item, before: Sequence[Source], block: Block, context: Context) -> Predicate:
    join = item.join
    if join is None:
        return TRUE
    if (join.method or "").upper() == "POSITIONAL":
        return Predicate(opaque=True)
    if join.args.get("using"):
        names = [name.name.casefold() for name in join.args["using"]]
        return _by_name(names, item, before, block, context)
    if (join.method or "").upper() == "NATURAL":
        ours, theirs = _visible_names(before), _visible_names(item.sources)
        if ours is None or theirs is None:
            block.unknown.append(f"the columns that NATURAL JOIN {item.sources[0].alias} compares")
            block.is_merge_known = False
            return Predicate(opaque=True)
        return _by_name([name for name in theirs if name in ours], item, before, block, context)
    return predicate(join.args.get("on"), block, context)


def _visible_names(sources: Sequence[Source]) -> list[str] | None:
    """The names of all columns that a star would show; None where some are not known."""
    names: list[str] = []
    for source in sources:
        if source.kind != JoinKind.SEMI:
            hidden = source.table.row_id if source.table else None
            names += [name for name in source.columns if name != hidden]
            if not source.complete:
                return None
    return None if any(name.startswith(UNNAMED) for name in names) else names


def _by_name(
    names: list[str], item: _Item, before: Sequence[Source], block: Block, context: Context
) -> Predicate:
    """USING and NATURAL: equal names are equal values, and one column from here on."""
    result = TRUE
    # The last column of an ASOF JOIN is not equal but the nearest one.
    nearest = names[-1:] if item.join and (item.join.method or "").upper() == "ASOF" else []
    padded = any(source.kind in (JoinKind.RIGHT, JoinKind.FULL) for source in before)
    unsure = padded and context.reads.using_matches_null
    for name in names:
        ours, theirs = named(name, before, block), named(name, item.sources, block)
        if len(ours) != 1 or len(theirs) != 1:
            block.unknown.append(f"the column {name} of USING")
            block.is_merge_known = False
            result &= Predicate(opaque=True)
            continue
        both = ours[0][2] | theirs[0][2]
        same = context.comparable(ours[0][2], theirs[0][2]) and name not in nearest and not unsure
        result &= Predicate(
            equal=((ours[0][2], theirs[0][2]),) if same else (),
            not_null=0 if unsure else both,
            mentioned=both,
            fragile=0 if same else context.fragile(both),
            opaque=unsure,
        )
        if item.kind != JoinKind.SEMI:
            _merge(item, ours[0], theirs[0], block, context)
    item.coalesced = len(result.equal) == len(names) and item.kind == JoinKind.FULL
    return result


def _merge(item: _Item, ours: Found, theirs: Found, block: Block, context: Context) -> None:
    """The bare name means the side that is never padded; after a FULL JOIN, whichever is there."""
    old = [m for m in block.merged if m.name == ours[1] and m.found in (ours, theirs)]
    covered = {id(s): s for merged in old for s in merged.sources}
    covered |= {id(found[0]): found[0] for found in (ours, theirs)}
    same = context.comparable(ours[2], theirs[2])
    found = ours
    if item.kind == JoinKind.RIGHT and same:
        found = theirs
    elif item.kind in (JoinKind.RIGHT, JoinKind.FULL):
        attribute = context.attributes.new(ours[1])
        block.attributes |= attribute
        item.merged.append((attribute, ours[2], theirs[2]))
        found = (ours[0], ours[1], attribute)
        if same:
            kinds = (context.kind(ours[2]), context.kind(theirs[2]))
            context.note(attribute, kinds[0] if kinds[0] == kinds[1] else None)
    block.merged = [merged for merged in block.merged if merged not in old]
    block.merged.append(Merged(ours[1], found, tuple(covered.values())))


def _joined(items: Sequence[_Item], rejected: int) -> Relation:
    """The rows of all items together, but for those where a column of `rejected` is NULL.

    An outer join whose padded rows are all rejected is an inner one, and its own condition then
    rejects NULLs for the joins before it.
    """
    kinds, needed = [item.kind for item in items], [rejected] * len(items)
    for number in range(len(items) - 1, 0, -1):
        ours = union(item.columns for item in items[:number])
        kinds[number] = _effective(items[number], rejected, ours)
        if kinds[number] == JoinKind.INNER:
            rejected |= items[number].predicate.not_null
        needed[number] = rejected
    needed[0] = rejected
    relation: Relation | None = None
    for number, item in enumerate(items):
        kind = kinds[number]
        right = item.sources[0].relation
        if item.group:
            right = _joined(item.group, needed[number])
        before = [source for earlier in items[:number] for source in earlier.sources]
        _mark(item, kind, before, relation)
        if relation is not None and any(source.lateral for source in item.sources):
            right = dependent(right, relation.ids)
            if not item.group:
                item.sources[0].relation = right
        relation = right if relation is None else _join(relation, right, kind, item)
        for source in item.sources:
            source.after = relation
    return relation or Relation(ids=0)


def _effective(item: _Item, rejected: int, ours: int) -> JoinKind:
    """What a join comes to when rows with a NULL in a column of `rejected` go away in the end."""
    kind = item.kind
    if rejected & item.columns and kind in (JoinKind.LEFT, JoinKind.FULL):
        kind = JoinKind.INNER if kind == JoinKind.LEFT else JoinKind.RIGHT
    if rejected & ours and kind in (JoinKind.RIGHT, JoinKind.FULL):
        kind = JoinKind.INNER if kind == JoinKind.RIGHT else JoinKind.LEFT
    return kind


def _mark(item: _Item, kind: JoinKind, before: list[Source], relation: Relation | None) -> None:
    first = item.sources[0]
    first.undone = item.kind == JoinKind.LEFT and kind == JoinKind.INNER
    first.before = relation
    for source in _padded(item, kind, before):
        source.optional = True


def _padded(item: _Item, kind: JoinKind, before: list[Source]) -> list[Source]:
    """The sources for which a join of this kind may have no row."""
    padded = item.sources if kind in (JoinKind.LEFT, JoinKind.FULL) else []
    return padded + before if kind in (JoinKind.RIGHT, JoinKind.FULL) else padded


def _join(left: Relation, right: Relation, kind: JoinKind, item: _Item) -> Relation:
    if kind == JoinKind.SEMI:
        return left
    if kind == JoinKind.LEFT:
        rows = left_join(left, right, item.predicate)
    elif kind == JoinKind.RIGHT:
        rows = left_join(right, left, item.predicate)
    elif kind == JoinKind.FULL:
        rows = full_join(left, right)
    else:
        rows = inner_join(left, right, item.predicate)
    for attribute, ours, theirs in item.merged:
        settled = [Dependency(ours | theirs, attribute)] if item.coalesced else []
        rows = rows.with_attribute(attribute, *settled)
        if item.coalesced and ours & left.not_null and theirs & right.not_null:
            rows = replace(rows, not_null=rows.not_null | attribute)
    if item.coalesced:
        # One value is in matched rows or in rows of one side: a row with it on the other side
        # would have matched them all. One NULL is NULL on both sides, but beside other columns it
        # only keeps rows from matching.
        whole = union(attribute for attribute, _, _ in item.merged)
        parts = union(ours | theirs for _, ours, theirs in item.merged)
        guard = whole if len(item.merged) > 1 else 0
        rows = rows.with_dependency(Dependency(whole, parts, 0, guard))
    return rows
