"""`modularsql schema`."""

from importlib.resources import files

import click

NAMES = ("guard", "repair", "error")


@click.command("schema")
@click.argument("name", type=click.Choice(NAMES))
def command(name: str) -> None:
    """Print the JSON Schema of a command's output (--format json).

    \b
    Example:
      modularsql schema guard > guard.schema.json
    """
    schema = files("modularsql.schemas").joinpath(f"{name}.schema.json")
    click.echo(schema.read_text(encoding="utf-8"), nl=False)
