"""S5, generation: three ways to write the query, sampled side by side (N-version programming).

Each is one prompt that has the model reason and return nothing but SQL. Samples that come to the
same text are one candidate with so many votes.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace

from modularsql.errors import ModelError
from modularsql.pipeline.context import asked, shots
from modularsql.pipeline.deps import Deps
from modularsql.pipeline.prompting import filled
from modularsql.pipeline.replies import read_refusal, read_sql
from modularsql.pipeline.same_sql import same_sql
from modularsql.pipeline.state import Candidate, State

GENERATORS = ("skeleton", "icl", "divide")
"""Prompts by the names that `--without generation.NAME` takes: planning the skeleton first, from
solved examples, and from sub-questions."""


def generate(state: State, deps: Deps) -> State:
    """The pool of candidates, distinct as trees, in the order they were first written."""
    names = [name for name in GENERATORS if deps.has(f"generation.{name}")]
    context = asked(state, deps, state.schema)
    examples = shots(state, deps)
    replies = deps.each(lambda name: _sampled(name, examples, context, deps), names)
    said: list[str] = []
    drafts: list[tuple[str, str]] = []
    refused: list[str] = []
    for name, reply in zip(names, replies, strict=True):
        if isinstance(reply, ModelError):
            said.append(f"{name}: the model failed: {reply.message}")
            continue
        found = [sql for text in reply if (sql := read_sql(text, deps.catalog.dialect))]
        refused += [why for text in reply if (why := read_refusal(text))]
        drafts += [(name, sql) for sql in found]
        said.append(f"{name}: {len(found)} queries in {len(reply)} samples")
    if not drafts and all(isinstance(reply, ModelError) for reply in replies) and replies:
        raise next(reply for reply in replies if isinstance(reply, ModelError))
    pool = pooled(drafts, deps.catalog.dialect)
    said.append(f"{len(pool)} different candidates")
    unanswerable = Counter(refused).most_common(1)[0][0] if refused and not pool else None
    if not pool and unanswerable is None:
        unanswerable = "no reply held a query"
    return replace(state, candidates=pool, unanswerable=unanswerable, decisions=tuple(said))


def _sampled(
    name: str, examples: str, context: Mapping[str, str], deps: Deps
) -> tuple[str, ...] | ModelError:
    prompt = filled(name, **context, **({"examples": examples} if name == "icl" else {}))
    try:
        return deps.ask(prompt, f"generation.{name}", n=deps.settings.samples)
    except ModelError as error:
        return error


def pooled(drafts: Iterable[tuple[str, str]], dialect: str) -> tuple[Candidate, ...]:
    """(generator, SQL) pairs as candidates: one for each tree, with its votes and generators."""
    found: dict[str, Candidate] = {}
    for generator, sql in drafts:
        key = same_sql(sql, dialect)
        known = found.get(key)
        found[key] = (
            Candidate(sql=sql, generators=(generator,))
            if known is None
            else replace(
                known,
                votes=known.votes + 1,
                generators=tuple(dict.fromkeys((*known.generators, generator))),
            )
        )
    return tuple(found.values())
