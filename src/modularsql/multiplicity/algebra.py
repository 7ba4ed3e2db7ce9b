"""Keys and dependencies of relations, as sets of attributes (docs/design/multiplicity.md, 1).

Every row source gets an *identity* attribute beside its columns: it stands for "which row". A key
is then a dependency of the identity on columns, and the rows of a join are identified by the
identities of its sources together. So "columns X are a key of this relation" is one question:
does the closure of X reach all its identities? All rules for joins, filters, grouping and
projection follow from what they add to or take from the dependencies (Klug 1982; Paulley and
Larson 1994 state them for keys).

NULL equals NULL here, as DISTINCT and GROUP BY have it. A dependency that holds only among rows
without NULL in some columns (a nullable UNIQUE) carries these as its `guard`.

Attributes are bits of an integer, so sets are integers: closures run for every rule and join.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from modularsql.records import Evidence

GRADES = tuple(Evidence)
"""Strongest first; a conclusion has the weakest grade among what it rests on."""

_WEAKEST = len(GRADES) - 1


class Dependency(NamedTuple):
    """Rows that agree on `lhs` agree on `rhs`; among rows without NULL in `guard`.

    `absent`: where all of `lhs` is NULL, `rhs` is too, since the row they are of is missing.
    """

    lhs: int
    rhs: int
    grade: int = 0  # index in GRADES
    guard: int = 0
    absent: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Relation:
    """What is known of a bag of rows.

    `ids` are the identity attributes that tell its rows apart, `not_null` the columns that hold
    no NULL. `own` are all attributes that are NULL in a row of NULLs that stands for a missing
    row of it, also those that are no columns of it any more.
    """

    ids: int
    dependencies: tuple[Dependency, ...] = ()
    not_null: int = 0
    own: int = 0

    def closure(self, attributes: int, grade: int = _WEAKEST, not_null: int = 0) -> int:
        """All attributes that `attributes` determine, by evidence of `grade` or stronger.

        `not_null` adds to what is known to hold no NULL.
        """
        sure = self.not_null | not_null
        known = attributes
        pending = [d for d in self.dependencies if d.grade <= grade and not d.guard & ~sure]
        growing = True
        while growing:
            growing, left = False, []
            for dependency in pending:
                if dependency.lhs & ~known:
                    left.append(dependency)
                elif dependency.rhs & ~known:
                    known |= dependency.rhs
                    growing = True
            pending = left
        return known

    def determines(self, attributes: int, goal: int, not_null: int = 0) -> Evidence | None:
        """The grade by which `attributes` determine `goal`; None where that is not known."""
        if goal & ~self.closure(attributes, _WEAKEST, not_null):
            return None
        for grade, evidence in enumerate(GRADES[:-1]):
            if not goal & ~self.closure(attributes, grade, not_null):
                return evidence
        return GRADES[-1]

    def with_dependency(self, *dependencies: Dependency) -> "Relation":
        """The same rows, with more dependencies known of them."""
        return replace(self, dependencies=self.dependencies + dependencies)

    def with_attribute(self, attribute: int, *dependencies: Dependency) -> "Relation":
        """The same rows with one more attribute, settled by the row and by what else is given."""
        added = (*dependencies, Dependency(self.ids, attribute))
        return replace(self, dependencies=self.dependencies + added, own=self.own | attribute)

    def is_key(self, attributes: int) -> Evidence | None:
        """The grade by which no two rows agree on `attributes`; None where that is not known."""
        return self.determines(attributes, self.ids)


@dataclass(frozen=True, slots=True, kw_only=True)
class Predicate:
    """What a condition says of the rows that pass it.

    `equal` are pairs of attributes with equal values, `constant` those with one value, `not_null`
    those it rejects NULLs of. Its outcome depends on those `mentioned`: on their values but for
    `fragile` ones, of which equal values may differ in what the condition sees ('a' and 'A'
    under NOCASE). `opaque`: it depends on more than that (a volatile function, a subquery).
    """

    equal: tuple[tuple[int, int], ...] = ()
    constant: int = 0
    not_null: int = 0
    mentioned: int = 0
    fragile: int = 0
    opaque: bool = False

    def dependencies(self) -> tuple[Dependency, ...]:
        """The equalities and constants as dependencies."""
        both = [Dependency(a, b) for pair in self.equal for a, b in (pair, pair[::-1])]
        return (*both, Dependency(0, self.constant)) if self.constant else tuple(both)

    def __and__(self, other: "Predicate") -> "Predicate":
        return Predicate(
            equal=self.equal + other.equal,
            constant=self.constant | other.constant,
            not_null=self.not_null | other.not_null,
            mentioned=self.mentioned | other.mentioned,
            fragile=self.fragile | other.fragile,
            opaque=self.opaque or other.opaque,
        )


TRUE = Predicate()


def filtered(relation: Relation, predicate: Predicate) -> Relation:
    """The rows that pass: everything known stays, the predicate's facts join it."""
    return replace(
        relation,
        dependencies=relation.dependencies + predicate.dependencies(),
        not_null=relation.not_null | predicate.not_null,
    )


def inner_join(left: Relation, right: Relation, predicate: Predicate) -> Relation:
    """The pairs that match."""
    pairs = Relation(
        ids=left.ids | right.ids,
        dependencies=left.dependencies + right.dependencies,
        not_null=left.not_null | right.not_null,
        own=left.own | right.own,
    )
    return filtered(pairs, predicate)


