"""Observations about actions: wrong arguments, missing and unexpected actions, and those that block an expected one."""

import re
from collections.abc import Iterator, Sequence
from typing import Any

from errata.model import Attempt, Case, Observation, Step
from errata.model.words import ObservationKind
from errata.transcript.actions import ActionComparison, ArgumentDifference, DifferingAction, MadeAction
from errata.transcript.calls import CalledFunction
from errata.transcript.mentions import Mentions
from errata.transcript.tool_use import ToolUse, arguments_quote, as_json, is_agent, object_ids, speaker_of, words_with
from errata.transcript.wording import listed_values, sentence_around, shortened

ARGUMENTS = 3
LISTED = 3
SPECIFIC = 3
"""Characters from which on a value can be traced: `1` and `no` are everywhere."""
# after these the object cannot be changed any more
_ENDS = re.compile(
    r"(?:cancel|delete|remove|close|return|refund|exchange|terminate|archive|drop)(?:_|$)", re.IGNORECASE
)
_HANDS_OVER = re.compile(r"(?:transfer|escalate|hand_?over|handoff)(?:_|$)", re.IGNORECASE)
_DECLINES = re.compile(
    r"\b(?:unfortunately|(?:i(?:'|’)?m|i am|we(?:'|’)?re|we are) (?:unable|not able)"
    r"|(?:i|we) (?:can(?:'|’)?t|cannot|can not)|(?:cannot|can(?:'|’)t) be (?:\w+ed|made|done)"
    r"|(?:is not|are not|isn(?:'|’)t|aren(?:'|’)t) (?:possible|allowed|permitted|eligible))\b",
    re.IGNORECASE,
)
_FAREWELL = re.compile(
    r"\A\W*(?:you(?:'|’)?re (?:very |most )?welcome|thank you|thanks|goodbye|have a (?:great|nice|good|wonderful)"
    r"|take care|safe travels)\b.{0,300}\Z",
    re.IGNORECASE | re.DOTALL,
)
_LEAF = re.compile(r"(\w+)(?:\[\d+\])*$")


def action_flags(
    attempt: Attempt, case: Case | None, uses: Sequence[ToolUse], mentions: Mentions, compared: ActionComparison
) -> Iterator[Observation]:
    for pair in compared.differing:
        yield _differs(pair, mentions)
        yield from _first_named(pair, mentions)
    for action in compared.unexpected:
        yield _unexpected(action, compared)
    yield from _missing(attempt, compared, uses)
    yield from _not_stated(attempt, case)


def _not_stated(attempt: Attempt, case: Case | None) -> Iterator[Observation]:
    """Outputs that the user was to be given, such as a total, and that no agent wrote."""
    wanted = case.expected.get("outputs") if case is not None and isinstance(case.expected, dict) else None
    answers = [step for step in attempt.steps if is_agent(step) and step.text.strip()]
    if not isinstance(wanted, list) or not answers:
        return
    written = Mentions(answers)
    missing = [str(value) for value in wanted if isinstance(value, str | int | float) and not written.first(str(value))]
    last = next((step for step in reversed(answers) if not _FAREWELL.search(step.text)), answers[-1])
    if missing:
        yield Observation(
            kind="action_missing",
            step=last.index,
            speaker=speaker_of(last),
            text=f"No agent states {listed_values(missing)}, which the case expects.",
            quote=_decline(last.text),
            argument="outputs",
            strength="moderate",
        )


def _differs(pair: DifferingAction, mentions: Mentions) -> Observation:
    use, worst = pair.made.use, pair.differences[0] if pair.differences else None
    listed = "; ".join(_difference(one) for one in pair.differences[:ARGUMENTS])
    more = f" and {len(pair.differences) - ARGUMENTS} more" if len(pair.differences) > ARGUMENTS else ""
    named = _naming_step(worst.made, use, mentions) if worst else None
    return Observation(
        kind="action_differs",
        step=use.step.index,
        speaker=speaker_of(use.step),
        text=f"{use.name} differs from the expected call: {listed}{more}.",
        quote=_quote(use, worst),
        related_step=named.index if named else None,
        tool=use.name,
        argument=worst.argument if worst else "",
        strength="strong",
    )


def _difference(difference: ArgumentDifference) -> str:
    if difference.made is None:
        return f"{difference.argument} is missing, expected {_value(difference.wanted)}"
    if difference.wanted is None:
        return f"{difference.argument} is {_value(difference.made)}, expected none"
    return f"{difference.argument} is {_value(difference.made)}, expected {_value(difference.wanted)}"


def _value(value: Any) -> str:
    return shortened(value if isinstance(value, str) else as_json(value))


def _quote(use: ToolUse, difference: ArgumentDifference | None) -> str:
    if difference is None or difference.made is None:
        return arguments_quote(use)
    leaf = _LEAF.search(difference.argument)
    whole = as_json(use.arguments)
    quote = as_json({leaf[1]: difference.made})[1:-1] if leaf else ""
    return quote[:200] if quote and quote in whole else as_json(difference.made)[:200]


