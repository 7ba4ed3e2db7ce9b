"""Tables that multiply each other are aggregated one by one, then joined to what they hang on.

    SELECT b.name, SUM(l.price), SUM(r.stars) FROM bakery b
    LEFT JOIN loaf l ON l.bakery = b.id LEFT JOIN review r ON r.bakery = b.id GROUP BY b.id
    SELECT b.name, l.sum_1, r.sum_2 FROM bakery b
    LEFT JOIN (SELECT l.bakery, SUM(l.price) AS sum_1 FROM loaf l GROUP BY l.bakery) AS l
      ON l.bakery = b.id
    LEFT JOIN (SELECT r.bakery, SUM(r.stars) AS sum_2 FROM review r GROUP BY r.bakery) AS r
      ON r.bakery = b.id

The trunk are the tables of which a group holds one row; each arm hangs on it by equalities.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from sqlglot import exp
from sqlglot.tokenizer_core import TokenType

from modularsql.multiplicity.aggregates import COUNTS, within
from modularsql.multiplicity.columns import is_volatile, own_columns
from modularsql.multiplicity.grain import identities
from modularsql.multiplicity.model import Aggregate, Block, JoinKind
from modularsql.multiplicity.registry import Issue
from modularsql.multiplicity.rewrites.conditions import Placed, conditions, drop
from modularsql.multiplicity.rewrites.edits import (
    Cut,
    Edit,
    Promise,
    Rewritten,
    call,
    has_positions,
    spliced,
    written,
)
from modularsql.records import Evidence
from modularsql.sql.clauses import Clauses, Span, clauses, leftovers
from modularsql.sql.named import table_alias
from modularsql.sql.outermost import Declined
from modularsql.sql.statement import Statement

_ELSEWHERE = ("having", "qualify", "windows", "distinct")


@dataclass(slots=True)
class _Arm:
    """Sources that hang on the trunk together, by the first of them.

    `links` are its equalities with the trunk, `inside` conditions on it alone, `keys` its own
    columns in the links, `aggregates` what is computed of it, with the names they get.
    """

    sources: list[int]
    links: list[Placed] = field(default_factory=list)
    inside: list[Placed] = field(default_factory=list)
    keys: list[exp.Column] = field(default_factory=list)
    aggregates: list[tuple[str, str]] = field(default_factory=list)


def split_chasm(statement: Statement, issue: Issue, dialect: str) -> Rewritten:
    """Each arm is aggregated for itself. Promises the same groups.

    A LEFT JOIN stays one, with COUNT 0 and SUM NULL where there is nothing; an inner join still
    leaves out what has no match.
    """
    block, parts = issue.block, clauses(statement)
    trunk, grade = _trunk(block)
    reason = _obstacle(block, trunk, grade)
    if reason or parts is None or len(parts.items) != len(block.sources) or grade is None:
        return Declined(reason=reason or "its FROM clause could not be taken apart")
    placed = conditions(statement, block, parts, dialect)
    arms = _arms(block, placed, trunk) if placed is not None else None
    if placed is None or arms is None or len(arms) < 2:
        return Declined(reason="its tables do not hang on one by equalities, each by itself")
    split = _Split(statement, block, dialect, parts, arms)
    problem = split.take_aggregates()
    if problem:
        return Declined(reason=problem)
    return Edit(spliced(statement.text, split.cuts(placed[None])), Promise.GROUPS, grade)


def _trunk(block: Block) -> tuple[frozenset[int], Evidence | None]:
    """Positions of the sources of which a group holds one row, and how sure that is."""
    fixed = block.rows.closure(within(block))
    found = frozenset(i for i, s in enumerate(block.sources) if not s.relation.ids & ~fixed)
    ids = identities([block.sources[i] for i in found])
    return found, block.rows.determines(within(block), ids) if found else None


def _obstacle(block: Block, trunk: frozenset[int], grade: Evidence | None) -> str | None:
    if not block.group or not trunk or grade is None:
        return "a group is not one row of a table"
    ids = identities([block.sources[i] for i in trunk])
    if block.group & ~block.rows.closure(ids):
        return "it groups by a column of what is multiplied"
    if block.is_regrouped or block.correlated or block.unknown or block.merged:
        return "its groups, or names in it, are not known well enough"
    if any(block.select.args.get(clause) for clause in _ELSEWHERE):
        return "HAVING, DISTINCT or a window looks at its groups"
    if 0 not in trunk or any(s.kind not in _PLAIN for s in block.sources):
        return "its joins are not all inner and left ones"
    if has_positions(block.select):
        return "a ? would no longer stand for its value"
    return "it uses chance" if is_volatile(block.select) else None


_PLAIN = (JoinKind.FIRST, JoinKind.INNER, JoinKind.LEFT)


def _arms(
    block: Block, placed: dict[int | None, list[Placed]], trunk: frozenset[int]
) -> list[_Arm] | None:
    """The arms; None where a condition fits none of the forms that can be split."""
    arms: list[_Arm] = []
    for number in range(len(block.sources)):
        if number in trunk:
            if any(c.sources - trunk for c in placed[number]):
                return None
            continue
        here = placed[number]
        beside = {i for c in here for i in c.sources} - trunk - {number}
        arm = next((a for a in arms if beside & set(a.sources)), None)
        if arm is None:
            arm = _Arm([number])
            arms.append(arm)
            if not all(_place(c, arm, trunk, block) for c in here) or not arm.links:
                return None
        else:
            if beside - set(arm.sources) or any(c.sources & trunk for c in here):
                return None
            optional = block.sources[arm.sources[0]].kind == JoinKind.LEFT
            if optional and block.sources[number].kind != JoinKind.LEFT:
                return None
            arm.sources.append(number)
    for condition in placed[None]:
        if condition.sources <= trunk:
            continue
        arm = next((a for a in arms if condition.sources <= set(a.sources)), None)
        if arm is None or block.sources[arm.sources[0]].kind == JoinKind.LEFT:
            return None
        arm.inside.append(condition)
    return arms


def _place(condition: Placed, arm: _Arm, trunk: frozenset[int], block: Block) -> bool:
    """Put a condition of an arm's ON where it belongs; whether it belongs somewhere."""
    if condition.sources == {arm.sources[0]}:
        arm.inside.append(condition)
        return True
    tree = condition.tree
    if not isinstance(tree, exp.EQ) or not condition.sources & trunk:
        return False
    sides = [tree.this, tree.expression]
    if not all(isinstance(side, exp.Column) and id(side) in block.columns for side in sides):
        return False
    homes = [block.columns[id(side)] for side in sides]
    pair = {homes[0][2], homes[1][2]}
    source = block.sources[arm.sources[0]]
    if not any({a, b} == pair for a, b in source.predicate.equal):
        return False  # the two sides do not compare alike
    own = [side for side, home in zip(sides, homes, strict=True) if home[0] is source]
    if len(own) != 1:
        return False
    arm.links.append(condition)
    arm.keys += own
    return True