def left_join(left: Relation, right: Relation, predicate: Predicate) -> Relation:
    """The pairs that match, and the left rows without a match, padded with NULLs.

    The predicate's equalities do not hold in padded rows. What does: the partners of a left row
    depend only on the left columns that the predicate mentions.
    """
    # Where a right column is not NULL the row is a match, and the equalities hold.
    matched = tuple(
        Dependency(theirs, other, 0, theirs)
        for a, b in predicate.equal
        for theirs, other in ((a, b), (b, a))
        if theirs & right.own
    )
    return Relation(
        ids=left.ids | right.ids,
        dependencies=(
            left.dependencies + padded(right) + _partner(left, right, predicate) + matched
        ),
        not_null=left.not_null,
        own=left.own | right.own,
    )


def _partner(left: Relation, right: Relation, predicate: Predicate) -> tuple[Dependency, ...]:
    """That each left row meets at most one right row, as a dependency, if it is so."""
    ours = predicate.mentioned & ~right.own
    candidates = filtered(right, predicate)
    # The whole left row settles the outcome also where its mentioned columns do not.
    weak = predicate.opaque or predicate.fragile & ours
    for lhs in (ours | left.ids,) if weak else (ours, ours | left.ids):
        grade = candidates.determines(lhs, right.ids)
        if grade is not None:
            return (Dependency(lhs, right.ids, GRADES.index(grade)),)
    return ()


def full_join(left: Relation, right: Relation) -> Relation:
    """The pairs that match, and the rows of both sides without a match."""
    return Relation(
        ids=left.ids | right.ids,
        dependencies=padded(left) + padded(right),
        own=left.own | right.own,
    )


def padded(relation: Relation) -> tuple[Dependency, ...]:
    """What still holds of a relation whose rows may be replaced by NULLs throughout.

    A left-hand side that cannot be NULL tells padded rows from others. Other dependencies hold
    only where the left-hand side is not NULL, and a constant only within one row.
    """
    kept = []
    for d in relation.dependencies:
        lhs = d.lhs & relation.own
        settled = not d.guard & ~relation.not_null
        if d.absent:
            kept.append(d)
        elif settled and lhs & relation.not_null:
            kept.append(d._replace(guard=0, absent=True))
        elif settled and not lhs:
            kept.append(d._replace(lhs=d.lhs | relation.ids, guard=0))
        elif lhs & ~relation.ids:
            kept.append(d._replace(guard=d.guard | lhs))
        else:
            kept.append(d)
    return tuple(kept)


def dependent(relation: Relation, on: int) -> Relation:
    """A relation that is made anew for each row with the identities `on` (LATERAL)."""
    weaker = tuple(d._replace(lhs=d.lhs | on) for d in relation.dependencies)
    return replace(relation, dependencies=weaker)


def grouped(relation: Relation, by: int, identity: int, outputs: int) -> Relation:
    """One row for each value of `by` (0: one row in all), with `outputs` beside.

    Stand for each group by one of its rows: all dependencies hold among these.
    """
    own = relation.own | relation.ids | by | outputs
    return Relation(
        ids=identity,
        dependencies=(
            *relation.dependencies,
            Dependency(by, identity),
            Dependency(identity, own),
        ),
        # Without GROUP BY there is a row even when there was none, and it holds NULLs.
        not_null=relation.not_null if by else 0,
        own=own | identity,
    )


class Part(NamedTuple):
    """A branch of UNION ALL: `links` pair columns of the whole with the branch's own.

    Only columns whose values keep their identity are linked: of one kind in all branches.
    """

    relation: Relation
    links: tuple[tuple[int, int], ...]


def stacked(parts: Sequence[Part], columns: int, apart: int) -> Relation:
    """Rows of several relations one after the other, told apart by the columns `apart`.

    Rows that agree on `apart` come from one part, so its dependencies hold among them; what
    belongs to the other parts is NULL there.
    """
    ids = union(part.relation.ids for part in parts)
    dependencies = [Dependency(ids, columns)]
    for relation, links in parts:
        for d in relation.dependencies:
            guard = d.guard & ~relation.not_null
            dependencies.append(d._replace(lhs=d.lhs | apart, guard=guard))
        dependencies += [Dependency(whole | apart, own) for whole, own in links]
    own = union(part.relation.own | part.relation.ids for part in parts)
    return Relation(ids=ids, dependencies=tuple(dependencies), own=own | columns)


def opaque(identity: int, columns: int) -> Relation:
    """Rows of which nothing is known but that they are rows."""
    return Relation(
        ids=identity, dependencies=(Dependency(identity, columns),), own=identity | columns
    )


def only_row(relation: Relation) -> Relation:
    """At most one row: LIMIT 1."""
    return relation.with_dependency(Dependency(0, relation.ids))


class Attributes:
    """Hands out the bits, and remembers what each stands for."""

    def __init__(self) -> None:
        self._names: list[str] = []

    def new(self, name: str) -> int:
        """A fresh attribute."""
        self._names.append(name)
        return 1 << (len(self._names) - 1)

    def several(self, names: Iterable[str]) -> list[int]:
        """Fresh attributes."""
        first = len(self._names)
        self._names += names
        return [1 << number for number in range(first, len(self._names))]

    def names(self, attributes: int) -> list[str]:
        """For people: what the bits of a set stand for."""
        return [name for i, name in enumerate(self._names) if attributes >> i & 1]


def union(masks: Iterable[int]) -> int:
    """All attributes of several sets."""
    result = 0
    for mask in masks:
        result |= mask
    return result
