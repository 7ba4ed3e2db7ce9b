"""The algebra on relations of a few rows: what it says of joins, filters and groups holds.

The rows are Python dictionaries with None for NULL. The joins here are written out, so that the
algebra is checked against their definition and not against a database.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, product

from hypothesis import given, settings
from hypothesis import strategies as st

from modularsql.multiplicity.algebra import (
    GRADES,
    TRUE,
    Attributes,
    Dependency,
    Part,
    Predicate,
    Relation,
    filtered,
    full_join,
    grouped,
    inner_join,
    left_join,
    only_row,
    opaque,
    stacked,
    union,
)
from modularsql.records import Evidence

Row = dict[int, object]
VALUES = (None, 1, 2)


@dataclass(frozen=True)
class Bag:
    """Rows, and a relation that speaks of them."""

    rows: Sequence[Row]
    relation: Relation
    columns: tuple[int, ...]


def agree(one: Row, other: Row, attributes: int) -> bool:
    return all(one.get(a) == other.get(a) for a in bits(attributes))


def bits(attributes: int) -> Iterable[int]:
    return (1 << i for i in range(attributes.bit_length()) if attributes >> i & 1)


def holds(bag: Bag) -> None:
    """Each dependency, the identity and NOT NULL, tested on the rows."""
    for d in bag.relation.dependencies:
        for one, other in combinations(bag.rows, 2):
            guarded = all(row.get(a) is not None for row in (one, other) for a in bits(d.guard))
            if guarded and agree(one, other, d.lhs):
                assert agree(one, other, d.rhs), d
        if d.absent:
            for row in bag.rows:
                if all(row.get(a) is None for a in bits(d.lhs & bag.relation.own)):
                    assert all(row.get(a) is None for a in bits(d.rhs)), d
    for one, other in combinations(bag.rows, 2):
        assert not agree(one, other, bag.relation.ids)
    for row in bag.rows:
        assert all(row.get(a) is not None for a in bits(bag.relation.not_null))


@st.composite
def bags(draw: st.DrawFn, attributes: Attributes, name: str) -> Bag:
    """A table of two columns; its keys and NOT NULLs are those that hold."""
    identity = attributes.new(name)
    columns = (attributes.new(f"{name}.a"), attributes.new(f"{name}.b"))
    values = draw(st.lists(st.tuples(*(st.sampled_from(VALUES) for _ in columns)), max_size=4))
    rows: list[Row] = [
        {identity: (name, number), **dict(zip(columns, row, strict=True))}
        for number, row in enumerate(values)
    ]
    not_null = union(c for c in columns if all(row[c] is not None for row in rows))
    dependencies = [Dependency(identity, union(columns))]
    for key in (columns[:1], columns[1:], columns):
        whole = [row for row in rows if all(row[c] is not None for c in key)]
        if not any(agree(x, y, union(key)) for x, y in combinations(whole, 2)):
            dependencies.append(Dependency(union(key), identity, 0, union(key) & ~not_null))
    relation = Relation(
        ids=identity,
        dependencies=tuple(dependencies),
        not_null=not_null,
        own=identity | union(columns),
    )
    return Bag(rows, relation, columns)


@st.composite
def predicates(draw: st.DrawFn, columns: Sequence[int]) -> Predicate:
    """Equalities and constants over some columns."""
    result = TRUE
    for _ in range(draw(st.integers(0, 2))):
        one, other = draw(st.sampled_from(columns)), draw(st.sampled_from(columns))
        if one != other and draw(st.booleans()):
            both = one | other
            result &= Predicate(equal=((one, other),), not_null=both, mentioned=both)
        else:
            result &= Predicate(constant=one, not_null=one, mentioned=one)
    return result


def passes(row: Row, predicate: Predicate) -> bool:
    """Whether a row meets a predicate; the one constant is 1."""
    equal = all(row.get(a) == row.get(b) for a, b in predicate.equal)
    constant = all(row.get(a) == 1 for a in bits(predicate.constant))
    return equal and constant and all(row.get(a) is not None for a in bits(predicate.not_null))


def joined(data: st.DataObject, left: Bag, right: Bag) -> Bag:
    """Two bags joined in some way."""
    columns = left.columns + right.columns
    predicate = data.draw(predicates(columns))
    matches = [
        (one, other)
        for one, other in product(left.rows, right.rows)
        if passes(one | other, predicate)
    ]
    rows = [one | other for one, other in matches]
    kind = data.draw(st.sampled_from(["inner", "left", "right", "full"]))
    if kind in ("left", "full"):
        rows += [row for row in left.rows if not any(row is one for one, _ in matches)]
    if kind in ("right", "full"):
        rows += [row for row in right.rows if not any(row is other for _, other in matches)]
    if kind == "inner":
        relation = inner_join(left.relation, right.relation, predicate)
    elif kind == "left":
        relation = left_join(left.relation, right.relation, predicate)
    elif kind == "right":
        relation = left_join(right.relation, left.relation, predicate)
    else:
        relation = full_join(left.relation, right.relation)
    return Bag(rows, relation, columns)


def grouped_by(data: st.DataObject, bag: Bag, attributes: Attributes) -> Bag:
    """One row for each value of some columns."""
    by = union(data.draw(st.lists(st.sampled_from(bag.columns), unique=True)))
    identity = attributes.new("group")
    first: dict[tuple[object, ...], Row] = {}
    for row in bag.rows:
        first.setdefault(tuple(row.get(a) for a in bits(by)), row)
    if not by and not first:
        first[()] = {}
    rows = [{**row, identity: ("group", number)} for number, row in enumerate(first.values())]
    relation = grouped(bag.relation, by, identity, union(bag.columns))
    return Bag(rows, relation, bag.columns)


@settings(max_examples=400, deadline=None)
@given(st.data())
def test_joins_filters_and_groups_keep_what_they_claim(data: st.DataObject) -> None:
    attributes = Attributes()
    bag = data.draw(bags(attributes, "r"))
    for number in range(data.draw(st.integers(1, 3))):
        step = data.draw(st.sampled_from(["join", "join", "join", "filter", "group"]))
        if step == "join":
            other = data.draw(bags(attributes, f"s{number}"))
            pair = (bag, other) if data.draw(st.booleans()) else (other, bag)
            bag = joined(data, *pair)
        elif step == "filter":
            predicate = data.draw(predicates(bag.columns))
            rows = [row for row in bag.rows if passes(row, predicate)]
            bag = Bag(rows, filtered(bag.relation, predicate), bag.columns)
        else:
            bag = grouped_by(data, bag, attributes)
        holds(bag)


@settings(max_examples=100, deadline=None)
@given(st.data())
def test_a_union_all_with_a_tag_keeps_what_it_claims(data: st.DataObject) -> None:
    attributes = Attributes()
    parts = [data.draw(bags(attributes, name)) for name in ("r", "s")]
    tag, *columns = (attributes.new(name) for name in ("tag", "a", "b"))
    rows = [
        {**row, tag: number, **{c: row[own] for c, own in zip(columns, bag.columns, strict=True)}}
        for number, bag in enumerate(parts)
        for row in bag.rows
    ]
    linked = [Part(bag.relation, tuple(zip(columns, bag.columns, strict=True))) for bag in parts]
    relation = stacked(linked, tag | union(columns), tag)
    holds(Bag(rows, relation, (tag, *columns)))
    if all(bag.relation.is_key(bag.columns[0]) for bag in parts):
        assert relation.is_key(tag | columns[0])
    assert not relation.is_key(tag) or all(bag.relation.is_key(0) for bag in parts)


def test_the_closure_follows_dependencies_to_the_end() -> None:
    relation = Relation(ids=1, dependencies=(Dependency(2, 4), Dependency(4, 8), Dependency(8, 1)))
    assert relation.closure(2) == 15
    assert relation.closure(8) == 9


def test_a_guarded_dependency_waits_until_its_columns_are_not_null() -> None:
    relation = Relation(ids=1, dependencies=(Dependency(2, 1, 0, guard=2),))
    assert relation.is_key(2) is None
    assert replace(relation, not_null=2).is_key(2) == Evidence.ENFORCED
    assert relation.determines(2, 1, not_null=2) == Evidence.ENFORCED


def test_a_conclusion_has_the_weakest_grade_on_the_strongest_way() -> None:
    asserted, observed = GRADES.index(Evidence.ASSERTED), GRADES.index(Evidence.OBSERVED)
    ways = (Dependency(2, 4, asserted), Dependency(4, 1, observed))
    assert Relation(ids=1, dependencies=ways).is_key(2) == Evidence.OBSERVED
    better = (*ways, Dependency(2, 1, asserted))
    assert Relation(ids=1, dependencies=better).is_key(2) == Evidence.ASSERTED


def test_a_left_row_whose_condition_hangs_on_chance_still_meets_one_row_at_most() -> None:
    left = Relation(ids=1, dependencies=(Dependency(1, 2),), own=3)
    right = Relation(ids=4, dependencies=(Dependency(4, 8), Dependency(8, 4)), own=12, not_null=8)
    chance = Predicate(equal=((2, 8),), mentioned=10, not_null=10, opaque=True)
    assert left_join(left, right, chance).is_key(1) == Evidence.ENFORCED
    # But two left rows with equal columns may differ in whether they met it.
    assert left_join(left, right, chance).determines(2, 4) is None
    assert left_join(left, right, replace(chance, opaque=False)).determines(2, 4) is not None


def test_equal_values_that_may_differ_do_not_settle_a_match() -> None:
    left = Relation(ids=1, dependencies=(Dependency(1, 2),), own=3)
    right = only_row(opaque(4, 8))
    fragile = Predicate(mentioned=10, fragile=2)
    assert left_join(left, right, fragile).determines(2, 4) is None
    assert left_join(left, right, fragile).is_key(1) == Evidence.ENFORCED


def test_attributes_are_named_for_people() -> None:
    attributes = Attributes()
    one, other = attributes.new("a"), attributes.new("b")
    assert attributes.names(one | other) == ["a", "b"]
    assert attributes.names(other) == ["b"]
