"""A corpus of real queries: none makes the reader raise, nearly all are parsed.

The corpus lies beside the checkout (../shared) and is no part of it; without it this is skipped.
"""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from modularsql.sql.outermost import Declined, add_distinct, outermost, select_place
from modularsql.sql.parse import Unparsed, is_query
from modularsql.sql.statement import Statement, read_statement

SHARED = Path(__file__).parents[2].parent / "shared" / "data"
needs_corpus = pytest.mark.skipif(not SHARED.is_dir(), reason="no corpus beside the checkout")


def spider() -> Iterator[str]:
    for line in (SHARED / "spider" / "train_gold.sql").read_text(encoding="utf-8").splitlines():
        if line.strip():
            yield line.rpartition("\t")[0]


def bird(path: Path) -> Iterator[str]:
    for item in json.loads(path.read_text(encoding="utf-8")):
        yield item["SQL"]


def corpora() -> dict[str, list[str]]:
    """Name: queries."""
    found = {"spider train": list(spider()), "bird dev": list(bird(SHARED / "bird" / "dev.json"))}
    for path in sorted((SHARED / "bird" / "minidev").rglob("*sqlite*.json")):
        found[path.stem] = list(bird(path))
    return found


@needs_corpus
@pytest.mark.slow
def test_every_gold_query_is_read_and_nearly_all_are_parsed() -> None:
    for name, queries in corpora().items():
        assert len(queries) >= 500, name
        unparsed = [query for query in queries if not is_parsed(query)]
        share = 1 - len(unparsed) / len(queries)
        print(f"{name}: {share:.2%} of {len(queries)} parsed; not: {unparsed[:5]}")  # noqa: T201
        assert share >= 0.995, unparsed


def is_parsed(query: str) -> bool:
    """Read the query; a parsed one also has its places and takes an edit or a reason."""
    found = read_statement(query, "sqlite", 100_000)
    assert isinstance(found, Statement), query
    assert query[found.start : found.end] == found.text
    assert found.with_text(found.text) == query
    if isinstance(found.tree, Unparsed) or not is_query(found.tree):
        return False
    at = select_place(found)
    if outermost(found.tree) is not None:
        assert found.text[at:].lower().startswith("select"), query
    edited = add_distinct(found, "sqlite")
    assert isinstance(edited, str | Declined)
    if isinstance(edited, Declined):
        assert "was not found in the text" not in edited.reason, query
        assert "cannot be edited" not in edited.reason, query
    return True
