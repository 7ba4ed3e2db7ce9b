"""`modularsql schema`."""

from importlib.resources import files

import click

from modularsql.cli.common import output, reporting

NAMES = (
    "guard", "ask", "index", "predict", "repair", "eval", "report", "compare", "calibrate", "check",
    "rules", "error",
)  # fmt: skip


@click.command("schema")
@click.argument("name", type=click.Choice(NAMES), metavar="NAME")
@reporting
def command(name: str) -> int:
    """Print the JSON Schema of what a command prints under --format json.

    NAME is a command that takes --format json (guard, ask, index, predict, repair, eval, report,
    compare, calibrate, check, rules), or error for what every command prints when it could not
    start.

    \b
    Example:
      modularsql schema guard > guard.schema.json
    """
    schema = files("modularsql.schemas").joinpath(f"{name}.schema.json")
    with output():
        click.echo(schema.read_text(encoding="utf-8"), nl=False)
    return 0
