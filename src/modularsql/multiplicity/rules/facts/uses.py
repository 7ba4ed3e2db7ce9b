"""What becomes of the rows a block returns: does anybody see that some come twice?"""

from enum import StrEnum

from sqlglot import exp


class Use(StrEnum):
    """How the rows of a SELECT are used."""

    RESULT = "result"
    FROM = "from"  # a derived table or CTE
    SET = "set"  # IN, EXISTS, ANY, ALL: copies change nothing
    UNION = "union"  # UNION, INTERSECT, EXCEPT: copies are dropped
    SCALAR = "scalar"  # a value


def use_of(select: exp.Expr) -> Use:
    """How the rows of a SELECT are used, by what stands around it."""
    node = select
    while (around := node.parent) is not None:
        if isinstance(around, exp.SetOperation):
            if around.args.get("distinct") is not False:
                return Use.UNION
        elif not isinstance(around, exp.Subquery | exp.Paren):
            return _inside(node, around)
        node = around
    return Use.RESULT


def _inside(node: exp.Expr, around: exp.Expr) -> Use:
    if isinstance(around, exp.Exists | exp.Any | exp.All):
        return Use.SET
    if isinstance(around, exp.In):
        return Use.SET if node.arg_key == "query" else Use.SCALAR
    if isinstance(around, exp.From | exp.Join | exp.CTE | exp.Lateral | exp.Table):
        return Use.FROM
    return Use.SCALAR


def copies_show(select: exp.Expr) -> bool:
    """Whether a row that comes twice is seen as such outside.

    Not in a set, and not in a derived table of a SELECT DISTINCT or of a set.
    """
    use = use_of(select)
    if use == Use.FROM:
        outer = select.parent.find_ancestor(exp.Select, exp.CTE) if select.parent else None
        if isinstance(outer, exp.Select):
            return not outer.args.get("distinct") and copies_show(outer)
    return use in (Use.RESULT, Use.FROM)
