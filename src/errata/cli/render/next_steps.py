"""The `Next` lines of an analysis: commands that continue from here, the most important first."""

from collections import Counter
from collections.abc import Iterator, Sequence

from errata.cli.fitting import WIDTH, columns
from errata.cli.output import NOTE_GAP, plural, put_command, wash
from errata.cli.render.runs import counted_in
from errata.model import StoredRun
from errata.runs.scores import Scores
from errata.runs.summary import Analysis
from errata.text.shell import shell_word

TO_CHECK = {"harness": "is the harness at fault", "grader": "is the grader right", "task": "is the task right"}
"""Owners whose failures come back until somebody repairs something, and what to ask: rules may be wrong about them."""
INDENT = 9

Step = tuple[list[str], str]


def put_next(analysis: Analysis) -> None:
    steps = _steps(analysis)
    width = _common_width(steps)
    for at, (words, note) in enumerate(steps):
        put_command("" if at else "Next", words, note, width=width, indent=INDENT)


def _steps(analysis: Analysis) -> list[Step]:
    handle = analysis.handle
    to_review = analysis.stored.counts.failures > analysis.reviewed + analysis.inherited
    failures = analysis.stored.counts.failures
    doubts, rerun, check = [*_doubts(analysis)], _rerun(analysis), _check(analysis)
    listing: list[Step] = []
    if failures:
        listing.append((["errata", "failures", handle], f"list {plural(failures, 'failure')} with reasons"))
    if to_review:
        listing.append((["errata", "review", "next", handle], "review the failures one by one"))
    if not failures:
        listing.append((["errata", "show", handle], "show the run"))
    if not analysis.health.fit:
        return [*check, *rerun, *doubts, *listing]
    has_warnings = any(finding.severity != "info" for finding in analysis.health.findings)
    # notes limit nothing, so they come last
    return [*doubts, *rerun, *check, *listing] if has_warnings else [*doubts, *rerun, *listing, *check]


def _doubts(analysis: Analysis) -> Iterator[Step]:
    """What may be counted wrongly, and is settled by looking at it."""
    listing = ["errata", "failures", analysis.handle]
    counted = Counter[str]()
    for group in analysis.scores.scores["clean"].beside:
        counted[group.why] += group.count
    for owner in analysis.owners:
        # a grader that crashed has judged nothing: such failures are left out of the score, and are to be rerun
        count = counted[owner.owner] if owner.owner in ("grader", "task") else owner.count
        if count and owner.owner in TO_CHECK:
            failures = plural(count, f"{owner.owner} failure")
            yield [*listing, "--owner", owner.owner], f"check {failures}: {TO_CHECK[owner.owner]}?"
    if suspects := sum(bool(task.evidence) and task.review is None for task in analysis.suspects.tasks):
        which = f"check {plural(suspects, 'suspect task')}"
        yield (
            ["errata", "review", "tasks", analysis.handle],
            f"{which}: {'is it' if suspects == 1 else 'are they'} broken?",
        )
    if odd := analysis.suspicious.suspicious:
        passes = plural(odd, "suspicious pass", "suspicious passes")
        yield [*listing, "--suspicious"], f"check {passes}: {'is it' if odd == 1 else 'are they'} earned?"


def _rerun(analysis: Analysis) -> list[Step]:
    note = rerun_note(analysis.stored, analysis.scores)
    return [(["errata", "rerun", analysis.handle], note)] if note else []


def rerun_note(stored: StoredRun, scores: Scores) -> str:
    """What `errata rerun` does for the run; empty where there is nothing to rerun."""
    from errata.rerun import PLANNERS

    if not scores.to_repeat:
        return ""
    again = plural(scores.to_repeat, f"left-out {counted_in(stored.run, scores.unit)}")
    return f"print how to rerun {again}" if stored.run.source.name in PLANNERS else f"list {again} to rerun by hand"


def _check(analysis: Analysis) -> list[Step]:
    health = analysis.health
    return (
        [(["errata", "check", analysis.handle], f"show {health.counts_in_words} with evidence")]
        if health.findings
        else []
    )


def _common_width(steps: Sequence[Step]) -> int:
    """The widest command beside which all notes of commands up to that width still fit the page."""
    sizes = [(columns(wash(" ".join(map(shell_word, words)))), columns(note)) for words, note in steps]
    room = WIDTH - INDENT - len(NOTE_GAP)
    fitting = [width for width, _ in sizes if all(width + note <= room for size, note in sizes if size <= width)]
    return max(fitting, default=0)
