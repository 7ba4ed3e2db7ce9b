"""What inference carries along."""

from collections.abc import Callable
from dataclasses import dataclass, field

from sqlglot import exp

from modularsql.catalog import Catalog, Column
from modularsql.multiplicity.algebra import Attributes
from modularsql.multiplicity.columns import Kind, compare_alike, kind_of
from modularsql.multiplicity.model import Block, Query
from modularsql.sql.dialects import Dialect, dialect_of


@dataclass(slots=True)
class Definition:
    """A CTE: its query, the names given to its columns, and where it stands.

    `scope` are the CTEs it may use itself, `outer` the block around it. `busy` while it is being
    read: what uses it then is the CTE itself, and it is `recursive`.
    """

    query: exp.Expr
    names: list[str]
    scope: "Scope"
    outer: Block | None
    busy: bool = False
    recursive: bool = False


Scope = dict[str, Definition]
Reader = Callable[[exp.Expr, Scope, Block | None], Query | None]


@dataclass(slots=True)
class Context:
    """The catalog, the attributes handed out, how their values compare, and how to read a query.

    `kinds` is filled where it is asked for from the columns `declared`. `mixed` are columns of set
    operations whose branches differ in kind: where a query reads another one, SQLite may convert
    their values to the kind of the first branch, and different ones become equal.

    `open_views` are those whose definition is being read. `read` is `infer`'s: FROM holds
    queries, and queries hold FROM.
    """

    catalog: Catalog
    read: Reader
    attributes: Attributes = field(default_factory=Attributes)
    kinds: dict[int, Kind | None] = field(default_factory=dict)
    declared: dict[int, Column] = field(default_factory=dict)
    mixed: int = 0
    open_views: set[str] = field(default_factory=set)
    blocks: int = 0

    @property
    def dialect(self) -> str:
        """The name sqlglot knows the dialect by."""
        return self.catalog.dialect

    @property
    def reads(self) -> Dialect:
        """How the dialect reads a query."""
        return dialect_of(self.catalog.dialect)

    def note(self, attribute: int, kind: Kind | None) -> None:
        """Remember how an attribute's values compare."""
        self.kinds[attribute] = kind

    def kind(self, attribute: int) -> Kind | None:
        """How an attribute's values compare, where that is known."""
        if attribute not in self.kinds:
            column = self.declared.get(attribute)
            self.kinds[attribute] = kind_of(column, self.dialect) if column else None
        return self.kinds[attribute]

    def fragile(self, attributes: int) -> int:
        """Those of the attributes whose equal values may not be the same value."""
        found = 0
        while attributes:
            lowest = attributes & -attributes
            attributes ^= lowest
            kind = self.kind(lowest)
            found |= 0 if kind is not None and kind.exact else lowest
        return found

    def comparable(self, one: int, other: int) -> bool:
        """Whether two attributes compare as each does with itself."""
        return compare_alike(self.kind(one), self.kind(other))
