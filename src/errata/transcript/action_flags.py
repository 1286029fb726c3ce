"""Observations about actions: wrong arguments, missing and unexpected actions, and those that block an expected one."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from errata.model import Attempt, Case, Observation, Step
from errata.model.words import ObservationKind, Strength
from errata.text.lazy_regex import lazy_regex
from errata.transcript.actions import (
    ActionComparison,
    ArgumentDifference,
    DifferingAction,
    MadeAction,
    differences,
    expected_actions,
    is_write,
)
from errata.transcript.calls import CalledFunction
from errata.transcript.mentions import Mentions, ValueMention, folded_text
from errata.transcript.refusals import refusal_of
from errata.transcript.tool_use import ToolUse, arguments_quote, as_json, is_agent, object_ids, speaker_of, words_with
from errata.transcript.wording import in_brief, listed_values, sentence_around, shortened, times

ARGUMENTS = 3
LISTED = 3
SPECIFIC = 3
"""Characters from which on a value can be traced: `1` and `no` are everywhere."""
# after these the object cannot be changed any more
_ENDS = lazy_regex(
    r"(?:cancel|delete|remove|close|return|refund|exchange|terminate|archive|drop)(?:_|$)", re.IGNORECASE
)
_HANDS_OVER = lazy_regex(r"(?:transfer|escalate|hand_?over|handoff)(?:_|$)", re.IGNORECASE)
_FAREWELL = lazy_regex(
    r"\A\W*(?:you(?:'|’)?re (?:very |most )?welcome|thank you|thanks|goodbye|have a (?:great|nice|good|wonderful)"
    r"|take care|safe travels)\b.{0,300}\Z",
    re.IGNORECASE | re.DOTALL,
)
_LEAF = lazy_regex(r"(?<!\w)(\w++)(?:\[\d+\])*$")


def action_flags(
    attempt: Attempt, case: Case | None, uses: Sequence[ToolUse], mentions: Mentions, compared: ActionComparison
) -> Iterator[Observation]:
    wanted = frozenset(leaf for call in expected_actions(case) or () for leaf in _leaves(call.arguments))
    for pair in compared.differing:
        yield _differs(pair, mentions)
        yield from _first_named(pair, mentions, wanted)
    for action in compared.unexpected:
        yield _unexpected(action, compared)
    yield from _missing(attempt, case, compared, uses)
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
            quote=_beginning(last.text),
            argument="outputs",
            strength="moderate",
        )


def _differs(pair: DifferingAction, mentions: Mentions) -> Observation:
    use, worst = pair.made.use, pair.differences[0] if pair.differences else None
    listed = "; ".join(_difference(one) for one in pair.differences[:ARGUMENTS])
    more = f" and {len(pair.differences) - ARGUMENTS} more" if len(pair.differences) > ARGUMENTS else ""
    named = _naming(worst.made, use, mentions) if worst else None
    return Observation(
        kind="action_differs",
        step=use.step.index,
        speaker=speaker_of(use.step),
        text=f"{use.name} differs from the expected call: {listed}{more}.",
        quote=_quote(use, worst),
        related_step=named.step.index if named and named.step else None,
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
    return shortened(in_brief(value) if isinstance(value, str | list) else as_json(value))


def _quote(use: ToolUse, difference: ArgumentDifference | None) -> str:
    if difference is None or difference.made is None:
        return arguments_quote(use)
    leaf = _LEAF.search(difference.argument)
    whole = as_json(use.arguments)
    quote = as_json({leaf[1]: difference.made})[1:-1] if leaf else ""
    return quote[:200] if quote and quote in whole else as_json(difference.made)[:200]


def _first_named(pair: DifferingAction, mentions: Mentions, wanted: frozenset[str]) -> Iterator[Observation]:
    """The turn that brought a wrong value up, where an agent or the user wrote it, and not the call itself.

    What a tool's result lists is nobody's mistake, nor is a value that another expected argument has.
    """
    seen: set[int] = set()
    for difference in pair.differences[:ARGUMENTS]:
        value = str(difference.made)
        first = _naming(difference.made, pair.made.use, mentions)
        if first is None or first.step is None or first.origin == "result" or folded_text(value) in wanted:
            continue
        step, quote = first.step, words_with(first.step, value)
        if step.index in seen or folded_text(value) not in folded_text(quote):
            continue
        seen.add(step.index)
        expected = "none" if difference.wanted is None else _value(difference.wanted)
        yield Observation(
            kind="value_named",
            step=step.index,
            speaker=speaker_of(step),
            text=f"First names {_value(difference.made)}, which {pair.made.use.name} takes as {difference.argument} "
            f"(step {pair.made.use.step.index}; expected {expected}).",
            quote=quote,
            related_step=pair.made.use.step.index,
            tool=pair.made.use.name,
            argument=difference.argument,
            strength="moderate",
        )


def _leaves(value: Any) -> Iterator[str]:
    if isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _leaves(item)
    elif value is not None:
        yield folded_text(str(value))


def _naming(value: Any, use: ToolUse, mentions: Mentions) -> ValueMention | None:
    """The first mention of a value that can be traced; none for the call itself."""
    if isinstance(value, bool) or not isinstance(value, str | int | float) or len(str(value)) < SPECIFIC:
        return None
    first = mentions.first(str(value))
    if first is None or first.step is None or first.origin == "system" or first.at >= use.at:
        return None
    return first


def _unexpected(action: MadeAction, compared: ActionComparison) -> Observation:
    """An action that nobody expected; a block where it ends what an expected action is about."""
    use, own = action.use, object_ids(action.call.arguments)
    same_object = [call for call in compared.missing if not own.isdisjoint(object_ids(call.arguments))]
    about = ", ".join(sorted(own)[:LISTED])
    target = f" for {about}" if about else ""
    before = _call_before(action, compared) if own else None
    kind: ObservationKind = "action_unexpected"
    text = f"{use.name}{target} is not among the expected actions."
    if same_object and _ENDS.match(use.name):
        kind, text = "action_blocks", f"{use.name} ends {about}, so the expected {same_object[0].name} cannot follow."
    elif before is not None:
        changed = "; ".join(_again(one) for one in [*differences(action.call, before.call)][:ARGUMENTS])
        with_what = f" with {changed}" if changed else ""
        text = f"{use.name} was made again{target}{with_what}; it was called before in step {before.use.step.index}."
    return Observation(
        kind=kind,
        step=use.step.index,
        speaker=speaker_of(use.step),
        text=text,
        quote=arguments_quote(use),
        related_step=before.use.step.index if before is not None else None,
        tool=use.name,
        strength="strong" if kind == "action_blocks" or before is None else "moderate",
    )


def _call_before(action: MadeAction, compared: ActionComparison) -> MadeAction | None:
    """The last call of the same tool for the same object: this one corrects or repeats it."""
    own = object_ids(action.call.arguments)
    earlier = (one for one in reversed(compared.made) if one.use.at < action.use.at)
    same = (one for one in earlier if one.call.name == action.call.name)
    return next((one for one in same if not own.isdisjoint(object_ids(one.call.arguments))), None)


def _again(difference: ArgumentDifference) -> str:
    return f"{difference.argument} {_value(difference.made) if difference.made is not None else 'left out'}"


def _missing(
    attempt: Attempt, case: Case | None, compared: ActionComparison, uses: Sequence[ToolUse]
) -> Iterator[Observation]:
    """Where an expected action was given up: a refused call, a hand-over, the agent's refusal, else the last answer."""
    groups: dict[tuple[int, str], list[CalledFunction]] = {}
    places: dict[tuple[int, str], _GivenUp] = {}
    for call in compared.missing:
        place = _given_up(call, attempt, compared, uses)
        if place is not None:
            groups.setdefault((place.step.index, place.why), []).append(call)
            places.setdefault((place.step.index, place.why), place)
    expected = Counter(map(_called, expected_actions(case) or ()))
    for key, calls in groups.items():
        place = places[key]
        yield Observation(
            kind="action_missing",
            step=place.step.index,
            speaker=speaker_of(place.step),
            text=f"Expected and never made: {_listed(calls, expected)}; {place.why}.",
            quote=place.quote,
            tool=calls[0].name,
            strength=place.strength,
        )


