"""The history of a run and of a case: earlier reports, repeated failures, results of actions, other models."""

from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from errata.cli.fitting import columns, padded
from errata.cli.output import plural, put, say
from errata.cli.render.fields import SHORT, place_of
from errata.memory.actions import ActionStatus
from errata.model.history import ActionResult, History, Mention, late_action_text
from errata.runs.names import short
from errata.runs.summary import Analysis
from errata.text.clean import one_line

if TYPE_CHECKING:
    from errata.model.output.show import SameFailureOutput

MOST_ACTIONS = 8
MOST_NOTES = 3
TARGET = 40
MOST = 6
TEXT = 160
NAMED = 4
HANG = 9
BELOW_ID = 10
WORKED = {"yes": "worked", "no": "NO EFFECT", "unknown": "unknown"}


def tell_history(analysis: Analysis) -> None:
    history, run = analysis.remembered, analysis.stored.run
    files, reports = history.report_files, history.reports
    if not (reports.same_model or reports.others or files.skipped):
        return
    where = ", ".join(place_of(str(folder.absolute())) for folder in files.folders)
    count = plural(len(reports.same_model), "earlier report") if reports.same_model else "no earlier report"
    line = f"{count} on {run.subject.model or 'this subject'}"
    if reports.others:
        line += f" · {len(reports.others):,} on other models"
    say(f"history   {line} (in {where})", hang=10)
    for report in files.skipped[:MOST_NOTES]:
        say(f"          skipped: {place_of(str(report.path.absolute()))}: {report.why}")
    if len(files.skipped) > MOST_NOTES:
        say(f"          skipped: {len(files.skipped) - MOST_NOTES:,} more")


def show_memory(analysis: Analysis) -> None:
    _show_repeats(analysis)
    effects = analysis.remembered.effects[:MOST_ACTIONS] if analysis.stored.counts.failures else ()
    targets = [_target(one) for one in effects]
    width = max(map(columns, targets), default=0)
    for at, (effect, target) in enumerate(zip(effects, targets, strict=True)):
        line = f"{'' if at else 'Actions':<8} {padded(target, width)}   {WORKED[effect.worked]:<9}"
        put(f"{line}  {effect.why}", hang=columns(line) + 2)


def _show_repeats(analysis: Analysis) -> None:
    repeated, failures = analysis.repeated, analysis.stored.counts.failures
    places = [(repeated.in_reports, "report")] if analysis.remembered.reports.same_model else []
    places += [(repeated.in_runs, "run of the model")] if repeated.in_runs else []
    if not places or not failures:
        return
    verb = {"report": "are also in an earlier report", "run of the model": "also failed in an earlier run of the model"}
    (count, where), *more = places
    line = f"{count:,} of {failures:,} {verb[where]}"
    line += "".join(f", {other:,} {verb[place]}" for other, place in more)
    if 0 < repeated.otherwise <= repeated.in_runs:
        line += f": {repeated.in_runs - repeated.otherwise:,} in the same way, {repeated.otherwise:,} in another way"
    put(f"Repeats  {line}", hang=9)
    for mention, keys in analysis.remembered.mentions.ambiguous[:MOST_NOTES]:
        put(f"         `{mention.text}` in {mention.report} matches {len(keys)} cases; not counted", hang=9)


def _target(effect: ActionResult) -> str:
    action = effect.action
    name = PurePosixPath(action.path).name or one_line(action.what, TARGET)
    return f"{one_line(name, TARGET)}, {action.date[:10]}"


def put_before(before: History, alike: "tuple[SameFailureOutput, ...]", *, raw: bool, comparable: bool = True) -> None:
    """`History  2026-02-12 MODEL_FAULT "Fourth call not refused" · no action recorded`."""
    lines = [*(["failed before, in another way"] if before.failed_otherwise else []), *_reports(before), *_runs(before)]
    for at, line in enumerate(lines):
        put(f"{'' if at else 'History':<8} {line}", hang=HANG, raw=raw)
    for at, line in enumerate(_elsewhere(before, alike, comparable=comparable)):
        put(f"{'' if at else 'Others':<8} {line}", hang=HANG, raw=raw)


def _reports(before: History) -> list[str]:
    lines = [_mention(one) for one in before.reports[:MOST]]
    if len(before.reports) > MOST:
        lines.append(f"{plural(len(before.reports) - MOST, 'more report')}")
    if lines and not before.actions:
        lines[0] = f"{lines[0]} · no action recorded"
    return [*lines, *map(_action, before.actions)]


def _action(effect: ActionResult) -> str:
    action = effect.action
    name = f"{action.path}, {action.date[:10]}" if action.path else f"{one_line(action.what, TEXT)}, {action.date[:10]}"
    if late := late_action_text(action.path, one_line(action.what, TEXT), action.date, effect.reason):
        return f"{late}."
    return f"{name}: should have resolved it" if effect.worked == "no" else f"{name}: {effect.why}"


def _mention(mention: Mention) -> str:
    quote = f' "{one_line(mention.text, TEXT)}"' if mention.text else ""
    label = f"{mention.label} (by rule)" if mention.by_rule else mention.label or "not classified"
    return f"{mention.date or 'undated'} {label}{quote} ({mention.report}{f':{mention.line}' if mention.line else ''})"


def _runs(before: History) -> list[str]:
    if not before.runs:
        return []
    runs = [f"{short(one.run)} ({one.at[:10]})" if one.at else short(one.run) for one in before.runs]
    return [f"failed in {plural(len(runs), 'earlier run')} of the model: {_some(runs)}"]


def _elsewhere(before: History, alike: "tuple[SameFailureOutput, ...]", *, comparable: bool) -> list[str]:
    failed = {one.model for one in before.other_runs}
    # of a model whose run is in the store, a report that only repeats the rules adds nothing
    mentions = [one for one in before.others if one.model not in failed or (one.label and not one.by_rule)]
    lines = [f"{one.model or 'another model'}: {_mention(one)}" for one in mentions[:NAMED]]
    if before.other_runs:
        models = list(dict.fromkeys(one.model for one in before.other_runs))
        runs = f"in {plural(len(before.other_runs), 'earlier run')}"
        which = runs if comparable else f"{runs}, not comparable: task, prompt or grader differ"
        count = plural(len(models), "other model fails", "other models fail")
        lines.append(f"{count} this case ({which}): {_some(models)}")
    if alike:
        models = [f"{one.model} {one.count}×" for one in alike]
        lines.append(f"the same error elsewhere: {_some(models)}")
    return lines


def _some(names: list[str]) -> str:
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return f"{', '.join(names[:NAMED])}{more}"


def put_action_header() -> None:
    put(f"{'id':<{SHORT}}  {'date':<10}  {'effect':<9}  reason")


def put_action(status: ActionStatus, *, raw: bool = False) -> None:
    effect, action = status.effect, status.effect.action
    name = action.id[:SHORT] if status.in_store else "–"
    put(
        f"{name:<{SHORT}}  {action.date or 'no date':<10}  {WORKED[effect.worked]:<9}  {effect.why}",
        hang=BELOW_ID,
        raw=raw,
    )
    put(f"{'':<{BELOW_ID}}{action.path}{': ' if action.path else ''}{action.what}", hang=BELOW_ID, raw=raw)
    notes = {"for": ", ".join(action.addresses), "by": action.author, "expected:": action.expected_effect}
    notes["in"] = str(action.ref) if action.ref else place_of(action.report)
    put(
        f"{'':<{BELOW_ID}}{' · '.join(f'{label} {text}' for label, text in notes.items() if text)}",
        hang=BELOW_ID,
        raw=raw,
    )
