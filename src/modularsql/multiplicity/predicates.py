"""Conditions as facts: which columns they make equal, constant or not NULL."""

from sqlglot import exp

from modularsql.multiplicity.algebra import TRUE, Predicate
from modularsql.multiplicity.columns import bare, conjuncts, is_chance, literal_fits, own_parts
from modularsql.multiplicity.context import Context
from modularsql.multiplicity.model import Block
from modularsql.multiplicity.names import resolve

_COMPARES = (
    exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE, exp.Like, exp.ILike, exp.Glob,
)  # fmt: skip
_STRICT = (
    exp.Add, exp.Sub, exp.Mul, exp.Div, exp.Mod, exp.Neg, exp.Paren, exp.Lower, exp.Upper,
    exp.Abs, exp.Round, exp.Length, exp.Substring, exp.Trim, exp.DPipe,
)  # fmt: skip


def predicate(condition: exp.Expr | None, block: Block, context: Context) -> Predicate:
    """The facts of a condition that must hold (ON, WHERE), of the block's own attributes."""
    result = TRUE
    for part in conjuncts(condition):
        result &= _part(part, block, context)
    return result


def _part(part: exp.Expr, block: Block, context: Context) -> Predicate:
    mentioned, opaque = 0, False
    for inner in own_parts(part):
        if isinstance(inner, exp.Column):
            mentioned |= resolve(inner, block, context)
        elif isinstance(inner, exp.Query) or is_chance(inner):
            # A subquery's outcome may depend on more than the columns it names.
            opaque = True
    mentioned &= block.attributes
    facts = _equality(part, block, context)
    return facts & Predicate(
        mentioned=mentioned,
        not_null=_rejected(part, block, context) & block.attributes,
        fragile=0 if facts is not TRUE else context.fragile(mentioned),
        opaque=opaque,
    )


def _equality(part: exp.Expr, block: Block, context: Context) -> Predicate:
    """What a condition says by being an equality; TRUE for any other."""
    if isinstance(part, exp.EQ | exp.NullSafeEQ):
        return equality(part.this, part.expression, block, context)
    if isinstance(part, exp.Is) and isinstance(part.expression, exp.Null):
        return _constant(_column(part.this, block, context), block)
    if isinstance(part, exp.In) and len(part.expressions) == 1:
        return equality(part.this, part.expressions[0], block, context)
    return TRUE


def equality(left: exp.Expr, right: exp.Expr, block: Block, context: Context) -> Predicate:
    """What `left = right` says; a column of a block around has one value for each run."""
    one, other = _column(left, block, context), _column(right, block, context)
    if one and other:
        if one == other or not context.comparable(one, other):
            return TRUE
        if (one | other) & ~block.attributes:
            return _constant(one | other, block)
        return Predicate(equal=((one, other),))
    for column, value in ((one, right), (other, left)):
        if column and _is_constant(column, value, block, context):
            return _constant(column, block)
    return TRUE


def _constant(column: int, block: Block) -> Predicate:
    own = column & block.attributes
    return Predicate(constant=own) if own else TRUE


def _is_constant(column: int, value: exp.Expr, block: Block, context: Context) -> bool:
    value = bare(value)
    inner = value.this if isinstance(value, exp.Neg) else value
    if isinstance(inner, exp.Literal | exp.Boolean):
        return literal_fits(context.kind(column), value, context.dialect)
    # A bound value, and a double-quoted string, come without a type of their own in SQLite.
    plain = isinstance(value, exp.Placeholder | exp.Parameter)
    plain = plain or any(value is literal for literal in block.literals)
    return plain and context.reads.affinities and context.kind(column) is not None


def _column(expression: exp.Expr, block: Block, context: Context) -> int:
    """The attribute of an expression that is a bare column, 0 otherwise."""
    expression = bare(expression)
    return resolve(expression, block, context) if isinstance(expression, exp.Column) else 0


def _rejected(part: exp.Expr, block: Block, context: Context) -> int:
    """Columns that are not NULL in rows for which the part is true."""
    part = bare(part)
    if isinstance(part, exp.And):
        return _rejected(part.this, block, context) | _rejected(part.expression, block, context)
    if isinstance(part, exp.Or):
        return _rejected(part.this, block, context) & _rejected(part.expression, block, context)
    if isinstance(part, exp.Not):
        return _rejected_by_not(bare(part.this), block, context)
    if isinstance(part, exp.In):
        return _strict(part.this, block, context)
    if isinstance(part, exp.Between):
        return _strict_all((part.this, part.args["low"], part.args["high"]), block, context)
    if isinstance(part, _COMPARES) and not _quantified(part):
        return _strict_all((part.this, part.expression), block, context)
    return 0


def _rejected_by_not(inner: exp.Expr, block: Block, context: Context) -> int:
    if isinstance(inner, exp.Is):
        is_null = isinstance(inner.expression, exp.Null)
        return _strict(inner.this, block, context) if is_null else 0
    if isinstance(inner, exp.In):
        # NOT IN over no rows is true even of NULL.
        return _strict(inner.this, block, context) if inner.expressions else 0
    if isinstance(inner, exp.Between):
        return _strict(inner.this, block, context)
    if isinstance(inner, _COMPARES) and not _quantified(inner):
        return _strict_all((inner.this, inner.expression), block, context)
    return 0


def _quantified(comparison: exp.Expr) -> bool:
    """Whether it compares with ALL or ANY rows of a query: over no rows, NULL passes or fails."""
    return isinstance(comparison.args.get("expression"), exp.All | exp.Any)


def _strict_all(sides: tuple[exp.Expr, ...], block: Block, context: Context) -> int:
    result = 0
    for side in sides:
        result |= _strict(side, block, context)
    return result


def _strict(expression: exp.Expr, block: Block, context: Context) -> int:
    """Columns whose NULL makes the whole expression NULL."""
    if isinstance(expression, exp.Column):
        return resolve(expression, block, context)
    if isinstance(expression, _STRICT):
        return _strict_all(tuple(expression.iter_expressions()), block, context)
    return 0
