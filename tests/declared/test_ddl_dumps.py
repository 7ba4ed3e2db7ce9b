"""Whole scripts: what pg_dump, mysqldump and sqlite3 write, and the classics of the field."""

import sqlite3
from pathlib import Path

import pytest

from modularsql.catalog import Catalog, Table
from modularsql.declared.ddl import read_ddl
from modularsql.declared.lexer import lexer_of, statements
from modularsql.declared.read import read_schema
from modularsql.records import Evidence

CLASSIC = Path(__file__).parents[2].parent / "shared" / "data" / "classic"
needs_classics = pytest.mark.skipif(not CLASSIC.is_dir(), reason="needs ../shared/data/classic")


def names(catalog: Catalog) -> list[str]:
    return [f"{table.schema}.{table.name}" for table in catalog]


PG_DUMP = """\\restrict kjh3
SET standard_conforming_strings = on;
SELECT pg_catalog.set_config('search_path', '', false);
CREATE FUNCTION public.f() RETURNS void LANGUAGE plpgsql AS $_$
BEGIN CREATE TABLE no_1 (a int); END; $_$;
CREATE TABLE public.t (
    id integer NOT NULL,
    note text DEFAULT 'it''s; CREATE TABLE no_2 (a int);'::text
);
ALTER TABLE public.t OWNER TO postgres;
COPY public.t (id, note) FROM stdin;
1\tit's "open; CREATE TABLE no_3 (a int);
\\.
COPY public.t (id, note) FROM stdin;
\\.
ALTER TABLE ONLY public.t
    ADD CONSTRAINT t_pkey PRIMARY KEY (id);
CREATE UNIQUE INDEX t_note ON public.t USING btree (note text_pattern_ops NULLS FIRST);
CREATE INDEX t_id ON public.t USING btree (id);
\\unrestrict kjh3
"""

MYSQLDUMP = """-- MySQL dump 10.13
/*!40101 SET @OLD_CHARACTER_SET_CLIENT=@@CHARACTER_SET_CLIENT */;
CREATE DATABASE /*!32312 IF NOT EXISTS*/ `shop` /*!40100 DEFAULT CHARACTER SET utf8mb4 */;
USE `shop`;
DROP TABLE IF EXISTS `t`;
CREATE TABLE `t` (
  `id` int NOT NULL AUTO_INCREMENT COMMENT 'PRIMARY; KEY',
  `note` varchar(20) DEFAULT NULL, # CREATE TABLE no_1 (a int);
  PRIMARY KEY (`id`),
  UNIQUE KEY `note` (`note`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;
/*!50001 CREATE VIEW `v` AS SELECT 1 AS `id`*/;
INSERT INTO `t` VALUES (1,'it\\'s; CREATE TABLE no_2 (a int);'),(2,'"');
DELIMITER ;;
CREATE PROCEDURE `p`() BEGIN CREATE TABLE no_3 (a int); END ;;
DELIMITER ;
/*!50001 DROP VIEW IF EXISTS `v`*/;
/*!50001 CREATE ALGORITHM=UNDEFINED */
/*!50013 DEFINER=`root`@`localhost` SQL SECURITY DEFINER */
/*!50001 VIEW `v` AS select `t`.`id` AS `id` from `t` */;
"""

SQLITE_DUMP = """PRAGMA foreign_keys=OFF;
BEGIN TRANSACTION;
CREATE TABLE t(id INTEGER PRIMARY KEY, note TEXT UNIQUE);
INSERT INTO t VALUES(1,'it''s; CREATE TABLE no_1 (a int);');
CREATE TABLE sqlite_sequence(name,seq);
CREATE TRIGGER tr AFTER INSERT ON t BEGIN
  UPDATE t SET note = 'x;y' WHERE id = 1; DELETE FROM t WHERE id = 2;
END;
CREATE VIEW v AS SELECT id FROM t
/* v(id) */;
COMMIT;
"""


