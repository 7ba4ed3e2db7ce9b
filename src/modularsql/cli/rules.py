"""`modularsql rules`."""

import click

from modularsql.cli.common import format_option, output, print_json, reporting, verbose_option


@click.command("rules")
@click.argument("show", required=False, metavar="[show")
@click.argument("name", required=False, metavar="NAME]")
@format_option
@verbose_option
@reporting
def command(show: str | None, name: str | None, format_: str, verbose: bool) -> int:
    """List every rule, or show a rule or a rewrite with its page of cases.

    \b
    Example:
      modularsql rules
      modularsql rules show fan_out_sum
    """
    from modularsql.errors import InputError
    from modularsql.service.ruling import all_rules, one_rule, rules_json, suggestion

    if show not in (None, "show"):
        raise InputError(f"rules does not know {show!r}", suggestion(show, name))
    if show and not name:
        raise InputError("rules show needs the name of a rule", "see modularsql rules")
    found = [one_rule(name)] if name is not None else all_rules()
    with output():
        if format_ == "json":
            print_json(rules_json(found))
        elif name is not None:
            click.echo(found[0].page, nl=False)
        else:
            width = max(len(rule.name) for rule in found)
            for rule in found:
                click.echo(f"{rule.name:{width}}  {rule.summary}")
    return 0
