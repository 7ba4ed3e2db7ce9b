"""The value index at 200,000 values, printed as Markdown.

    python -m benchmarks.values [--count N] [--embed N] [--cache FILE] [--chroma PYTHON]

Values are the different texts of the Spider and BIRD databases; where these are too few, halves of
two of them are put together. They stand in columns of 10,000. `--embed` says how many are embedded
by MiniLM; the others get the direction between two of these plus noise. `--cache` keeps vectors: a
run that was stopped goes on from there. `--chroma` names a Python that has chromadb: it gets the
same vectors in the same run.

Times are CPU seconds of one process, as a machine may be busy; of look-ups also what passes on the
clock, since columns are searched side by side. What is looked up are values with a letter missing
or a word changed; recall is against every vector compared, column by column.
"""

import argparse
import json
import random
import re
import resource
import sqlite3
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

import faiss
import numpy as np

from benchmarks.corpus import BIRD, SPIDER, require
from modularsql.retrieval.extraction import LONGEST_VALUE, Extracted
from modularsql.retrieval.lexical import LexicalIndex
from modularsql.retrieval.minilm import packaged
from modularsql.retrieval.vectors import VectorIndex

COLUMN, NEAREST, ASKED = 10_000, 5, 100
WIDTH = 384  # of a MiniLM vector
_TIMED, _LOT = 1_000, 2_000
Vectors = Any


class Known:
    """An embedder that has the vectors already."""

    name = "known"

    def __init__(self, texts: Sequence[str], vectors: Vectors) -> None:
        self._vectors = dict(zip(texts, vectors, strict=True))

    def embed(self, texts: Sequence[str]) -> Vectors:
        """See `ports.Embedder`."""
        return np.array([self._vectors[text] for text in texts], dtype=np.float32)


