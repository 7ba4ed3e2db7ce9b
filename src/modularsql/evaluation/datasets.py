"""Question sets: BIRD, Spider (JSON or gold text), Spider 2.0-lite and our own JSONL, told by
their content.

The shapes are data: where the fields of a kind are called, and which fields betray a kind.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from modularsql.errors import InputError
from modularsql.evaluation.gold import Gold, GoldFile, gold_folder
from modularsql.evaluation.texts import holds, is_plain, json_values, read_utf8, shown, skip_space


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """One question. `gold` and `difficulty` are None, texts are empty, where the set has none.

    `more_gold` are further queries that are right as well, `results` published results, which
    count instead of queries.
    """

    id: str
    db: str
    question: str
    hint: str
    gold: str | None
    difficulty: str | None
    more_gold: tuple[str, ...] = ()
    results: tuple[GoldFile, ...] = ()

    @property
    def golds(self) -> tuple[Gold | None, ...]:
        """All that is right, at least one; None where the set has no gold."""
        return self.results or (self.gold, *self.more_gold)


@dataclass(frozen=True, slots=True, kw_only=True)
class Dataset:
    """Questions in the order of their file. `kind` is bird, spider, spider2 or jsonl.

    `gold` are files and folders that hold gold where it does not stand in the file.

    Where BIRD's own ids repeat, positions are the ids: `note` says so, and `own_ids` has what
    stands in the file.
    """

    kind: str
    path: Path
    questions: tuple[Question, ...]
    note: str | None = None
    own_ids: tuple[str, ...] = ()
    gold: tuple[Path, ...] = ()


FIELDS: Mapping[str, Mapping[str, str]] = {
    "bird": {
        "id": "question_id",
        "db": "db_id",
        "question": "question",
        "hint": "evidence",
        "gold": "SQL",
        "difficulty": "difficulty",
    },
    "spider": {"db": "db_id", "question": "question", "gold": "query"},
    "spider2": {"id": "instance_id", "db": "db", "question": "question"},
    "jsonl": {n: n for n in ("id", "db", "question", "hint", "gold", "difficulty")},
}
"""What each kind calls our fields."""

REQUIRED = {
    "bird": ("db", "question"),
    "spider": ("db", "question"),
    "spider2": ("id", "db", "question"),
    "jsonl": ("id", "db"),
}
ALL_OR_NONE = {"bird": ("id", "gold"), "spider": ("gold",), "spider2": (), "jsonl": ()}
"""Fields a set may lack (BIRD train has no ids, test sets no gold), but not some entries of it."""

SIGNATURES = (
    ("bird", {"db_id", "SQL"}),
    ("spider", {"db_id", "query"}),
    ("bird", {"db_id", "evidence", "question_id"}),
    ("spider2", {"instance_id", "db", "question"}),
    ("jsonl", {"id", "db"}),
)
FOLDER_STEPS = (
    ("dev.json", {"bird", "spider"}),
    ("*_gold.sql", {"spider"}),
    ("*.jsonl", {"bird", "spider", "spider2", "jsonl"}),
)
DATABASE_ENDINGS = (".sqlite", ".db", ".duckdb")

_SHAPES = (
    "BIRD has db_id, question and SQL; Spider db_id, question and query; "
    "Spider 2.0 instance_id, db and question; our JSONL id and db"
)


def read_dataset(spec: str) -> Dataset:
    """Reads the set that `spec` names: a file or folder, with `bird:` or so to force the kind.

    Raises `InputError` for a missing or unreadable file, an unknown kind, a missing or ill-typed
    field, a duplicate id, an empty set, or a folder in which several files could be meant.
    """
    forced, path = _named(spec)
    if holds(path.is_dir):
        path = _in_folder(path, forced)
    text = read_utf8(path)
    start = skip_space(text, 0)
    if start == len(text):
        raise InputError(f"{path} holds no question", "give a file with at least one")
    if text[start] not in "[{" and forced in (None, "spider"):
        kind, questions = "spider", tuple(_from_gold_text(text, path))
    else:
        kind, questions = _from_json(text, path, forced)
    folder = gold_folder(path) if kind == "spider2" else None
    if folder is not None:
        questions = tuple(
            replace(q, gold=folder.query(q.id), results=folder.results(q.id)) for q in questions
        )
    if not (repeated := _repeated(questions)):
        gold = folder.parts() if folder else ()
        return Dataset(kind=kind, path=path, questions=questions, gold=gold)
    if kind != "bird":
        raise _two_questions(repeated, path)
    # BIRD mini-dev is published with questions that stand in it twice.
    return Dataset(
        kind=kind,
        path=path,
        questions=tuple(replace(q, id=str(at)) for at, q in enumerate(questions)),
        note=f"question_id repeats ({_listed(repeated)}): the ids are 0-based positions",
        own_ids=tuple(question.id for question in questions),
    )


def database_file(root: Path, db: str) -> Path | None:
    """The file of database `db` below `root`, or None.

    `db` stands in files from elsewhere, so only a plain name is looked up: nothing that could
    lead out of `root` (on any operating system) is ever joined to it.
    """
    if not is_plain(db):
        return None
    for stem in (root / db / db, root / db):
        for ending in DATABASE_ENDINGS:
            candidate = stem.with_name(stem.name + ending)
            if holds(candidate.is_file):
                return candidate
    return None


def database_files(root: Path, db: str) -> tuple[Path, ...]:
    """All files of database `db` below `root`, its own first: further ones of the same kind in its
    own folder hold other data under the same schema (Spider's test suite)."""
    own = database_file(root, db)
    if own is None:
        return ()
    if own.parent == root:
        return (own,)
    others = sorted(own.parent.glob(f"[!.]*{own.suffix}"))
    return (own, *(other for other in others if other != own and holds(other.is_file)))


def _named(spec: str) -> tuple[str | None, Path]:
    prefix, colon, rest = spec.partition(":")
    forced, name = (prefix, rest) if colon and prefix in FIELDS else (None, spec)
    if not name:
        raise InputError("no data set was named", "give a file or a folder, such as dev.json")
    # One letter before the colon is a drive; a file whose own name holds a colon exists.
    if not forced and re.match(r"\w\w+:", spec) and not holds(Path(name).exists):
        known = ", ".join(f"{kind}:" for kind in FIELDS)
        raise InputError(f"unknown kind of data set: {prefix}", f"known are {known}")
    return forced, Path(name)


def _in_folder(folder: Path, forced: str | None) -> Path:
    for pattern, kinds in FOLDER_STEPS:
        found = sorted(path for path in folder.glob(pattern) if holds(path.is_file))
        if not found or (forced is not None and forced not in kinds):
            continue
        if len(found) > 1 and len({read_utf8(path) for path in found}) > 1:
            names = ", ".join(path.name for path in found)
            raise InputError(f"{folder} holds several data sets: {names}", "name one of the files")
        return found[0]
    patterns = ", ".join(pattern for pattern, _ in FOLDER_STEPS)
    raise InputError(f"no data set in {folder}: looked for {patterns}", "name the file itself")


def _from_gold_text(text: str, path: Path) -> Iterator[Question]:
    for position, line in enumerate(text.removeprefix("\ufeff").rstrip().split("\n")):
        gold, _, db = (part.strip() for part in line.rpartition("\t"))
        if not gold or not db:
            raise InputError(
                f"{path}, line {position + 1}: neither JSON nor SQL, a tab and a database",
                "give a BIRD or Spider JSON file, a *_gold.sql, or JSONL",
            )
        yield Question(id=str(position), db=db, question="", hint="", gold=gold, difficulty=None)


def _from_json(text: str, path: Path, forced: str | None) -> tuple[str, tuple[Question, ...]]:
    values = [found.value for found in json_values(text, path)]
    entries = values[0] if len(values) == 1 and isinstance(values[0], list) else values
    for position, entry in enumerate(entries):
        if not isinstance(entry, dict):
            raise InputError(f"{path}, position {position}: no object with fields", _SHAPES)
    if not entries:
        raise InputError(f"{path} holds no question", "give a file with at least one")
    kind = forced or _told(entries[0], path)
    _check_presence(kind, entries, path)
    return kind, tuple(_question(kind, entry, at, path) for at, entry in enumerate(entries))


def _told(entry: Mapping[str, Any], path: Path) -> str:
    for kind, signature in SIGNATURES:
        if signature <= entry.keys():
            return kind
    names = ", ".join(shown(name) for name in list(entry)[:8]) or "no field"
    raise InputError(f"{path} is no known kind of data set, position 0 has: {names}", _SHAPES)


def _check_presence(kind: str, entries: list[dict[str, Any]], path: Path) -> None:
    names = FIELDS[kind]
    filled = [{f for f in names if entry.get(names[f]) not in (None, "")} for entry in entries]
    uneven = [f for f in ALL_OR_NONE[kind] if any(f in fields for fields in filled)]
    for position, fields in enumerate(filled):
        for field in (*REQUIRED[kind], *uneven):
            if field not in fields:
                raise InputError(
                    f"{path}, position {position}: no {names[field]} (read as {kind})", _SHAPES
                )


def _question(kind: str, entry: Mapping[str, Any], position: int, path: Path) -> Question:
    found: dict[str, Any] = {field: entry.get(name) for field, name in FIELDS[kind].items()}
    number = found.get("id")
    if isinstance(number, int) and not isinstance(number, bool):
        found["id"] = str(number)
    more: Sequence[Any] = ()
    if kind == "jsonl" and isinstance(golds := found["gold"], list):
        found["gold"], *more = [gold for gold in golds if gold not in (None, "")] or [None]
    for field, value in (*found.items(), *(("gold", one) for one in more)):
        if value is not None and not isinstance(value, str):
            raise InputError(
                f"{path}, position {position}: {FIELDS[kind][field]} is no text",
                "write it as a JSON string",
            )
    return Question(
        id=found.get("id") or str(position),
        db=found["db"],
        question=found.get("question") or "",
        hint=found.get("hint") or "",
        gold=found.get("gold"),
        difficulty=found.get("difficulty"),
        more_gold=tuple(more),
    )


def _repeated(questions: Sequence[Question]) -> dict[str, list[int]]:
    """The ids that several questions have, with the positions of those."""
    places: dict[str, list[int]] = {}
    for position, question in enumerate(questions):
        places.setdefault(question.id, []).append(position)
    return {name: found for name, found in places.items() if len(found) > 1}


def _two_questions(repeated: Mapping[str, list[int]], path: Path) -> InputError:
    name, (first, second, *_) = next(iter(repeated.items()))
    return InputError(
        f"{path}, position {second}: id {shown(name)} stands at {first} too",
        "give each question its own id",
    )


def _listed(names: Iterable[str]) -> str:
    some = list(names)
    return ", ".join(map(shown, some[:3])) + (f" and {len(some) - 3} more" if some[3:] else "")
