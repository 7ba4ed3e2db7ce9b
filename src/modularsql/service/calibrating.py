"""The use case `calibrate`: what a finished run says a policy should be, and its file."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from modularsql.evaluation.calibration import Calibration, calibrate
from modularsql.evaluation.files import write_text
from modularsql.json_values import plain
from modularsql.service.jsonable import SCHEMA_VERSION
from modularsql.service.run_files import load_run


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibrated:
    """What was fitted, and where it was written."""

    found: Calibration
    out: Path

    def as_json(self) -> dict[str, Any]:
        """The object that `calibrate --format json` prints."""
        shown: dict[str, Any] = plain(
            {
                "schema_version": SCHEMA_VERSION,
                "base": self.found.base,
                "thresholds": dict(self.found.thresholds),
                "unheeded": self.found.unheeded,
                "tables": {table.name: table.records() for table in self.found.tables},
                "out": str(self.out),
            }
        )
        return shown


def calibrate_run(folder: Path, out: Path | None = None) -> Calibrated:
    """Fit a policy on the run in `folder` and write the policy file (default: into it).

    Raises `InputError` for a folder without a finished run, or one without the guard.
    """
    found = calibrate(load_run(folder))
    path = out or folder / "policy.toml"
    write_text(path, found.policy_file(folder.name))
    return Calibrated(found=found, out=path)
