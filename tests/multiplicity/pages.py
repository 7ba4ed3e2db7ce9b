"""Reading the pages of rules and rewrites: documentation and tests at once.

# name                      the page's rule, with a paragraph on what and why
```sql schema               tables and rows for all cases; a case may have a schema of its own
## heading                  one case, one test
```sql query                what is analysed and run
```sql rewrite              what repairs it; `sql rewrite mysql` where it is written otherwise there
```text expect              `label: value`, one line for each thing that must hold
"""

import ast
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from markdown_it import MarkdownIt

ENGINES = ("sqlite", "duckdb")
Row = tuple[Any, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One heading of a page."""

    rule: str
    heading: str
    schema: str
    query: str
    rewrite: str | None
    expect: tuple[tuple[str, str], ...]
    written_there: tuple[tuple[str, str], ...] = ()

    def lines(self, label: str) -> list[str]:
        """What stands behind a label."""
        return [value for name, value in self.expect if name == label]

    def on(self, engine: str) -> "Case":
        """The case with the rewrite as it is written on an engine."""
        return replace(self, rewrite=dict(self.written_there).get(engine, self.rewrite))

    @property
    def engines(self) -> tuple[str, ...]:
        """Where it runs."""
        named = self.lines("engines")
        return tuple(named[0].split()) if named else ENGINES

    @property
    def is_silent(self) -> bool:
        """Whether nothing is to be found."""
        return bool(self.lines("silent"))

    def rows(self, label: str) -> list[Row] | None:
        """The rows written under a label, None where none are."""
        written = self.lines(label)
        return _rows(written[0]) if written else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """A rule's page."""

    rule: str
    introduction: str
    schema: str
    cases: tuple[Case, ...]


def pages(folder: Path) -> list[Page]:
    """Every page in a folder."""
    return [read_page(path) for path in sorted(folder.glob("*.md"))]


def shared(found: Iterable[Page]) -> dict[str, Case]:
    """The cases that more than one engine runs, by rule and heading."""
    cases = (case for page in found for case in page.cases)
    return {f"{c.rule}: {c.heading}": c for c in cases if len(c.engines) > 1}


Blocks = dict[str | None, dict[str, str]]


def read_page(path: Path) -> Page:
    """One page, taken apart."""
    introduction, blocks = blocks_of(path)
    schema = blocks.pop(None).get("schema", "")
    cases = tuple(_case(path.stem, str(name), parts, schema) for name, parts in blocks.items())
    return Page(rule=path.stem, introduction=introduction, schema=schema, cases=cases)


def blocks_of(path: Path) -> tuple[str, Blocks]:
    """The words before the first case, and the blocks of each case by their kind (None: of all)."""
    heading: str | None = None
    introduction: list[str] = []
    blocks: Blocks = {None: {}}
    tokens = MarkdownIt().parse(path.read_text(encoding="utf-8"))
    for before, token in zip([None, *tokens], tokens, strict=False):
        if token.type == "inline" and before is not None and before.type == "heading_open":
            if before.tag == "h2":
                heading = token.content
                blocks[heading] = {}
        elif token.type == "inline" and heading is None:
            introduction.append(token.content)
        elif token.type == "fence":
            blocks[heading][" ".join(token.info.split()[1:])] = token.content.strip()
    return "\n".join(introduction), blocks


def _case(rule: str, heading: str, parts: dict[str, str], schema: str) -> Case:
    expect = []
    for line in parts["expect"].splitlines():
        label, _, value = line.partition(":")
        expect.append((label.strip(), value.strip() or label.strip()))
    return Case(
        rule=rule,
        heading=heading,
        schema=parts.get("schema", schema),
        query=parts["query"],
        rewrite=parts.get("rewrite"),
        expect=tuple(expect),
        written_there=tuple(
            (kind.split()[1], sql) for kind, sql in parts.items() if kind.startswith("rewrite ")
        ),
    )


def _rows(text: str) -> list[Row]:
    if text == "none":
        return []
    read = (ast.literal_eval(part.strip()) for part in text.split(";"))
    return [row if isinstance(row, tuple) else (row,) for row in read]
