"""Prediction files: read in the shapes that systems leave behind, written back in the same one.

A set keeps the text it was read from and knows where in it each answer stands. Writing replaces
those places and nothing else, so whatever a file's habits are (indent, key order, line ends, a
missing last newline, entries that are no SQL), they survive to the byte.
"""

import json
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from modularsql.errors import InputError
from modularsql.evaluation.datasets import Dataset, Question
from modularsql.evaluation.files import check_place, write_text
from modularsql.evaluation.texts import DECODER, holds, json_values, read_utf8, shown, skip_space
from modularsql.wording import counted

BIRD_MARK = "\t----- bird -----\t"
LINE_MARK = "\t"

# A record may repeat the data set's own SQL, so the unmistakable names come first.
SQL_FIELDS = ("predicted_sql", "prediction", "sql", "SQL")
ID_FIELDS = ("id", "question_id")

ALIGNMENT_HINTS = {
    "lines": "write one line for each question, in order, and a blank one for no answer",
    "folder": "write one ID.sql for each question",
}
ALIGNMENT_HINT = "write one entry for each question, under its id, and none for others"


@dataclass(frozen=True, slots=True, kw_only=True)
class Prediction:
    """The answer to one question.

    `sql` is stripped; it is empty for a blank entry, and None where the entry is no text, in
    which case `problem` says what it is. `db` is the database the entry names, if it does.
    """

    id: str
    sql: str | None
    db: str | None
    problem: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where an answer stands: in which text, from where to where, and what follows the SQL."""

    text: str
    start: int
    end: int
    tail: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Predictions:
    """A prediction set: one item for each question of its data set, in that order.

    `kind` is json-object, json-list, jsonl, lines or folder. `texts` (by file name; the name is
    empty for a single file) and `places` (by question id) are for `write_predictions`.
    """

    kind: str
    path: Path
    items: tuple[Prediction, ...]
    texts: Mapping[str, str] = field(repr=False)
    places: Mapping[str, Place] = field(repr=False)


class Entry(NamedTuple):
    """What a file holds for one answer, before it is aligned to a question."""

    key: str | None
    value: Any
    start: int
    end: int
    text: str = ""


class Parts(NamedTuple):
    """An entry's text taken apart: SQL, the mark before the database, and all from the mark on."""

    sql: str
    mark: str
    tail: str


def read_predictions(path: Path, dataset: Dataset) -> Predictions:
    """The predictions at `path` (a file or a folder of ID.sql), aligned to `dataset`.

    Entries with ids are aligned by id, or by position when their ids are exactly 0 to n-1;
    entries without ids by position. Raises `InputError` when a file cannot be read, when counts
    or ids differ, or when an entry names another database than its question.
    """
    kind, texts, entries = _from_folder(path) if holds(path.is_dir) else _from_file(path)
    aligned = _aligned(kind, path, entries, dataset)
    names = {question.db for question in dataset.questions}
    parts = [
        _taken_apart(entry.value, names) if isinstance(entry.value, str) else None
        for entry in aligned
    ]
    usual = _usual_mark(parts)
    pairs = list(zip(dataset.questions, aligned, parts, strict=True))
    return Predictions(
        kind=kind,
        path=path,
        items=tuple(_prediction(path, *pair) for pair in pairs),
        texts=texts,
        places={question.id: _place(question, e, p, usual) for question, e, p in pairs},
    )


def check_out(predictions: Predictions, out: Path) -> None:
    """Raises `InputError` where the set could not be written to `out`, before work is done for it.

    Makes the folder it would stand in, if need be.
    """
    check_place(out, folder=predictions.kind == "folder")


def fits(predictions: Predictions, name: str, sql: str) -> bool:
    """Whether the place of question `name` can hold this SQL (a line holds no line break)."""
    try:
        _fresh(predictions, name, sql).encode()
    except (InputError, UnicodeEncodeError):
        return False
    return True


def write_predictions(predictions: Predictions, sqls: Mapping[str, str], out: Path) -> None:
    """Writes the set to `out` as it was read, with the SQL of `sqls` (by question id) put in.

    What `sqls` does not name, or names with the SQL that was read, stays the same to the byte.
    A file is complete or untouched, never half. Raises `InputError` for an id that the set does
    not have, for SQL that does not fit into a line of a line file, and when writing fails.
    """
    unknown = [name for name in sqls if name not in predictions.places]
    if unknown:
        raise InputError(f"no prediction to replace for id {unknown[0]}", "use the set's own ids")
    edits: dict[str, list[tuple[int, int, str]]] = {name: [] for name in predictions.texts}
    for item in predictions.items:
        sql = sqls.get(item.id, item.sql)
        if sql is not None and sql != item.sql:
            place = predictions.places[item.id]
            fresh = _fresh(predictions, item.id, sql)
            edits[place.text].append((place.start, place.end, fresh))
    folder = predictions.kind == "folder"
    for name, text in predictions.texts.items():
        write_text(out / name if folder else out, _spliced(text, edits[name]))


