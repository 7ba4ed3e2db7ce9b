"""Output rows repeat because a join fans out every table that supplies them."""

from collections.abc import Iterator

from sqlglot import exp

from modularsql.multiplicity.grain import Multiplied, output_entity, returned, uniqueness
from modularsql.multiplicity.model import Block
from modularsql.multiplicity.registry import Analysis, Issue, detector
from modularsql.multiplicity.rules.facts.suspicion import Suspicion, suspicion
from modularsql.multiplicity.rules.facts.uses import copies_show
from modularsql.multiplicity.words import does, join_of, names, rows_of
from modularsql.records import Severity


@detector
def fan_out_rows(block: Block, analysis: Analysis) -> Iterator[Issue]:
    """A join repeats the rows that the query returns, and nothing it returns tells them apart."""
    if block.is_aggregate or block.is_distinct or len(block.sources) < 2:
        return
    one = _repeated(block, analysis)
    if one is None:
        return
    found, sure = one.found, one.sure
    # Who sorts by the other table thinks of its rows: then one row for each may be meant.
    likely = sure and not _sorts_by(block, found)
    others = names(found.independent, block)
    yield Issue(
        rule="fan_out_rows",
        severity=Severity.WARNING if likely else Severity.INFO,
        measured=Severity.INFO if sure and not likely else Severity.WARNING,
        message=(
            f"The result {does('repeats', sure)} {rows_of(found.entity, block)} once for each row "
            f"of {others} that matches it{join_of(block, found.independent[-1])}, and shows "
            f"nothing of {others}{one.doubt}. Compare the number of rows with the different "
            f"rows of {names(found.entity, block)}."
        ),
        node=block.select,
        block=block,
        evidence=one.evidence,
        entity=found.entity,
        multipliers=found.independent,
        rewrites=("semi_join", "drop_outer_join", "inject_distinct"),
    )


def _repeated(block: Block, analysis: Analysis) -> Suspicion | None:
    if uniqueness(block, returned(block)) or block.output.is_key(0):
        return None
    if block.select.args.get("qualify") or not copies_show(block.select):
        return None
    # A number among the copies (ROW_NUMBER) tells them apart.
    return suspicion(block, analysis, output_entity(block), returned(block))


def _sorts_by(block: Block, found: Multiplied) -> bool:
    order = block.select.args.get("order")
    homes = (block.columns.get(id(c)) for c in order.find_all(exp.Column)) if order else ()
    return any(home is not None and home[0] in found.multipliers for home in homes)
