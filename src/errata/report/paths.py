"""Where a report about a run is kept: `reports/{provider}/{model}/{first 8 characters of its id}_{day}.md`."""

import re

UNKNOWN = "unknown"
PREFIX = 8
_UNFIT = re.compile(r"[^A-Za-z0-9._-]+")


def report_path(model: str, provider: str, run: str, day: str, *, suffix: str = ".md") -> str:
    """Relative to the folder of reports. The provider is what stands before the slash of a model's name, if any."""
    before, slash, name = model.partition("/")
    folder = slug(before if slash else provider)
    return f"{folder}/{slug(name if slash else model)}/{slug(run)[:PREFIX]}_{day}{suffix}"


def slug(text: str) -> str:
    """What may stand in a path: no folder of its own, no dot file, never empty."""
    return _UNFIT.sub("-", text).strip("-.")[:80].rstrip("-.") or UNKNOWN
