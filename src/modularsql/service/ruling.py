"""The use case `rules`: every rule by name, with its page."""

from dataclasses import dataclass
from difflib import get_close_matches
from importlib.resources import files

from modularsql.errors import InputError
from modularsql.guard.findings import RUNTIME_RULES
from modularsql.multiplicity.registry import rules


@dataclass(frozen=True, slots=True, kw_only=True)
class RulePage:
    """A rule's name, its one line, and its page as Markdown (the line where it has none)."""

    name: str
    summary: str
    page: str


def all_rules() -> list[RulePage]:
    """Static rules first, then what is seen at run time."""
    found = [_page(name, rule.summary) for name, rule in rules().items()]
    found += [_page(name, summary) for name, summary in RUNTIME_RULES.items()]
    return found


def one_rule(name: str) -> RulePage:
    """The rule of that name; `InputError` with the nearest names if there is none."""
    found = {rule.name: rule for rule in all_rules()}
    if name in found:
        return found[name]
    near = ", ".join(get_close_matches(name, found))
    hint = f"nearest: {near}" if near else "see modularsql rules"
    raise InputError(f"no rule is called {name!r}", hint, "not_found")


def _page(name: str, summary: str) -> RulePage:
    page = files("modularsql.multiplicity.rules").joinpath(f"{name}.md")
    text = page.read_text(encoding="utf-8") if page.is_file() else f"# {name}\n\n{summary}\n"
    return RulePage(name=name, summary=summary, page=text)
