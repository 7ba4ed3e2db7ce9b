"""`modularsql predict`."""

from pathlib import Path

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
from modularsql.wording import counted


@click.command("predict")
@click.argument("dataset")
@click.option("--db-root", required=True, metavar="PATH|URL", help=DATABASES)
@click.option("--out", required=True, type=click.Path(path_type=Path), help="Folder to write to.")
@model_options
@setting_option("base_url")
@click.option(
    "--examples",
    "examples_file",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Solved questions (JSON Lines of question and sql) to learn from.",
)
@click.option(
    "--definitions",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Text file of what words mean in this business.",
)
@setting_option("without")
@setting_option("jobs")
@setting_option("cluster")
@common_options
@reporting
def command(
    dataset: str,
    db_root: str,
    out: Path,
    examples_file: Path | None,
    definitions: Path | None,
    format_: str,
    config: Path | None,
    verbose: bool,
    **flags: object,
) -> int:
    """Answer every question of a data set: predictions, pools and traces.

    DATASET is as for `repair`. A run that was stopped goes on where it was, under the same
    settings, prompts and data; questions that failed are asked again. `eval` and `repair` read what
    is written.

    \b
    Example:
      modularsql predict spider/dev.json --db-root spider/database \\
        --model qwen3 --base-url http://localhost:8000/v1 --out run

    \b
    Exit status: 0; 1 where questions failed that the same command asks again.
    """
    from modularsql.cli.progress import progress
    from modularsql.cli.screen import Screen
    from modularsql.service.predicting import PredictRequest, predict

    settings = settings_of(config, **flags)
    with progress("questions") as show:
        summary = predict(
            PredictRequest(
                dataset=dataset,
                db_root=db_root,
                out=out,
                settings=settings,
                examples=examples_file,
                definitions=definitions,
                progress=show or (lambda done, total, words: None),
            )
        )
    status = 1 if summary.failed else 0
    if format_ == "json":
        print_json(summary.as_json())
        return status
    with output():
        screen = Screen()
        of = counted(summary.questions, "question")
        screen.words(f"{summary.answered:,} of {of} answered, in {summary.out}")
        if summary.resumed:
            screen.words(f"{summary.resumed:,} were answered before", by=2)
        for problem, count in sorted(summary.problems.items(), key=lambda item: -item[1])[:5]:
            screen.words(f"{counted(count, 'question')}: {problem}", by=2)
        if summary.failed:
            them = counted(summary.failed, "question")
            screen.words(f"{them} failed; the same command asks again", by=2)
        if summary.not_indexed:
            them = counted(summary.not_indexed, "database")
            screen.words(
                f"values were not looked up in {them}: run `modularsql index` on each first", by=2
            )
        cost = summary.cost
        tokens = f"{cost.prompt_tokens:,} tokens in, {cost.completion_tokens:,} out"
        screen.words(f"{counted(cost.llm_calls, 'call')}, {tokens}, ${cost.usd:.4f}", by=2)
    return status
