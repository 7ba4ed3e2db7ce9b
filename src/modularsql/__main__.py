"""`python -m modularsql` is the command `modularsql`."""

from modularsql.cli import main

if __name__ == "__main__":
    main()
