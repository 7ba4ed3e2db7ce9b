"""How many processor cores there are for us."""

import os


def cores() -> int:
    """The cores this process may use, where the system tells; else those of the machine."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
