"""What the guard makes of predictions, so that thresholds can be swept without running SQL.

Besides the policies that are asked for, two open ones are tried: the paper's P1 and P2 without a
threshold. What each does at any threshold follows from the dup ratios they saw (paper, A and B).
"""

from collections.abc import Mapping

from modularsql.config import Settings
from modularsql.evaluation.log import Guarded
from modularsql.evaluation.pair import Pair
from modularsql.evaluation.plan import Asked
from modularsql.guard.policy import Policy, find_policy
from modularsql.guard.run import Guard
from modularsql.ports import Engine
from modularsql.records import Answer, FailureKind
from modularsql.rows import Rows, distinct_rows, dup_ratio

P1_OPEN, P2_OPEN = "p1@0", "p2@1"

OPEN: Mapping[str, Policy] = {
    P1_OPEN: Policy(name=P1_OPEN, patches=("inject_distinct",), tau_inject=0.0, tau_remove=0.0),
    P2_OPEN: Policy(name=P2_OPEN, patches=("remove_distinct",), tau_inject=1.0, tau_remove=1.0),
}


def with_open(policies: tuple[str, ...]) -> tuple[str, ...]:
    """The policies to try for those that are asked for."""
    return (*OPEN, *policies) if policies else ()


def guard_one(
    engine: Engine, one: Asked, gold: Rows | None, name: str, settings: Settings
) -> Guarded:
    """The outcome of one policy on one prediction, scored against gold's rows."""
    policy = OPEN.get(name) or find_policy(name, settings)
    answer = Guard(engine, policy, settings).run(one.sql, question=one.question, fix=True)
    as_set, as_bag = _scores(answer, gold, engine.dialect)
    return Guarded(
        policy=name,
        status=answer.probe.status if answer.probe else "error",
        applied=answer.applied,
        found=tuple((finding.rule, finding.severity.value) for finding in answer.findings),
        set_ex=as_set,
        multiset_ex=as_bag,
        ratio=_ratio(answer),
        probe_ms=answer.timing_ms["probe"],
        repair_ms=answer.timing_ms["repair"],
        sql=answer.final_sql if answer.final_sql != one.sql else None,
    )


def _scores(answer: Answer, gold: Rows | None, dialect: str) -> tuple[float | None, float | None]:
    if gold is None:
        return None, None
    if answer.failure is not None:
        ours = (FailureKind.LOCKED, FailureKind.TOO_LARGE)
        return (None, None) if answer.failure.kind in ours else (0.0, 0.0)
    pair = Pair(
        gold=gold,
        pred=_rows(answer),
        gold_sql="",
        pred_sql=answer.final_sql,
        dialect=dialect,
    )
    return _score(pair.same_set), _score(pair.same_bag)


def _score(fact: bool | None) -> float | None:
    return None if fact is None else float(fact)


def _rows(answer: Answer) -> Rows:
    return Rows(
        columns=answer.columns,
        types=(None,) * len(answer.columns),
        rows=list(answer.rows),
        truncated=answer.truncated,
    )


def _ratio(answer: Answer) -> float | None:
    if answer.failure is not None or answer.truncated:
        return None
    return dup_ratio(len(answer.rows), len(distinct_rows(list(answer.rows))))
