"""Policies from files: thresholds of their own on a policy by name."""

from pathlib import Path

import pytest

from modularsql import Guard, Settings, connect
from modularsql.errors import InputError
from modularsql.guard.policy_file import choose_policy


def written(tmp_path: Path, text: str) -> str:
    path = tmp_path / "mine.toml"
    path.write_text(text)
    return str(path)


def test_a_file_gives_thresholds_and_settings_the_rest(tmp_path: Path) -> None:
    name = written(tmp_path, 'base = "p1-p2"\ntau_inject = 0.5\n')
    policy = choose_policy(name, Settings(tau_inject=0.9, tau_remove=0.2))
    assert (policy.name, policy.tau_inject, policy.tau_remove) == (name, 0.5, 0.2)
    assert not policy.grain
    assert choose_policy("grain", Settings()).grain


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("base = ", "cannot read the policy"),
        ("tau_inject = 0.5", "names no policy"),
        ("base = 3", "names no policy"),
        ('base = "nope"', "unknown policy 'nope'"),
        ('base = "grain"\ntau = 1', "tau is unknown"),
        ('base = "grain"\ntau_inject = 1.5', "tau_inject must be a number from 0.001 to 1"),
        ('base = "grain"\ntau_inject = true', "tau_inject must be a number"),
        ('base = "grain"\ntau_repeat = 0.5', "tau_repeat must be a number from 1"),
        ('base = "grain"\nunheeded = ["luck"]', "no sign 'luck'"),
        ('base = "grain"\nunheeded = "luck"', "no sign 'luck'"),
        ('base = "grain"\nunheeded = [["limit"]]', "no sign ['limit']"),
    ],
)
def test_a_file_that_cannot_be_meant_is_one_line(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(InputError) as caught:
        choose_policy(written(tmp_path, text), Settings())
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_signs_that_are_not_heeded_stand_in_the_file(tmp_path: Path) -> None:
    name = written(tmp_path, 'base = "grain"\nunheeded = ["limit", "each"]\n')
    assert choose_policy(name, Settings()).unheeded == {"limit", "each"}
    assert choose_policy("grain", Settings()).unheeded == frozenset()


def test_a_missing_file_is_said(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="No such file"):
        choose_policy(str(tmp_path / "none.toml"), Settings())


def test_the_guard_follows_the_file(tmp_path: Path, shop_of_copies: Path) -> None:
    sql = "SELECT a FROM t"
    for tau, applied in ((0.4, ("inject_distinct",)), (0.6, ())):
        name = written(tmp_path, f'base = "p1"\ntau_inject = {tau}\n')
        with Guard(connect(shop_of_copies), policy=name) as guard:
            assert guard.run(sql, fix=True).applied == applied


@pytest.fixture
def shop_of_copies(tmp_path: Path) -> Path:
    """A database whose query returns each row twice."""
    import sqlite3

    path = tmp_path / "shop.sqlite"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE t(a)")
        connection.executemany("INSERT INTO t VALUES (?)", [(at % 5,) for at in range(10)])
    connection.close()
    return path
