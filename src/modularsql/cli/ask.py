"""`modularsql ask`."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from modularsql.cli.common import (
    common_options,
    model_options,
    output,
    print_error,
    print_json,
    reporting,
    setting_option,
    settings_of,
)
from modularsql.errors import InputError, ModelError

if TYPE_CHECKING:
    from modularsql.service.asking import Reply


@click.command("ask")
@click.argument("db")
@click.argument("question", required=False)
@click.option(
    "--hint", default="", help="What helps with the question: a formula, what a word means."
)
@model_options
@setting_option("base_url")
@setting_option("embedder")
@click.option(
    "--definitions",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Text file of what words mean in this business.",
)
@click.option(
    "--examples",
    "examples_file",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Solved questions (JSON Lines of question and sql) to learn from.",
)
@click.option(
    "--trace",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write what happened: a page (FILE.html) or JSON.",
)
@common_options
@reporting
def command(
    db: str,
    question: str | None,
    hint: str,
    definitions: Path | None,
    examples_file: Path | None,
    trace: Path | None,
    format_: str,
    config: Path | None,
    verbose: bool,
    **flags: object,
) -> int:
    """Answer a question in words from a database, under guard.

    DB is as for `guard`. Queries are sampled from a model, checked, run, compared by their results,
    and the chosen one is guarded. Without QUESTION, on a terminal, questions are read one by one,
    each with those before it in mind; Ctrl-D ends that.

    \b
    Example:
      modularsql ask shop.sqlite "Who never ordered?" --model gpt-4o-mini
      modularsql ask shop.sqlite --model qwen3 --base-url http://localhost:8000/v1

    \b
    Exit status: as `guard`; 1 also where the database cannot answer.
    """
    from modularsql.service.asking import AskRequest, conversation

    settings = settings_of(config, **flags)
    request = AskRequest(
        target=db,
        settings=settings,
        hint=hint,
        definitions=definitions,
        examples=examples_file,
        trace=trace,
    )
    if question is None and not sys.stdin.isatty():
        raise InputError("no question is given", 'write it: modularsql ask DB "…"')
    status = 0
    with conversation(request) as talk:
        for asked in _questions(question):
            try:
                status = _show(talk.ask(asked), format_, settings.fail_on)
            except ModelError as error:
                if question is not None:
                    raise
                print_error(error, format_)
                status = 2
    return status


def _questions(question: str | None) -> Iterator[str]:
    if question is not None:
        yield question
        return
    while True:
        try:
            asked = input("? ")
        except EOFError:
            return
        if asked.strip():
            yield asked


def _show(reply: "Reply", format_: str, fail_on: str) -> int:
    from modularsql.service.asking import reply_json
    from modularsql.service.guarding import exit_status

    if format_ == "json":
        print_json(reply_json(reply))
    else:
        from modularsql.cli.screen import Screen
        from modularsql.cli.text import print_reply

        with output():
            screen = Screen()
            print_reply(screen, reply)
    return exit_status(reply.answer, fail_on)
