"""Size is a design signal: files and functions stay small, arguments few."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FILES = sorted(
    path
    for folder in ("src", "tests", "benchmarks", "scripts")
    for path in (ROOT / folder).rglob("*.py")
)
MOST_LINES, MOST_IN_FUNCTION, MOST_PARAMETERS = 400, 60, 5


def functions(path: Path) -> list[ast.FunctionDef | ast.AsyncFunctionDef]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
    return [node for node in ast.walk(tree) if isinstance(node, kinds)]


def positional(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    arguments = function.args
    names = [a.arg for a in (*arguments.posonlyargs, *arguments.args)]
    return len([name for name in names if name not in ("self", "cls")])


def is_command(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """A click command takes one argument for each option."""
    return "click.command" in " ".join(ast.unparse(d) for d in function.decorator_list)


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_files_and_functions_stay_small(path: Path) -> None:
    assert len(path.read_text(encoding="utf-8").splitlines()) <= MOST_LINES
    for function in functions(path):
        length = (function.end_lineno or 0) - function.lineno + 1
        assert length <= MOST_IN_FUNCTION or is_command(function), function.name
        if not is_command(function) and "tests" not in path.parts:
            assert positional(function) <= MOST_PARAMETERS, function.name


def test_public_functions_of_the_package_have_docstrings() -> None:
    bare = [
        f"{path.name}: {function.name}"
        for path in FILES
        if "modularsql" in path.parts
        for function in functions(path)
        if not function.name.startswith("_") and not ast.get_docstring(function)
        if not is_nested(path, function)
    ]
    assert bare == []


def is_nested(path: Path, wanted: ast.AST) -> bool:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return any(
        getattr(inner, "lineno", None) == getattr(wanted, "lineno", 0)
        for outer in ast.walk(tree)
        if isinstance(outer, ast.FunctionDef)
        for inner in ast.walk(outer)
        if inner is not outer and isinstance(inner, ast.FunctionDef)
    )
