"""The `Next` lines of an analysis: commands that continue from here, each with what it does."""

from collections.abc import Sequence

from errata.cli.fitting import WIDTH, columns
from errata.cli.output import NOTE_GAP, plural, put_command, wash
from errata.cli.render.runs import counted_in
from errata.model import StoredRun
from errata.runs.scores import Scores
from errata.runs.summary import Analysis
from errata.text.shell import shell_word

TO_CHECK = ("harness", "grader", "task")
"""Owners whose failures come back until somebody repairs something; rules may be wrong about them."""
INDENT = 9

Step = tuple[list[str], str]


def put_next(analysis: Analysis) -> None:
    steps = [*_steps(analysis)]
    # the last command names a case, which may be long: it does not push the other notes away
    width = _common_width(steps[:-1])
    for at, (words, note) in enumerate(steps):
        put_command("" if at else "Next", words, note, width=width, indent=INDENT)


def _steps(analysis: Analysis) -> list[Step]:
    handle = analysis.handle
    to_review = analysis.stored.counts.failures > analysis.reviewed + analysis.inherited
    # a run that is not fit is checked and completed before anybody looks at its failures
    repair = [*_check(analysis), *_rerun(analysis)]
    steps = [*_failures(analysis), *_rerun(analysis), *_check(analysis)]
    if not analysis.health.fit:
        steps = [*repair, *_failures(analysis)]
    if to_review:
        steps.append((["errata", "review", "next", handle], "review the failures one by one"))
    if analysis.first_case:
        steps.append((["errata", "show", f"{handle}/{analysis.first_case}"], "show one failure with evidence"))
    else:
        steps.append((["errata", "show", handle], "show the run"))
    return steps


def _failures(analysis: Analysis) -> list[Step]:
    listing = ["errata", "failures", analysis.handle]
    failures, odd = analysis.stored.counts.failures, analysis.suspicious.suspicious
    steps: list[Step] = []
    if failures:
        steps.append((listing, f"list {plural(failures, 'failure')} with reasons"))
    for owner in analysis.owners:
        if owner.owner in TO_CHECK:
            steps.append(([*listing, "--owner", owner.owner], f"check {plural(owner.count, f'{owner.owner} failure')}"))
    if odd:
        passes = plural(odd, "suspicious pass", "suspicious passes")
        steps.append(([*listing, "--suspicious"], f"list {passes}"))
    return steps


def _rerun(analysis: Analysis) -> list[Step]:
    note = rerun_note(analysis.stored, analysis.scores)
    return [(["errata", "rerun", analysis.handle], note)] if note else []


def rerun_note(stored: StoredRun, scores: Scores) -> str:
    """What `errata rerun` does for the run; empty where there is nothing to rerun."""
    from errata.rerun import PLANNERS

    if not scores.to_repeat:
        return ""
    again = plural(scores.to_repeat, counted_in(stored.run, scores.unit))
    return f"print how to rerun {again}" if stored.run.source.name in PLANNERS else f"list {again} to rerun by hand"


def _check(analysis: Analysis) -> list[Step]:
    health = analysis.health
    return [(["errata", "check", analysis.handle], f"read {health.counts_in_words}")] if health.findings else []


def _common_width(steps: Sequence[Step]) -> int:
    """The widest command beside which all notes of commands up to that width still fit the page."""
    sizes = [(columns(wash(" ".join(map(shell_word, words)))), columns(note)) for words, note in steps]
    room = WIDTH - INDENT - len(NOTE_GAP)
    fitting = [width for width, _ in sizes if all(width + note <= room for size, note in sizes if size <= width)]
    return max(fitting, default=0)
