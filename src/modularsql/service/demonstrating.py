"""The use case `demo`: suspect queries on a bundled shop, before and after. Offline, no key."""

import shutil
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.resources import as_file, files
from pathlib import Path

from modularsql.engines.connect import connect
from modularsql.errors import InputError
from modularsql.guard.run import Guard
from modularsql.records import Answer


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """One suspect query: what was asked, what is wrong, and the guard's answer with `fix`."""

    title: str
    question: str
    shows: str
    before: Answer
    after: Answer


def demo() -> Iterator[Scene]:
    """Guard each bundled query twice: as it is, and with its repair applied.

    With the settings as they come, whatever the user's own: the scenes say what they show.
    """
    home = files("modularsql.demo")
    queries = tomllib.loads(home.joinpath("queries.toml").read_text(encoding="utf-8"))["query"]
    with as_file(home.joinpath("shop.sqlite")) as path, Guard(connect(path)) as guard:
        for query in queries:
            sql = query["sql"].strip()
            yield Scene(
                title=query["title"],
                question=query["question"],
                shows=query["shows"],
                before=guard.run(sql, question=query["question"]),
                after=guard.run(sql, question=query["question"], fix=True),
            )


def copy_shop(folder: Path) -> Path:
    """A copy of the shop database for the user's own tries; an existing file is kept.

    Raises `InputError` where it cannot be written.
    """
    target = folder / "shop.sqlite"
    try:
        if not target.exists():
            with as_file(files("modularsql.demo").joinpath("shop.sqlite")) as path:
                shutil.copyfile(path, target)
    except OSError as error:
        raise InputError(
            f"cannot write {target}: {error.strerror}", "name another folder"
        ) from error
    return target
