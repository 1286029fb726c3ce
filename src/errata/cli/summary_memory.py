"""What `errata analyze` says of the time before a run: earlier reports, what repeats, what became of actions."""

from pathlib import PurePosixPath
from typing import Any

import msgspec

from errata.cli.fitting import columns, padded
from errata.cli.output import plural, put, say
from errata.cli.paths import place_of
from errata.memory.effects import Effect
from errata.memory.recurrence import effect_as_json
from errata.model.output.memory import AmbiguousNameOutput, EarlierReportOutput, RepeatsOutput, UnreadReportOutput
from errata.runs.summary import Analysis
from errata.text.clean import one_line

MOST_ACTIONS = 8
MOST_NOTES = 3
TARGET = 40
WORDS = {"yes": "worked", "no": "NO EFFECT", "unknown": "unknown"}


def tell_history(analysis: Analysis) -> None:
    """Which reports were read, and which could not be."""
    remembered, run = analysis.remembered, analysis.stored.run
    shelf, shelved = remembered.shelf, remembered.shelved
    if not (shelved.same_model or shelved.others or shelved.undated or shelf.skipped):
        return
    where = ", ".join(place_of(str(folder.absolute())) for folder in shelf.folders)
    told = f"{plural(len(shelved.same_model), 'earlier report')} of {run.subject.model or 'this subject'} in {where}"
    if shelved.others:
        told += f" · {len(shelved.others):,} of other models"
    if shelved.undated:
        told += f" · {len(shelved.undated):,} without a date, not counted"
    say(f"history   {told}")
    for one in shelf.skipped[:MOST_NOTES]:
        say(f"          not read: {place_of(str(one.path.absolute()))}: {one.why}")
    if len(shelf.skipped) > MOST_NOTES:
        say(f"          not read: {len(shelf.skipped) - MOST_NOTES:,} more")


def show_memory(analysis: Analysis) -> None:
    _show_repeats(analysis)
    found = analysis.remembered.effects[:MOST_ACTIONS] if analysis.stored.counts.failures else ()
    targets = [_target(one) for one in found]
    width = max(map(columns, targets), default=0)
    for at, (one, target) in enumerate(zip(found, targets, strict=True)):
        line = f"{'' if at else 'Actions':<8} {padded(target, width)}   {WORDS[one.worked]:<9}"
        put(f"{line}  {one.why}", hang=columns(line) + 2)


def _show_repeats(analysis: Analysis) -> None:
    repeated, failures = analysis.repeated, analysis.stored.counts.failures
    places = [(repeated.in_reports, "report")] if analysis.remembered.shelved.same_model else []
    places += [(repeated.in_runs, "run of the model")] if repeated.in_runs else []
    if not places or not failures:
        return
    (count, where), *more = places
    told = f"{count:,} of {failures:,} failed in an earlier {where} too"
    told += "".join(f", {other:,} in an earlier {place}" for other, place in more)
    put(f"Repeats  {told}", hang=9)
    for mention, keys in analysis.remembered.named.ambiguous[:MOST_NOTES]:
        put(f"         `{mention.text}` in {mention.report} fits {len(keys)} cases; not counted", hang=9)


def _target(effect: Effect) -> str:
    action = effect.action
    name = PurePosixPath(action.path).name or one_line(action.what, TARGET)
    return f"{one_line(name, TARGET)}, {action.date[:10]}"


def history_fields(analysis: Analysis) -> dict[str, Any]:
    """The history of the run, by the names of its output."""
    remembered = analysis.remembered
    return {
        "earlier_reports": tuple(
            EarlierReportOutput(
                report=one.path, date=one.date, run=one.run, passed=one.passed, total=one.total, own=one.own
            )
            for one in remembered.shelved.same_model
        ),
        "reports_of_other_models": len(remembered.shelved.others),
        "reports_not_read": tuple(
            UnreadReportOutput(path=str(one.path), why=one.why) for one in remembered.shelf.skipped
        ),
        "repeats": msgspec.convert(analysis.repeated, RepeatsOutput, from_attributes=True),
        "ambiguous_names": tuple(
            AmbiguousNameOutput(name=mention.text, report=mention.report, line=mention.line, cases=keys)
            for mention, keys in remembered.named.ambiguous
        ),
        "actions": tuple(effect_as_json(one) for one in remembered.effects),
    }
