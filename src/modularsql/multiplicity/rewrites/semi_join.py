"""A join that only filters, and repeats rows, becomes EXISTS.

    SELECT c.name FROM club c JOIN player p ON p.club = c.id WHERE p.wins > 2
    SELECT c.name FROM club c WHERE EXISTS (SELECT 1 FROM player p WHERE p.club = c.id AND …)

Where EXISTS may not use the query around it, `c.id IN (SELECT p.club FROM player p WHERE …)` says
the same: a NULL on either side matches nothing, and so in a join.

Unlike DISTINCT it keeps two clubs of one name apart, and it never touches the output list. Text
is moved in whole conditions, so everything that stays is kept to the byte.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import permutations

from sqlglot import exp

from modularsql.multiplicity.aggregates import counts_rows
from modularsql.multiplicity.columns import is_volatile
from modularsql.multiplicity.grain import filter_only
from modularsql.multiplicity.model import Block, JoinKind, Source
from modularsql.multiplicity.registry import Issue
from modularsql.multiplicity.rewrites.conditions import Placed, conditions, drop
from modularsql.multiplicity.rewrites.edits import (
    Cut,
    Edit,
    Promise,
    Rewritten,
    bracketed,
    has_positions,
    spliced,
)
from modularsql.sql.clauses import Clauses, Item, Span, clauses, leftovers
from modularsql.sql.dialects import dialect_of
from modularsql.sql.outermost import Declined
from modularsql.sql.statement import Statement


def semi_join(statement: Statement, issue: Issue, dialect: str) -> Rewritten:
    """The statement with the multiplying sources moved into EXISTS.

    Promises one row for each row of the entity that has a match. Declines where a multiplying
    source is used elsewhere, an outer join is in the way, or LIMIT would cut other rows.
    """
    block = issue.block
    moved = multiplying(block, issue)
    reason = _obstacle(block, moved)
    if reason:
        return Declined(reason=reason)
    parts = clauses(statement)
    if parts is None or len(parts.items) != len(block.sources):
        return Declined(reason="its FROM clause could not be taken apart")
    placed = conditions(statement, block, parts, dialect)
    if placed is None:
        return Declined(reason="its conditions could not be taken apart")
    gone = {i for i, source in enumerate(block.sources) if source in moved}
    move = _Move(statement, parts, placed, gone, not dialect_of(dialect).correlated_exists)
    if move.by_in and not move.are_equal():
        return Declined(reason="only IN could say it here, and not all its joins are by =")
    cuts = move.cuts()
    if cuts is None:
        return Declined(reason="what is left would not be connected by a condition")
    return Edit(spliced(statement.text, cuts), Promise.SET, once=True)


def _obstacle(block: Block, moved: list[Source]) -> str | None:
    if block.is_cut:
        return "LIMIT cuts the rows, and would cut other ones"
    if not moved:
        return "no source of it multiplies rows"
    if len(moved) == len(block.sources):
        return "nothing would be left in FROM"
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
    if has_positions(block.select):
        return "a ? would no longer stand for its value"
    if is_volatile(block.select):
        return "it uses a function that may give another value each time"
    if any(counts_rows(block, aggregate) for aggregate in block.aggregates):
        return "COUNT(*), or a sum of a condition, counts the rows of the join"
    return None


def multiplying(block: Block, issue: Issue) -> list[Source]:
    """The sources that the entity does not settle: they go together."""
    start = issue.within
    for source in issue.entity:
        start |= source.relation.ids
    reach = block.rows.closure(start)
    return [s for s in block.sources if s.relation.ids & ~reach]


@dataclass(frozen=True, slots=True)
class _Move:
    """The sources at the positions `gone` move into EXISTS, or IN, with the conditions on them."""

    statement: Statement
    parts: Clauses
    placed: dict[int | None, list[Placed]]
    gone: set[int]
    by_in: bool

    @property
    def kept(self) -> list[int]:
        """Positions of the sources that stay."""
        return [i for i in range(len(self.parts.items)) if i not in self.gone]

    def cuts(self) -> list[Cut] | None:
        """All edits; None where what stays would no longer be joined by a condition."""
        first = self.kept[0]
        found: list[Cut] = []
        links: list[frozenset[int]] = []
        outside: list[Placed] = []
        for number, item in enumerate(self.parts.items):
            here = self.placed[number]
            staying = [c for c in here if not c.sources & self.gone]
            if number in self.gone or number == first:
                outside += staying
            elif here and not staying:
                return None
            links += [c.sources for c in staying]
            found += self._item(number, item, first)
        links += [c.sources for c in self.placed[None] if not c.sources & self.gone]
        if not _connected(self.kept, links):
            return None
        return [*found, *self._where([*(c.text for c in outside), *self._exists()])]

    def _item(self, number: int, item: Item, first: int) -> list[Cut]:
        """What becomes of a source in FROM."""
        carried = [item.table, *(c.span for c in item.conditions)]
        if number in self.gone:
            return [self._gap(number, item.whole, carried)]
        if number != first:
            return self._dropped(
                self.placed[number], item.conditions[0].span if item.using else None
            )
        found: list[Cut] = []
        if item.lead is not None:
            found.append((item.lead.start, item.table.start, ""))
        if item.conditions:
            rest = Span(item.table.end, item.whole.end)
            left = leftovers(self.statement, rest, carried)
            found.append((rest.start, rest.end, " " + left if left else ""))
        return found

    def _gap(self, number: int, whole: Span, carried: Sequence[Span]) -> Cut:
        """A source cut out, with the space before it; its comments stay."""
        left = leftovers(self.statement, whole, carried)
        start = whole.start
        if number:
            before = self.parts.items[number - 1].whole.end
            blank = not self.statement.text[before:start].strip()
            start = before if blank else start
        return (start, whole.end, " " + left.rstrip(" ") if left else "")

    def _dropped(self, here: list[Placed], using: Span | None) -> list[Cut]:
        """Conditions cut out of several: with the AND before each, or behind the first."""
        if using is not None:
            return []
        return drop(self.statement, [c for c in here if c.sources & self.gone], here)

    @property
    def _inside(self) -> list[Placed]:
        return [c for group in self.placed.values() for c in group if c.sources & self.gone]

    def _pairs(self) -> list[tuple[Placed, str, str]]:
        """Equalities of what stays and what goes, with the side that stays and the other."""
        return [
            (condition, one, other)
            for condition in self._inside
            for (one, stays), (other, goes) in permutations(condition.sides, 2)
            if stays and goes and not stays & self.gone and goes <= self.gone
        ]

    def are_equal(self) -> bool:
        """Whether equalities alone join what goes to what stays."""
        paired = [id(condition) for condition, _, _ in self._pairs()]
        return all(c.sources <= self.gone or id(c) in paired for c in self._inside)

    def _exists(self) -> list[str]:
        """The conditions that hold where what goes has a match."""
        if not self.by_in:
            return [self._query(self.gone, self._inside, "EXISTS (SELECT 1")]
        return [self._in(together) for together in self._apart()]

    def _apart(self) -> list[set[int]]:
        """What goes in parts that no condition connects: together they would be a cross join."""
        parts: list[set[int]] = []
        for number in sorted(self.gone):
            links = [c.sources & self.gone for c in self._inside if number in c.sources]
            near = {number}.union(*links)
            near = near.union(*(part for part in parts if part & near))
            parts = [*(part for part in parts if not part & near), near]
        return parts

    def _in(self, together: set[int]) -> str:
        pairs = [pair for pair in self._pairs() if pair[0].sources & together]
        paired = [id(condition) for condition, _, _ in pairs]
        inside = [c for c in self._inside if c.sources & together and id(c) not in paired]
        if not pairs:
            return self._query(together, inside, "EXISTS (SELECT 1")
        here, there = (", ".join(sides) for sides in list(zip(*pairs, strict=True))[1:])
        here = f"({here})" if len(pairs) > 1 else here
        return self._query(together, inside, f"{here} IN (SELECT {there}")

    def _query(self, numbers: set[int], inside: list[Placed], head: str) -> str:
        inner = ", ".join(self._text(self.parts.items[i].table) for i in sorted(numbers))
        where = f" WHERE {' AND '.join(c.text for c in inside)}" if inside else ""
        return f"{head} FROM {inner}{where})"

    def _where(self, added: list[str]) -> list[Cut]:
        """WHERE without the conditions that moved, and with those that are new."""
        here, end = self.placed[None], self.parts.end
        moved = [c for c in here if c.sources & self.gone]
        if not here:
            return [(end, end, f" WHERE {' AND '.join(added)}")]
        if len(moved) == len(here):
            whole = Span(here[0].span.start, end)
            left = leftovers(self.statement, whole, [c.span for c in here])
            return [(whole.start, end, left + " AND ".join(added))]
        cuts = bracketed(self.statement, self.parts)
        return [
            *drop(self.statement, moved, here),
            *cuts,
            (end, end, f" AND {' AND '.join(added)}"),
        ]

    def _text(self, span: Span) -> str:
        return self.statement.text[span.start : span.end]


def _connected(kept: list[int], links: Sequence[frozenset[int]]) -> bool:
    """Whether the conditions that stay join all sources that stay to each other."""
    reached = {kept[0]}
    for _ in kept:
        for link in links:
            if link & reached:
                reached |= link
    return set(kept) <= reached
