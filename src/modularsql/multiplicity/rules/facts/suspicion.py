"""What repeats the rows of an entity, and how sure the schema makes us of it."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from sqlglot import exp

from modularsql.catalog import ForeignKey, Table
from modularsql.multiplicity.algebra import Dependency, Relation, union
from modularsql.multiplicity.columns import conjuncts
from modularsql.multiplicity.grain import Multiplied, grounds, multiplied
from modularsql.multiplicity.model import Block, Source
from modularsql.multiplicity.registry import Analysis
from modularsql.multiplicity.rules.facts.labels import assumed_keys
from modularsql.multiplicity.rules.facts.links import cut_loose
from modularsql.multiplicity.words import names
from modularsql.records import Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class Suspicion:
    """Rows that a join repeats, in `rows`, which hold what is assumed beside what is known.

    ASSUMED: only the data can tell, for the reason that `doubt` gives as the end of a sentence.
    """

    found: Multiplied
    evidence: Evidence
    rows: Relation
    doubt: str = ""

    @property
    def sure(self) -> bool:
        """Whether the schema speaks for it."""
        return self.evidence != Evidence.ASSUMED


def suspicion(
    block: Block, analysis: Analysis, entity: tuple[Source, ...], within: int = 0
) -> Suspicion | None:
    """What repeats the rows of an entity within groups, by conditions that connect it."""
    key = ("suspicion", id(block), within, *(id(source) for source in entity))
    return analysis.once(key, lambda: _suspicion(block, analysis, entity, within))


def _suspicion(
    block: Block, analysis: Analysis, entity: tuple[Source, ...], within: int
) -> Suspicion | None:
    known = multiplied(block, entity, within)
    apart = cut_loose(block, analysis, entity) if known else ()
    known = known and known.without(apart)
    if known is None:
        return None
    rows = assumed(block, analysis)
    likely = multiplied(block, entity, within, rows)
    likely = likely and likely.without(apart)
    if likely is None:
        return Suspicion(found=known, evidence=Evidence.ASSUMED, rows=rows, doubt=_UNLIKELY)
    evidence = grounds(block, likely.independent)
    doubt = ""
    if evidence == Evidence.ASSUMED:
        doubt = f"; the schema declares no key of {names(likely.independent, block)}"
    return Suspicion(found=likely, evidence=evidence, rows=rows, doubt=doubt)


_UNLIKELY = ", which the schema leaves open"


def assumed(block: Block, analysis: Analysis) -> Relation:
    """The block's rows, if what is usual holds in them although the schema does not say so.

    `WHERE genre.name = 'jazz'` is written for one genre, whether the name is declared unique or
    not; a primary key holds no NULL; what a foreign key refers to is a key; a table without keys
    that refers to two others links a pair of their rows once; and a TEXT that refers to an
    INTEGER holds '1', not '01' beside it.
    """
    return analysis.once(("assumed", id(block)), lambda: _assumed(block))


def _assumed(block: Block) -> Relation:
    more: list[Dependency] = []
    targets = [fk for s in block.sources if s.table for fk in s.table.foreign_keys]
    for source in block.sources:
        keys = list(assumed_keys(source))
        if source.table is not None:
            keys += [_all(source, columns) for columns in _usual_keys(source.table, targets)]
        more += [Dependency(key, source.relation.ids, _ASSUMED) for key in keys if key]
        more += _equalities(source.join.args.get("on") if source.join else None, block)
    where = block.select.args.get("where")
    more += _equalities(where.this if where else None, block)
    return replace(block.rows, dependencies=(*block.rows.dependencies, *more))


_ASSUMED = tuple(Evidence).index(Evidence.ASSUMED)


def _usual_keys(table: Table, referring: list[ForeignKey]) -> Iterator[tuple[str, ...]]:
    for key in table.keys:
        if key.kind == "primary":
            yield key.columns
    for reference in referring:
        if reference.refers_to(table):
            yield reference.target_columns
    if not table.keys and len({fk.target.casefold() for fk in table.foreign_keys}) > 1:
        yield tuple(column for fk in table.foreign_keys for column in fk.columns)


def _all(source: Source, columns: tuple[str, ...]) -> int:
    """The attributes of some columns; none where one of them is not there."""
    attributes = [source.columns.get(column.casefold(), 0) for column in columns]
    return union(attributes) if all(attributes) else 0


def _equalities(condition: exp.Expr | None, block: Block) -> list[Dependency]:
    found: list[Dependency] = []
    for part in conjuncts(condition):
        if not isinstance(part, exp.EQ):
            continue
        homes = [block.columns.get(id(side.unnest())) for side in (part.this, part.expression)]
        if homes[0] is not None and homes[1] is not None:
            one, other = homes[0][2], homes[1][2]
            found += [Dependency(one, other, _ASSUMED), Dependency(other, one, _ASSUMED)]
    return found
