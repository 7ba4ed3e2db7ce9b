"""When two SQL texts are the same query: the same tree, whatever the layout and the case."""

from modularsql.pipeline.reading import read_tree


def same_sql(sql: str, dialect: str) -> str:
    """A key that equal trees share; the text itself where it does not parse."""
    tree = read_tree(sql, dialect)
    return sql if tree is None else tree.sql(dialect=dialect, comments=False, normalize=True)
