"""What was known of a failure before: earlier reports, what was done since, earlier runs, other models."""

from errata.cli.output import plural, put
from errata.memory.effects import Effect
from errata.memory.recurrence import Before, Mention
from errata.runs.names import short
from errata.runs.show import Alike
from errata.text.clean import one_line

MOST = 6
TEXT = 160
NAMED = 4
HANG = 9


def put_before(before: Before, alike: tuple[Alike, ...], *, raw: bool) -> None:
    """`Before   2026-02-12 MODEL_FAULT "Fourth call not refused" · no action recorded`."""
    lines = [*_reports(before), *_runs(before)]
    for at, told in enumerate(lines):
        put(f"{'' if at else 'Before':<8} {told}", hang=HANG, raw=raw)
    for at, told in enumerate(_elsewhere(before, alike)):
        put(f"{'' if at else 'Others':<8} {told}", hang=HANG, raw=raw)


def _reports(before: Before) -> list[str]:
    told = [_mention(one) for one in before.reports[:MOST]]
    if len(before.reports) > MOST:
        told.append(f"{plural(len(before.reports) - MOST, 'more report')}")
    if told and not before.actions:
        told[0] = f"{told[0]} · no action recorded"
    return [*told, *map(_action, before.actions)]


def _action(effect: Effect) -> str:
    action = effect.action
    name = f"{action.path}, {action.date[:10]}" if action.path else f"{one_line(action.what, TEXT)}, {action.date[:10]}"
    return f"{name}: should have resolved it" if effect.worked == "no" else f"{name}: {effect.why}"


def _mention(one: Mention) -> str:
    quote = f' "{one_line(one.text, TEXT)}"' if one.text else ""
    label = f"{one.label} (by rule)" if one.by_rule else one.label or "not classified"
    return f"{one.date or 'undated'} {label}{quote} ({one.report}{f':{one.line}' if one.line else ''})"


def _runs(before: Before) -> list[str]:
    if not before.runs:
        return []
    runs = [f"{short(one.run)} ({one.at[:10]})" if one.at else short(one.run) for one in before.runs]
    return [f"failed in {plural(len(runs), 'earlier run')} of the model: {_named(runs)}"]


def _elsewhere(before: Before, alike: tuple[Alike, ...]) -> list[str]:
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
