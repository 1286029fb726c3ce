"""How long a pass is: short for each change, long with `make properties`."""

import os
from collections.abc import Sequence
from typing import TypeVar

PROFILE = os.environ.get("HYPOTHESIS_PROFILE", "short")
LONG = PROFILE == "long"

One = TypeVar("One")


def every(step: int, of: Sequence[One]) -> Sequence[One]:
    """All of them in a long pass, every so-manieth in a short one."""
    return of if LONG else of[::step]