def _listed(calls: Sequence[CalledFunction], expected: Mapping[str, int]) -> str:
    """Equal names once, with how many of the expected calls are missing."""
    counts = Counter(map(_called, calls))
    names = [_counted(name, count, expected[name]) for name, count in counts.items()]
    more = f" and {len(names) - LISTED} more" if len(names) > LISTED else ""
    return ", ".join(names[:LISTED]) + more


class _GivenUp(NamedTuple):
    step: Step
    why: str
    quote: str
    strength: Strength = "strong"


def _given_up(
    call: CalledFunction, attempt: Attempt, compared: ActionComparison, uses: Sequence[ToolUse]
) -> _GivenUp | None:
    tried = next((use for use in reversed(uses) if use.error and _is_same_target(use, call)), None)
    if tried is not None:
        return _GivenUp(
            tried.step, f"a call of the same tool was refused: {tried.error.rstrip('.')}", arguments_quote(tried)
        )
    handed = next((use for use in reversed(uses) if _HANDS_OVER.match(use.name) and is_agent(use.step)), None)
    if handed is not None:
        return _GivenUp(handed.step, "the agent hands the case over instead", arguments_quote(handed))
    spoken = [step for step in attempt.steps if is_agent(step) and step.text.strip()]
    refusal = refusal_of(call, spoken, (*compared.missing, *(one.call for one in compared.made)))
    if refusal is not None:
        return _GivenUp(refusal.step, "the agent refuses it here", refusal.quote)
    answers = [step for step in spoken if not step.tool_calls]
    last = next((step for step in reversed(answers) if not _FAREWELL.search(step.text)), None)
    if last is None:
        return None
    return _GivenUp(last, "the conversation ends without it", _beginning(last.text), "moderate")


