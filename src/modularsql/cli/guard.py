"""`modularsql guard`."""

import re
from pathlib import Path

import click

from modularsql.cli.common import (
    common_options,
    model_options,
    output,
    print_json,
    reporting,
    setting_option,
    settings_of,
)

_OPTION = re.compile(r"-[\w-]+(=.*)?|--|-", re.DOTALL)
_MARK = "\0"  # no argument of a process can hold it


class SqlCommand(click.Command):
    """A command whose arguments may begin like an option: `-- why not\nSELECT 1` is SQL."""

    allow_extra_args = True  # only to say what is wrong with them

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Hide such arguments from the option parser; words of SQL without quotes are refused."""
        hidden = [_MARK + a if a[:1] == "-" and not _OPTION.fullmatch(a) else a for a in args]
        rest = super().parse_args(ctx, hidden)
        for name, value in ctx.params.items():
            if isinstance(value, str):
                ctx.params[name] = value.removeprefix(_MARK)
        if rest:
            more = " ".join(word.removeprefix(_MARK) for word in rest)
            ctx.fail(
                f"SQL is one argument, and more follows: {more}. Put the whole of it in quotes"
            )
        return rest


@click.command("guard", cls=SqlCommand)
@click.argument("db")
@click.argument("sql")
@click.option("--question", help="What was asked; it decides whether copies are wanted.")
@click.option(
    "--param",
    "params",
    multiple=True,
    metavar="NAME=VALUE",
    help="Value of a bound parameter (:NAME, $NAME), or 1=VALUE for the first `?`.",
)
@click.option("--fix", is_flag=True, help="Apply repairs that held their check and leave no doubt.")
@click.option("--allow", multiple=True, metavar="RULE", help="Silence a rule.")
@click.option(
    "--keys",
    type=click.Path(path_type=Path),
    help="Keys that nobody declared (TOML, tables.json, dbt manifest); checked on the data.",
)
@click.option(
    "--candidates",
    type=click.Path(path_type=Path),
    help="Other queries for the question (a JSON list), for a rescue to choose from.",
)
@click.option("--no-execute", is_flag=True, help="Do not run the query; look at it alone.")
@click.option(
    "--transpile",
    is_flag=True,
    flag_value="run",
    default=None,
    help="Run a query that is written for another database as its translation.",
)
@setting_option("fail_on")
@model_options
@common_options
@reporting
def command(
    db: str,
    sql: str,
    question: str | None,
    params: tuple[str, ...],
    fix: bool,
    allow: tuple[str, ...],
    keys: Path | None,
    candidates: Path | None,
    no_execute: bool,
    format_: str,
    config: Path | None,
    verbose: bool,
    **flags: object,
) -> int:
    """Run one query under guard and return the rows of the final query.

    DB is a SQLite or DuckDB file, or a URL: sqlite:///PATH, duckdb:///PATH,
    postgresql://USER:PASSWORD@HOST:PORT/DATABASE, mysql://… (or env:VARIABLE, or a
    name of [databases] in modularsql.toml). SQL is text, `-` for standard input, or
    @FILE. The query can only read, and is ended at the time limit.

    Policy `grain` finds the joins that repeat or lose rows, and measures them. `p1-p2` adds or
    removes DISTINCT by the rows that come back, `p1` only adds it; `off` repairs nothing.

    With --candidates a query that the probe flags may give way to another one. `grain` and
    `paper` (`paper-v2`) ask the --model, then repair; without a model `grain` takes the candidate
    with the fewest findings. Where a warning stays that nothing repairs, a majority of the
    candidates may outvote the query. Other orders (docs/interfaces.md):

    \b
      with a model     `paper-v1`, `paper-v1-text`, `reprobe`, `regenerate`
      without a model  `selector`, `selector-patches`, `findings`,
                       `findings-repairs`

    \b
    Example:
      modularsql guard shop.sqlite "SELECT name FROM customer"
      modularsql guard shop.sqlite @query.sql --question "Who ordered?" --fix
      modularsql guard shop.sqlite @query.sql --param id=5 --format json
      modularsql guard shop.sqlite @query.sql --question "Who ordered?" --fix \\
        --candidates others.json --model gpt-4o-mini --budget 0.01

    \b
    Exit status:
      0  no finding at or above --fail-on remains
      1  one remains, or the query failed or was refused
      2  could not start: wrong option, no such file, locked
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
            keys=keys,
            candidates=candidates,
        )
    )
    if format_ == "json":
        print_json(answer_json(answer))
    else:
        from modularsql.cli.screen import Screen
        from modularsql.cli.text import print_answer

        with output():
            print_answer(Screen(), answer)
    return exit_status(answer, settings.fail_on)
