"""Writes the generated parts of the docs: settings, metrics, attacks, the README's console output.

python scripts/make_docs.py           writes
python scripts/make_docs.py --check   exits 1 when something is stale
"""

import os
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from modularsql.config import PREFIX, SETTINGS
from modularsql.evaluation.cause import WORDS
from modularsql.evaluation.metrics import METRICS
from modularsql.evaluation.metrics.tolerant import NAME as TOLERANT
from modularsql.evaluation.metrics.ves import TIMED
from modularsql.evaluation.smells import TITLES

ROOT = Path(__file__).parents[1]
BLOCK = re.compile(r"```console\n\$ (?P<command>[^\n]+)\n(?P<output>.*?)```", re.DOTALL)
# A test runner may set these; the README shows what a pipe gets.
_TERMINAL = ("COLUMNS", "LINES", "FORCE_COLOR", "NO_COLOR", "PYTHONIOENCODING")
ATTACKS = re.compile(r"(<!-- attacks: made by make docs -->\n).*?(\n<!-- end -->)", re.DOTALL)
TIMES = re.compile(r"(ms: ).*")


def settings_page() -> str:
    """The settings table as Markdown."""
    lines = [
        "# Settings",
        "",
        "From the flag, else the environment variable, else `modularsql.toml` or",
        "`[tool.modularsql]` in `pyproject.toml`, else the default. Made by `make docs`.",
        "",
        "| setting | environment variable | default | what it is |",
        "|---|---|---|---|",
    ]
    for name, field in SETTINGS.items():
        variable = PREFIX + name.upper()
        what = field.metadata["help"]
        lines.append(f"| `{name}` | `{variable}` | `{field.default}` | {what} |")
    return "\n".join(lines) + "\n"


def metrics_page() -> str:
    """Metrics, causes and smells as Markdown."""
    metrics = [f"| `{m.name}` | {m.title} | {m.definition} |" for m in METRICS.values()]
    lines = [
        "# Metrics, causes, smells",
        "",
        "How a prediction's result is scored against gold's, why the two differ, and which gold",
        "queries are hard to be right about. Made by `make docs`.",
        "",
        "Cells are compared by value: 1, 1.0, TRUE and DECIMAL 1 are equal, NULL equals NULL, NaN",
        "equals NaN, a date equals the timestamp at its midnight; text is never a number. There is",
        "no numeric tolerance unless a metric names one. A score is undecided, not 0, where a cap",
        "has cut a result and what is left could still be equal, or a search became too long.",
        "",
        "| metric | title | definition |",
        "|---|---|---|",
        *metrics,
        f"| `{TOLERANT}` | Multiset-EX with tolerance | Multiset-EX where numbers may differ by "
        "what `--tolerance` says. |",
        *(f"| `{name}` | R-VES | {words} Needs `--timing`. |" for name, words in TIMED.items()),
        "",
        "| cause | what the prediction's result is |",
        "|---|---|",
        *(f"| `{cause}` | {words} |" for cause, words in WORDS.items()),
        "",
        "| smell | what the gold query is |",
        "|---|---|",
        *(f"| `{smell}` | {words} |" for smell, words in TITLES.items()),
        "",
        "`null_first_cut` is looked for in predictions as well, just as in gold: it is what the",
        "guard calls `null_sorts_first` (a row that is kept has NULL in the first key of the",
        "outermost ORDER BY, a row with a value is cut off, and the query does not ask for NULL).",
        "The other smells are those of gold alone.",
    ]
    return "\n".join(lines) + "\n"


def security(text: str) -> str:
    """The page on security with the number of attacks of each kind that the tests try."""
    engines = ("sqlite", "duckdb", "postgres", "mysql")
    tried = {name: _attacks(name) for name in ("all", *engines)}
    kinds = dict.fromkeys(kind for counts in tried.values() for kind in counts)
    lines = ["| attacks | SQLite | DuckDB | PostgreSQL | MariaDB |", "|---|---|---|---|---|"]
    for kind in kinds:
        counts = [str(tried["all"][kind] + tried[name][kind]) for name in engines]
        lines.append(f"| {kind} | {' | '.join(counts)} |")
    totals = [str(tried["all"].total() + tried[name].total()) for name in engines]
    lines.append(f"| together | {' | '.join(totals)} |")
    return ATTACKS.sub(lambda match: "\n".join([match[1], *lines, match[2]]), text)


def _attacks(name: str) -> Counter[str]:
    """How many attacks of each kind a file holds (tests/engines/attacks/README.md)."""
    found: Counter[str] = Counter()
    kind = ""
    path = ROOT / "tests" / "engines" / "attacks" / f"{name}.sql"
    for block in path.read_text(encoding="utf-8").strip().split("\n\n"):
        if block.startswith("-- # "):
            kind = block.removeprefix("-- # ")
        else:
            found[kind] += 1
    return found


def readme(text: str) -> str:
    """The README with the output of its console blocks as the commands print it now."""
    with tempfile.TemporaryDirectory() as folder:
        return BLOCK.sub(lambda match: _block(match["command"], folder), text)


def _block(command: str, folder: str) -> str:
    program = f"{sys.executable} -m modularsql"
    # The commands are the README's own, written by us.
    ran = subprocess.run(  # noqa: S602
        re.sub(r"\bmodularsql\b", program, command, count=1),
        shell=True,
        cwd=folder,
        env={name: value for name, value in os.environ.items() if name not in _TERMINAL},
        capture_output=True,
        text=True,
        check=False,
    )
    output = TIMES.sub(r"\1…", ran.stdout + ran.stderr)
    lines = "\n".join(line.rstrip() for line in output.splitlines())
    return f"```console\n$ {command}\n{lines}\n```"


def pages() -> Iterator[tuple[Path, str]]:
    """Every generated file with what it should hold."""
    yield ROOT / "docs" / "settings.md", settings_page()
    yield ROOT / "docs" / "metrics.md", metrics_page()
    path = ROOT / "docs" / "security.md"
    yield path, security(path.read_text(encoding="utf-8"))
    path = ROOT / "README.md"
    yield path, readme(path.read_text(encoding="utf-8"))


def main() -> int:
    """Write, or compare with `--check`."""
    stale = []
    for path, wanted in pages():
        if path.exists() and path.read_text(encoding="utf-8") == wanted:
            continue
        stale.append(path.relative_to(ROOT))
        if "--check" not in sys.argv:
            path.write_text(wanted, encoding="utf-8")
    if stale:
        print("stale:" if "--check" in sys.argv else "written:", *stale)
    return int(bool(stale) and "--check" in sys.argv)


if __name__ == "__main__":
    sys.exit(main())
