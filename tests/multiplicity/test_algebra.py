"""The algebra on relations of a few rows: what it says of joins, filters and groups holds.

The rows are Python dictionaries with None for NULL. The joins here are written out, so that the
algebra is checked against their definition and not against a database.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, product
from random import Random

import pytest

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
VALUES = (None, None, 1, 2)


@dataclass(frozen=True)
class Bag:
    """Rows, and a relation that speaks of them."""

    rows: Sequence[Row]
    relation: Relation
    columns: tuple[int, ...]


@dataclass(frozen=True)
class Condition:
    """`one = other`, `one = 1` or `one IS NULL`."""

    one: int
    other: int = 0
    is_null: bool = False

    def passes(self, row: Row) -> bool:
        """Whether a row meets it."""
        value = row.get(self.one)
        if self.is_null:
            return value is None
        return value is not None and value == (row.get(self.other) if self.other else 1)

    @property
    def predicate(self) -> Predicate:
        """What it says, as inference would have it."""
        if self.is_null:
            return Predicate(constant=self.one, mentioned=self.one)
        both = self.one | self.other
        if self.other:
            return Predicate(equal=((self.one, self.other),), not_null=both, mentioned=both)
        return Predicate(constant=self.one, not_null=both, mentioned=both)


def agree(one: Row, other: Row, attributes: int) -> bool:
    return all(one.get(a) == other.get(a) for a in bits(attributes))


def bits(attributes: int) -> Iterable[int]:
    return (1 << i for i in range(attributes.bit_length()) if attributes >> i & 1)


def check(bag: Bag) -> None:
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


def table(random: Random, attributes: Attributes, name: str) -> Bag:
    """A table of two columns; its keys and NOT NULLs are those that hold."""
    identity = attributes.new(name)
    columns = (attributes.new(f"{name}.a"), attributes.new(f"{name}.b"))
    rows: list[Row] = [
        {identity: (name, number), **{column: random.choice(VALUES) for column in columns}}
        for number in range(random.randint(0, 4))
    ]
    not_null = union(c for c in columns if all(row[c] is not None for row in rows))
    dependencies = [Dependency(identity, union(columns))]
    for key in (columns[:1], columns[1:], columns):
        whole = [row for row in rows if all(row[c] is not None for c in key)]
        if not any(agree(x, y, union(key)) for x, y in combinations(whole, 2)):
            dependencies.append(Dependency(union(key), identity, 0, union(key) & ~not_null))
    own = identity | union(columns)
    relation = Relation(ids=identity, dependencies=tuple(dependencies), not_null=not_null, own=own)
    return Bag(rows, relation, columns)


def conditions(random: Random, columns: Sequence[int]) -> list[Condition]:
    """Up to two conditions on some columns."""
    found = []
    for _ in range(random.choice([0, 1, 1, 2])):
        one, other = random.choice(columns), random.choice(columns)
        shape = random.random()
        if shape < 0.6 and one != other:
            found.append(Condition(one, other))
        else:
            found.append(Condition(one, is_null=shape > 0.85))
    return found


def whole(terms: Sequence[Condition]) -> Predicate:
    result = TRUE
    for term in terms:
        result &= term.predicate
    return result


def joined(random: Random, left: Bag, right: Bag) -> Bag:
    """Two bags joined in some way."""
    columns = left.columns + right.columns
    terms = conditions(random, columns)
    matches = [
        (one, other)
        for one, other in product(left.rows, right.rows)
        if all(term.passes(one | other) for term in terms)
    ]
    rows = [one | other for one, other in matches]
    kind = random.choice(["inner", "left", "left", "right", "full"])
    if kind in ("left", "full"):
        rows += [row for row in left.rows if not any(row is one for one, _ in matches)]
    if kind in ("right", "full"):
        rows += [row for row in right.rows if not any(row is other for _, other in matches)]
    if kind == "inner":
        relation = inner_join(left.relation, right.relation, whole(terms))
    elif kind == "left":
        relation = left_join(left.relation, right.relation, whole(terms))
    elif kind == "right":
        relation = left_join(right.relation, left.relation, whole(terms))
    else:
        relation = full_join(left.relation, right.relation)
    return Bag(rows, relation, columns)


def where(random: Random, bag: Bag) -> Bag:
    """The rows that meet some conditions."""
    terms = conditions(random, bag.columns)
    rows = [row for row in bag.rows if all(term.passes(row) for term in terms)]
    return Bag(rows, filtered(bag.relation, whole(terms)), bag.columns)


def grouped_by(random: Random, bag: Bag, attributes: Attributes) -> Bag:
    """One row for each value of some columns."""
    by = union(random.sample(bag.columns, random.randint(0, 2)))
    identity = attributes.new("group")
    first: dict[tuple[object, ...], Row] = {}
    for row in bag.rows:
        first.setdefault(tuple(row.get(a) for a in bits(by)), row)
    if not by and not first:
        first[()] = {}
    rows = [{**row, identity: ("group", number)} for number, row in enumerate(first.values())]
    relation = grouped(bag.relation, by, identity, union(bag.columns))
    return Bag(rows, relation, bag.columns)


def some_bag(random: Random, attributes: Attributes, steps: int) -> Bag:
    """A bag made of tables by joins, filters and groups; each step is checked."""
    bag = table(random, attributes, "r")
    for _ in range(steps):
        step = random.random()
        if step < 0.6:
            other = some_bag(random, attributes, random.choice([0, 0, 1]))
            pair = (bag, other) if random.random() < 0.5 else (other, bag)
            bag = joined(random, *pair)
        elif step < 0.8:
            bag = where(random, bag)
        else:
            bag = grouped_by(random, bag, attributes)
        check(bag)
    return bag


@pytest.mark.parametrize("seed", range(8))
def test_joins_filters_and_groups_keep_what_they_claim(seed: int) -> None:
    random = Random(seed)
    for _ in range(250):
        some_bag(random, Attributes(), random.randint(1, 4))


@pytest.mark.parametrize("seed", range(2))
def test_a_union_all_with_a_tag_keeps_what_it_claims(seed: int) -> None:
    random = Random(seed)
    for _ in range(250):
        attributes = Attributes()
        parts = [some_bag(random, attributes, random.randint(0, 2)) for _ in range(2)]
        tag, *columns = (attributes.new(name) for name in ("tag", "a", "b"))
        rows: list[Row] = []
        for number, bag in enumerate(parts):
            own = list(zip(columns, bag.columns, strict=False))
            rows += [{**row, tag: number, **{c: row.get(o) for c, o in own}} for row in bag.rows]
        linked = [
            Part(bag.relation, tuple(zip(columns, bag.columns, strict=False))) for bag in parts
        ]
        bag = Bag(rows, stacked(linked, tag | union(columns), tag), (tag, *columns))
        check(bag)
        if all(part.relation.is_key(part.columns[0]) for part in parts):
            assert bag.relation.is_key(tag | columns[0])


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
