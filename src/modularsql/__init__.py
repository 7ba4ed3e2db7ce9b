"""modularsql: makes SQL written by language models (or people) safe to act on."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from modularsql.config import Settings
    from modularsql.engines.connect import connect
    from modularsql.errors import InputError, ModularSqlError, SetupError
    from modularsql.guard.run import Guard
    from modularsql.records import Answer, Finding, Limits, Verdict

_HOMES = {
    "Answer": "modularsql.records",
    "Finding": "modularsql.records",
    "Guard": "modularsql.guard.run",
    "InputError": "modularsql.errors",
    "Limits": "modularsql.records",
    "ModularSqlError": "modularsql.errors",
    "Settings": "modularsql.config",
    "SetupError": "modularsql.errors",
    "Verdict": "modularsql.records",
    "connect": "modularsql.engines.connect",
}

__all__ = [
    "Answer",
    "Finding",
    "Guard",
    "InputError",
    "Limits",
    "ModularSqlError",
    "Settings",
    "SetupError",
    "Verdict",
    "connect",
]


def __getattr__(name: str) -> Any:
    """Import on first use: `modularsql --help` and worker processes load only what they need."""
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    """What tab completion offers, loaded or not."""
    return sorted({*globals(), *__all__})