def _from_folder(path: Path) -> tuple[str, dict[str, str], list[Entry]]:
    files = sorted(file for file in path.glob("[!.]*.sql") if file.is_file())
    texts = {file.name: read_utf8(file) for file in files}
    entries = []
    for file in files:
        text = texts[file.name]
        sql = text.removeprefix("\ufeff").strip()
        start = text.index(sql, text.startswith("\ufeff"))
        entries.append(Entry(file.stem, sql, start, start + len(sql), file.name))
    return "folder", texts, entries


def _from_file(path: Path) -> tuple[str, dict[str, str], list[Entry]]:
    text = read_utf8(path)
    start = skip_space(text, 0)
    if text[start : start + 1] not in ("{", "["):
        return "lines", {"": text}, list(_lines(text))
    values = json_values(text, path)
    top, begin, _ = values[0]
    if isinstance(top, list) and len(values) == 1:
        return "json-list", {"": text}, [_record(text, e) for e in _members(text, begin)]
    entries = [_record(text, Entry(None, *value)) for value in values]
    if len(values) == 1 and (entries[0].key is None or entries[0].value is top):
        return "json-object", {"": text}, [_record(text, e) for e in _members(text, begin)]
    return "jsonl", {"": text}, entries


def _lines(text: str) -> Iterator[Entry]:
    # Not splitlines: it also splits at form feeds and the like, which may stand inside SQL.
    start = int(text.startswith("\ufeff"))
    lines = text[start:].split("\n")
    for line in lines if lines[-1] else lines[:-1]:
        value = line.removesuffix("\r")
        yield Entry(None, value, start, start + len(value))
        start += len(line) + 1


def _members(text: str, at: int) -> Iterator[Entry]:
    """Members of the valid JSON object or list that begins at `at`."""
    keyed = text[at] == "{"
    at = skip_space(text, at + 1)
    while text[at] not in "]}":
        key = None
        if keyed:
            key, at = DECODER.raw_decode(text, at)
            at = skip_space(text, skip_space(text, at) + 1)
        value, end = DECODER.raw_decode(text, at)
        yield Entry(key, value, at, end)
        at = skip_space(text, end)
        if text[at] == ",":
            at = skip_space(text, at + 1)


def _record(text: str, entry: Entry) -> Entry:
    """An entry that is an object with a field for SQL, as the entry that field makes."""
    if not isinstance(entry.value, dict):
        return entry
    members = {member.key: member for member in _members(text, entry.start)}
    ids = [str(m.value) for n in ID_FIELDS if (m := members.get(n)) and m.value is not None]
    key = entry.key if entry.key is not None or not ids else ids[0]
    for name in SQL_FIELDS:
        if name in members:
            return members[name]._replace(key=key)
    return entry._replace(key=key)


def _aligned(kind: str, path: Path, entries: Sequence[Entry], dataset: Dataset) -> Sequence[Entry]:
    """The entries in the order of the questions, one for each."""
    texts = sum(isinstance(entry.value, str) for entry in entries)
    if not texts and any(isinstance(entry.value, dict | list) for entry in entries):
        looked = ", ".join(SQL_FIELDS)
        raise InputError(f"{path}: no entry has SQL", f"name its field one of {looked}")
    unnamed = [at for at, entry in enumerate(entries) if entry.key is None]
    ids = [question.id for question in dataset.questions]
    hint = dataset.note or ALIGNMENT_HINTS.get(kind, ALIGNMENT_HINT)
    if len(unnamed) == len(entries):
        if kind == "lines" and not any(entry.value.strip() for entry in entries[len(ids) :]):
            entries = entries[: len(ids)]
        return _by_position(path, entries, ids, hint)
    if unnamed:
        raise InputError(
            f"{path}, position {unnamed[0]}: no id, but other entries have one",
            "give an id to all entries or to none",
        )
    if dataset.own_ids and dataset.own_ids == tuple(entry.key for entry in entries):
        return entries
    return _by_key(path, entries, ids, hint)


def _by_position(
    path: Path, entries: Sequence[Entry], ids: Sequence[str], hint: str
) -> Sequence[Entry]:
    surplus = [f"position {at}" for at in range(len(ids), len(entries))]
    _check_keys(path, [*ids[: len(entries)], *surplus], ids, hint)
    return entries


