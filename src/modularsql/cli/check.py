"""`modularsql check`."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from modularsql.cli.common import (
    config_option,
    format_option,
    output,
    print_json,
    reporting,
    setting_option,
    settings_of,
    verbose_option,
)
from modularsql.cli.guard import SqlCommand

if TYPE_CHECKING:
    from modularsql.records import Answer

_OF_A_RUN = ("probe", "rows", "columns")


@click.command("check", cls=SqlCommand)
@click.argument("sql")
@click.option(
    "--schema",
    required=True,
    type=click.Path(path_type=Path),
    help="File with CREATE TABLE statements: a dump, or what `.schema` prints.",
)
@click.option(
    "--dialect",
    type=click.Choice(["sqlite", "duckdb", "postgres", "mysql"]),
    default="sqlite",
    show_default=True,
    help="Of the SQL and the schema.",
)
@click.option(
    "--keys",
    type=click.Path(path_type=Path),
    help="Keys that nobody declared: our TOML, tables.json, or a dbt manifest.",
)
@click.option("--allow", multiple=True, metavar="RULE", help="Silence a rule.")
@setting_option("fail_on")
@format_option
@config_option
@verbose_option
@reporting
def command(
    sql: str,
    schema: Path,
    dialect: str,
    keys: Path | None,
    allow: tuple[str, ...],
    format_: str,
    config: Path | None,
    verbose: bool,
    **flags: object,
) -> int:
    """Say what a query does to rows, from the schema alone; needs no database.

    SQL is text, `-` for standard input, or @FILE. Nothing is run, so nothing is measured or
    repaired: what only the data can tell is said as info. A table or column that the schema does
    not have is an error, and so is what the parser of SQLite or DuckDB itself refuses.

    \b
    Example:
      modularsql check @report.sql --schema schema.sql --dialect postgres

    \b
    Exit status:
      0  no finding at or above --fail-on
      1  there is one, or the text is not one statement
      2  could not start: wrong option, no such file, no table in it
    """
    from modularsql.service.checking import CheckRequest, check
    from modularsql.service.guarding import exit_status

    settings = settings_of(config, **flags)
    answer = check(
        CheckRequest(
            sql=sql, schema=schema, settings=settings, dialect=dialect, keys=keys, allow=allow
        )
    )
    with output():
        _show(answer, format_)
    return exit_status(answer, settings.fail_on)


def _show(answer: "Answer", format_: str) -> None:
    from modularsql.service.jsonable import answer_json

    if format_ == "json":
        whole = answer_json(answer)
        print_json({name: value for name, value in whole.items() if name not in _OF_A_RUN})
    else:
        from modularsql.cli.screen import Screen
        from modularsql.cli.text import print_findings, print_verdict

        screen = Screen()
        print_verdict(screen, answer, undecided="not all of it could be analysed")
        print_findings(screen, answer)
