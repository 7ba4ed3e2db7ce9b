"""Rules by name. A rule is one function in `rules/NAME.py`, found by scanning that folder."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import import_module
from pkgutil import iter_modules

from sqlglot import exp

from modularsql.catalog import Catalog
from modularsql.multiplicity.model import Block, Query, Source
from modularsql.records import Evidence, Severity


@dataclass(frozen=True, slots=True, kw_only=True)
class Issue:
    """A pattern found in a block, before anything was measured.

    `node` is where it stands. `entity` are the sources whose rows the reader cares about and
    `multipliers` those that repeat them: with both, the issue can be measured. `evidence` is
    the weakest grade that the conclusion rests on. `rewrites` name what may repair it, in order.
    """

    rule: str
    severity: Severity
    message: str
    node: exp.Expr
    block: Block
    evidence: Evidence = Evidence.ENFORCED
    entity: tuple[Source, ...] = ()
    multipliers: tuple[Source, ...] = ()
    within: int = 0
    rewrites: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Analysis:
    """A query with its facts, and the catalog they rest on."""

    query: Query
    catalog: Catalog


Draft = Callable[..., Issue]
Check = Callable[[Block, Analysis], Iterator[Issue]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """A detector under its own name; its docstring says the pattern in one line."""

    name: str
    check: Check
    summary: str


_RULES: dict[str, Rule] = {}


def detector(check: Check) -> Check:
    """Register a function as the rule of its name."""
    summary = (check.__doc__ or "").strip().splitlines()[0]
    _RULES[check.__name__] = Rule(name=check.__name__, check=check, summary=summary)
    return check


def rules() -> dict[str, Rule]:
    """Every rule by name."""
    if not _RULES:
        package = import_module("modularsql.multiplicity.rules")
        for module in iter_modules(package.__path__):
            import_module(f"{package.__name__}.{module.name}")
    return dict(sorted(_RULES.items()))
