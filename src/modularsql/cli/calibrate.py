"""`modularsql calibrate`."""

from pathlib import Path

import click

from modularsql.cli.common import (
    config_option,
    format_option,
    output,
    print_json,
    reporting,
    settings_of,
    verbose_option,
)


@click.command("calibrate")
@click.argument("run_dir", type=click.Path(path_type=Path))
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    help="Policy file to write.  [default: policy.toml in RUN_DIR]",
)
@format_option
@config_option
@verbose_option
@reporting
def command(
    run_dir: Path, out: Path | None, format_: str, config: Path | None, verbose: bool
) -> int:
    """Fit the guard's policy on a run of eval --guard, and write it to a file.

    Fitted are its thresholds and which signs for copies it heeds. Shows what each would fix and
    break, and whether a choice holds on databases it was not made on. Runs no SQL. The file goes
    to --policy of guard and repair.

    \b
    Example:
      modularsql calibrate run --out shop.toml
    """
    settings_of(config)  # none has a say here, but a wrong one is an error everywhere
    from modularsql.service.calibrating import calibrate_run

    done = calibrate_run(run_dir, out)
    if format_ == "json":
        print_json(done.as_json())
        return 0
    from modularsql.cli.screen import Screen
    from modularsql.cli.table import print_table

    screen = Screen()
    with output():
        for table in done.found.tables:
            if table.rows:
                print_table(screen, table)
        fitted = [
            f"{name} = {value:g}{' (as it was)' if name in done.found.kept else ''}"
            for name, value in done.found.thresholds.items()
        ]
        fitted += [f"not heeded: {', '.join(done.found.unheeded)}"] if done.found.unheeded else []
        screen.words(f"{', '.join(fitted)}, written to {done.out}")
    return 0
