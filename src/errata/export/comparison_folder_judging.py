"""What a judged run tells of itself beyond its rows: its judge, how it was run, and in which comparison it stood."""

from typing import Any, NamedTuple

from errata.model import Run, Scorer

Plain = str | float | bool | None

NORMAL = "normal"
"""The mode of a `runtime.json` that names none."""


class Told(NamedTuple):
    """None or empty for what no file says."""

    judge: Scorer
    """The one that decides."""
    judged_at: str
    mode: str
    parallel: Plain
    disable_vad: Plain
    commands: tuple[tuple[str, str], ...]
    """Phase and command, as an earlier comparison tells them."""
    settings: dict[str, Plain]
    """The `metadata.json` of that comparison."""


def told_by(run: Run) -> Told:
    judge = run.scorers[0]
    runtime, before = _mapping(run.extra, "runtime"), _mapping(run.extra, "comparison")
    listed = _mapping(before, "run_results")
    summary = _mapping(_mapping(run.extra, "summaries"), judge.name)
    same_judge = listed if listed.get("judge_name") == judge.name else {}
    return Told(
        judge=judge,
        judged_at=str(summary.get("judged_at") or same_judge.get("judged_at") or ""),
        mode=str(runtime.get("mode") or NORMAL) if runtime else "",
        parallel=_plain(run.environment.get("parallel")),
        disable_vad=_plain(run.environment.get("disable_vad")),
        commands=tuple(_commands(before)),
        settings={name: _plain(value) for name, value in _mapping(before, "metadata").items()},
    )


def _plain(value: Any) -> Plain:
    """A setting is one value; what is nested is none."""
    return value if isinstance(value, str | int | float) else None


def _mapping(record: dict[str, Any], name: str) -> dict[str, Any]:
    found = record.get(name)
    return found if isinstance(found, dict) else {}


def _commands(before: dict[str, Any]) -> list[tuple[str, str]]:
    rows = before.get("commands") or ()
    told = [(str(row.get("phase") or ""), str(row.get("command") or "")) for row in rows if isinstance(row, dict)]
    return [(phase, command) for phase, command in told if command]