@pytest.mark.parametrize(
    ("text", "dialect", "expected"),
    [
        (PG_DUMP, "postgres", ["public.t"]),
        (MYSQLDUMP, "mysql", ["shop.t", "shop.v"]),
        (SQLITE_DUMP, "sqlite", ["main.t", "main.v"]),
    ],
)
def test_data_and_code_in_a_dump_are_passed_over(
    text: str, dialect: str, expected: list[str]
) -> None:
    declared = read_ddl(text, dialect)
    assert declared.problems == ()
    assert names(declared.catalog) == expected
    table = declared.catalog.tables[0]
    assert [(key.columns, key.kind) for key in table.keys] == [
        (("id",), "primary"),
        (("note",), "unique"),
    ]
    assert [column.nullable for column in table.columns] == [False, True]


def test_old_dumps_name_the_schema_once() -> None:
    text = "SET search_path = sales, pg_catalog; CREATE TABLE t (a int); CREATE TABLE hr.u (a int);"
    assert names(read_ddl(text, "postgres").catalog) == ["sales.t", "hr.u"]


def test_lines_are_counted_over_data_that_is_not_read() -> None:
    text = "INSERT INTO t VALUES ('a\nb');\nCOPY t FROM stdin;\n1\n2\n\\.\n\nCREATE TABLE x (a"
    assert [s.line for s in statements(text, lexer_of("postgres"))] == [1, 8]
    assert read_ddl(text, "postgres").problems[0].startswith("line 8: ")


@pytest.mark.parametrize("dialect", ["sqlite", "postgres", "mysql", "duckdb", "tsql", "bigquery"])
@pytest.mark.parametrize(
    "text",
    [
        "",
        ";",
        "'",
        "CREATE",
        "CREATE TABLE",
        "/*",
        "--",
        "$$",
        "CREATE TABLE t ((",
        "[",
        "ALTER TABLE",
        "CREATE UNIQUE INDEX ON",
        "DROP TABLE ,",
        "\\",
        "DELIMITER //",
    ],
)
def test_no_scrap_of_sql_is_too_odd_to_read(text: str, dialect: str) -> None:
    assert read_ddl(text, dialect).catalog.tables == ()


def shape(catalog: Catalog) -> set[tuple[object, ...]]:
    """Tables, keys and foreign keys, however the dialect spells them."""

    def bare(*parts: str) -> tuple[str, ...]:
        return tuple(part.replace("_", "").casefold() for part in parts)

    def facts(table: Table) -> tuple[object, ...]:
        return (
            bare(table.name),
            frozenset((key.kind, bare(*key.columns), key.null_distinct) for key in table.keys),
            frozenset(
                (bare(*key.columns), bare(key.target, *key.target_columns), key.resolved)
                for key in table.foreign_keys
            ),
            tuple((bare(column.name), column.nullable) for column in table.columns),
        )

    return {facts(table) for table in catalog}


@needs_classics
def test_chinook_is_the_same_in_three_dialects() -> None:
    mysql = read_schema(CLASSIC / "chinook" / "Chinook_MySql.sql", "mysql")
    postgres = read_schema(CLASSIC / "chinook" / "Chinook_PostgreSql.sql", "postgres")
    path = CLASSIC / "chinook" / "Chinook_Sqlite.sqlite"
    connection = sqlite3.connect(f"{path.as_uri()}?mode=ro&immutable=1", uri=True)
    rows = connection.execute("SELECT sql || ';' FROM sqlite_master WHERE sql IS NOT NULL")
    sqlite = read_ddl("\n".join(sql for (sql,) in rows), "sqlite")
    connection.close()
    assert mysql.problems == postgres.problems == sqlite.problems == ()
    assert shape(mysql.catalog) == shape(postgres.catalog) == shape(sqlite.catalog)
    assert len(mysql.catalog.tables) == 11
    assert sum(len(table.foreign_keys) for table in mysql.catalog) == 11
    assert {t.schema for t in mysql.catalog} == {"Chinook"}


@needs_classics
def test_northwind_has_its_keys_although_they_come_after_the_data() -> None:
    declared = read_schema(CLASSIC / "northwind_psql" / "northwind.sql", "postgres")
    assert declared.problems == ()
    assert len(declared.catalog.tables) == 14
    assert all(len(table.keys) == 1 for table in declared.catalog)
    foreign = [key for table in declared.catalog for key in table.foreign_keys]
    assert len(foreign) == 13
    assert all(key.resolved and key.evidence is Evidence.ENFORCED for key in foreign)