def _first_named(pair: DifferingAction, mentions: Mentions) -> Iterator[Observation]:
    """The turn that brought a wrong value up, where that was an agent or the user, and not the call itself."""
    seen: set[int] = set()
    for difference in pair.differences[:ARGUMENTS]:
        step = _naming_step(difference.made, pair.made.use, mentions)
        if step is None or step.index in seen or step.actor.role in ("tool", "environment", "system"):
            continue
        seen.add(step.index)
        wanted = "none" if difference.wanted is None else _value(difference.wanted)
        yield Observation(
            kind="value_named",
            step=step.index,
            speaker=speaker_of(step),
            text=f"First names {_value(difference.made)}, which {pair.made.use.name} takes as {difference.argument} "
            f"(step {pair.made.use.step.index}; expected {wanted}).",
            quote=words_with(step, str(difference.made)),
            related_step=pair.made.use.step.index,
            tool=pair.made.use.name,
            argument=difference.argument,
            strength="moderate",
        )


def _naming_step(value: Any, use: ToolUse, mentions: Mentions) -> Step | None:
    """Who first wrote a value that can be traced; none for the call itself."""
    if isinstance(value, bool) or not isinstance(value, str | int | float) or len(str(value)) < SPECIFIC:
        return None
    first = mentions.first(str(value))
    if first is None or first.step is None or first.origin == "system" or first.at >= use.at:
        return None
    return first.step


def _unexpected(action: MadeAction, compared: ActionComparison) -> Observation:
    """An action that nobody expected; a block where it ends what an expected action is about."""
    use, own = action.use, object_ids(action.call.arguments)
    same_object = [call for call in compared.missing if not own.isdisjoint(object_ids(call.arguments))]
    about = ", ".join(sorted(own)[:LISTED])
    kind: ObservationKind
    if same_object and _ENDS.match(use.name):
        kind, text = "action_blocks", f"{use.name} ends {about}, so the expected {same_object[0].name} cannot follow."
    elif same_object:
        kind, text = "action_unexpected", f"{use.name} was called for {about}; expected was {same_object[0].name}."
    else:
        target = f" for {about}" if about else ""
        kind, text = "action_unexpected", f"{use.name}{target} is not among the expected actions."
    return Observation(
        kind=kind,
        step=use.step.index,
        speaker=speaker_of(use.step),
        text=text,
        quote=arguments_quote(use),
        tool=use.name,
        strength="strong",
    )


def _missing(attempt: Attempt, compared: ActionComparison, uses: Sequence[ToolUse]) -> Iterator[Observation]:
    """Where an expected action was given up: a refused call, a hand-over to a person, else the last answer."""
    groups: dict[int, list[CalledFunction]] = {}
    places: dict[int, tuple[Step, ToolUse | None]] = {}
    handed = next((use for use in reversed(uses) if _HANDS_OVER.match(use.name) and is_agent(use.step)), None)
    answers = [step for step in attempt.steps if is_agent(step) and not step.tool_calls and step.text.strip()]
    declined = next((step for step in answers if _DECLINES.search(step.text)), None)
    last = next((step for step in reversed(answers) if not _FAREWELL.search(step.text)), None)
    for call in compared.missing:
        tried = next((use for use in reversed(uses) if use.error and _is_same_target(use, call)), None)
        use = tried or handed
        step = use.step if use is not None else declined or last
        if step is not None:
            groups.setdefault(step.index, []).append(call)
            places[step.index] = (step, use)
    for index, calls in groups.items():
        step, use = places[index]
        names = ", ".join(_called(call) for call in calls[:LISTED])
        more = f" and {len(calls) - LISTED} more" if len(calls) > LISTED else ""
        if use is None:
            why = "the agent declines here" if step is declined else "the conversation ends without it"
        elif _HANDS_OVER.match(use.name):
            why = "the agent hands the case over instead"
        else:
            why = f"this call was refused: {use.error.rstrip('.')}"
        yield Observation(
            kind="action_missing",
            step=index,
            speaker=speaker_of(step),
            text=f"Expected and never made: {names}{more}; {why}.",
            quote=arguments_quote(use) if use is not None else _decline(step.text),
            tool=calls[0].name,
            strength="strong" if use is not None or step is declined else "moderate",
        )


def _decline(text: str) -> str:
    match = _DECLINES.search(text)
    return sentence_around(text, *match.span()) if match else text.strip().split("\n")[0][:160]


def _is_same_target(use: ToolUse, call: CalledFunction) -> bool:
    if use.name.replace(".", "_") != call.name.replace(".", "_"):
        return False
    own, wanted = object_ids(use.arguments), object_ids(call.arguments)
    return not own.isdisjoint(wanted) if own and wanted else True


def _called(call: CalledFunction) -> str:
    about = ", ".join(sorted(object_ids(call.arguments))[:2])
    return f"{call.name} ({about})" if about else call.name
