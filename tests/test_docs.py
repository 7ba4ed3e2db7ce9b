"""The docs say what is so."""

import re
import subprocess
import sys
from pathlib import Path

from modularsql.cli import COMMANDS
from modularsql.service.demonstrating import copy_shop

ROOT = Path(__file__).parents[1]


def test_generated_docs_are_fresh() -> None:
    command = [sys.executable, str(ROOT / "scripts" / "make_docs.py"), "--check"]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, f"{ran.stdout}{ran.stderr} (run: make docs)"


def test_links_in_the_readme_lead_somewhere() -> None:
    for page in (ROOT / "README.md", ROOT / "CONTRIBUTING.md"):
        for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text(encoding="utf-8")):
            assert (ROOT / target).exists(), target


def test_python_in_the_readme_runs(tmp_path: Path) -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    assert blocks
    copy_shop(tmp_path)
    for block in blocks:
        ran = subprocess.run(
            [sys.executable, "-c", block],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )
        assert ran.returncode == 0, ran.stderr
        assert ran.stdout.strip()


def test_every_command_is_in_the_readme_and_in_the_contract() -> None:
    for page in (ROOT / "README.md", ROOT / "docs" / "interfaces.md"):
        text = page.read_text(encoding="utf-8")
        assert [name for name in COMMANDS if f"`modularsql {name}" not in text] == []
