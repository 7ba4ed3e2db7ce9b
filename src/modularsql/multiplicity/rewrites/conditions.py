"""The conditions of ON, USING and WHERE: their text, and the sources each depends on."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sqlglot import exp

from modularsql.multiplicity.model import Block, Source
from modularsql.multiplicity.rewrites.edits import Cut
from modularsql.sql.clauses import Clauses, Condition, Span, leftovers
from modularsql.sql.quote import quoted
from modularsql.sql.statement import Statement


@dataclass(frozen=True, slots=True)
class Placed:
    """One condition: its text, fit to stand beside AND, and the positions of its sources.

    `span` is where it stands and `joint` the AND before it. `tree` is None for a name in USING.
    `sides` are those of an equality: their text, and the positions of their sources.
    """

    text: str
    sources: frozenset[int]
    span: Span
    joint: Span | None
    tree: exp.Expr | None
    sides: tuple[tuple[str, frozenset[int]], ...] = ()


def conditions(
    statement: Statement, block: Block, parts: Clauses, dialect: str
) -> dict[int | None, list[Placed]] | None:
    """Conditions of each item's ON or USING by its position, WHERE's under None.

    None where text and tree do not pair up, or a name is not resolved.
    """
    found: dict[int | None, list[Placed]] = {}
    for number, (source, item) in enumerate(zip(block.sources, parts.items, strict=True)):
        on = source.join.args.get("on") if source.join is not None else None
        here: list[Placed] | None = []
        if item.using:
            here = _using(block, number, item.conditions[0], dialect)
        elif item.conditions or on is not None:
            here = _matched(statement, item.conditions, on, block)
        if here is None:
            return None
        found[number] = here
    where = block.select.args.get("where")
    here = _matched(statement, parts.conditions, where.this if where else None, block)
    if here is None:
        return None
    found[None] = here
    return found


def _using(block: Block, number: int, condition: Condition, dialect: str) -> list[Placed] | None:
    """USING written out, name by name; None where a name is in more than one table before."""
    source = block.sources[number]
    names = (source.join or exp.Join()).args.get("using") or ()
    found = []
    for name in names:
        folded = name.name.casefold()
        homes = [i for i in range(number) if folded in block.sources[i].columns]
        if len(homes) != 1:
            return None
        sides = [
            exp.column(name.copy(), table=block.sources[i].qualifier).sql(dialect=dialect)
            for i in (homes[0], number)
        ]
        used = (frozenset({homes[0]}), frozenset({number}))
        both = tuple(zip(sides, used, strict=True))
        found.append(Placed(" = ".join(sides), used[0] | used[1], condition.span, None, None, both))
    return found


def _matched(
    statement: Statement, spans: Sequence[Condition], tree: exp.Expr | None, block: Block
) -> list[Placed] | None:
    """Texts and trees of the same conditions side by side; None where they do not pair up."""
    trees = list(_parts(tree)) if tree is not None else []
    if len(trees) != len(spans):
        return None
    result = []
    for one, part in zip(spans, trees, strict=True):
        used = _used(part, block)
        if used is None:
            return None
        text = statement.text[one.span.start : one.span.end]
        beside = f"({text})" if isinstance(part, exp.Or | exp.Xor) else text
        result.append(Placed(beside, used, one.span, one.joint, part, _sides(part, block)))
    return result


def _sides(part: exp.Expr, block: Block) -> tuple[tuple[str, frozenset[int]], ...]:
    if not isinstance(part, exp.EQ):
        return ()
    return tuple(
        (quoted(side), _used(side, block) or frozenset()) for side in (part.this, part.expression)
    )


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


def drop(statement: Statement, some: Sequence[Placed], chain: Sequence[Placed]) -> list[Cut]:
    """Cuts that take conditions out of a chain by AND, not all of them; comments stay."""
    cuts: list[Cut] = []
    leading = True
    for number, one in enumerate(chain):
        if one not in some:
            leading = False
        elif leading:  # nothing stays before it: the AND behind it goes along
            behind = chain[number + 1]
            cuts.append(_gap(statement, Span(one.span.start, behind.span.start), one))
        else:
            cuts.append(_gap(statement, Span(chain[number - 1].span.end, one.span.end), one))
    return cuts


def _gap(statement: Statement, stretch: Span, one: Placed) -> Cut:
    left = leftovers(statement, stretch, [one.span])
    return (stretch.start, stretch.end, f" {left}" if left else "")
