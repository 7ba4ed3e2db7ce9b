"""`modularsql eval`."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from modularsql.cli.common import (
    DATABASES,
    config_option,
    format_option,
    output,
    print_json,
    printable,
    reporting,
    setting_option,
    settings_of,
    verbose_option,
)
from modularsql.cli.progress import Show, progress
from modularsql.config import Settings
from modularsql.wording import counted

if TYPE_CHECKING:
    from modularsql.cli.screen import Screen
    from modularsql.rows.tolerance import Tolerance
    from modularsql.service.evaluating import Evaluated, Standing

PRESETS: Mapping[str, Mapping[str, Any]] = {"paper": {"timeout": 5.0}}
"""Settings that a preset gives where no flag does."""

_FILE = click.Path(path_type=Path)


def _tolerance(
    _context: click.Context, _option: click.Parameter, given: str | None
) -> "Tolerance | None":
    """An absolute tolerance, and a relative one after a comma."""
    if given is None:
        return None
    from modularsql.rows.tolerance import Tolerance

    try:
        absolute, relative = (float(part) for part in f"{given},0".split(",")[:2])
    except ValueError:
        raise click.BadParameter(f"{given!r} is no number: write 0.01, or 0.01,1e-6") from None
    if given.count(",") > 1 or not (0 <= absolute < math.inf and 0 <= relative < 1):
        raise click.BadParameter(f"{given!r}: write 0.01, or 0.01,1e-6 (below 1 after the comma)")
    return Tolerance(absolute=absolute, relative=relative)


@click.command("eval")
@click.argument("dataset")
@click.option(
    "--pred", "preds", required=True, multiple=True, type=_FILE, help="Predictions; repeatable."
)
@click.option(
    "--pools", multiple=True, type=_FILE, help="Candidates, for the best and the mean; repeatable."
)
@click.option("--db-root", required=True, metavar="PATH|URL", help=DATABASES)
@click.option("--out", required=True, type=_FILE, help="Folder of the run.")
@click.option(
    "--metrics", metavar="A,B,…", help="Names of metrics, with commas.  [default: all of them]"
)
@click.option(
    "--guard",
    multiple=True,
    metavar="POLICY",
    help="Also what the guard makes of predictions; repeatable.",
)
@click.option(
    "--tolerance",
    callback=_tolerance,
    metavar="ABS[,REL]",
    help="Also Multiset-EX where numbers may differ so much, or by this share.",
)
@click.option(
    "--timing",
    type=click.IntRange(1, 1000),
    metavar="N",
    help="Also R-VES: right answers and gold are run N times in turns, by themselves.",
)
@click.option(
    "--smells",
    is_flag=True,
    help="Also what may be wrong with gold or answers, scores without it.",
)
@click.option(
    "--preset",
    type=click.Choice(list(PRESETS)),
    help="paper: 5 s, and gold that takes longer is left out and listed.",
)
@setting_option("jobs")
@setting_option("cluster")
@setting_option("timeout")
@setting_option("score_rows", flag="max_rows")
@format_option
@config_option
@verbose_option
@reporting
def command(
    dataset: str,
    preds: Sequence[Path],
    pools: Sequence[Path],
    db_root: str,
    out: Path,
    metrics: str | None,
    guard: Sequence[str],
    tolerance: "Tolerance | None",
    timing: int | None,
    smells: bool,
    preset: str | None,
    format_: str,
    config: Path | None,
    verbose: bool,
    **flags: Any,
) -> int:
    """Score prediction sets against gold, every statement run once, and say why results differ.

    DATASET is a BIRD, Spider or Spider 2.0-lite file (dev.json, *_gold.sql), JSONL with id, db
    and gold, or a folder with one. Writes verdicts.parquet, results.parquet, summary.json and
    run.json into --out; the same command goes on where it was stopped.

    \b
    Example:
      modularsql eval spider/dev.json --pred dail.txt --pred c3.txt \\
        --db-root spider/database --out run
    """
    given = {name: value for name, value in flags.items() if value is not None}
    settings = settings_of(config, **{**PRESETS.get(preset or "", {}), **given})
    if "max_rows" in given:
        settings = replace(settings, score_rows=settings.max_rows)
    _begin(settings, bool(guard), format_)
    from modularsql.service.evaluating import EvalRequest, evaluate

    with progress("pairs") as show:
        done = evaluate(
            EvalRequest(
                dataset=dataset,
                predictions=preds,
                db_root=db_root,
                out=out,
                settings=settings,
                metrics=[name.strip() for name in metrics.split(",")] if metrics else (),
                guard=guard,
                pools=pools,
                smells=smells,
                tolerance=tolerance,
                turns=timing or 0,
                slow_gold_out=preset == "paper",
                progress=_shown(show),
            )
        )
    if format_ == "json":
        print_json(done.summary)
    else:
        from modularsql.cli.screen import Screen

        with output():
            _print(Screen(), done, out)
    return 0


def _begin(settings: Settings, guards: bool, format_: str) -> None:
    """Let one process import what workers need, and this one meanwhile what it needs in the end."""
    if not settings.cluster:
        from modularsql.service.nursery import SCORING, SCORING_GUARDED, warm_up

        warm_up(*(SCORING_GUARDED if guards else SCORING))
    if format_ == "text":
        import modularsql.cli.table  # noqa: F401


def _shown(show: Show | None) -> "Any":
    if show is None:
        return None

    def standing(now: "Standing") -> None:
        words = ", ".join(
            f"{printable(name)} {100 * right[1] / right[0]:.1f}/{100 * right[2] / right[0]:.1f}"
            for name, right in now.right.items()
            if right[0]
        )
        words = f"Set-EX/Multiset-EX so far: {words}" if words else ""
        if now.timing:
            words = "timing right answers"
        show(now.done, now.total, words)

    return standing


def _print(screen: "Screen", done: "Evaluated", out: Path) -> None:
    from modularsql.cli.table import print_table

    for table in done.tables:
        print_table(screen, table)
    for note in done.notes:
        screen.words(f"note: {note}")
    systems = done.summary["systems"]
    scored = sum(one["n"] for one in systems.values())
    answers = counted(sum(one["questions"] for one in systems.values()), "answer")
    resumed = f" altogether, {done.resumed:,} pairs from before" if done.resumed else ""
    seconds = done.run.about["seconds"]
    screen.words(f"{scored:,} of {answers} scored in {seconds:g} s{resumed}, written to {out}")
    screen.words(f"more: modularsql report {out}")
