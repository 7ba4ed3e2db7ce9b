"""A selector that needs no judge's words: the candidate from which a model expects the question.

python -m benchmarks.likelihood MODEL.gguf [--most 60]    (needs the extra `local`)

Each different candidate is put before the question, and the question's log-probability under the
model is taken; only questions count on which candidates are right and wrong. Compared with the
largest cluster and with the fewest findings. One thread, since its threads spin.
"""

import argparse
import json
import math
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.corpus import require
from benchmarks.pool_sets import Case, PoolSet, pool_sets
from benchmarks.rescue import SETTINGS, Remembering, difference, is_right
from modularsql import Guard
from modularsql.guard.candidates import Trial, Tried
from modularsql.guard.choosing import Case as Flagged
from modularsql.guard.choosing import fewest_findings, result_of
from modularsql.guard.policy import find_policy
from modularsql.ports import Engine
from modularsql.rows import Rows

_PROMPT = "SQL: {sql}\nThe question that this query answers:"
_LONGEST_SQL = 1_000


INTRO = """# An experiment: choosing by the likelihood of the question

Written by `python -m benchmarks.likelihood MODEL.gguf`, here with {model}. A candidate is scored by
log P(question | SQL) under the model; nothing is generated, so even a model that is too weak to
judge can be asked. Only questions with right and wrong candidates count, a bounded sample of each
set; systems' answers to a question make one pool. Intervals are those of [rescue.md](rescue.md).

It is not part of the product: where an interval against the majority or the fewest findings holds
zero, the lead may be chance, and each candidate costs a pass of a model. The script stays, so that
larger models can be tried.
"""


class Likelihood:
    """log P(question | SQL), by decoding under a grammar that allows the question alone."""

    def __init__(self, path: Path) -> None:
        import xllamacpp

        params = xllamacpp.CommonParams()
        params.model.path = str(path)
        params.n_ctx, params.n_parallel = 2_048, 1
        params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
        params.warmup, params.verbosity = False, -1
        self._server = xllamacpp.Server(params)

    def of(self, question: str, sql: str) -> float:
        """In nats; minus infinity where the model could not be asked."""
        reply: Any = self._server.handle_completions(
            {
                "prompt": _PROMPT.format(sql=" ".join(sql.split())[:_LONGEST_SQL]),
                "grammar": f"root ::= {json.dumps(' ' + question, ensure_ascii=False)}",
                "max_tokens": 256,
                "temperature": 0,
                "n_probs": 1,
                "logprobs": 1,
                "cache_prompt": True,
            }
        )
        if "choices" not in reply:
            return -math.inf
        tokens = reply["choices"][0]["logprobs"]["content"]
        return float(sum(token["logprob"] for token in tokens))


def mixed(pools: PoolSet) -> Iterator[tuple[Case, tuple[Tried, ...], list[int]]]:
    """Cases with right and wrong candidates: all tried, and 1 for each that is right."""
    policy = find_policy("findings", SETTINGS)
    engine: Engine | None = None
    opened, seen = None, set[tuple[str, str]]()
    for case in pools.cases:
        if (case.question, case.gold) in seen:
            continue  # the same question with another base
        seen.add((case.question, case.gold))
        if engine is None or opened != case.database:
            engine, opened = Remembering(case.database), case.database
        gold = engine.execute(case.gold, limits=SETTINGS.limits())
        if not isinstance(gold, Rows):
            continue
        plain = Guard(engine, "off", SETTINGS)
        right = [is_right(plain.run(sql), gold, case.gold)[1] for sql in case.pool]
        if 0 < sum(right) < len(right):
            trial = Trial(
                engine=engine,
                params=None,
                limits=SETTINGS.limits(),
                policy=policy,
                max_parse_chars=SETTINGS.max_parse_chars,
            )
            yield case, trial.all(case.pool), right


def picks(case: Case, pool: tuple[Tried, ...], model: Likelihood) -> dict[str, int]:
    """What each selector takes from a pool."""
    ran = [i for i, tried in enumerate(pool) if tried.rows is not None] or [0]
    votes = Counter(result_of(pool[i]) for i in ran)
    flagged = Flagged(
        base=pool[0], pool=pool, trigger="", catalog=Remembering(case.database).catalog()
    )
    fewest = fewest_findings(flagged).index
    scores = {sql: model.of(case.question, sql) for sql in {pool[i].sql for i in ran}}
    return {
        "likelihood": max(ran, key=lambda i: scores[pool[i].sql]),
        "majority": max(ran, key=lambda i: votes[result_of(pool[i])]),
        "fewest findings": 0 if fewest is None else fewest,
        "majority, then likelihood": max(
            ran, key=lambda i: (votes[result_of(pool[i])], scores[pool[i].sql])
        ),
        "first": 0,
    }


def main() -> None:
    """A bounded sample of the sets of pools."""
    parser = argparse.ArgumentParser()
    parser.add_argument("model", type=Path)
    parser.add_argument("--most", type=int, default=60, help="questions of each set at most")
    given = parser.parse_args()
    require()
    print(INTRO.format(model=given.model.name))
    model = Likelihood(given.model)
    for pools in pool_sets():
        cases = list(mixed(pools))
        step = max(1, math.ceil(len(cases) / given.most))
        cases = cases[::step]
        if not cases:
            continue
        scored: dict[str, list[int]] = {}
        chance = sum(sum(right) / len(right) for *_, right in cases) / len(cases)
        for case, pool, right in cases:
            for name, index in picks(case, pool, model).items():
                scored.setdefault(name, []).append(right[index])
        print(f"## {pools.name}\n\n{len(cases)} questions with right and wrong candidates;")
        print(f"by chance {chance:.0%} are right.\n")
        print("| selector | right | likelihood against it (95 %) |\n|---|---|---|")
        kept = [case for case, *_ in cases]
        for name, hits in scored.items():
            against = "" if name == "likelihood" else difference(hits, scored["likelihood"], kept)
            print(f"| {name} | {sum(hits) / len(hits):.0%} | {against} |")
        print(flush=True)


if __name__ == "__main__":
    main()
