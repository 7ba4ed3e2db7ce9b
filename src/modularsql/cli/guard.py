"""`modularsql guard`."""

import sys
from pathlib import Path

import click

from modularsql.cli.common import (
    common_options,
    print_json,
    reporting,
    setting_option,
    settings_of,
)


@click.command("guard")
@click.argument("db")
@click.argument("sql")
@click.option("--question", help="What was asked, in words; kept with the answer.")
@click.option(
    "--param",
    "params",
    multiple=True,
    metavar="NAME=VALUE",
    help="Value of a bound parameter (:NAME, $NAME), or 1=VALUE for the first `?`.",
)
@click.option("--fix", is_flag=True, help="Apply repairs that held their check.")
@click.option("--allow", multiple=True, metavar="RULE", help="Silence a rule.")
@click.option("--no-execute", is_flag=True, help="Do not run the query.")
@setting_option("fail_on", type=click.Choice(["warning", "error", "never"]))
@common_options
@reporting
def command(
    db: str,
    sql: str,
    question: str | None,
    params: tuple[str, ...],
    fix: bool,
    allow: tuple[str, ...],
    no_execute: bool,
    format_: str,
    config: Path | None,
    verbose: bool,
    **flags: object,
) -> int:
    """Run one query under guard and return the rows of the final query.

    DB is a SQLite or DuckDB file, or sqlite:///PATH, duckdb:///PATH. SQL is text, `-` for
    standard input, or @FILE. The query can only read, and is ended at the time limit.

    \b
    Example:
      modularsql guard shop.sqlite "SELECT c.name FROM customer c JOIN …" --fix

    \b
    Exit status: 0 nothing above the bar (--fail-on) remains
                 1 a finding remains, or the query failed or was refused
                 2 could not start (wrong option, no such file, locked database)
    """
    from modularsql.service.guarding import GuardRequest, exit_status, guard
    from modularsql.service.jsonable import answer_json

    settings = settings_of(config, **flags)
    answer = guard(
        GuardRequest(
            target=db,
            sql=sql,
            settings=settings,
            question=question,
            params=params,
            fix=fix,
            allow=allow,
            execute=not no_execute,
        )
    )
    if format_ == "json":
        print_json(answer_json(answer))
    else:
        from rich.console import Console

        from modularsql.cli.text import print_answer

        print_answer(Console(file=sys.stdout, highlight=False), answer)
    return exit_status(answer, settings.fail_on)
