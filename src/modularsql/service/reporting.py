"""The use case `report`: what a finished run says, as tables, Markdown, JUnit and one page."""

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from modularsql.evaluation.files import write_text
from modularsql.evaluation.report.charts import charts
from modularsql.evaluation.report.html import facts, page
from modularsql.evaluation.report.junit import junit
from modularsql.evaluation.report.tables import report_tables
from modularsql.evaluation.table import Table, markdown
from modularsql.json_values import plain
from modularsql.service.jsonable import SCHEMA_VERSION
from modularsql.service.run_files import load_run

PAGE, TEXT, CASES = "report.html", "report.md", "junit.xml"


@dataclass(frozen=True, slots=True, kw_only=True)
class Reported:
    """The tables of a report, what a reader must know beside them, and what was written."""

    tables: Sequence[Table]
    notes: Sequence[str]
    written: Sequence[Path]

    def as_json(self) -> dict[str, Any]:
        """The object that `report --format json` prints."""
        shown: dict[str, Any] = plain(
            {
                "schema_version": SCHEMA_VERSION,
                "tables": {table.name: table.records() for table in self.tables},
                "notes": list(self.notes),
                "written": [str(path) for path in self.written],
            }
        )
        return shown


def report(folder: Path) -> Reported:
    """Write report.html, report.md and junit.xml into the folder of a finished run.

    Raises `InputError` where there is no run, or no room for the files.
    """
    run = load_run(folder)
    tables = report_tables(run)
    bundle = _bundle()
    notes = run.notes()
    write_text(folder / PAGE, page(run, tables, charts(run, tables), notes, bundle))
    write_text(folder / TEXT, _markdown(folder, facts(run), tables, notes))
    write_text(folder / CASES, junit(run))
    said = list(notes)
    if not bundle:
        said.append("the page has no plots: pip install 'modularsql[report]' adds them")
    return Reported(
        tables=tables, notes=said, written=[folder / name for name in (PAGE, TEXT, CASES)]
    )


def _markdown(folder: Path, said: str, tables: Sequence[Table], notes: Sequence[str]) -> str:
    lines = [f"# {folder.resolve().name}", "", said, "", *(f"- {note}" for note in notes)]
    return "\n".join(lines).rstrip() + "\n\n" + "\n".join(map(markdown, tables))


def _bundle() -> str:
    """Vega, Vega-Lite and Vega-Embed as one script; empty without the extra `report`."""
    if find_spec("vl_convert") is None:
        return ""
    import vl_convert

    # Its type stub takes the snippet for required.
    bundle: str = vl_convert.javascript_bundle()  # type: ignore[call-arg]
    return bundle
