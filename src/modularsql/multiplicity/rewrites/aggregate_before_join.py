"""Aggregates take each row of their entity once, although the join repeats it.

    SELECT f.name, SUM(s.crew), COUNT(DISTINCT c.id) FROM … GROUP BY f.name
    SELECT q.name, SUM(q.crew) FILTER (WHERE q.nth_s = 1), COUNT(DISTINCT q.id)
    FROM (SELECT f.name, s.crew, c.id,
                 ROW_NUMBER() OVER (PARTITION BY f.name, s.id) AS nth_s FROM …) AS q
    GROUP BY q.name

The copies of a row are numbered within each group, and an aggregate takes the first: a symmetric
aggregate, as Looker and Malloy call it. FROM and WHERE move as they are, so groups, other
aggregates, HAVING and ORDER BY see the rows they saw before; SUM over nothing stays NULL.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

from sqlglot import exp
from sqlglot.tokenizer_core import TokenType

from modularsql.multiplicity.aggregates import (
    AVERAGES,
    EXTREMES,
    LISTS,
    SUMS,
    arguments,
    is_distinct,
    is_immune,
    measured,
    within,
)
from modularsql.multiplicity.columns import is_volatile, own_columns
from modularsql.multiplicity.grain import multiplied
from modularsql.multiplicity.measure import groups_of
from modularsql.multiplicity.model import Aggregate, Block, Source
from modularsql.multiplicity.registry import Issue
from modularsql.multiplicity.rewrites.edits import (
    Cut,
    Edit,
    Promise,
    Rewritten,
    call,
    declared,
    first_place,
    free_name,
    has_positions,
    last_place,
    spliced,
    written,
)
from modularsql.multiplicity.rewrites.identity import key_of, weakest
from modularsql.records import Evidence
from modularsql.sql.clauses import Clauses, clauses
from modularsql.sql.dialects import dialect_of
from modularsql.sql.named import table_alias
from modularsql.sql.outermost import Declined
from modularsql.sql.statement import Statement

_OUTSIDE = ("expressions", "group", "having", "order", "qualify", "windows")
_STRICT = (exp.Binary, exp.Neg, exp.Paren, exp.Cast, exp.Column, exp.Literal, exp.DataType)
"""What is NULL where one of its columns is."""


def aggregate_before_join(statement: Statement, issue: Issue, dialect: str) -> Rewritten:
    """Every aggregate of the SELECT that sees copies takes one row of (group, entity).

    Promises the same groups. SUM and AVG(DISTINCT x), written against the copies, lose the
    DISTINCT, which would drop equal values of different rows.
    """
    block, parts = issue.block, clauses(statement)
    reason = _obstacle(block, issue)
    if reason or parts is None or len(parts.items) != len(block.sources):
        return Declined(reason=reason or "its FROM clause could not be taken apart")
    work = _Work(statement, block, dialect, free_name(statement, "q", "once", "q_once"))
    for aggregate in _copied(block):
        problem = work.take_once(aggregate)
        if problem:
            return Declined(reason=problem)
    if not work.numbers:
        return Declined(reason="no join repeats what it aggregates")
    problem = work.move_columns()
    if problem:
        return Declined(reason=problem)
    cuts = [*work.cuts, *_derived(work, parts), *_kept_columns(work, parts)]
    text = spliced(statement.text, cuts)
    return Edit(text, Promise.GROUPS, weakest(*work.grades))


def _obstacle(block: Block, issue: Issue) -> str | None:
    if not any(a.node is issue.node for a in block.aggregates):
        return "it is about no aggregate"
    if block.is_regrouped or block.correlated or block.unknown:
        return "its groups, or names in it, are not known well enough"
    group = block.select.args.get("group")
    if group is not None and group.args.get("all"):
        return "its groups are not written out"
    if any(has_positions(term) for term in groups_of(block)):
        return "a ? in GROUP BY would stand for two values"
    if is_volatile(block.select):
        return "it uses a function that may give another value each time"
    if block.merged and not block.is_merge_known:
        return "it has a NATURAL join whose columns are not known"
    return None


def _copied(block: Block) -> Iterator[Aggregate]:
    """Aggregates that see a row of what they measure more than once."""
    for aggregate in block.aggregates:
        entity = measured(block, aggregate)
        found = multiplied(block, entity, within(block)) if entity else None
        if found is None or aggregate.kind in EXTREMES:
            continue
        if is_distinct(aggregate):
            if aggregate.kind in SUMS | AVERAGES:
                yield aggregate
        elif not is_immune(block, aggregate, found, block.rows):
            yield aggregate


@dataclass(slots=True)
class _Work:
    """The edits so far: `numbers` are numberings of copies by their PARTITION BY."""

    statement: Statement
    block: Block
    dialect: str
    alias: str
    cuts: list[Cut] = field(default_factory=list)
    numbers: dict[str, str] = field(default_factory=dict)
    grades: list[Evidence] = field(default_factory=list)
    inner: dict[tuple[str, str], str] = field(default_factory=dict)

    def take_once(self, aggregate: Aggregate) -> str | None:
        """Let an aggregate see the first copy only; why that is not possible, else None."""
        node, place = aggregate.node, call(self.statement, aggregate.node)
        if place is None or isinstance(node.parent, exp.Filter | exp.Window | exp.WithinGroup):
            return "the aggregate has a clause of its own"
        name = self._number(aggregate)
        if name is None:
            return "a table that it measures has no key to tell its rows apart"
        tokens = self.statement.tokens
        start, end = tokens[place[0]].end + 1, tokens[place[1]].start
        if is_distinct(aggregate):
            word = tokens[place[0] + 1]
            if word.token_type != TokenType.DISTINCT:
                return "its DISTINCT was not found in the text"
            self.cuts.append((word.start, tokens[place[0] + 2].start, ""))
        if dialect_of(self.dialect).aggregate_filter:
            self.cuts.append((end + 1, end + 1, f" FILTER (WHERE {name} = 1)"))
        elif aggregate.kind in LISTS or len(arguments(aggregate)) != 1:
            return "the dialect has no FILTER to leave copies out of a list"
        else:
            self.cuts += [(start, start, f"CASE WHEN {name} = 1 THEN "), (end, end, " END")]
        return None

    def _number(self, aggregate: Aggregate) -> str | None:
        """The column that numbers the copies of what an aggregate measures; None without a key."""
        entity = measured(self.block, aggregate)
        keys = [key_of(source, self.dialect) for source in entity]
        if all(s.optional for s in entity) and not _is_strict(aggregate):
            return None  # rows of nothing would count as one row
        by = [part.sql(dialect=self.dialect, comments=False) for part in groups_of(self.block)]
        for key in keys:
            if key is None:
                return None
            by += key.columns
            self.grades.append(key.evidence)
        for argument in arguments(aggregate):
            # A value that other tables decide on (CASE WHEN line.kind = …): each value once.
            used = {id(self.block.columns[id(c)][0]) for c in own_columns(argument)
                    if id(c) in self.block.columns}  # fmt: skip
            if used - {id(source) for source in entity}:
                by.append(argument.sql(dialect=self.dialect, comments=False))
        partition = ", ".join(dict.fromkeys(by))
        if partition not in self.numbers:
            wanted = "_".join(["nth", *(source.alias for source in entity)])
            self.numbers[partition] = self._unused(wanted)
        return f"{self.alias}.{written(self.numbers[partition], self.dialect)}"

    def _unused(self, wanted: str) -> str:
        taken = {name.casefold() for name in (*self.numbers.values(), *self.inner.values())}
        taken |= {name for source in self.block.sources for name in source.columns}
        several = (f"{wanted}_{i}" for i in range(2, 99))
        return next(name for name in (wanted, *several) if name.casefold() not in taken)

    def move_columns(self) -> str | None:
        """Let what stands outside FROM and WHERE name the columns of the derived table."""
        select = self.block.select
        for clause in _OUTSIDE:
            for part in _parts(select.args.get(clause)):
                if part.find(exp.Query) is not None:
                    return "a subquery outside WHERE may use its columns"
                for node in part.find_all(exp.Column, exp.Star):
                    problem = self._move(node)
                    if problem:
                        return problem
        return None

    def _move(self, node: exp.Expr) -> str | None:
        if isinstance(node, exp.Star):
            return None if isinstance(node.parent, exp.Count) else "it returns *"
        source = self._source(node)
        if source is None or not isinstance(node, exp.Column):
            return None  # an alias of the result, or a literal
        if source not in self.block.sources:
            return "it uses a column of the query around"
        start, end = first_place(node), last_place(node)
        if start is None or end is None:
            return "the place of a column is not known"
        text = self.statement.text[start : end + 1]
        name = self._column(source, node, text)
        item = node.parent is self.block.select and node.arg_key == "expressions"
        renamed = item and name.casefold() != node.name.casefold()
        called = f" AS {self._written(node.name, node)}" if renamed else ""
        outside = f"{self.alias}.{self._written(name, node)}{called}"
        self.cuts.append((start, end + 1, outside))
        return None

    def place_of(self, node: exp.Column) -> str | None:
        """A moved column as it is called outside; None for what was not moved."""
        source = self._source(node)
        key = f"{source.alias}.{node.name}".casefold() if source is not None else ""
        name = next((n for (known, _), n in self.inner.items() if known == key), None)
        return None if name is None else f"{self.alias}.{self._written(name, node)}"

    def _source(self, node: exp.Expr) -> Source | None:
        """Where a column comes from; terms of GROUP BY that repeat an output are not noted."""
        found = self.block.columns.get(id(node))
        if found is None and isinstance(node, exp.Column) and node.table:
            return self.block.source(node.table)
        return found[0] if found is not None else None

    def _column(self, source: Source, node: exp.Column, text: str) -> str:
        """The name of a column in the derived table, which gets it if it has it not yet."""
        for (known, _), name in self.inner.items():
            if known == f"{source.alias}.{node.name}".casefold():
                return name
        name = node.name
        if name.casefold() in {
            n.casefold() for n in (*self.inner.values(), *self.numbers.values())
        }:
            name = self._unused(f"{source.alias}_{node.name}")
        shown = text if name == node.name else f"{text} AS {self._written(name, node)}"
        self.inner[(f"{source.alias}.{node.name}".casefold(), shown)] = name
        return name

    def _written(self, name: str, node: exp.Column) -> str:
        """A name for a column; in quotes where they keep its letters in the text."""
        quoted = isinstance(node.this, exp.Identifier) and node.this.quoted
        return declared(name, self.dialect) if quoted else written(name, self.dialect)


def _is_strict(aggregate: Aggregate) -> bool:
    """Whether it is NULL where its columns are."""
    return all(isinstance(n, _STRICT) for a in arguments(aggregate) for n in _own(a))


def _own(argument: exp.Expr) -> Iterator[exp.Expr]:
    return (n for n in argument.walk(prune=lambda n: isinstance(n, exp.Column)))


def _kept_columns(work: _Work, parts: Clauses) -> list[Cut]:
    """What a key in GROUP BY settled goes there itself: the derived table has no key."""
    block, group = work.block, parts.after.get(TokenType.GROUP_BY)
    if group is None or dialect_of(work.dialect).bare_columns != "of_key":
        return []
    inside = {id(part) for a in block.aggregates for part in a.node.walk()}
    inside |= {id(term) for term in groups_of(block)}
    beside = [
        column
        for clause in _OUTSIDE
        for part in _parts(block.select.args.get(clause))
        if clause != "group"
        for column in part.find_all(exp.Column)
        if id(column) not in inside and id(column) in block.columns
    ]
    named = {work.place_of(term) for term in groups_of(block) if isinstance(term, exp.Column)}
    more = [p for p in dict.fromkeys(map(work.place_of, beside)) if p and p not in named]
    return [(group.end, group.end, "".join(f", {place}" for place in more))]


def _parts(value: object) -> list[exp.Expr]:
    several = value if isinstance(value, list) else [value]
    return [part for part in several if isinstance(part, exp.Expr)]


def _derived(work: _Work, parts: Clauses) -> list[Cut]:
    """FROM and WHERE inside a derived table that numbers the copies."""
    shown = [text for _, text in work.inner]
    ordered = "" if dialect_of(work.dialect).numbers_unordered else " ORDER BY {0}"
    number = "ROW_NUMBER() OVER (PARTITION BY {0}" + ordered + ") AS {1}"
    shown += [number.format(by, written(name, work.dialect)) for by, name in work.numbers.items()]
    return [
        (parts.start, parts.start, f"FROM (SELECT {', '.join(shown)} "),
        (parts.end, parts.end, f"){table_alias(work.alias, work.dialect)}"),
    ]
