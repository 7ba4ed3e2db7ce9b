"""An answer made for reading: verdict first, findings, rows, then what ran and how long."""

from collections.abc import Sequence
from typing import Any

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from modularsql.cli.common import printable
from modularsql.records import Answer, Finding, Severity, Verdict
from modularsql.service.jsonable import cell

_MOST_ROWS = 20
_LONGEST_CELL = 60
_STYLE = {Severity.ERROR: "bold red", Severity.WARNING: "bold yellow", Severity.INFO: "bold cyan"}
_VERDICTS = {
    Verdict.PASS: ("green", "nothing found"),
    Verdict.ANNOTATE: ("yellow", "see the findings"),
    Verdict.REPAIR: ("green", "repaired"),
    Verdict.REFUSE: ("red", "not run"),
    Verdict.UNDECIDED: ("cyan", "could not be judged"),
}


def print_answer(console: Console, answer: Answer) -> None:
    """The whole answer."""
    print_verdict(console, answer)
    print_findings(console, answer)
    if answer.columns:
        print_rows(console, answer.columns, answer.rows, answer.truncated)
    print_run(console, answer)


def print_verdict(console: Console, answer: Answer) -> None:
    """One line."""
    style, words = _VERDICTS[answer.verdict]
    line = Text(answer.verdict.value.upper(), style=f"bold {style}")
    line.append(f"  {words}", style="default")
    if answer.applied:
        line.append(f" by {', '.join(answer.applied)}", style="default")
    console.print(line)


def print_findings(console: Console, answer: Answer) -> None:
    """Each finding with its place, its words and the repairs on offer."""
    for finding in answer.findings:
        done = any(repair.name in answer.applied for repair in finding.repairs)
        console.print(_headline(finding, done), soft_wrap=False)
        console.print(Padding(Text(printable(finding.message)), (0, 0, 0, 2)))
        for repair in finding.repairs:
            lead = "repaired by" if done else "repair on offer (--fix):"
            console.print(
                Padding(Text(f"{lead} {repair.name}, {repair.safety.value}"), (0, 0, 0, 2))
            )
            console.print(Padding(Text(printable(repair.sql.strip()), style="bold"), (0, 0, 0, 4)))
    for note in answer.notes:
        console.print(Padding(Text(printable(note) + "."), (0, 0, 0, 2)))


def _headline(finding: Finding, done: bool) -> Text:
    text = Text(finding.severity.value, style="dim" if done else _STYLE[finding.severity])
    text.append(f" {finding.rule}", style="bold")
    text.append(f"  line {finding.line}, column {finding.column}", style="dim")
    return text


def print_rows(
    console: Console, columns: Sequence[str], rows: Sequence[tuple[Any, ...]], truncated: bool
) -> None:
    """The first rows as a table."""
    table = Table(show_edge=False, pad_edge=False, header_style="bold")
    numeric = [_is_numeric(rows, i) for i in range(len(columns))]
    for name, right in zip(columns, numeric, strict=True):
        table.add_column(Text(_short(name)), justify="right" if right else "left")
    for row in rows[:_MOST_ROWS]:
        table.add_row(*(_shown(value) for value in row))
    console.print(Padding(table, (1, 0, 0, 0)))
    more = len(rows) - _MOST_ROWS
    if more > 0:
        rest = " and more that were not kept" if truncated else ""
        console.print(Text(f"… {more:,} more rows{rest} (--format json has all that are kept)"))


def _is_numeric(rows: Sequence[tuple[Any, ...]], at: int) -> bool:
    values = [row[at] for row in rows[:_MOST_ROWS] if row[at] is not None]
    return bool(values) and all(
        isinstance(v, int | float) and not isinstance(v, bool) for v in values
    )


def _shown(value: Any) -> Text:
    if value is None:
        return Text("NULL", style="dim")
    if isinstance(value, str):
        return Text(_short(value))
    if isinstance(value, bytes):
        return Text(f"<{len(value):,} bytes>", style="dim")
    return Text(_short(str(cell(value))))


def _short(text: str) -> str:
    flat = printable(text.replace("\n", "⏎"))
    return flat if len(flat) <= _LONGEST_CELL else flat[: _LONGEST_CELL - 1] + "…"


def print_run(console: Console, answer: Answer) -> None:
    """What ran, how many rows, how long."""
    probe = answer.probe
    facts = []
    if probe is not None and probe.rows is not None:
        facts.append(f"{probe.rows:,} rows")
        if probe.distinct_rows is not None:
            facts.append(f"{probe.distinct_rows:,} distinct")
        if probe.dup_ratio is not None:
            facts.append(f"dup ratio {probe.dup_ratio:.2f}")
    if answer.applied:
        facts.append(f"{len(answer.rows):,} after the repair")
    spent = ", ".join(f"{name} {ms:,.1f}" for name, ms in answer.timing_ms.items() if ms >= 0.05)
    line = f"{answer.dialect}: {', '.join(facts) or 'nothing ran'}; ms: {spent or 'none'}"
    console.print(Padding(Text(line, style="dim"), (1, 0, 0, 0)))
