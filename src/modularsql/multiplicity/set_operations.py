"""UNION, INTERSECT and EXCEPT: what is known of the rows of several queries together."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from sqlglot import exp

from modularsql.multiplicity import algebra
from modularsql.multiplicity.algebra import Dependency, Part
from modularsql.multiplicity.columns import Kind, bare
from modularsql.multiplicity.context import Context
from modularsql.multiplicity.model import Query


def combined(node: exp.SetOperation, left: Query, right: Query, context: Context) -> Query:
    """The query of a set operation over two queries."""
    by_name = bool(node.args.get("by_name") or node.args.get("on"))
    query = Query(
        node=node,
        relation=algebra.opaque(context.attributes.new("row of the set operation"), 0),
        columns=[],
        complete=left.complete and right.complete and not by_name,
        branches=(left, right),
    )
    if query.complete and isinstance(node, exp.Union):
        _unite(query, context)
    elif query.complete:
        _keep(query, context)
    query.mixed = algebra.union(attribute for _, attribute in query.columns) & context.mixed
    return query


def _is_distinct(query: Query) -> bool:
    return query.node.args.get("distinct") is not False


def _unite(query: Query, context: Context) -> None:
    branches = list(_branches(query, _is_distinct(query)))
    rows = list(zip(*([a for _, a in branch.columns] for branch in branches), strict=False))
    query.columns = [
        (name, context.attributes.new(name))
        for (name, _), _ in zip(branches[0].columns, rows, strict=False)
    ]
    whole = algebra.union(attribute for _, attribute in query.columns)
    links, not_null = [], 0
    for number, ((_, attribute), row) in enumerate(zip(query.columns, rows, strict=True)):
        kind = _common_kind(row, context)
        if kind is not None:
            context.note(attribute, kind)
            links.append((attribute, row))
        elif context.reads.affinities and any(_converts(b, number) for b in branches):
            context.mixed |= attribute
        if all(b.relation.not_null & a for b, a in zip(branches, row, strict=True)):
            not_null |= attribute
    apart = next((a for n, (_, a) in enumerate(query.columns) if _tells_apart(branches, n)), 0)
    if apart:
        parts = [
            Part(branch.relation, tuple((attribute, row[number]) for attribute, row in links))
            for number, branch in enumerate(branches)
        ]
        relation = algebra.stacked(parts, whole, apart)
    else:
        relation = algebra.opaque(query.relation.ids, whole)
    if _is_distinct(query):
        relation = relation.with_dependency(Dependency(whole, relation.ids))
    query.relation = replace(relation, not_null=not_null)


def _branches(query: Query, distinct: bool) -> Iterator[Query]:
    """The queries that a chain of UNIONs puts together, where it comes to one UNION."""
    for branch in query.branches:
        if isinstance(branch.node, exp.Union) and (distinct or not _is_distinct(branch)):
            yield from _branches(branch, distinct)
        else:
            yield branch


def _common_kind(attributes: Sequence[int], context: Context) -> Kind | None:
    """The kind of a column whose values stay what they are when the branches become one."""
    kinds = [context.kind(attribute) for attribute in attributes]
    first = kinds[0]
    if first is None or any(k is None or k[:2] != first[:2] for k in kinds):
        return None
    return first._replace(exact=all(kind is not None and kind.exact for kind in kinds))


def _converts(branch: Query, number: int) -> bool:
    """Whether a branch's column may have an affinity: what is plainly computed has none."""
    if branch.block is None:
        return True
    expression = bare(branch.block.outputs[number].expression)
    return isinstance(expression, exp.Column | exp.Cast | exp.TryCast | exp.Query | exp.Collate)


def _tells_apart(branches: Sequence[Query], number: int) -> bool:
    """Whether the column is another literal in every branch, for any collation."""
    values = set()
    kinds = set()
    for branch in branches:
        outputs = branch.block.outputs if branch.block else []
        literal = bare(outputs[number].expression) if number < len(outputs) else None
        if not isinstance(literal, exp.Literal) or not (literal.is_string or literal.is_int):
            return False
        text = str(literal.this)
        values.add(text.strip().casefold() if literal.is_string else int(text))
        kinds.add(literal.is_string)
        if not text.isascii():
            return False
    return len(values) == len(branches) and len(kinds) == 1


def _keep(query: Query, context: Context) -> None:
    """INTERSECT and EXCEPT return rows of the left side."""
    left, right = query.branches
    pairs = list(zip(left.columns, right.columns, strict=False))
    if all(_common_kind((one, other), context) for (_, one), (_, other) in pairs):
        query.columns, query.relation = left.columns, left.relation
    else:
        query.columns = [(name, context.attributes.new(name)) for name, _ in left.columns]
        for (_, attribute), (_, own) in zip(query.columns, left.columns, strict=True):
            context.mixed |= attribute if own & context.mixed else 0
        whole = algebra.union(attribute for _, attribute in query.columns)
        query.relation = algebra.opaque(query.relation.ids, whole)
    if _is_distinct(query):
        whole = algebra.union(attribute for _, attribute in query.columns)
        identity = context.attributes.new("row of the set operation")
        query.relation = algebra.grouped(query.relation, whole, identity, whole)
