"""`modularsql repair`."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from modularsql.cli.common import (
    DATABASES,
    common_options,
    model_options,
    output,
    print_json,
    reporting,
    setting_option,
    settings_of,
)
from modularsql.cli.progress import progress
from modularsql.wording import counted

if TYPE_CHECKING:
    from modularsql.cli.screen import Screen
    from modularsql.service.repairing import RepairSummary

_MOST_PROBLEMS = 5


@click.command("repair")
@click.argument("dataset")
@click.option(
    "--pred", required=True, type=click.Path(path_type=Path), help="Prediction file or folder."
)
@click.option("--db-root", required=True, metavar="PATH|URL", help=DATABASES)
@click.option("--out", required=True, type=click.Path(path_type=Path), help="Where to write.")
@click.option(
    "--pools",
    type=click.Path(path_type=Path),
    help="Candidates for each question (JSONL, DeepEye-SQL snapshot), for rescues.",
)
@setting_option("jobs")
@setting_option("cluster")
@model_options
@common_options
@reporting
def command(
    dataset: str,
    pred: Path,
    db_root: str,
    out: Path,
    pools: Path | None,
    format_: str,
    config: Path | None,
    verbose: bool,
    **flags: object,
) -> int:
    """Guard a whole prediction set and write the repaired set in the format it was read in.

    DATASET is a BIRD, Spider or Spider 2.0-lite file (dev.json, *_gold.sql), JSONL with id and
    db, or a folder with one. Queries that no rule changes stay byte for byte. Under policy grain
    the question decides whether copies are wanted, where the set has questions. With --pools a
    flagged query may give way to a candidate, as the policy says (`modularsql guard --help` lists
    them).

    \b
    Example:
      modularsql repair spider/dev.json --pred dail.txt \\
        --db-root spider/database --out fixed.txt
      modularsql repair spider/dev.json --pred dail.txt \\
        --db-root spider/database --pools pools.jsonl --policy paper \\
        --model gpt-4o-mini --out rescued.txt
    """
    settings = settings_of(config, **flags)
    if not settings.cluster:
        from modularsql.service.nursery import REPAIRING, warm_up

        warm_up(*REPAIRING)
    from modularsql.service.repairing import RepairRequest, repair

    with progress("questions") as show:
        summary = repair(
            RepairRequest(
                dataset=dataset,
                predictions=pred,
                db_root=db_root,
                out=out,
                pools=pools,
                settings=settings,
                progress=lambda done, total: show(done, total, "") if show else None,
            )
        )
    if format_ == "json":
        print_json(summary.as_json())
    else:
        from modularsql.cli.screen import Screen

        with output():
            _print(Screen(), summary)
    return 0


def _print(screen: "Screen", summary: "RepairSummary") -> None:
    changed = f"{summary.changed:,} of {counted(summary.questions, 'query', 'queries')} changed"
    screen.words(f"{changed} (policy {summary.policy}), written to {summary.out}")
    for title, counts in (
        ("by rule", summary.by_rule),
        ("by trigger", summary.by_trigger),
        ("by status", summary.by_status),
    ):
        shown = ", ".join(f"{name} {count:,}" for name, count in counts.most_common())
        screen.words(f"{title + ':':12}{shown or 'none'}", by=2)
    for words in summary.rescue.lines():
        screen.words(words, by=2)
    if summary.note:
        screen.words(f"note: {summary.note}", by=2)
    if summary.missing_databases:
        screen.words(f"databases not found: {_first(sorted(summary.missing_databases))}", by=2)
    if summary.unwritable:
        what = "left as they were, not writable on one line"
        screen.words(f"{what}: {_first(summary.unwritable)}", by=2)
    for problem, count in summary.problems.most_common(_MOST_PROBLEMS):
        screen.words(f"{counted(count, 'query', 'queries')}: {problem}", by=2)
    if (more := len(summary.problems) - _MOST_PROBLEMS) > 0:
        screen.words(f"… {counted(more, 'more problem')} (--format json has them)", by=2)


def _first(names: Sequence[str]) -> str:
    more = f" and {len(names) - 5:,} more" if len(names) > 5 else ""
    return ", ".join(names[:5]) + more
