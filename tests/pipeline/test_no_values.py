"""With `--no-values` nothing that stands in a row reaches any prompt, whatever queries do.

Every cell is a mark that occurs nowhere else. Candidates return the marks, fail in words that quote
them, come close to them, and repeat them; the model lets every stage ask as much as it can.
"""

import re
from pathlib import Path

import pytest
from tests.conftest import OpenDatabase

from modularsql import Guard, Settings
from modularsql.llm.script import ScriptedModel
from modularsql.pipeline.deps import Deps
from modularsql.pipeline.run import ask
from modularsql.ports import ChatRequest, Engine
from modularsql.retrieval.extraction import extract
from modularsql.retrieval.lexical import LexicalIndex

MARKED = """
CREATE TABLE customer(id INTEGER PRIMARY KEY, name TEXT, town TEXT, spent INTEGER);
CREATE TABLE purchase(id INTEGER PRIMARY KEY, customer_id INTEGER REFERENCES customer(id),
  word TEXT, total INTEGER);
INSERT INTO customer VALUES (7310001, 'zq-mark-ann', 'zq-mark-bonn', 7310002),
  (7310003, 'zq-mark-bob', 'zq-mark-kiel', 7310004);
INSERT INTO purchase VALUES (7310005, 7310001, 'zq-mark-lamp', 7310006),
  (7310007, 7310001, 'zq-mark-rug', 7310008), (7310009, 7310003, 'zq-mark-mat', 7310010);
"""
MARK = re.compile(r"zq|mark|731[\s,_]?00|7\.31", re.IGNORECASE)
# What makes an engine say a value in its error.
QUOTED_IN_ERRORS = {
    "sqlite": "SELECT json_extract('{}', name) FROM customer",
    "duckdb": "SELECT CAST(name AS INTEGER) FROM customer",
}
EMPTY = [
    "SELECT name FROM customer WHERE town = 'zk-merk-bon'",  # near values are looked for
    "SELECT name FROM customer WHERE spent > 99999999",  # and the bounds of a column
    "SELECT MAX(word) FROM purchase WHERE word = 'ZK-MERK-LAMP'",
]
FULL = [
    "SELECT name, town FROM customer",
    "SELECT name, spent FROM customer",
    "SELECT SUM(c.spent) FROM customer c JOIN purchase p ON p.customer_id = c.id",
    "SELECT c.name FROM customer c, purchase p",
    "SELECT * FROM purchase LIMIT 1",
    "SELECT name, MAX(spent) FROM customer",
]


@pytest.fixture(params=sorted(QUOTED_IN_ERRORS))
def marked(request: pytest.FixtureRequest, open_database: OpenDatabase) -> Engine:
    engine: Engine = open_database(request.param, MARKED)
    return engine


def asked(engine: Engine, folder: Path, queries: list[str], show_values: str) -> list[ChatRequest]:
    """All that a model was sent while these queries were its candidates."""
    index = LexicalIndex(folder / f"{show_values}.sqlite")
    settings = Settings(show_values=show_values, confidence=1.0, samples=len(queries))
    for column in extract(engine, (), 100, settings.limits()):
        index.put(column)
    drafts = iter(queries * 50)

    def say(request: ChatRequest) -> str:
        if request.stage == "values":
            return '["zk-merk-ann", "zk-merk-lamp"]'
        if request.stage == "selection":
            return "A"
        return next(drafts) if request.stage.startswith(("gen", "revision")) else "[]"

    model = ScriptedModel(say)
    deps = Deps(
        model=model, engine=engine, guard=Guard(engine, settings=settings),
        catalog=engine.catalog(), settings=settings, values=index,
    )  # fmt: skip
    ask("Which customers are from Bonn, and what did Ann buy?", deps)
    index.close()
    return model.requests


def pools(engine: Engine) -> list[list[str]]:
    fails = [QUOTED_IN_ERRORS[engine.dialect], "SELECT nam FROM customer"]
    return [fails, EMPTY, FULL, [*fails, *EMPTY], [*FULL, *fails, *EMPTY]]


def sent(requests: list[ChatRequest]) -> list[str]:
    return [message.text for request in requests for message in request.messages]


def test_no_cell_of_any_row_reaches_a_prompt(marked: Engine, tmp_path: Path) -> None:
    stages = set()
    for queries in pools(marked):
        requests = asked(marked, tmp_path, queries, "no")
        stages |= {request.stage.partition(".")[0] for request in requests}
        found = [text for text in sent(requests) if MARK.search(text)]
        assert not found, f"{queries}: {found[0]}"
    assert stages >= {"linking", "generation", "revision", "selection", "rescue"}


def test_the_same_questions_show_cells_where_they_may(marked: Engine, tmp_path: Path) -> None:
    for queries in pools(marked):
        requests = asked(marked, tmp_path, queries, "yes")
        assert any(MARK.search(text) for text in sent(requests)), queries
