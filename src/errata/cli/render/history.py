"""The history of a run and of a case: earlier reports, repeats, what became of actions, other models."""

from pathlib import PurePosixPath
from typing import Any

import msgspec

from errata.cli.fitting import columns, padded
from errata.cli.output import plural, put, say
from errata.cli.paths import place_of
from errata.model.history import ActionResult, History, Mention
from errata.model.output.memory import (
    AmbiguousNameOutput,
    EarlierReportOutput,
    EffectOutput,
    RepeatsOutput,
    RunHistoryOutput,
    UnreadReportOutput,
)
from errata.runs.names import short
from errata.runs.show import Alike
from errata.runs.summary import Analysis
from errata.text.clean import one_line

MOST_ACTIONS = 8
MOST_NOTES = 3
TARGET = 40
MOST = 6
TEXT = 160
NAMED = 4
HANG = 9
WORDS = {"yes": "worked", "no": "NO EFFECT", "unknown": "unknown"}


def tell_history(analysis: Analysis) -> None:
    """Which reports were read, and which could not be."""
    history, run = analysis.remembered, analysis.stored.run
    files, reports = history.report_files, history.reports
    if not (reports.same_model or reports.others or reports.undated or files.skipped):
        return
    where = ", ".join(place_of(str(folder.absolute())) for folder in files.folders)
    told = f"{plural(len(reports.same_model), 'earlier report')} of {run.subject.model or 'this subject'} in {where}"
    if reports.others:
        told += f" · {len(reports.others):,} of other models"
    if reports.undated:
        told += f" · {len(reports.undated):,} without a date, not counted"
    say(f"history   {told}")
    for one in files.skipped[:MOST_NOTES]:
        say(f"          not read: {place_of(str(one.path.absolute()))}: {one.why}")
    if len(files.skipped) > MOST_NOTES:
        say(f"          not read: {len(files.skipped) - MOST_NOTES:,} more")


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
    places = [(repeated.in_reports, "report")] if analysis.remembered.reports.same_model else []
    places += [(repeated.in_runs, "run of the model")] if repeated.in_runs else []
    if not places or not failures:
        return
    (count, where), *more = places
    told = f"{count:,} of {failures:,} failed in an earlier {where} too"
    told += "".join(f", {other:,} in an earlier {place}" for other, place in more)
    put(f"Repeats  {told}", hang=9)
    for mention, keys in analysis.remembered.mentions.ambiguous[:MOST_NOTES]:
        put(f"         `{mention.text}` in {mention.report} fits {len(keys)} cases; not counted", hang=9)


def _target(effect: ActionResult) -> str:
    action = effect.action
    name = PurePosixPath(action.path).name or one_line(action.what, TARGET)
    return f"{one_line(name, TARGET)}, {action.date[:10]}"


def history_output(analysis: Analysis) -> RunHistoryOutput:
    history, repeated = analysis.remembered, analysis.repeated
    return RunHistoryOutput(
        earlier_reports=tuple(
            EarlierReportOutput(
                report=one.path, date=one.date, run=one.run, passed=one.passed, total=one.total, own=one.own
            )
            for one in history.reports.same_model
        ),
        reports_of_other_models=len(history.reports.others),
        reports_not_read=tuple(
            UnreadReportOutput(path=str(one.path), why=one.why) for one in history.report_files.skipped
        ),
        repeats=RepeatsOutput(
            in_reports=repeated.in_reports, in_runs=repeated.in_runs, should_be_gone=repeated.should_be_gone
        ),
        ambiguous_names=tuple(
            AmbiguousNameOutput(name=mention.text, report=mention.report, line=mention.line, cases=keys)
            for mention, keys in history.mentions.ambiguous
        ),
        actions=tuple(map(EffectOutput.of, history.effects)),
    )


def json_memory(analysis: Analysis) -> dict[str, Any]:
    """The same, to be spread into the object of a run."""
    return msgspec.structs.asdict(history_output(analysis))


def put_before(before: History, alike: tuple[Alike, ...], *, raw: bool) -> None:
    """`Before   2026-02-12 MODEL_FAULT "Fourth call not refused" · no action recorded`."""
    lines = [*_reports(before), *_runs(before)]
    for at, told in enumerate(lines):
        put(f"{'' if at else 'Before':<8} {told}", hang=HANG, raw=raw)
    for at, told in enumerate(_elsewhere(before, alike)):
        put(f"{'' if at else 'Others':<8} {told}", hang=HANG, raw=raw)


def _reports(before: History) -> list[str]:
    told = [_mention(one) for one in before.reports[:MOST]]
    if len(before.reports) > MOST:
        told.append(f"{plural(len(before.reports) - MOST, 'more report')}")
    if told and not before.actions:
        told[0] = f"{told[0]} · no action recorded"
    return [*told, *map(_action, before.actions)]


def _action(effect: ActionResult) -> str:
    action = effect.action
    name = f"{action.path}, {action.date[:10]}" if action.path else f"{one_line(action.what, TEXT)}, {action.date[:10]}"
    return f"{name}: should have resolved it" if effect.worked == "no" else f"{name}: {effect.why}"


def _mention(one: Mention) -> str:
    quote = f' "{one_line(one.text, TEXT)}"' if one.text else ""
    label = f"{one.label} (by rule)" if one.by_rule else one.label or "not classified"
    return f"{one.date or 'undated'} {label}{quote} ({one.report}{f':{one.line}' if one.line else ''})"


def _runs(before: History) -> list[str]:
    if not before.runs:
        return []
    runs = [f"{short(one.run)} ({one.at[:10]})" if one.at else short(one.run) for one in before.runs]
    return [f"failed in {plural(len(runs), 'earlier run')} of the model: {_named(runs)}"]


def _elsewhere(before: History, alike: tuple[Alike, ...]) -> list[str]:
    told = [f"{one.model or 'another model'}: {_mention(one)}" for one in before.others[:NAMED]]
    if before.other_runs:
        models = list(dict.fromkeys(one.model for one in before.other_runs))
        told.append(f"{plural(len(models), 'other model fails', 'other models fail')} this case: {_named(models)}")
    if alike:
        models = [f"{one.model} {one.count}×" for one in alike]
        told.append(f"the same error elsewhere: {_named(models)}")
    return told


def _named(names: list[str]) -> str:
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return f"{', '.join(names[:NAMED])}{more}"
