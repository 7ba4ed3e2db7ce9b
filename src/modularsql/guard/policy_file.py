"""Policies from a file, as `calibrate` writes them: a policy by name, its own thresholds, and the
signs for copies that it does not heed.

base = "grain"
tau_repeat = 1.75
unheeded = ["limit"]
"""

import tomllib
from dataclasses import replace
from pathlib import Path

from modularsql.config import SETTINGS, Settings
from modularsql.errors import InputError
from modularsql.guard.policy import Policy, find_policy
from modularsql.multiplicity.intent import SIGNS

ENDING = ".toml"
THRESHOLDS = ("tau_inject", "tau_remove", "tau_repeat")
"""Settings that a policy may have values of its own for."""


def choose_policy(name: str, settings: Settings) -> Policy:
    """A policy by its name, or from the file that `name` is (it ends in .toml).

    A threshold of the file wins over one of the settings. Raises `InputError`.
    """
    return (
        read_policy(Path(name), settings) if name.endswith(ENDING) else find_policy(name, settings)
    )


def read_policy(path: Path, settings: Settings) -> Policy:
    """The policy of a file; `InputError` where it cannot be read or says what it cannot mean."""
    try:
        found = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"cannot read the policy {path}: {reason}", "check the path") from None
    base = found.pop("base", None)
    if not isinstance(base, str):
        raise InputError(f"{path} names no policy", 'write base = "grain", or another name')
    unheeded = _signs(path, found.pop("unheeded", []))
    thresholds = {name: _threshold(path, name, value) for name, value in found.items()}
    own = replace(settings, **thresholds)  # type: ignore[arg-type]
    return replace(find_policy(base, own), name=str(path), unheeded=unheeded)


def _signs(path: Path, value: object) -> frozenset[str]:
    names = value if isinstance(value, list) else [value]
    for name in names:
        if name not in SIGNS:
            raise InputError(f"{path}: unheeded: no sign {name!r}", f"known: {', '.join(SIGNS)}")
    return frozenset(names)


def _threshold(path: Path, name: str, value: object) -> float:
    if name not in THRESHOLDS:
        known = ", ".join(("base", *THRESHOLDS, "unheeded"))
        raise InputError(f"{path}: {name} is unknown", f"known: {known}")
    least, most = SETTINGS[name].metadata["range"]
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if not number or not least <= float(value) <= most:  # type: ignore[arg-type]
        raise InputError(f"{path}: {name} must be a number from {least:g} to {most:,g}")
    return float(value)  # type: ignore[arg-type]
