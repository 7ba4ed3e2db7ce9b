"""Collations of columns, from DDL as a database stores it."""

from modularsql.catalog import UNSURE


def collations(ddl: str, columns: list[str], dialect: str) -> dict[str, str]:
    """Collation by folded column name; DDL that names one and cannot be read makes all unsure."""
    if "collate" not in ddl.lower():
        return {}
    # Imported here: the parser takes longer to import than most worker processes live.
    from sqlglot import exp

    from modularsql.sql.parse import parse_text

    tree = parse_text(ddl, dialect)
    if not isinstance(tree, exp.Create) or not isinstance(tree.this, exp.Schema):
        return dict.fromkeys((column.casefold() for column in columns), UNSURE)
    found = {}
    for column in tree.this.expressions:
        if not isinstance(column, exp.ColumnDef):
            continue  # a constraint of the table: its collations are those of an index
        for constraint in column.find_all(exp.CollateColumnConstraint):
            name = constraint.this.sql(dialect=dialect).strip('"').upper()
            if name != "BINARY":
                found[column.name.casefold()] = name
    return found
