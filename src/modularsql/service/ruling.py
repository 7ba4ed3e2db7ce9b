"""The use case `rules`: every rule by name, with its page."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib.resources import files

from modularsql.errors import InputError
from modularsql.guard.findings import RUNTIME_RULES
from modularsql.guard.naming import nearest, unknown
from modularsql.multiplicity.registry import rules
from modularsql.multiplicity.rewrites import REWRITES
from modularsql.service.jsonable import SCHEMA_VERSION


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
            page=pages.joinpath(f"{rewrite.__name__}.md").read_text(encoding="utf-8"),
        )
        for rewrite in REWRITES
    ]


def _page(name: str, summary: str) -> RulePage:
    page = files("modularsql.multiplicity.rules").joinpath(f"{name}.md")
    text = page.read_text(encoding="utf-8") if page.is_file() else f"# {name}\n\n{summary}\n"
    return RulePage(name=name, summary=summary, page=text)
