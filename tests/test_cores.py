"""Work is spread over the cores that this process may use, which can be fewer than there are."""

import os

import pytest

from modularsql.cores import cores


def test_only_the_cores_that_are_allowed_count(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: 64)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _process: {3, 5}, raising=False)
    assert cores() == 2


def test_all_cores_count_where_the_system_does_not_tell(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: 64)
    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    assert cores() == 64
