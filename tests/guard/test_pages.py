"""Runs the pages beside it: one heading is one test, on SQLite and DuckDB
(tests/guard/pages/*.md; test_pages_on_servers.py has the servers).

A page is headed by its schema. Blocks of a case, by the words behind the fence:

    sql query      what the guard is given (`text query` for a model's reply)
    sql schema     a schema of its own instead of the page's
    text given     settings, and policy, allow, fix, param, engines (also for a whole page)
    sql rewrite    what a patch makes of the query; without it the SQL may not change
    sql extracted  what is taken out of the reply
    text expect    what is seen: see `observed`; `expect duckdb` holds for that engine only

Laws for every case: nothing changes without `fix`, and what `fix` made is left alone afterwards.
"""

import json
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

import pytest
from markdown_it import MarkdownIt
from tests.servers import SERVERS

from modularsql import Answer, Guard, Settings
from modularsql.guard.policy import find_policy

PAGES = Path(__file__).parent / "pages"
ENGINES = ("sqlite", "duckdb")
# What an expectation leaves out must not be there.
SILENT = {"status": ["ok"], "state": [], "finding": [], "applied": [], "note": []}
PARTS = ("message", "error")  # a part of the text will do


@dataclass(frozen=True, kw_only=True)
class Case:
    """A heading with its blocks; those of the page come first and give way."""

    page: str
    title: str
    blocks: dict[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        return f"{self.page}: {self.title}"

    def given(self) -> dict[str, str]:
        """The lines of the page's and the case's `given` blocks."""
        return dict(pair for _, pair in pairs(self.blocks.get("given", "")))

    def engines(self) -> list[str]:
        """Where it runs."""
        return self.given().get("engines", " ".join(ENGINES)).split()

    def query(self) -> str:
        """What is given to the guard."""
        return self.blocks["query"]


def pairs(block: str) -> list[tuple[str, tuple[str, str]]]:
    """The `key: value` lines of a block, each with the line itself."""
    found = []
    for line in block.splitlines():
        if line.strip():
            key, colon, value = line.partition(":")
            assert colon, f"no 'key: value' in {line!r}"
            found.append((line, (key.strip(), value.strip())))
    return found


def read_page(path: Path) -> list[Case]:
    """The cases of a page, in order."""
    shared = Case(page=path.stem, title="")
    cases: list[Case] = []
    tokens = MarkdownIt().parse(path.read_text(encoding="utf-8"))
    for i, token in enumerate(tokens):
        if token.type == "heading_open" and token.tag == "h2":
            blocks = dict(shared.blocks)
            cases.append(Case(page=path.stem, title=tokens[i + 1].content, blocks=blocks))
        elif token.type == "fence":
            name = " ".join(token.info.split()[1:])
            blocks = (cases[-1] if cases else shared).blocks
            before = blocks.get("given", "") + "\n" if name == "given" else ""
            blocks[name] = before + token.content.removesuffix("\n")
    return cases


CASES = [case for path in sorted(PAGES.glob("*.md")) for case in read_page(path)]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_page(case: Case, open_database: Any) -> None:
    for kind in case.engines():
        assert_holds(case, kind, open_database)


def assert_holds(case: Case, kind: str, open_database: Any) -> None:
    """What the case says is seen on an engine, and the laws hold."""
    guard, options = prepare(case, kind, open_database)
    before = guard.run(case.query(), **options)
    after = guard.run(case.query(), fix=True, **options)
    expected = case.blocks.get(f"expect {kind}", case.blocks["expect"])
    seen = observed(before, after)
    for key, values in expectations(expected).items():
        got = seen.get(key, [])
        if key in PARTS:
            assert all(any(v in g for g in got) for v in values), f"{kind} {key}: {got}"
        else:
            assert got == values, f"{kind} {key}: {got}"
    assert_laws(case, guard, (before, after), options)


def prepare(case: Case, kind: str, open_database: Any) -> tuple[Guard, dict[str, Any]]:
    """The guard with the settings of a case, and what its `run` is called with."""
    given = case.given()
    known: dict[str, Any] = {f.name: type(f.default) for f in fields(Settings)}
    settings = Settings(policy="p1-p2", probe_seconds=60)  # on a busy machine, too
    for name in given.keys() & known.keys():
        settings = replace(settings, **{name: known[name](given[name])})
    options: dict[str, Any] = {
        "allow": given.get("allow", "").split(),
        "execute": given.get("execute") != "no",
        "params": json.loads(given.get("params", "null")),
    }
    assert given.keys() <= {*known, "allow", "execute", "params", "engines"}
    engine = open_database(kind, case.blocks["schema"], settings)
    return Guard(engine, find_policy(settings.policy, settings), settings), options


def observed(before: Answer, after: Answer) -> dict[str, list[str]]:
    """What an expectation can name. `before` ran without `fix`, `after` with it."""
    probe = after.probe
    known = probe.rows if probe else None
    rows = [str(known)] if known is not None else []
    if after.applied:
        rows = [f"{known} -> {len(after.rows)}"]
    return {
        "status": [probe.status if probe else "none"],
        "state": list(probe.states) if probe else [],
        "rows": rows,
        "ratio": [f"{probe.dup_ratio:.4g}"] if probe and probe.dup_ratio is not None else [],
        "counted by": ["the database" if probe and probe.pushed_down else "the guard"],
        "error": [probe.error] if probe and probe.error else [],
        "finding": [f"{f.rule} line {f.line}" for f in after.findings],
        "place": [f"line {f.line} column {f.column}" for f in after.findings],
        "message": [f.message for f in after.findings],
        "offered": [r.name for f in before.findings for r in f.repairs],
        "applied": list(after.applied),
        "verdict": [after.verdict.value],
        "first": [before.verdict.value],
        "note": list(after.notes),
        "result": [json.dumps(sorted(map(list, after.rows), key=repr), default=float)],
    }


def expectations(block: str) -> dict[str, list[str]]:
    """By key, all the values it is given; what must be silent when it is not named."""
    wanted = {key: list(values) for key, values in SILENT.items()}
    named: dict[str, list[str]] = {}
    for _, (key, value) in pairs(block):
        named.setdefault(key, []).append(value)
    return wanted | named


def assert_laws(
    case: Case, guard: Guard, answers: tuple[Answer, Answer], options: dict[str, Any]
) -> None:
    before, after = answers
    left_alone = case.blocks.get("extracted", case.query())
    assert before.final_sql == left_alone
    assert before.applied == ()
    assert after.final_sql == case.blocks.get("rewrite", left_alone)
    assert bool(after.applied) == ("rewrite" in case.blocks)
    if after.applied:
        offered = [repair.sql for finding in before.findings for repair in finding.repairs]
        assert offered == [after.final_sql]
    again = guard.run(after.final_sql, fix=True, **options)
    assert (again.final_sql, again.applied) == (after.final_sql, ())


def test_every_heading_of_the_pages_is_a_test_with_a_query_and_an_expectation() -> None:
    assert len(CASES) > 100
    assert len({str(case) for case in CASES}) == len(CASES)
    for case in CASES:
        assert {"schema", "query", "expect"} <= case.blocks.keys(), str(case)
        unknown = case.blocks.keys() - {
            *("schema", "query", "given", "rewrite", "extracted", "expect"),
            *(f"expect {kind}" for kind in (*ENGINES, *SERVERS)),
        }
        assert not unknown, str(case)
