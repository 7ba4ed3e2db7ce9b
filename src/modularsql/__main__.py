"""`python -m modularsql` is the command `modularsql`."""

from typing import NoReturn


def main() -> NoReturn:
    """The console script. Worker processes load this module, too, and need no command line."""
    from modularsql.cli import main as command_line

    command_line()


if __name__ == "__main__":
    main()
