"""An answer made for reading: verdict first, findings, rows, then what ran and how long."""

from collections import Counter
from typing import TYPE_CHECKING

from rich.text import Text

from modularsql.cli.evidence import print_evidence
from modularsql.cli.screen import Screen
from modularsql.cli.table import print_rows
from modularsql.guard.verdict import remaining
from modularsql.records import Answer, Finding, Repair, Safety, Severity, Verdict
from modularsql.wording import counted

if TYPE_CHECKING:
    from modularsql.service.asking import Reply

_STYLE = {Severity.ERROR: "bold red", Severity.WARNING: "bold yellow", Severity.INFO: "bold cyan"}
_MANY = {Severity.INFO: "info"}
_VERDICT_STYLE = {
    Verdict.PASS: "bold green",
    Verdict.ANNOTATE: "bold yellow",
    Verdict.REPAIR: "bold green",
    Verdict.REFUSE: "bold red",
    Verdict.UNDECIDED: "bold cyan",
}


def print_answer(screen: Screen, answer: Answer) -> None:
    """The whole answer."""
    print_verdict(screen, answer)
    print_findings(screen, answer)
    if not answer.applied and answer.final_sql.strip() != answer.sql.strip():
        screen.say("what ran:")
        screen.sql(answer.final_sql, by=4)
    if answer.columns:
        screen.say()
        print_rows(screen, answer.columns, answer.rows)
    screen.say()
    screen.words(_run(answer), style="dim")


def print_reply(screen: Screen, reply: "Reply") -> None:
    """A guarded answer to a question: the query first, how sure the vote is, what it cost."""
    if reply.unanswerable is None:
        screen.say("the query:")
        screen.sql(reply.answer.final_sql, by=4)
        print_answer(screen, reply.answer)
    else:
        screen.say(Text("NOT ANSWERED", style=_VERDICT_STYLE[reply.answer.verdict]))
        for words in (*(one.message for one in reply.answer.findings), *reply.answer.notes):
            screen.words(words, by=2)
    cost = reply.answer.cost
    facts = [counted(len(reply.pool), "candidate")]
    if reply.confidence is not None:
        agree = f"{reply.confidence:.0%} of the samples agree"
        facts.append(agree if reply.confidence else "none of the samples runs")
    facts.append(counted(cost.llm_calls, "call"))
    facts.append(f"{cost.prompt_tokens + cost.completion_tokens:,} tokens")
    if cost.usd:
        facts.append(f"${cost.usd:.4f}")
    if reply.trace_path is not None:
        facts.append(f"trace in {reply.trace_path}")
    screen.words(", ".join(facts), style="dim")


def print_verdict(screen: Screen, answer: Answer, undecided: str = "") -> None:
    """One line: the word, and why; `undecided` says why not where the answer does not."""
    line = Text(answer.verdict.value.upper(), style=_VERDICT_STYLE[answer.verdict])
    is_open = answer.verdict == Verdict.UNDECIDED and undecided
    line.append(f"  {undecided if is_open else _why(answer)}", style="default")
    screen.say(line)


def _why(answer: Answer) -> str:
    if answer.verdict == Verdict.PASS:
        return "nothing found"
    if answer.verdict == Verdict.UNDECIDED:
        return "not analysed" if answer.probe else "not run"
    if answer.verdict == Verdict.REFUSE:
        return "not run"
    done = f"repaired by {', '.join(answer.applied)}" if answer.applied else ""
    if answer.verdict == Verdict.REPAIR:
        return done
    counts = Counter(f.severity for f in remaining(answer.findings, answer.applied))
    left = ", ".join(counted(counts[s], s.value, _MANY.get(s, "")) for s in Severity if counts[s])
    return f"{done}; still {left}" if done else left


def print_findings(screen: Screen, answer: Answer) -> None:
    """Each finding with its place, its words and the repairs on offer; the loudest first.

    SQL that answers several findings is shown once.
    """
    shown: set[str] = set()
    for finding in sorted(answer.findings, key=_loudness):
        done = any(repair.name in answer.applied for repair in finding.repairs)
        screen.say(_headline(finding, done))
        screen.words(finding.message, by=2)
        print_evidence(screen, finding.measured)
        for repair in finding.repairs:
            lead = _lead(repair, repair.name in answer.applied)
            if repair.sql in shown:
                screen.words(f"{lead} the same, above", by=2)
                continue
            screen.words(lead, by=2)
            screen.sql(repair.sql, by=4)
            shown.add(repair.sql)
    for note in answer.notes:
        screen.words(note.rstrip(".") + ".", by=2)


def _loudness(finding: Finding) -> int:
    return list(Severity).index(finding.severity)


def _headline(finding: Finding, done: bool) -> Text:
    text = Text(finding.severity.value, style="dim" if done else _STYLE[finding.severity])
    text.append(f" {finding.rule}", style="bold")
    text.append(f"  line {finding.line:,}, column {finding.column:,}", style="dim")
    return text


def _lead(repair: Repair, done: bool) -> str:
    if done:
        return f"repaired by {repair.name} ({repair.safety}):"
    if repair.safety == Safety.SUGGESTED:
        return f"a possible repair, {repair.name}:"
    return f"repair on offer with --fix, {repair.name} ({repair.safety}):"


def _run(answer: Answer) -> str:
    """What ran, how many rows, how long."""
    probe = answer.probe
    facts = []
    if probe is None:
        facts.append("not run")
    elif probe.rows is None and not answer.columns:
        facts.append("no rows")
    else:
        rows = len(answer.rows) if probe.rows is None else probe.rows
        facts.append(counted(rows, "row") + (" or more" if probe.rows is None else ""))
    if probe is not None and probe.distinct_rows is not None:
        about = "about " if probe.distinct_error else ""
        facts.append(f"{about}{probe.distinct_rows:,} distinct")
    if probe is not None and probe.dup_ratio is not None:
        facts.append(f"dup ratio {_ratio(probe.dup_ratio)}")
    if answer.applied:
        facts.append(f"{counted(len(answer.rows), 'row')} after the repair")
    spent = ", ".join(f"{name} {ms:,.1f}" for name, ms in answer.timing_ms.items() if ms >= 0.05)
    return f"{answer.dialect}: {', '.join(facts)}" + (f"; ms: {spent}" if spent else "")


def _ratio(ratio: float) -> str:
    """Two digits, but never 0 or 1 for a ratio that is not."""
    if 0 < ratio < 0.005:
        return "below 0.01"
    return "above 0.99" if ratio >= 0.995 else f"{ratio:.2f}"