def _by_key(path: Path, entries: Sequence[Entry], ids: Sequence[str], hint: str) -> Sequence[Entry]:
    keys = [str(entry.key) for entry in entries]
    positions = [str(at) for at in range(len(ids))]
    order = positions if set(ids) != set(keys) == set(positions) else ids
    _check_keys(path, keys, order, hint)
    by_key = dict(zip(keys, entries, strict=True))
    return [by_key[key] for key in order]


def _check_keys(path: Path, keys: Sequence[str], ids: Sequence[str], hint: str) -> None:
    counts = Counter(keys)
    for key, count in counts.items():
        if count > 1:
            raise InputError(f"{path}: id {shown(key)} has {count} entries", "keep one of them")
    known = set(ids)
    lists = (
        ("missing", [name for name in ids if name not in counts]),
        ("unknown", [key for key in keys if key not in known]),
    )
    named = "".join(f"; {word}: {_first_of(names)}" for word, names in lists if names)
    if named:
        entries = counted(len(keys), "entry", "entries")
        questions = counted(len(ids), "question")
        raise InputError(f"{path}: predictions: {entries}, data set: {questions}{named}", hint)


def _first_of(names: Sequence[str]) -> str:
    return ", ".join(shown(name) for name in names[:3]) + (" and more" if len(names) > 3 else "")


def _taken_apart(text: str, databases: Collection[str]) -> Parts:
    """Splits off the database. After a mere tab only a known one counts: SQL may hold tabs."""
    for mark in (BIRD_MARK, LINE_MARK):
        sql, found, db = text.rpartition(mark)
        if found and (mark == BIRD_MARK or db.strip() in databases):
            return Parts(sql.strip(), mark, mark + db)
    return Parts(text.strip(), "", "")


def _usual_mark(parts: Sequence[Parts | None]) -> str:
    """The mark that all answers have, for those that get SQL only when the set is written."""
    marks = {part.mark for part in parts if part and (part.sql or part.mark)}
    return marks.pop() if len(marks) == 1 else ""


def _place(question: Question, entry: Entry, parts: Parts | None, usual: str) -> Place:
    tail = parts.tail if parts else ""
    if usual and not tail and not (parts and parts.sql):
        tail = usual + question.db
    return Place(text=entry.text, start=entry.start, end=entry.end, tail=tail)


def _prediction(path: Path, question: Question, entry: Entry, parts: Parts | None) -> Prediction:
    if parts is None:
        problem = f"no SQL text but {json.dumps(entry.value)[:60]}"
        return Prediction(id=question.id, sql=None, db=None, problem=problem)
    db = parts.tail.removeprefix(parts.mark).strip() or None
    if db is not None and db != question.db:
        raise InputError(
            f"{path}: the entry for id {question.id} names database {shown(db)}, not {question.db}",
            "put the file in the order of the data set, or take the data set it was made for",
        )
    return Prediction(id=question.id, sql=parts.sql, db=db, problem=None)


def _fresh(predictions: Predictions, name: str, sql: str) -> str:
    """The text that puts `sql` into the place of question `name`."""
    place = predictions.places[name]
    if predictions.kind == "folder":
        return sql + place.tail
    if predictions.kind == "lines":
        return _one_line(sql, name) + place.tail
    return json.dumps(sql + place.tail, ensure_ascii=predictions.texts[place.text].isascii())


def _one_line(sql: str, name: str) -> str:
    if "\n" not in sql and "\r" not in sql:
        return sql
    # Imported here: the parser takes longer to import than most sets to read.
    import sqlglot
    from sqlglot import exp
    from sqlglot.errors import ErrorLevel, SqlglotError

    # Joining the lines would comment out what follows `--` and change text literals.
    try:
        parsed = sqlglot.parse(sql, dialect="sqlite")
        (tree,) = (t for t in parsed if t is not None and not isinstance(t, exp.Semicolon))
        line = tree.sql(dialect="sqlite", comments=False, unsupported_level=ErrorLevel.RAISE)
    except (SqlglotError, RecursionError, ValueError):
        line = "\n"
    if "\n" in line or "\r" in line:
        raise InputError(
            f"the SQL for id {name} cannot be written on one line",
            "leave it out, or give the predictions as JSON",
        )
    return line


def _spliced(text: str, edits: Sequence[tuple[int, int, str]]) -> str:
    pieces = []
    at = 0
    for start, end, fresh in sorted(edits):
        pieces += [text[at:start], fresh]
        at = end
    return "".join([*pieces, text[at:]])
