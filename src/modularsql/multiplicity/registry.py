"""Rules by name. A rule is one function in `rules/NAME.py`, found by scanning that folder."""

from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass, field
from importlib import import_module
from pkgutil import iter_modules
from typing import Any, TypeVar, cast

from sqlglot import exp

from modularsql.catalog import Catalog
from modularsql.multiplicity.model import Block, Query, Source
from modularsql.records import Evidence, Severity


@dataclass(frozen=True, slots=True, kw_only=True)
class Issue:
    """A pattern found in a block, before anything was measured.

    `node` is where it stands. `entity` are the sources whose rows the reader cares about and
    `multipliers` those that repeat them: with both, the issue can be measured. `evidence` is
    the weakest grade that the conclusion rests on; ASSUMED where nothing was declared that could
    have ruled it out: then `severity` is INFO until the data was asked. `measured` is the severity
    where the data bore it out (None: as it is). `probe` makes a query that returns a row if and
    only if the data bears it out, for issues that have no multipliers to be measured by; None
    where it cannot be asked. `told` is a sentence over the columns of that row, which are the
    numbers it is measured by; empty where there are none. `rewrites` name what may repair it, in
    order.
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
    measured: Severity | None = None
    probe: Callable[[], exp.Select | None] | None = None
    told: str = ""


T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Analysis:
    """A query with its facts, and the catalog they rest on.

    `known` is what rules have worked out already: several ask the same of a block.
    """

    query: Query
    catalog: Catalog
    known: dict[Hashable, Any] = field(default_factory=dict, compare=False, repr=False)

    def once(self, key: Hashable, work_out: Callable[[], T]) -> T:
        """What `work_out` gives, asked for only once under a key."""
        if key not in self.known:
            self.known[key] = work_out()
        return cast("T", self.known[key])


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


def issues(analysis: Analysis) -> list[Issue]:
    """What all rules find in all blocks; a CTE that is used twice is read twice but told once."""
    found: dict[tuple[str, int], Issue] = {}
    every = tuple(rules().values())
    for block in analysis.query.blocks():
        for rule in every:
            for issue in rule.check(block, analysis):
                found.setdefault((issue.rule, id(issue.node)), issue)
    return list(found.values())
