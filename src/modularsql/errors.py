"""What can go wrong before a query is looked at, split by who must react.

A failing *query* is not an exception: it is a `records.Failure`, a value.

    ModularSqlError
    ├── InputError   the caller: a wrong option, path, file format, count
    └── SetupError   the operator: a missing driver, an unreadable or locked database
"""


class ModularSqlError(Exception):
    """Base of all errors of this package; `message` is the fact, `hint` the next step."""

    def __init__(self, message: str, hint: str = "", kind: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.kind = kind or self.default_kind

    default_kind = "error"

    def __str__(self) -> str:
        return f"{self.message} ({self.hint})" if self.hint else self.message

    def __reduce__(self) -> tuple[type, tuple[str, str, str]]:
        """Survives the way from a worker process back to its parent."""
        return type(self), (self.message, self.hint, self.kind)


class InputError(ModularSqlError):
    """What the caller gave cannot be used."""

    default_kind = "input"


class SetupError(ModularSqlError):
    """What the call needs is missing or out of reach."""

    default_kind = "setup"