def texts(count: int) -> list[str]:
    """So many different values."""
    found = sorted({text for path in _files() for text in _of_file(path)})
    chance = random.Random(1)
    chance.shuffle(found)
    seen = set(found)
    real = list(found)
    while len(found) < count:
        one, other = chance.sample(real, 2)
        made = one[: (len(one) + 1) // 2] + other[len(other) // 2 :]
        if made not in seen and len(made) <= LONGEST_VALUE:
            seen.add(made)
            found.append(made)
    return found[:count]


def _files() -> list[Path]:
    return sorted(
        [*(SPIDER / "database").rglob("*.sqlite"), *(BIRD / "databases").rglob("*.sqlite")]
    )


def _of_file(path: Path) -> Iterator[str]:
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as db:
        db.text_factory = lambda raw: raw.decode("utf-8", "replace")
        for (table,) in db.execute(
            "SELECT name FROM sqlite_master WHERE type = 'table'"
        ).fetchall():
            for row in db.execute(f'SELECT * FROM "{table}" LIMIT 20000'):
                for cell in row:
                    if isinstance(cell, str) and _is_name(cell):
                        yield cell


def _is_name(cell: str) -> bool:
    return len(cell) <= LONGEST_VALUE and bool(re.search(r"[^\W\d_]{3}", cell))


def vectors_of(values: Sequence[str], embed: int, cache: Path | None) -> Vectors:
    """Vectors of all values, so many by the model; those in the cache are not made again."""
    real = embedded(values[:embed], cache)
    made = np.random.default_rng(1)
    ends = made.integers(0, len(real), (2, len(values) - len(real)))
    rest = real[ends[0]] + real[ends[1]] + made.normal(0, 0.02, (len(ends[0]), real.shape[1]))
    whole = np.concatenate([real, rest / np.linalg.norm(rest, axis=1, keepdims=True)])
    return whole.astype(np.float16).astype(np.float32)


def embedded(values: Sequence[str], cache: Path | None) -> Vectors:
    """Vectors by the model, as 16-bit floats in the cache: one that was stopped goes on there."""
    model = packaged()
    kept = np.fromfile(cache, dtype=np.float16) if cache and cache.exists() else np.zeros(0, "f2")
    found = list(kept[: len(kept) // WIDTH * WIDTH].reshape(-1, WIDTH).astype(np.float32))
    for start in range(len(found), len(values), _LOT):
        part = np.asarray(model.embed(values[start : start + _LOT]), dtype=np.float16)
        if cache is not None:
            with cache.open("r+b" if start else "wb") as file:
                file.seek(start * WIDTH * part.itemsize)
                file.write(part.tobytes())
        found.extend(part.astype(np.float32))
    return np.array(found[: len(values)])


def rate(values: Sequence[str]) -> float:
    """Texts that MiniLM embeds in a CPU second, all its threads together."""
    model = packaged()
    start = time.process_time()
    model.embed(values)
    return len(values) / (time.process_time() - start)


def asked(values: Sequence[str]) -> list[str]:
    """Values as people write them: a letter left out, or a word of another one added."""
    chance = random.Random(2)
    found = []
    for text in chance.sample(list(values), ASKED):
        at = chance.randrange(len(text))
        dropped = text[:at] + text[at + 1 :]
        found.append(
            dropped if chance.random() < 0.5 else f"{text} {chance.choice(values).split()[0]}"
        )
    return found


def each(work: Callable[[int], object], count: int) -> str:
    """Milliseconds of each call: CPU time, the median and the 95th of 100, and elapsed ones."""
    spent, elapsed = [], []
    for at in range(count):
        start, cpu = time.perf_counter(), time.process_time()
        work(at)
        spent.append((time.process_time() - cpu) * 1000)
        elapsed.append((time.perf_counter() - start) * 1000)
    return f"{median(spent):.1f} | {sorted(spent)[int(count * 0.95)]:.1f} | {median(elapsed):.1f}"


def memory() -> float:
    """Megabytes this process holds."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() / 2**20


def recall(found: Vectors, exact: Vectors) -> float:
    """The share of the exact nearest that was found; arrays of (column, question, nearest)."""
    hits: list[int] = [
        len(set(a) & set(b))
        for x, y in zip(found, exact, strict=True)
        for a, b in zip(x, y, strict=True)
    ]
    return sum(hits) / int(exact.size)


def columns(values: Sequence[str]) -> list[Extracted]:
    """The values as columns."""
    return [
        Extracted(
            table="t", column=f"c{at}", values=tuple((v, 1) for v in values[at : at + COLUMN])
        )
        for at in range(0, len(values), COLUMN)
    ]


def lexical(values: Sequence[str], questions: Sequence[str], folder: Path) -> None:
    """The index by letters."""
    start = time.process_time()
    path = folder / "lexical.sqlite"
    index = LexicalIndex(path)
    for column in columns(values):
        index.put(column)
    built = time.process_time() - start
    spent = each(lambda at: index.search([questions[at]], NEAREST), len(questions))
    size = path.stat().st_size / 2**20
    print(f"| by letters | {built:.0f} | {size:,.0f} | | {spent} | |")


def per_column(
    values: Sequence[str], vectors: Vectors, wanted: Vectors, exact: Vectors, folder: Path
) -> None:
    """Ours: an index for each column."""
    before, start = memory(), time.process_time()
    names = [f"question {at}" for at in range(len(wanted))]
    path = folder / "vectors.sqlite"
    known = Known([*values, *names], np.concatenate([vectors, wanted]))
    index = VectorIndex(path, known)
    for column in columns(values):
        index.put(column)
    built = time.process_time() - start
    index.close()
    index = VectorIndex(path, known)
    before, start = memory(), time.process_time()
    index.search(names[:1], NEAREST)
    opened = time.process_time() - start
    spent = each(lambda at: index.search([names[at]], NEAREST), len(names))
    held, size = memory() - before, path.stat().st_size / 2**20
    found = np.array([part.index.search(wanted, NEAREST)[1] for part in index._parts])
    print(
        f"| by meaning, an index for each column | {built:.0f} | {size:,.0f} | {held:,.0f} "
        f"| {spent} | {recall(found, exact):.3f} |"
    )
    print(f"| … opening it, once | {opened:.2f} | | | | | | |")


def per_database(vectors: Vectors, wanted: Vectors, exact: Vectors) -> None:
    """The other way: one graph for all, asked for each column by a filter."""
    start = time.process_time()
    index = faiss.IndexHNSWSQ(
        vectors.shape[1], faiss.ScalarQuantizer.QT_fp16, 32, faiss.METRIC_INNER_PRODUCT
    )
    index.hnsw.efConstruction = 100
    index.train(vectors)
    index.add(vectors)
    built = time.process_time() - start
    filters = [
        faiss.SearchParametersHNSW(sel=faiss.IDSelectorRange(at, at + COLUMN), efSearch=256)
        for at in range(0, len(vectors), COLUMN)
    ]

    def look(question: Vectors) -> list[Vectors]:
        return [index.search(question, NEAREST, params=one)[1] for one in filters]

    spent = each(lambda at: look(wanted[at : at + 1]), len(wanted))
    found = np.array(look(wanted)) - np.arange(0, len(vectors), COLUMN)[:, None, None]
    size = faiss.serialize_index(index).nbytes / 2**20
    print(
        f"| by meaning, one graph with a filter for columns | {built:.0f} | {size:,.0f} | "
        f"| {spent} | {recall(found, exact):.3f} |"
    )


_CHROMA = """
import json, pathlib, sys, time
import chromadb, numpy as np
folder, column, nearest = pathlib.Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
vectors, wanted = np.load(folder / "given.npy"), np.load(folder / "wanted.npy")
store = folder / "chroma"
client = chromadb.PersistentClient(str(store), chromadb.Settings(anonymized_telemetry=False))
start, made = time.process_time(), []
for at in range(0, len(vectors), column):
    kind = {"hnsw:space": "ip"}
    one = client.create_collection(f"column{at}", metadata=kind, embedding_function=None)
    for lot in range(at, at + column, 2000):
        one.add(ids=[str(i) for i in range(lot, lot + 2000)], embeddings=vectors[lot : lot + 2000])
    made.append(one)
built, spent, elapsed = time.process_time() - start, [], []
for question in wanted:
    start, cpu = time.perf_counter(), time.process_time()
    for one in made:
        one.query(query_embeddings=question[None], n_results=nearest, include=[])
    spent.append((time.process_time() - cpu) * 1000)
    elapsed.append((time.perf_counter() - start) * 1000)
found = [[[int(i) - at * column for i in ids] for ids in one.query(
    query_embeddings=wanted, n_results=nearest, include=[])["ids"]] for at, one in enumerate(made)]
size = sum(f.stat().st_size for f in store.rglob("*") if f.is_file()) / 2**20
print(json.dumps({"built": built, "spent": sorted(spent), "elapsed": sorted(elapsed),
    "size": size, "found": found}))
"""


def chroma(python: str, vectors: Vectors, wanted: Vectors, exact: Vectors, folder: Path) -> None:
    """Chroma on the same vectors, a collection for each column."""
    np.save(folder / "given.npy", vectors)
    np.save(folder / "wanted.npy", wanted)
    ran = subprocess.run(
        [python, "-c", _CHROMA, str(folder), str(COLUMN), str(NEAREST)],
        capture_output=True,
        text=True,
        check=True,
    )
    told = json.loads(ran.stdout.splitlines()[-1])
    spent = told["spent"]
    print(
        f"| Chroma, a collection for each column | {told['built']:.0f} | {told['size']:,.0f} | "
        f"| {median(spent):.1f} | {spent[int(len(spent) * 0.95)]:.1f} "
        f"| {median(told['elapsed']):.1f} | {recall(np.array(told['found']), exact):.3f} |"
    )


def main() -> None:
    """The table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=200_000)
    parser.add_argument("--embed", type=int, default=20_000)
    parser.add_argument("--cache", type=Path)
    parser.add_argument("--chroma")
    given = parser.parse_args()
    require()
    print(
        "# The value index\n\nWritten by `python -m benchmarks.values`; its docstring says how.\n"
    )
    values = texts(given.count)
    questions = asked(values)
    a_second = rate(values[:_TIMED])
    whole = given.count / a_second
    print(f"- MiniLM: {a_second:,.0f} texts for each CPU second, all of them in {whole:,.0f} s")
    vectors = vectors_of(values, given.embed, given.cache)
    wanted = np.asarray(packaged().embed(questions), dtype=np.float32)
    by_column = vectors.reshape(-1, COLUMN, vectors.shape[1])
    exact = np.array([np.argsort(-(wanted @ part.T), axis=1)[:, :NEAREST] for part in by_column])
    print(f"- {len(values):,} values in {len(by_column)} columns, {len(questions)} keywords\n")
    print(
        "| index | build, CPU s | file, MB | memory, MB | look-up, CPU ms | 95 % | elapsed, ms "
        "| recall@5 |\n" + "|---" * 8 + "|"
    )
    with TemporaryDirectory() as name:
        folder = Path(name)
        lexical(values, questions, folder)
        per_column(values, vectors, wanted, exact, folder)
        if given.chroma:
            chroma(given.chroma, vectors, wanted, exact, folder)
        per_database(vectors, wanted, exact)


if __name__ == "__main__":
    main()
