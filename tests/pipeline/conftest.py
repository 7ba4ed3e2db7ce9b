"""A small shop, and a pipeline over it whose model is a script."""

from collections.abc import Callable
from typing import Any

import pytest
from tests.conftest import OpenDatabase

from modularsql import Guard, Settings
from modularsql.llm.script import ScriptedModel
from modularsql.pipeline.deps import Deps
from modularsql.pipeline.run import Asked, ask
from modularsql.ports import ChatRequest

SHOP = """
CREATE TABLE customer(id INTEGER PRIMARY KEY, name TEXT, town TEXT);
CREATE TABLE purchase(id INTEGER PRIMARY KEY, customer_id INTEGER REFERENCES customer(id),
  day TEXT, total INTEGER);
CREATE TABLE product(id INTEGER PRIMARY KEY, title TEXT);
CREATE TABLE line(purchase_id INTEGER REFERENCES purchase(id),
  product_id INTEGER REFERENCES product(id), amount INTEGER,
  PRIMARY KEY (purchase_id, product_id));
INSERT INTO customer VALUES (1, 'Ann', 'Bonn'), (2, 'Bob', 'Kiel'), (3, 'Cem', 'Bonn');
INSERT INTO purchase VALUES (1, 1, '2024-01-05', 30), (2, 1, '2024-02-01', 12),
  (3, 2, '2023-12-30', 7), (4, 1, NULL, 5);
INSERT INTO product VALUES (1, 'lamp'), (2, 'rug');
INSERT INTO line VALUES (1, 1, 2), (1, 2, 1), (2, 2, 3), (3, 1, 1), (4, 1, 1);
"""

Said = Callable[[ChatRequest], Any]
Pipeline = Callable[..., Asked]


@pytest.fixture
def shop(open_database: OpenDatabase) -> Any:
    return open_database("sqlite", SHOP)


@pytest.fixture
def pipeline(shop: Any) -> Pipeline:
    """`pipeline(question, {stage: reply, …} or function, **deps)`: the question answered."""

    def run(question: str, said: Any, *, hint: str = "", **more: Any) -> Asked:
        settings = more.pop("settings", Settings())
        model = ScriptedModel(said if callable(said) else by_stage(said))
        deps = Deps(
            model=model,
            engine=shop,
            guard=Guard(shop, "grain", settings),
            catalog=shop.catalog(),
            settings=settings,
            **more,
        )
        return ask(question, deps, hint)

    return run


def by_stage(replies: dict[str, Any]) -> Said:
    """A reply for each stage; the longest name that the stage begins with decides."""

    def say(request: ChatRequest) -> Any:
        names = [name for name in replies if request.stage.startswith(name)]
        return replies[max(names, key=len)] if names else "I do not know."

    return say
