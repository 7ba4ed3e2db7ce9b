"""Inference with one safeguard taken out at a time; random queries must find each of them.

A mutant is a function of the package with a piece of its text replaced.
"""

import inspect
import sys
import textwrap
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from modularsql.engines import duckdb_catalog, sqlite_catalog
from modularsql.multiplicity import (
    algebra,
    columns,
    context,
    from_clause,
    infer,
    outputs,
    predicates,
    set_operations,
    sources,
)


@dataclass(frozen=True)
class Mutant:
    """`old` becomes `new` in the source of a function or method; `dialect` is where it shows."""

    name: str
    function: Callable[..., Any]
    old: str
    new: str
    dialect: str = "sqlite"

    @contextmanager
    def applied(self) -> Iterator[None]:
        """The package with the mutant, wherever the function was imported to."""
        source = textwrap.dedent(inspect.getsource(self.function))
        assert self.old in source, f"{self.name}: its text is not there any more"
        home = sys.modules[self.function.__module__]
        made: dict[str, Any] = {}
        exec(source.replace(self.old, self.new), home.__dict__, made)  # noqa: S102
        mutated = made[self.function.__name__]
        places = [
            (owner, name)
            for module in list(sys.modules.values())
            if getattr(module, "__name__", "").startswith("modularsql.")
            for owner in (module, *(v for v in vars(module).values() if inspect.isclass(v)))
            for name, value in list(vars(owner).items())
            if value is self.function
        ]
        for owner, name in places:
            setattr(owner, name, mutated)
        try:
            yield
        finally:
            for owner, name in places:
                setattr(owner, name, self.function)


