"""Where a report about a run is kept: `reports/{provider}/{model}/{first 8 characters of its id}_{day}.md`."""

import re

UNKNOWN = "unknown"
PREFIX = 8
_UNFIT = re.compile(r"[^A-Za-z0-9._-]+")


def report_path(model: str, provider: str, run: str, day: str, *, whole: bool = False) -> str:
    """Relative to the folder of reports. The provider is what stands before the slash of a model's name, if any.

    With the `whole` id of the run where its beginning names another run, too.
    """
    before, slash, name = model.partition("/")
    folder = slug(before if slash else provider)
    called = slug(run) if whole else slug(run)[:PREFIX].rstrip("-.")
    return f"{folder}/{slug(name if slash else model)}/{called}_{day}.md"


def slug(text: str) -> str:
    """What may stand in a path: no folder of its own, no dot file, never empty."""
    return _UNFIT.sub("-", text).strip("-.")[:80].rstrip("-.") or UNKNOWN
