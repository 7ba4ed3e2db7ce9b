"""A join that only filters, and repeats rows, becomes EXISTS.

    SELECT c.name FROM club c JOIN player p ON p.club = c.id WHERE p.wins > 2
    SELECT c.name FROM club c WHERE EXISTS (SELECT 1 FROM player p WHERE p.club = c.id AND …)

Unlike DISTINCT it keeps two clubs of one name apart, and it never touches the output list. Text
is moved in whole conditions, so everything that stays is kept to the byte.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sqlglot import exp

from modularsql.multiplicity.columns import is_volatile
from modularsql.multiplicity.grain import filter_only
from modularsql.multiplicity.model import Block, JoinKind, Source
from modularsql.multiplicity.registry import Issue
from modularsql.sql.clauses import Clauses, Item, clauses
from modularsql.sql.outermost import Declined, Edited, outermost
from modularsql.sql.statement import Statement


@dataclass(frozen=True, slots=True)
class _Condition:
    """One condition: its text, fit to stand beside AND, and the sources it depends on."""

    text: str
    sources: frozenset[int]


def semi_join(statement: Statement, issue: Issue, dialect: str) -> Edited:
    """The statement with the multiplying sources moved into EXISTS.

    Promises one row for each row of the entity that has a match. Declines where a multiplying
    source is used elsewhere, an outer join is in the way, or LIMIT would cut other rows.
    """
    block = issue.block
    reason = _obstacle(statement, issue)
    if reason:
        return Declined(reason=reason)
    parts = clauses(statement)
    if parts is None or len(parts.items) != len(block.sources):
        return Declined(reason="its FROM clause could not be taken apart")
    moved = _moved(block, issue)
    conditions = _conditions(block, parts)
    if conditions is None:
        return Declined(reason="its conditions could not be taken apart")
    return _written(statement.text, parts, block, moved, conditions)


def _obstacle(statement: Statement, issue: Issue) -> str | None:
    block = issue.block
    if outermost(statement.tree) is not block.select:
        return "the repeated rows are those of an inner query"
    if block.is_cut:
        return "LIMIT cuts the rows, and would cut other ones"
    moved = _moved(block, issue)
    if not moved:
        return "no source of it multiplies rows"
    only = filter_only(block)
    for source in moved:
        if source not in only:
            return f"{source.name} is used in the result, not only as a condition"
    if any(s.kind not in (JoinKind.FIRST, JoinKind.INNER) for s in block.sources):
        return "it has an outer join"
    if any(s.join is not None and s.join.args.get("method") for s in block.sources):
        return "it has a NATURAL join, which depends on every table before it"
    if any(star in block.select.expressions for star in [exp.Star()]):
        return "SELECT * returns the columns of every table"
    if is_volatile(block.select):
        return "it uses a function that may give another value each time"
    if any(a.argument is None for a in block.aggregates):
        return "COUNT(*) counts the rows of the join"
    return None


def _moved(block: Block, issue: Issue) -> list[Source]:
    """The sources that the entity does not settle: they go together."""
    start = 0
    for source in issue.entity:
        start |= source.relation.ids
    reach = block.rows.closure(start | issue.within)
    return [s for s in block.sources if s.relation.ids & ~reach]


def _conditions(block: Block, parts: Clauses) -> dict[int | None, list[_Condition]] | None:
    """Conditions of each item's ON or USING by its position, WHERE's under None."""
    found: dict[int | None, list[_Condition]] = {}
    for number, (source, item) in enumerate(zip(block.sources, parts.items, strict=True)):
        on = source.join.args.get("on") if source.join is not None else None
        if item.using:
            using = _using(block, number)
            if using is None:
                return None
            found[number] = using
            continue
        matched = _matched(item.conditions, on, block) if item.conditions else []
        if matched is None:
            return None
        found[number] = matched
    where = block.select.args.get("where")
    matched = _matched(parts.conditions, where.this if where else None, block)
    if matched is None:
        return None
    found[None] = matched
    return found


def _using(block: Block, number: int) -> list[_Condition] | None:
    """USING written out, name by name; None where a name is in more than one table before."""
    source = block.sources[number]
    names = (source.join or exp.Join()).args.get("using") or ()
    conditions = []
    for name in names:
        folded = name.name.casefold()
        homes = [i for i in range(number) if folded in block.sources[i].columns]
        if len(homes) != 1:
            return None
        sides = [f"{exp.to_identifier(block.sources[i].alias)}.{name}" for i in (homes[0], number)]
        conditions.append(_Condition(" = ".join(sides), frozenset({homes[0], number})))
    return conditions


def _matched(texts: Sequence[str], tree: exp.Expr | None, block: Block) -> list[_Condition] | None:
    """Texts and trees of the same conditions side by side; None where they do not pair up."""
    trees = list(_parts(tree)) if tree is not None else []
    if len(trees) != len(texts):
        return None
    result = []
    for text, part in zip(texts, trees, strict=True):
        used = _used(part, block)
        if used is None:
            return None
        result.append(_Condition(f"({text})" if isinstance(part, exp.Or) else text, used))
    return result


def _parts(tree: exp.Expr) -> Iterator[exp.Expr]:
    if isinstance(tree, exp.And):
        yield from _parts(tree.this)
        yield from _parts(tree.expression)
    else:
        yield tree


def _used(part: exp.Expr, block: Block) -> frozenset[int] | None:
    """Positions of the block's sources a condition depends on, subqueries included.

    None where a name in it is not resolved: then nobody knows.
    """
    inner = {id(c): home for b in _inside(block) for c, home in _resolved(b)}
    used = set()
    for column in part.find_all(exp.Column):
        home = block.columns.get(id(column), (None,))[0] or inner.get(id(column))
        if home is None:
            if column in block.literals:
                continue
            return None
        used |= {i for i, source in enumerate(block.sources) if source is home}
    return frozenset(used)


def _inside(block: Block) -> Iterator[Block]:
    for query in block.subqueries:
        yield from query.blocks()


def _resolved(block: Block) -> Iterator[tuple[exp.Expr, Source]]:
    for column in block.select.find_all(exp.Column):
        found = block.columns.get(id(column))
        if found is not None:
            yield column, found[0]


def _written(
    text: str,
    parts: Clauses,
    block: Block,
    moved: list[Source],
    conditions: dict[int | None, list[_Condition]],
) -> Edited:
    gone = {i for i, source in enumerate(block.sources) if source in moved}
    kept = [i for i in range(len(block.sources)) if i not in gone]
    if not kept:
        return Declined(reason="nothing would be left in FROM")
    kept_on, outside, inside = _sorted_conditions(conditions, gone, kept[0])
    links = [c.sources for c in (*outside, *(c for on in kept_on.values() for c in on))]
    from_text = _from(parts.items, kept, kept_on)
    if from_text is None or not _connected(kept, links):
        return Declined(reason="what is left would not be connected by a condition")
    inner = [parts.items[i].table for i in sorted(gone)]
    exists = f"EXISTS (SELECT 1 FROM {', '.join(inner)}"
    exists += f" WHERE {' AND '.join(c.text for c in inside)})" if inside else ")"
    where = " AND ".join([*(c.text for c in outside), exists])
    return f"{text[: parts.start]}FROM {from_text} WHERE {where}{text[parts.end :]}"


def _sorted_conditions(
    conditions: dict[int | None, list[_Condition]], gone: set[int], first: int
) -> tuple[dict[int, list[_Condition]], list[_Condition], list[_Condition]]:
    """What stays in an ON, what stays in WHERE, what moves into EXISTS."""
    kept_on: dict[int, list[_Condition]] = {}
    outside: list[_Condition] = []
    inside: list[_Condition] = []
    for number, group in conditions.items():
        for condition in group:
            if condition.sources & gone:
                inside.append(condition)
            elif number is None or number in gone or number == first:
                outside.append(condition)
            else:
                kept_on.setdefault(number, []).append(condition)
    return kept_on, outside, inside


def _from(
    items: Sequence[Item], kept: list[int], kept_on: dict[int, list[_Condition]]
) -> str | None:
    """The sources that stay, with what stays of their ON; None where one lost all of it."""
    written = items[kept[0]].table
    for number in kept[1:]:
        item, on = items[number], kept_on.get(number, [])
        if item.lead == ",":
            written += f", {item.table}"
        elif item.using and len(on) == len(_names(item)):
            written += f" {item.lead} {item.table} {item.conditions[0]}"
        elif on:
            written += f" {item.lead} {item.table} ON {' AND '.join(c.text for c in on)}"
        elif item.conditions:
            return None
        else:
            written += f" {item.lead} {item.table}"
    return written


def _names(item: Item) -> list[str]:
    """The columns of `USING (a, b)`."""
    return item.conditions[0].split(",")


def _connected(kept: list[int], links: Sequence[frozenset[int]]) -> bool:
    """Whether the conditions that stay join all sources that stay to each other."""
    reached = {kept[0]}
    for _ in kept:
        for link in links:
            if link & reached:
                reached |= link
    return set(kept) <= reached