MUTANTS = (
    # Joins
    Mutant(
        "a LEFT JOIN is an inner join",
        from_clause._join,
        "left_join(left, right, item.predicate)",
        "inner_join(left, right, item.predicate)",
    ),
    Mutant(
        "a RIGHT JOIN keeps the left side's rows",
        from_clause._join,
        "left_join(right, left, item.predicate)",
        "left_join(left, right, item.predicate)",
    ),
    Mutant(
        "a FULL JOIN is a LEFT JOIN",
        from_clause._join,
        "full_join(left, right)",
        "left_join(left, right, item.predicate)",
    ),
    Mutant(
        "the right side's constants hold in padded rows",
        algebra.left_join,
        "padded(right)",
        "right.dependencies",
    ),
    Mutant(
        "ON's equalities hold in padded rows",
        algebra.left_join,
        "Dependency(theirs, other, 0, theirs)",
        "Dependency(theirs, other)",
    ),
    Mutant(
        "the right side of a LEFT JOIN is not null",
        algebra.left_join,
        "not_null=left.not_null,",
        "not_null=left.not_null | right.not_null,",
    ),
    Mutant(
        "a condition with a subquery says all it depends on",
        algebra._partner,
        "predicate.opaque or predicate.fragile & ours",
        "predicate.fragile & ours",
    ),
    Mutant(
        "equal values meet equal partners under any condition",
        algebra._partner,
        "predicate.opaque or predicate.fragile & ours",
        "predicate.opaque",
    ),
    Mutant(
        "every left row meets one right row",
        algebra._partner,
        "if grade is not None:",
        "grade = grade or GRADES[0]\n        if True:",
    ),
    Mutant(
        "any rejected NULL undoes an outer join",
        predicates._rejected,
        "if isinstance(part, exp.In):",
        "if isinstance(part, exp.Is):\n"
        "        return _strict(part.this, block, context)\n    if isinstance(part, exp.In):",
    ),
    Mutant(
        "a comma binds as JOIN does", from_clause._by_comma, "len(groups) < 2", "groups", "duckdb"
    ),
    Mutant(
        "POSITIONAL JOIN pads nothing",
        from_clause._kind,
        "return JoinKind.FULL",
        "return JoinKind.INNER",
        "duckdb",
    ),
    Mutant(
        "the last column of an ASOF JOIN is equal",
        from_clause._by_name,
        "names[-1:] if",
        "[] if",
        "duckdb",
    ),
    Mutant(
        "a lateral table is the same for every row",
        algebra.dependent,
        "lhs=d.lhs | on",
        "lhs=d.lhs",
        "duckdb",
    ),
    # USING
    Mutant(
        "USING always shows the left column", from_clause._merge, "found = theirs", "found = ours"
    ),
    Mutant(
        "USING shows the left column after a FULL JOIN",
        from_clause._merge,
        "found = (ours[0], ours[1], attribute)",
        "found = ours",
    ),
    Mutant(
        "NULL meets NULL in a FULL JOIN with USING",
        from_clause._join,
        "guard = whole if len(item.merged) > 1 else 0",
        "guard = 0",
    ),
    Mutant(
        "t.* shows its own column after a FULL JOIN",
        outputs._is_coalesced,
        "merged.found[2] != attribute",
        "False",
    ),
    # Equality
    Mutant(
        "types and collations do not matter",
        columns.compare_alike,
        "if one is None",
        "return True\n    if one is None",
    ),
    Mutant(
        "collations do not matter", columns.compare_alike, "or one.collation != other.collation", ""
    ),
    Mutant(
        "equal values are the same value",
        context.Context.fragile,
        "found = 0",
        "return 0\n    found = 0",
    ),
    Mutant(
        "any literal fits",
        columns.literal_fits,
        "if kind is None:",
        "return True\n    if kind is None:",
        "duckdb",
    ),
    # Keys and NULL
    Mutant(
        "a nullable key is a key",
        sources._keys,
        "attributes & ~not_null if key.null_distinct else 0",
        "0",
    ),
    Mutant("guards do not matter", algebra.Relation.closure, "and not d.guard & ~sure", ""),
    Mutant(
        "OR rejects the NULLs of either side",
        predicates._rejected,
        ") & _rejected(part.expression",
        ") | _rejected(part.expression",
    ),
    Mutant(
        "NOT IN a query rejects NULL",
        predicates._rejected_by_not,
        "if inner.expressions else 0",
        "",
    ),
    Mutant(
        "comparing with ALL rejects NULL",
        predicates._quantified,
        "return isinstance",
        "return False and isinstance",
        "duckdb",
    ),
    Mutant(
        "a partial unique index is a key",
        sqlite_catalog._unique,
        "not unique or partial",
        "not unique",
    ),
    Mutant(
        "a unique index of another collation is a key",
        sqlite_catalog._unique,
        "all(mine in ",
        "True or all(mine in ",
    ),
    Mutant(
        "an index of an expression is a key",
        sqlite_catalog._unique,
        "if any(part[1] == _EXPRESSION or part[2] is None for part in parts):\n"
        "            continue",
        "parts = [(*p[:2], p[2] or 'id', *p[3:]) for p in parts]",
    ),
    Mutant(
        "a key of a column with a collation is a key",
        duckdb_catalog._keys,
        "and plain.issuperset(names)",
        "",
        "duckdb",
    ),
    # Grouping
    Mutant(
        "ROLLUP makes no more groups", outputs._group, "block.is_regrouped = True", "pass", "duckdb"
    ),
    Mutant("GROUP BY makes one group", infer._output, "block.group or 0", "0"),
    Mutant(
        "an aggregate without rows holds no NULL",
        algebra.grouped,
        "relation.not_null if by else 0",
        "relation.not_null",
    ),
    Mutant("an aggregate is settled by its argument", columns._unsettled, "exp.AggFunc, ", ""),
    Mutant(
        "GROUP BY takes an alias before a column",
        outputs._is_alias,
        "return not any(",
        "return True or not any(",
    ),
    # That HAVING may take an alias before a column is for MySQL, where these queries are not run:
    # test_inference.py.
    Mutant(
        "an aggregate of the query around is one of its own",
        outputs._is_of_outer,
        "if not used",
        "return False\n    if not used",
    ),
    Mutant(
        "DISTINCT ON is DISTINCT",
        infer._distinct,
        "outputs if on is None",
        "outputs if True",
        "duckdb",
    ),
    Mutant(
        "DISTINCT ON takes a column before an alias",
        infer._distinct_on,
        "if not same:",
        "if False:",
        "duckdb",
    ),
    # Windows and LIMIT
    Mutant(
        "RANK numbers rows",
        outputs.row_number,
        "isinstance(expression.this, exp.RowNumber)",
        "isinstance(expression.this, exp.RowNumber | exp.Rank)",
    ),
    Mutant(
        "ROW_NUMBER is always 1",
        outputs._computed,
        "Dependency(partition | attribute, block.rows.ids)",
        "Dependency(partition, block.rows.ids)",
    ),
    Mutant(
        "ROW_NUMBER counts through partitions",
        outputs._computed,
        "Dependency(partition | attribute, block.rows.ids)",
        "Dependency(attribute, block.rows.ids)",
    ),
    Mutant(
        "QUALIFY keeps one row",
        infer._first_of_each,
        "Dependency(partition, relation.ids)",
        "Dependency(0, relation.ids)",
        "duckdb",
    ),
    Mutant(
        "any LIMIT leaves one row",
        infer._is_one,
        '"expression") == _ONE',
        '"expression") is not None',
    ),
    # Set operations
    Mutant("UNION ALL is UNION", set_operations._is_distinct, "query.node", "True or query.node"),
    Mutant(
        "UNION ALL keeps the keys of its branches",
        algebra.stacked,
        "lhs=d.lhs | apart",
        "lhs=d.lhs",
    ),
    Mutant(
        "any column tells branches apart",
        set_operations._tells_apart,
        "return len(values)",
        "return True or len(values)",
    ),
    Mutant(
        "only the first branch has NULLs",
        set_operations._unite,
        "if all(b.relation.not_null",
        "if any(b.relation.not_null",
    ),
    Mutant(
        "values stay what they are in a UNION",
        set_operations._unite,
        "context.mixed |= attribute",
        "pass",
    ),
    Mutant(
        "columns of a UNION are of one kind",
        set_operations._common_kind,
        "if first is None or any(k is None or k[:2] != first[:2] for k in kinds):",
        "if first is None:",
        "duckdb",
    ),
    # Queries in queries
    Mutant(
        "a recursive CTE is run once",
        sources._forget,
        "columns = union",
        "return\n    columns = union",
    ),
    Mutant(
        "a CTE hides no table",
        sources.source_of,
        "None if node.db else scope.get(node.name.casefold())",
        "None",
    ),
    # That a name of several tables means none of them no data can show: databases refuse such
    # queries. tests/guard/test_bad_input.py has them.
)
