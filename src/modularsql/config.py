"""Every setting of the package in one table, and the only reader of the environment.

A value comes from the flag, else `MODULARSQL_NAME`, else `modularsql.toml` or
`[tool.modularsql]` in `pyproject.toml`, else the default. `docs/settings.md` is made from here.
"""

import os
import tomllib
from collections.abc import Mapping
from dataclasses import Field, dataclass, field, fields
from pathlib import Path
from typing import Any

from modularsql.errors import InputError
from modularsql.records import Limits

PREFIX = "MODULARSQL_"


def _setting(default: Any, help_: str, at_least: float | None = None) -> Any:
    return field(default=default, metadata={"help": help_, "at_least": at_least})


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """All settings with their defaults; unknown names are an `InputError` in `load`."""

    timeout: float = _setting(30.0, "Seconds for a query and all its probes together", 0.001)
    max_rows: int = _setting(100_000, "Rows kept of a result; the rest is counted, not kept", 1)
    max_bytes: int = _setting(64 * 2**20, "Bytes kept of a result, all cells together", 1)
    max_cell_bytes: int = _setting(16 * 2**20, "Longest text or blob an engine may build", 1024)
    memory_mb: int = _setting(192, "Megabytes an engine may use for one query (DuckDB)", 32)
    worker_memory_mb: int = _setting(
        4096, "Megabytes of address space of a worker process, 0 = no bound (Linux)", 0
    )
    threads: int = _setting(2, "Threads an engine may use for one query (DuckDB)", 1)
    max_parse_chars: int = _setting(100_000, "Longest SQL that is parsed; longer is only run", 1)
    policy: str = _setting("paper", "What is repaired: paper, p1, p1-p2 or off")
    tau_inject: float = _setting(0.80, "Dup ratio from which DISTINCT is added (P1, tau)", 0)
    tau_remove: float = _setting(0.10, "Dup ratio up to which DISTINCT is removed (P2)", 0)
    explosion_factor: float = _setting(
        10.0, "Rows out against the largest table read, from which a join explodes", 1
    )
    explosion_min_rows: int = _setting(1_000, "Fewest rows for which that is looked at", 1)
    fail_on: str = _setting(
        "warning", "Severity that makes the exit status 1: warning, error, never"
    )
    jobs: int = _setting(0, "Worker processes of `repair`; 0 = one for each core", 0)

    def limits(self) -> Limits:
        """The bounds of one guarded query."""
        return Limits(seconds=self.timeout, max_rows=self.max_rows, max_bytes=self.max_bytes)


SETTINGS: Mapping[str, Field[Any]] = {f.name: f for f in fields(Settings)}


def load(
    flags: Mapping[str, Any] | None = None,
    config: Path | None = None,
    environ: Mapping[str, str] | None = None,
) -> Settings:
    """Settings from flags (None = not given), the environment and a TOML file, in that order.

    Raises `InputError` for an unreadable file, an unknown name, or a value of the wrong type.
    """
    environ = os.environ if environ is None else environ
    merged: dict[str, Any] = {}
    for name, value in _from_file(config).items():
        merged[name] = _checked(name, value, "the configuration file")
    for name in SETTINGS:
        if (text := environ.get(PREFIX + name.upper())) is not None:
            merged[name] = _checked(name, text, PREFIX + name.upper())
    for name, value in (flags or {}).items():
        if value is not None:
            merged[name] = _checked(name, value, "--" + name.replace("_", "-"))
    return Settings(**merged)


def _from_file(config: Path | None) -> Mapping[str, Any]:
    if config is not None:
        return _read(config, config.name == "pyproject.toml")
    if (own := Path("modularsql.toml")).is_file():
        return _read(own, False)
    if (project := Path("pyproject.toml")).is_file():
        return _read(project, True)
    return {}


def _read(path: Path, in_project: bool) -> Mapping[str, Any]:
    try:
        table: dict[str, Any] = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise InputError(f"cannot read settings from {path}: {error}") from error
    if in_project:
        table = table.get("tool", {}).get("modularsql", {})
    return table


def _checked(name: str, value: Any, origin: str) -> Any:
    if name not in SETTINGS:
        known = ", ".join(SETTINGS)
        raise InputError(f"{origin} sets {name!r}, which is no setting", f"known: {known}")
    default: Any = SETTINGS[name].default
    kind: type[Any] = type(default)
    try:
        if isinstance(value, bool) or (isinstance(default, str) and not isinstance(value, str)):
            raise ValueError
        converted: Any = kind(value)
    except (TypeError, ValueError):
        wanted = {int: "a whole number", float: "a number", str: "text"}[kind]
        raise InputError(f"{origin}: {name} must be {wanted}, not {value!r}") from None
    lowest = SETTINGS[name].metadata["at_least"]
    if lowest is not None and not converted >= lowest:
        raise InputError(f"{origin}: {name} must be at least {lowest:g}, not {value!r}")
    return converted
