"""The workers of a cluster, by Dask: which of them has which files, and how to hand them work.

Nothing is copied: a task about a database runs on a machine that has the same file under the same
path. A worker that dies costs what it was at, which the scheduler gives to another one.
"""

import logging
import uuid
from collections.abc import Callable, Hashable, Mapping, Sequence
from concurrent.futures import CancelledError
from contextlib import suppress
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from modularsql.config import Settings
from modularsql.errors import SetupError
from modularsql.service import on_worker
from modularsql.service.on_worker import Crew, Seen, made_of, mark
from modularsql.service.pool import Loss, Portion, R, T

_CONNECT = 10.0
_LOOK = 5.0
"""Seconds between looks at whether anybody is left to do the work."""

PATIENCE = 60.0
"""Seconds in which a worker may come back: one that was killed is started anew."""

_START = "start one with `dask worker {}`; what was written stays"

Needs = Mapping[str, Sequence[Path]]
"""The files that a worker must have for each database, as they are here (or not are)."""


class Cluster:
    """A scheduler, and the machines whose workers have what databases need."""

    def __init__(self, address: str, needs: Needs) -> None:
        """Raises `SetupError` where nobody is there, or nobody has the files."""
        _check_installed()
        from distributed import Client

        # It reports to the log what is reported here in one line.
        for name in ("distributed", "distributed.client"):
            logging.getLogger(name).setLevel(logging.CRITICAL)
        self.run = uuid.uuid4().hex
        self.folder = str(Path.cwd())
        self._address = address
        try:
            self._client = Client(address, timeout=_CONNECT, set_as_default=False)
        except (OSError, ValueError, TimeoutError) as error:
            raise SetupError(
                f"no cluster answers at {address}: {_first_line(error)}",
                "start one with `dask scheduler`, and give its address as tcp://HOST:8786",
            ) from error
        try:
            self._homes = self._find(needs)
        except BaseException:
            self.close()
            raise

    @property
    def size(self) -> int:
        """The threads of all workers: so many tasks run at a time."""
        return sum(self._client.nthreads().values())

    def home(self, database: str) -> tuple[str, ...]:
        """The machines that have a database."""
        return self._homes[database]

    def submit(self, database: str, function: Callable[..., Any], *args: Any) -> Any:
        """Run a function where a database is; a future of Dask's."""
        return self._client.submit(
            function,
            *args,
            key=f"{function.__name__}-{uuid.uuid4().hex}",
            workers=list(self.home(database)),
            pure=False,
        )

    def result(self, future: Any, database: str) -> Any:
        """What a future came to; a `Loss` where worker after worker died of it.

        Raises what the function raised, and `SetupError` when nobody is left to do it.
        """
        from distributed import KilledWorker

        waited = 0.0
        while True:
            try:
                return future.result(timeout=_LOOK)
            except KilledWorker:
                return Loss()
            except CancelledError as error:
                raise self._gone() from error
            except TimeoutError:
                if future.done():
                    raise
            waited = 0.0 if self._anybody_at(self.home(database)) else waited + _LOOK
            if waited >= PATIENCE:
                raise SetupError(
                    f"the cluster has no worker left that has {database}",
                    _START.format(self._address),
                )

    def close(self) -> None:
        """End what the workers keep for this run, and what is not begun."""
        with suppress(Exception):  # they may be gone
            self._client.run(on_worker.end, self.run, on_error="ignore")
        self._client.close()

    def _anybody_at(self, hosts: Sequence[str]) -> bool:
        try:
            return bool(set(hosts) & set(map(_host, self._client.nthreads())))
        except Exception as error:
            raise self._gone() from error

    def _gone(self) -> SetupError:
        return SetupError(
            f"the cluster at {self._address} is gone", "start it, then run the same command again"
        )

    def _find(self, needs: Needs) -> dict[str, tuple[str, ...]]:
        """The machines of each database, by a look at every worker's files."""
        files = list(dict.fromkeys(file for some in needs.values() for file in some))
        ours = [mark(file) for file in files]
        homes: dict[str, list[bool]] = {}
        for address, seen in self._look(files).items():
            same = [own == theirs for own, theirs in zip(ours, seen.marks, strict=True)]
            known = homes.setdefault(_host(address), [True] * len(files))
            homes[_host(address)] = [a and b for a, b in zip(known, same, strict=True)]
        found = {}
        for database, some in needs.items():
            places = [files.index(file) for file in some]
            found[database] = tuple(
                sorted(host for host, has in homes.items() if all(has[at] for at in places))
            )
            if not found[database]:
                lacking = [f for f, at in zip(some, places, strict=True) if not _has(homes, at)]
                raise SetupError(
                    f"no worker of the cluster has {(lacking or some)[0]} as it is here",
                    "put the same files under the same paths on its machines",
                )
        return found

    def _look(self, files: Sequence[Path]) -> dict[str, Seen]:
        with suppress(TimeoutError):
            self._client.wait_for_workers(1, timeout=_CONNECT)
        names = [str(file) for file in files]
        seen = self._client.run(on_worker.look, self.folder, names, on_error="return")
        if not seen:
            raise SetupError(
                f"the cluster at {self._address} has no workers", _START.format(self._address)
            )
        for address, one in seen.items():
            theirs = (
                one.versions
                if isinstance(one, Seen)
                else {"modularsql": f"none ({_first_line(one)})"}
            )
            for name, version in made_of().items():
                if (other := theirs.get(name)) != version:
                    raise SetupError(
                        f"the worker {address} has another {name}: {other}, not {version}",
                        "install the same on all machines of the cluster",
                    )
        return dict(seen)


def own_host(address: str) -> str:
    """The address of this machine as those of the cluster at `address` know it.

    Raises `SetupError` where Dask is not installed.
    """
    _check_installed()
    from distributed.utils import get_ip

    return str(get_ip(_host(address)))


class ClusterPool:
    """A `Pool` of processes at the workers of a cluster, one for each of their threads."""

    def __init__(
        self, needs: Needs, prepare: Callable[[Settings], None], settings: Settings
    ) -> None:
        self._cluster = Cluster(settings.cluster, needs)
        self.size = self._cluster.size
        self._crew = Crew(
            run=self._cluster.run, folder=self._cluster.folder, prepare=prepare, settings=settings
        )

    def group(self, database: str) -> Hashable:
        """See `Pool`: the machines that have it."""
        return self._cluster.home(database)

    def start(self, portion: Portion[T, R]) -> Callable[[], list[R] | Loss]:
        """See `Pool`; raises `SetupError` when the cluster is gone."""
        database = portion.tasks[0].database
        future = self._cluster.submit(database, on_worker.do_portion, self._crew, portion)
        return partial(self._cluster.result, future, database)

    def close(self) -> None:
        """See `Pool`."""
        self._cluster.close()


def _check_installed() -> None:
    if find_spec("distributed") is None:
        raise SetupError("a cluster needs distributed", "pip install 'modularsql[dask]'", "driver")


def _has(homes: Mapping[str, list[bool]], at: int) -> bool:
    return any(has[at] for has in homes.values())


def _host(address: str) -> str:
    from distributed.comm.addressing import get_address_host

    return str(get_address_host(address))


def _first_line(error: BaseException) -> str:
    return (str(error) or repr(error)).splitlines()[0]
