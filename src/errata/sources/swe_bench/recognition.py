"""Which paths are SWE-bench's, or those of an agent that works on it."""

from pathlib import Path

from errata.sources.base import Match
from errata.sources.swe_bench.kinds import Kind, kind_of_file
from errata.sources.swe_bench.survey import glance, is_instance_folder

_BECAUSE: dict[Kind, str] = {
    "report": "a report of SWE-bench",
    "instance": "logs of an evaluation by SWE-bench",
    "map": "verdicts of SWE-bench Pro",
    "swe-agent": "trajectories of SWE-agent",
    "mini-swe-agent": "trajectories of mini-swe-agent",
    "openhands": "results of OpenHands",
}


def recognise(path: Path) -> Match | None:
    try:
        if path.is_dir():
            kind = None if is_instance_folder(path) else glance(path)
        else:
            kind = kind_of_file(path)
            kind = None if kind == "instance" else kind
    except (OSError, ValueError):
        return None
    because = _BECAUSE.get(kind) if kind else None
    return Match.sure(because) if because else None


def explain(path: Path) -> str | None:
    """A hint for what belongs to SWE-bench and is no run."""
    try:
        kind = kind_of_file(path)
        if kind == "instance" or is_instance_folder(path):
            return "this is the verdict about one instance: name the folder of the model, or the one with the report"
        if kind == "predictions":
            return "these are predictions for SWE-bench: name the folder with the report about them, or the logs"
    except (OSError, ValueError):
        return None
    return None
