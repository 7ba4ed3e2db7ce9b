"""BIRD's habit: columns stay apart (profile `bird`)."""

from sqlglot import exp

from modularsql.multiplicity.words import text
from modularsql.pipeline.checkers.base import Case


def concatenation(case: Case) -> str | None:
    """Columns glued to one text in the outermost SELECT; BIRD's gold returns each by itself."""
    query = case.query
    if query is None or query.block is None:
        return None
    for output in query.block.select.expressions:
        glued = output.unalias().unnest()
        if isinstance(glued, exp.DPipe | exp.Concat | exp.ConcatWs):
            columns = list(dict.fromkeys(text(c) for c in glued.find_all(exp.Column, bfs=False)))
            if len(columns) > 1:
                return (
                    f"{text(glued)} puts columns together. Return each by itself: "
                    f"{', '.join(columns)}."
                )
    return None
