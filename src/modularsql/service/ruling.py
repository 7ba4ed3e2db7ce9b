"""The use case `rules`: every rule by name, with its page."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib.resources import files
from importlib.resources.abc import Traversable

from modularsql.errors import InputError
from modularsql.guard.findings import RUNTIME_RULES
from modularsql.guard.naming import nearest, unknown
from modularsql.multiplicity.registry import rules
from modularsql.multiplicity.rewrites import REWRITES
from modularsql.service.jsonable import SCHEMA_VERSION


@dataclass(frozen=True, slots=True, kw_only=True)
class RulePage:
    """A rule's name, its one line, and its page as Markdown."""

    name: str
    summary: str
    page: str


def all_rules() -> list[RulePage]:
    """Static rules first, then what is seen at run time."""
    pages = files("modularsql.multiplicity.rules")
    found = [
        RulePage(name=name, summary=rule.summary, page=_read(pages.joinpath(f"{name}.md")))
        for name, rule in rules().items()
    ]
    said = _sections()
    return found + [
        RulePage(name=name, summary=summary, page=f"# {name}\n\n{summary}\n\n{said[name]}")
        for name, summary in RUNTIME_RULES.items()
    ]


def _sections() -> dict[str, str]:
    """What stands under each heading of the page of what is seen at run time."""
    _, *parts = _read(files("modularsql.guard").joinpath("runtime_rules.md")).split("\n## ")
    named = (part.partition("\n") for part in parts)
    return {name: text.strip() + "\n" for name, _, text in named}


def one_rule(name: str) -> RulePage:
    """The rule, or rewrite, of that name; `InputError` with the nearest names if there is none."""
    found = _pages()
    if name in found:
        return found[name]
    raise InputError(f"no rule is called {name!r}", nearest(name, found), "not_found")


def suggestion(word: str, name: str | None) -> str:
    """What was meant by `rules WORD [NAME]`, where WORD is not `show`: a command to write."""
    meant = word if name is None else name
    known = _pages()
    return f"write modularsql rules show {meant}" if meant in known else nearest(meant, known)


def check_names(allowed: Sequence[str]) -> None:
    """`InputError` where `--allow` names what is no rule: a typing error would silence nothing."""
    for name in unknown(allowed):
        raise InputError(f"--allow {name!r} is no rule", nearest(name))


def rules_json(found: Iterable[RulePage]) -> dict[str, object]:
    """The object that `rules --format json` prints."""
    listed = [{"name": r.name, "summary": r.summary, "page": r.page} for r in found]
    return {"schema_version": SCHEMA_VERSION, "rules": listed}


def _pages() -> dict[str, RulePage]:
    return {page.name: page for page in (*all_rules(), *_rewrites())}


def _rewrites() -> list[RulePage]:
    """The rewrites that findings name, each with its page."""
    pages = files("modularsql.multiplicity.rewrites")
    return [
        RulePage(
            name=rewrite.__name__,
            summary=(rewrite.__doc__ or "").strip().splitlines()[0],
            page=_read(pages.joinpath(f"{rewrite.__name__}.md")),
        )
        for rewrite in REWRITES
    ]


def _read(page: Traversable) -> str:
    return page.read_text(encoding="utf-8")
