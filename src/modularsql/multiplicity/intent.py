"""Does the question want the copies? What can be known of it, cheaply and in the open.

Two tables of signs. `AGAINST` speak for the copies: one that holds, and a repair is only
suggested. `FOR_DISTINCT` say that a question asks for values, not for rows: one that holds, and
copies in the result are a fault even where no join made them. Without a question only the
query itself speaks. Signs against have names: a policy that was fitted to somebody's own gold may
pass one over (`SIGNS`).
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import NamedTuple

from sqlglot import exp

from modularsql.multiplicity.aggregates import COUNTS, counts_rows, is_distinct, is_key_of_entity
from modularsql.multiplicity.algebra import union
from modularsql.multiplicity.columns import conjuncts
from modularsql.multiplicity.model import Block, Source, called
from modularsql.multiplicity.question import (
    Question,
    asks_for_different,
    asks_for_values,
    asks_how_many,
    asks_of,
    asks_of_each,
    mentions,
    name_stems,
    names_one_of_several,
)
from modularsql.multiplicity.registry import Issue
from modularsql.multiplicity.rules.facts.labels import name_of
from modularsql.multiplicity.words import names


class Doubt(NamedTuple):
    """A sign that holds, by its name, and why it speaks against a repair."""

    sign: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Sign:
    """One feature, and what it says where it holds."""

    name: str
    reason: str
    holds: Callable[[Issue, Question | None], bool]


def _orders_by_multiplier(issue: Issue, question: Question | None) -> bool:
    order = issue.block.select.args.get("order")
    homes = [issue.block.columns.get(id(c)) for c in order.find_all(exp.Column)] if order else []
    return any(home is not None and home[0] in issue.multipliers for home in homes)


def _repeating(issue: Issue) -> tuple[Source, ...]:
    """Every source that the entity does not settle: what repeats it, and what comes with that."""
    reach = issue.block.rows.closure(union(s.relation.ids for s in issue.entity) | issue.within)
    return tuple(s for s in issue.block.sources if s.relation.ids & ~reach)


def _asks_of_each_multiplier(issue: Issue, question: Question | None) -> bool:
    return question is not None and _any(asks_of_each, question, _repeating(issue))


def _names_several(issue: Issue, question: Question | None) -> bool:
    """`What is the publisher for A, B and C`: an answer for each of them."""
    if question is None or not names_one_of_several(question):
        return False
    where = issue.block.select.args.get("where")
    for part in conjuncts(where.this if where else None):
        several = isinstance(part, exp.Or) or (
            isinstance(part, exp.In) and len(part.expressions) > 1
        )
        homes = [issue.block.columns.get(id(column)) for column in part.find_all(exp.Column)]
        if several and any(home and home[0] in issue.multipliers for home in homes):
            return True
    return False


AGAINST: tuple[Sign, ...] = (
    Sign(
        name="order",
        reason="the result is ordered by the table that repeats its rows",
        holds=_orders_by_multiplier,
    ),
    Sign(
        name="limit",
        reason="LIMIT cuts the rows",
        holds=lambda issue, question: issue.block.is_cut and not issue.block.is_aggregate,
    ),
    Sign(
        name="each",
        reason="the question asks for each of them",
        holds=_asks_of_each_multiplier,
    ),
    Sign(
        name="several",
        reason="the question names several and asks about each",
        holds=_names_several,
    ),
)
COUNTS_ROWS, LOOKS_UP, WROTE_DISTINCT = "counts_rows", "looks_up", "wrote_distinct"
SIGNS = (*(sign.name for sign in AGAINST), COUNTS_ROWS, LOOKS_UP, WROTE_DISTINCT)
"""The names of all signs against; the last one is looked at where DISTINCT stands in a query."""


def against(issue: Issue, question: Question | None) -> tuple[Doubt, ...]:
    """Why the copies that an issue finds may be meant; () where nothing says so."""
    if asks_for_different(question):
        return ()
    return tuple(Doubt(s.name, s.reason) for s in AGAINST if s.holds(issue, question))


def may_count_rows(issue: Issue, question: Question | None) -> tuple[Doubt, ...]:
    """Why a COUNT that a join inflates may be meant as it is; () where nothing says so.

    COUNT of a key counts things, unless it is called after others (`COUNT(c.id) AS orders`), or
    others are asked for (`How many orders …`). COUNT of another column,
    `100 * SUM(g.sex = 'F') / COUNT(g.sex)`, is often written for the rows of the join, which the
    parent merely describes.
    """
    block = issue.block
    one = next((a for a in block.aggregates if a.node is issue.node), None)
    if one is None or one.kind not in COUNTS or one.argument is None:
        return ()
    what = names(issue.multipliers, block)
    if issue.multipliers and _is_of_multipliers(issue, question):
        said = f"by its name or by the question it is to count rows of {what}"
        return (Doubt(COUNTS_ROWS, said),)
    if is_key_of_entity(block, one):
        return ()
    if any(counts_rows(block, other) for other in block.aggregates if other is not one):
        return (Doubt(COUNTS_ROWS, f"what stands beside it counts rows of {what}"),)
    entity = question is not None and _any(mentions, question, issue.entity)
    others = question is not None and _any(mentions, question, issue.multipliers)
    if entity and not others:
        return ()
    said = f"a COUNT of a column that is no key is often meant to count rows of {what}"
    return (Doubt(COUNTS_ROWS, said),)


def may_look_up(issue: Issue, question: Question | None) -> tuple[Doubt, ...]:
    """Why a sum or average that a join inflates may be meant as it is; () where nothing says so.

    `FROM sale s JOIN track t ON t.id = s.track_id` begins with the sales and looks each one's track
    up: SUM(t.minutes) is then the minutes sold. Not where the question names tracks only.
    """
    block = issue.block
    one = next((a for a in block.aggregates if a.node is issue.node), None)
    if one is None or one.kind in COUNTS or is_distinct(one) or not issue.multipliers:
        return ()
    first = block.sources[0]
    if first not in _repeating(issue):
        return ()
    if union(s.relation.ids for s in issue.entity) & ~block.rows.closure(first.relation.ids):
        return ()
    entity = question is not None and _any(mentions, question, issue.entity)
    others = question is not None and _any(mentions, question, issue.multipliers)
    if entity and not others:
        return ()
    what = names((first,), block)
    said = f"FROM begins with {what}: the value looked up for each of its rows may be meant"
    return (Doubt(LOOKS_UP, said),)


def _is_of_multipliers(issue: Issue, question: Question | None) -> bool:
    called_so = _called(issue)
    own = {stem for source in issue.entity for name in source.called for stem in name_stems(name)}
    for source in _repeating(issue):
        words = [set(name_stems(name)) - own for name in source.called]
        if own.isdisjoint(called_so) and any(stems and stems <= called_so for stems in words):
            return True
    return question is not None and _asks_how_many_multipliers(issue, question)


def _called(issue: Issue) -> set[str]:
    """The words of the name that the result gives to what an issue stands at."""
    return {
        stem
        for shown in issue.block.select.selects
        if isinstance(shown, exp.Alias) and any(node is issue.node for node in shown.walk())
        for stem in name_stems(shown.alias)
    }


def _asks_how_many_multipliers(issue: Issue, question: Question) -> bool:
    """Whether only their number is asked for, and nothing else in the query counts them."""
    asked = [s for s in _repeating(issue) if _any(asks_how_many, question, (s,))]
    others = [a for a in issue.block.aggregates if a.node is not issue.node]
    if any(source in aggregate.sources for source in asked for aggregate in others):
        return False
    return bool(asked) and not _any(asks_how_many, question, issue.entity)


def asks_for_distinct(block: Block, question: Question | None) -> str | None:
    """Why a question wants each value once, whatever the tables hold; None where it does not."""
    if question is None or block.is_aggregate or block.is_cut or not block.outputs:
        return None
    if asks_for_different(question):
        return "the question asks for different values"
    names_ = _column_names(block) if len(block.outputs) == 1 else ()
    if any(asks_for_values(question, name) for name in names_):
        return f"the question asks for values of {block.outputs[0].name}"
    target = _reference(block)
    if target is not None and mentions(question, target):
        rows = [source for source in block.sources if source.name != target]
        if asks_of(question, target) or not _any(mentions, question, rows):
            return f"the question asks for rows of {target}, and the query lists references to it"
    return None


def _any(
    asks: Callable[[Question, str], bool], question: Question, sources: Iterable[Source]
) -> bool:
    """Whether it asks so of one of the sources, by its name or by what describes it."""
    return any(asks(question, name) for source in sources for name in source.called)


def _column_names(block: Block) -> tuple[str, ...]:
    """What the first output may be called: its name, and what describes the column."""
    output = block.outputs[0]
    home = block.columns.get(id(output.expression))
    table = home[0].table if home is not None else None
    column = table.column(home[1]) if table is not None and home is not None else None
    return called(output.name, column.description if column is not None else "")


def shows_name(block: Block) -> bool:
    """Whether an output column is what the rows of a table are called by."""
    shown = union(output.attribute for output in block.outputs)
    return any(name_of(source, shown) is not None for source in block.sources)


def _reference(block: Block) -> str | None:
    """The table that all outputs refer to by foreign keys, if there is one."""
    targets = {_target(output.expression, block) for output in block.outputs}
    return targets.pop() if len(targets) == 1 else None


def _target(expression: exp.Expr, block: Block) -> str | None:
    found = block.columns.get(id(expression))
    if found is None:
        return None
    source: Source = found[0]
    for key in source.table.foreign_keys if source.table else ():
        if [name.casefold() for name in key.columns] == [found[1]]:
            return key.target
    return None
