"""What is said to have been meant is there, and is written as each database takes it."""

import pytest

from modularsql.declared.ddl import catalog_of_ddl
from modularsql.guard.absent import absent
from modularsql.guard.grain import static
from modularsql.sql.statement import Statement, read_statement

SCHEMA = """
CREATE TABLE customer (id INT PRIMARY KEY, surname VARCHAR(20), town VARCHAR(20));
CREATE TABLE orders (id INT PRIMARY KEY, customer INT, total INT);
CREATE TABLE "order details" (id INT, "unit price" INT);
"""


def meant(sql: str, dialect: str, schema: str = SCHEMA) -> list[str | None]:
    """What the errors of a query suggest."""
    quote = "`" if dialect == "mysql" else '"'
    catalog = catalog_of_ddl(schema.replace('"', quote), dialect)
    statement = read_statement(sql.replace('"', quote), dialect, 10_000)
    assert isinstance(statement, Statement)
    query = static(statement, catalog).query
    assert query is not None
    near = [f.measured.get("nearest") for f in absent(query, statement, catalog).values()]
    return [one and one.replace(quote, '"') for one in near]


@pytest.mark.parametrize("dialect", ["sqlite", "duckdb", "postgres", "mysql"])
@pytest.mark.parametrize(
    ("sql", "near"),
    [
        ("SELECT custmer.surname FROM customer", "customer.surname"),
        ("SELECT custmer.surnme FROM customer", "customer.surname"),
        ("SELECT custmer.total FROM customer", None),
        ("SELECT custmer.total FROM customer c JOIN orders o ON o.customer = c.id", "o.total"),
        ("SELECT custmer.id FROM orders o JOIN customer c ON o.customer = c.id", "c.id"),
        ("SELECT custmer.id FROM (SELECT id FROM customer) AS customers", "customers.id"),
        ("SELECT x.total FROM (SELECT total FROM orders)", "total"),
        ("SELECT customer.surnme FROM customer c", "c.surname"),
        ('SELECT orders.price FROM "order details"', None),
        ('SELECT x."unit price" FROM "order details"', '"order details"."unit price"'),
        ('SELECT d."unit pric" FROM "order details" d', 'd."unit price"'),
        ('SELECT "unit", d.unit_price FROM "order details" d', 'd."unit price"'),
        ("SELECT 1 FROM order_details", '"order details"'),
        ("SELECT totl FROM customer c JOIN orders o ON o.customer = c.id", "total"),
        ("SELECT idd FROM customer c JOIN orders o ON o.customer = c.id", "c.id"),
        ("SELECT 1 FROM qqq", None),
    ],
)
def test_what_was_meant_is_there(sql: str, near: str | None, dialect: str) -> None:
    assert meant(sql, dialect)[-1] == near


@pytest.mark.parametrize(
    ("dialect", "near"), [("postgres", 'o."orderDate"'), ("duckdb", "o.orderDate")]
)
def test_a_name_that_would_be_folded_stands_in_quotes(dialect: str, near: str) -> None:
    schema = 'CREATE TABLE orders (id INT, "orderDate" DATE)'
    assert meant("SELECT o.order_date FROM orders o", dialect, schema) == [near]
    assert meant("SELECT x.orderdate FROM orders o", dialect, schema) == [near]


@pytest.mark.parametrize("dialect", ["duckdb", "postgres"])
@pytest.mark.parametrize(
    ("table", "near"),
    [
        ("custmer", "customer"),
        ("sales.custmer", "customer"),
        ("sales.order", "sales.orders"),
        ("order", "sales.orders"),
    ],
)
def test_a_table_of_another_schema_is_named_with_it(dialect: str, table: str, near: str) -> None:
    home = {"duckdb": "main", "postgres": "public"}[dialect]
    schema = f"CREATE TABLE {home}.customer (id INT); CREATE TABLE sales.orders (id INT)"
    quoted = table.replace("order", '"order"')
    assert meant(f"SELECT 1 FROM {quoted}", dialect, schema) == [near]