def _beginning(text: str) -> str:
    return text.strip().split("\n")[0][:160]


def _is_same_target(use: ToolUse, call: CalledFunction) -> bool:
    if use.name.replace(".", "_") != call.name.replace(".", "_"):
        return False
    own, wanted = object_ids(use.arguments), object_ids(call.arguments)
    return not own.isdisjoint(wanted) if own and wanted else True


def _counted(name: str, count: int, expected: int) -> str:
    if count < expected:
        return f"{count} of {expected} calls of {name}"
    return f"{name} {times(count)}" if count > 1 else name


def _called(call: CalledFunction) -> str:
    about = ", ".join(sorted(object_ids(call.arguments))[:2])
    return f"{call.name} ({about})" if about else call.name


def actions_not_made(
    steps: Sequence[Step], uses: Sequence[ToolUse], compared: ActionComparison | None
) -> Iterator[Observation]:
    """Messages after the first tool result that report an action as done which was never made."""
    open_actions = _open_actions(compared, uses)
    first = min((use.reply_step.index for use in uses if use.reply is not None and not use.is_code), default=None)
    if not open_actions or first is None:
        return
    for step in steps:
        if step.index > first and is_agent(step) and not step.tool_calls and step.text.strip():
            yield from _never_made(step, open_actions)


PREFIX = 3
_DONE = lazy_regex(
    r"\b(?:ha(?:s|ve) (?:now |also )?been (?:successfully )?|(?:was|were) successfully"
    r"|(?:i(?:'|’)ve|i have) (?:successfully )?) ?(\w+(?:ed|ent|ade|ut))\b",
    re.IGNORECASE,
)
_HEDGES = lazy_regex(
    r"\b(?:not|if|once|after|would|will|can(?:not)?|could|should|before|unable|fail)\w*\b", re.IGNORECASE
)
_READS = lazy_regex(
    r"(?:review|retriev|check|locat|verif|identif|search|look|found|confirm|receiv|list|not|inform|provid)",
    re.IGNORECASE,
)
_TOKEN = lazy_regex(r"[a-z]{3,}")


def _never_made(step: Step, open_actions: Sequence[tuple[str, frozenset[str]]]) -> Iterator[Observation]:
    """The agent reports an expected action as done that it never made."""
    for done in _reports(step.text):
        sentence = sentence_around(step.text, *done.span())
        words = {word[:PREFIX] for word in _TOKEN.findall(sentence.lower())}
        name = next((name for name, tokens in open_actions if not words.isdisjoint(tokens)), None)
        if name is not None:
            yield Observation(
                kind="action_not_made",
                step=step.index,
                speaker=speaker_of(step),
                text=f"Reports an action as done, but {name} was never called successfully.",
                quote=sentence,
                tool=name,
                strength="strong",
            )
            return


def _open_actions(compared: ActionComparison | None, uses: Sequence[ToolUse]) -> tuple[tuple[str, frozenset[str]], ...]:
    """Expected actions that were not made, each with the beginnings of the words that only its name has."""
    if compared is None:
        return ()
    made = {use.name for use in uses if not use.error and is_write(use.name)}
    known = {token for name in made for token in _TOKEN.findall(name.lower())}
    own = {call.name: frozenset(_TOKEN.findall(call.name.lower())) - known for call in compared.missing}
    return tuple((name, frozenset(token[:PREFIX] for token in tokens)) for name, tokens in own.items() if tokens)


def _reports(text: str) -> Iterator[re.Match[str]]:
    for match in _DONE.finditer(text):
        start = max(text.rfind("\n", 0, match.start()), text.rfind(". ", 0, match.start()), -1) + 1
        if not _HEDGES.search(text[start : match.start()]) and not _READS.match(match[1]):
            yield match
