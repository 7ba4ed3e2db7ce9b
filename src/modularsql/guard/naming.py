"""The names of all rules, and what is said of a name that is none."""

from collections.abc import Iterable
from difflib import get_close_matches

from modularsql.guard.findings import RUNTIME_RULES
from modularsql.multiplicity.registry import rules


def rule_names() -> tuple[str, ...]:
    """Static rules first, then what is seen at run time."""
    return (*rules(), *RUNTIME_RULES)


def unknown(names: Iterable[str]) -> tuple[str, ...]:
    """Those that no rule has, each once; the rules are read only where there are names."""
    asked = dict.fromkeys(names)
    known = rule_names() if asked else ()
    return tuple(name for name in asked if name not in known)


def nearest(name: str, among: Iterable[str] = ()) -> str:
    """What to do about an unknown name, as a hint; `among` are the names if not the rules'."""
    near = ", ".join(get_close_matches(name, tuple(among) or rule_names()))
    return f"nearest: {near}" if near else "see modularsql rules"


def notes_on(names: Iterable[str]) -> tuple[str, ...]:
    """One sentence for each name that was to be silenced and is no rule."""
    return tuple(
        f"allow {name} silences nothing: no rule is called so ({nearest(name)})"
        for name in unknown(names)
    )
