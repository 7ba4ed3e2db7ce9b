"""What can go wrong before a query is looked at, split by who must react.

A failing *query* is not an exception: it is a `records.Failure`, a value.

    ModularSqlError
    ├── InputError   the caller: a wrong option, path, file format, count
    ├── SetupError   the operator: a missing driver, an unreadable or locked database
    └── ModelError   nobody: a model gave no usable reply, and the work goes on without it
        ├── ModelReplyError   it replied in another form than asked; worth asking once more
        ├── RefusedError      the server takes others, but not this request
        └── BudgetError       the call would have passed the budget, and was not made
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


def is_away(error: Exception) -> bool:
    """Whether a server is out of reach, or full, for now: that says nothing of a query."""
    return isinstance(error, SetupError) and error.kind in ("unreachable", "busy")


class ModelError(ModularSqlError):
    """A model, or the way to it, gave no usable reply in time."""

    default_kind = "model"


class ModelReplyError(ModelError):
    """A reply does not have the form that was asked for; `message` can be told to the model."""

    default_kind = "model_reply"


class RefusedError(ModelError):
    """A server does not take this request, as where the prompt is too long for the model."""

    default_kind = "refused"


class BudgetError(ModelError):
    """A call that would pass the budget was not made."""

    default_kind = "budget"