@dataclass(slots=True)
class _Split:
    """The edits: aggregates outside become columns of the arms."""

    statement: Statement
    block: Block
    dialect: str
    parts: Clauses
    arms: list[_Arm]
    outside: list[Cut] = field(default_factory=list)

    def take_aggregates(self) -> str | None:
        """Give each aggregate to its arm; why that is not possible, else None."""
        taken: set[int] = set()
        for aggregate in self.block.aggregates:
            used = {
                self.block.sources.index(self.block.columns[id(c)][0])
                for c in aggregate.node.find_all(exp.Column)
                if id(c) in self.block.columns
            }
            arm = next((a for a in self.arms if used and used <= set(a.sources)), None)
            place = call(self.statement, aggregate.node)
            if arm is None or place is None or aggregate.node.find(exp.Query) is not None:
                return f"{aggregate.kind} measures no single arm"
            if isinstance(aggregate.node.parent, exp.Filter | exp.Window | exp.WithinGroup):
                return "an aggregate has a clause of its own"
            self._take(aggregate, arm, place)
            taken |= {id(c) for c in aggregate.node.find_all(exp.Column)}
        for column in self._others():
            home = self.block.columns.get(id(column))
            if id(column) in taken or home is None:
                continue
            if any(home[0] is self.block.sources[i] for arm in self.arms for i in arm.sources):
                return f"{column.sql()} stands outside an aggregate"
        return None

    def _others(self) -> Iterator[exp.Column]:
        """The columns in SELECT and ORDER BY."""
        order = self.block.select.args.get("order")
        for part in [*self.block.select.expressions, *([order] if order else [])]:
            yield from own_columns(part) if not part.find(exp.Query) else part.find_all(exp.Column)

    def _take(self, aggregate: Aggregate, arm: _Arm, place: tuple[int, int]) -> None:
        tokens = self.statement.tokens
        start, end = tokens[place[0] - 1].start, tokens[place[1]].end + 1
        text = self.statement.text[start:end]
        name = next((n for t, n in arm.aggregates if t == text), None)
        if name is None:
            count = sum(len(a.aggregates) for a in self.arms) + 1
            name = f"{tokens[place[0] - 1].text.lower()}_{count}"
            arm.aggregates.append((text, name))
        head = self.block.sources[arm.sources[0]]
        shown = f"{head.qualifier.sql(dialect=self.dialect)}.{written(name, self.dialect)}"
        if aggregate.kind in (*COUNTS, "total") and head.kind == JoinKind.LEFT:
            shown = f"COALESCE({shown}, 0)"
        self.outside.append((start, end, shown))

    def cuts(self, where: Sequence[Placed]) -> list[Cut]:
        """All edits of the statement."""
        found = list(self.outside)
        for arm in self.arms:
            found += self._arm(arm)
        moved = [c for c in where if any(c in arm.inside for arm in self.arms)]
        if moved and len(moved) == len(where) and self.parts.where is not None:
            start = self.parts.items[-1].whole.end
            left = leftovers(self.statement, Span(start, self.parts.end), [c.span for c in where])
            found.append((start, self.parts.end, f" {left}" if left else ""))
        else:
            found += drop(self.statement, moved, where)
        span = self.parts.after[TokenType.GROUP_BY]
        left = leftovers(self.statement, span)
        start = len(self.statement.text[: span.start].rstrip()) if not left else span.start
        return [*found, (start, span.end, left)]

    def _arm(self, arm: _Arm) -> list[Cut]:
        """The arm as a derived table where its first table stood."""
        head, text = self.parts.items[arm.sources[0]], self.statement.text
        alias = self.block.sources[arm.sources[0]].qualifier.sql(dialect=self.dialect)
        keys = list(dict.fromkeys(self._text(key) for key in arm.keys))
        shown = [*keys, *(f"{t} AS {written(n, self.dialect)}" for t, n in arm.aggregates)]
        tables = [text[head.table.start : head.table.end]]
        found: list[Cut] = []
        for number in arm.sources[1:]:
            item = self.parts.items[number]
            tables.append(text[item.whole.start : item.whole.end])
            start = self.parts.items[number - 1].whole.end
            found.append((start, item.whole.end, ""))
        where = f" WHERE {' AND '.join(c.text for c in arm.inside)}" if arm.inside else ""
        derived = (
            f"(SELECT {', '.join(shown)} FROM {' '.join(tables)}{where} "
            f"GROUP BY {', '.join(keys)}){table_alias(alias, self.dialect)}"
        )
        carried = [head.table, *(c.span for c in (*arm.inside, *arm.links))]
        lead = head.lead or head.table
        left = leftovers(self.statement, Span(lead.end, head.whole.end), carried)
        on = " AND ".join(c.text for c in arm.links)
        written_ = f" {derived} ON {on}" + (f" {left.rstrip(' ')}" if left else "")
        return [*found, (lead.end, head.whole.end, written_)]

    def _text(self, column: exp.Column) -> str:
        return column.sql(dialect=self.dialect, comments=False)
