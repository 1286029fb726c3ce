"""The evidence log of an attempt: what its steps show by themselves, the strongest observations first."""

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

from msgspec.structs import replace

from errata.model import Artefact, Attempt, Case, Observation
from errata.model.words import ObservationKind, Strength
from errata.text.cut_secrets import CutSecrets
from errata.text.lazy_regex import lazy_regex
from errata.text.redact import beginning
from errata.transcript.action_flags import action_flags, actions_not_made
from errata.transcript.actions import compare_actions, is_write
from errata.transcript.claims import answer_flags, unsupported_claims
from errata.transcript.mentions import Mentions
from errata.transcript.simulated_user import user_flags
from errata.transcript.tool_use import (
    CODE,
    ERROR_LINE,
    ToolUse,
    arguments_quote,
    as_json,
    failing_line,
    is_agent,
    is_waiting,
    object_ids,
    same_key,
    speaker_of,
    text_of,
    tool_uses,
)
from errata.transcript.wording import listed_steps, times

MOST = 12
"""Observations in a log."""
A_KIND = 3
"""Observations of one kind, beyond which only those about expected actions are listed."""
_STRENGTHS: dict[Strength, int] = {"strong": 0, "moderate": 1, "weak": 2}
RANKING: tuple[ObservationKind, ...] = (
    "action_blocks",
    "action_differs",
    "action_unexpected",
    "action_missing",
    "user_contradicts_task",
    "user_stopped_early",
    "answer_overlooked",
    "unsupported_claim",
    "action_not_made",
    "call_failed",
    "user_invents",
    "value_named",
    "call_repeated",
)
_WRONG_ACTIONS = frozenset(("action_blocks", "action_differs", "action_unexpected"))
_ALWAYS = _WRONG_ACTIONS | {"action_missing"}


def evidence_log(
    attempt: Attempt, case: Case | None, context: Sequence[Artefact] = (), most: int = MOST
) -> tuple[Observation, ...]:
    """At most `most` observations, ranked by strength, then by kind, then by their place in the transcript.

    `context`: texts that the agent had besides the transcript, such as its policy.
    """
    if not attempt.steps:
        return ()
    ranked = sorted(_folded(_observations(attempt, case, context)), key=_rank)
    seen: dict[ObservationKind, int] = {}
    kept = []
    for observation in ranked:
        seen[observation.kind] = seen.get(observation.kind, 0) + 1
        if seen[observation.kind] <= A_KIND or observation.kind in _ALWAYS:
            kept.append(observation)
    return _without_parts_of_secrets(kept[:most], attempt, case)


def _without_parts_of_secrets(kept: list[Observation], attempt: Attempt, case: Case | None) -> tuple[Observation, ...]:
    """A value or a sentence is taken from a text before the text is redacted."""
    if not kept:
        return ()
    texts = (*map(text_of, attempt.steps), as_json(case.expected) if case is not None else "")
    cut = CutSecrets(dict.fromkeys(texts))
    return tuple(replace(one, text=cut.taken_out(one.text), quote=cut.taken_out(one.quote)) for one in kept)


def _observations(attempt: Attempt, case: Case | None, context: Sequence[Artefact]) -> Iterator[Observation]:
    uses = tool_uses(attempt.steps)
    mentions = Mentions(attempt.steps, case, context)
    compared = compare_actions(attempt, case, uses)
    yield from chain(
        action_flags(attempt, case, uses, mentions, compared) if compared is not None else (),
        user_flags(attempt, case, uses, mentions, compared),
        actions_not_made(attempt.steps, uses, compared),
        failed_calls(uses),
        repeated_calls(uses),
    )
    is_team = len({speaker_of(step) for step in attempt.steps if is_agent(step)}) > 1
    if not uses and not is_team:
        return  # a single agent without tools could look nothing up
    # one turn of a longer conversation may repeat what an earlier turn had; without an expected answer, what an agent
    # made is graded, not what it states
    if attempt.position is None and (is_team or (case is not None and case.expected is not None)):
        yield from unsupported_claims(attempt, case, uses, mentions)
    yield from answer_flags(attempt, case, uses, mentions)


def _rank(observation: Observation) -> tuple[int, int, int]:
    """Of wrong actions the first counts most, of whatever kind it is: later ones may only follow."""
    kind = 0 if observation.kind in _WRONG_ACTIONS else RANKING.index(observation.kind)
    return _STRENGTHS[observation.strength], kind, observation.step


def _folded(observations: Iterable[Observation]) -> list[Observation]:
    """Of one step and kind one observation: the first."""
    groups: dict[tuple[str, int, str], Observation] = {}
    for observation in observations:
        groups.setdefault((observation.kind, observation.step, observation.tool + observation.argument), observation)
    return list(groups.values())


OFTEN = 3
_DIGITS = lazy_regex(r"\d+")
_COMMANDS = ("command", "cmd", "script", "bash_command", "shell_command")


def failed_calls(uses: Sequence[ToolUse]) -> Iterator[Observation]:
    """One observation for each agent, tool and error, with whether a later call of the same kind worked."""
    working: dict[tuple[str, ...], list[int]] = {}
    for use in uses:
        if use.worked:
            working.setdefault(_kind(use), []).append(use.at)
    groups: dict[tuple[str, ...], list[ToolUse]] = {}
    for use in uses:
        if use.error:
            groups.setdefault((speaker_of(use.step), use.name, _DIGITS.sub("#", use.error)[:60]), []).append(use)
    for group in groups.values():
        first, last = group[0], group[-1]
        later = working.get(_kind(last), [])
        at = bisect_right(later, last.at)
        recovered = later[at] if at < len(later) else None
        yield _failure(
            group,
            first,
            None if recovered is None else uses[bisect_right(uses, recovered, key=lambda use: use.at) - 1].step.index,
        )


def _failure(group: Sequence[ToolUse], first: ToolUse, recovered: int | None) -> Observation:
    name = "code" if first.is_code else first.name
    often = f" {times(len(group))} ({listed_steps(use.step.index for use in group)})" if len(group) > 1 else ""
    after = f"a later call worked (step {recovered})" if recovered is not None else "no later call of its kind worked"
    strength: Strength = "moderate" if recovered is None or first.is_code or len(group) > 1 else "weak"
    if recovered is None and (first.is_code or (is_write(first.name) and not _is_command(first))):
        strength = "strong"
    return Observation(
        kind="call_failed",
        step=first.step.index,
        speaker=speaker_of(first.step),
        text=f"{name} failed{often}{_errors(group)}; {after}.",
        quote=_quote(first),
        related_step=first.reply_step.index if first.reply_step is not first.step else recovered,
        tool="" if first.is_code else first.name,
        strength=strength,
        steps=tuple(dict.fromkeys(use.step.index for use in group)) if len(group) > 1 else (),
    )


def _errors(group: Sequence[ToolUse]) -> str:
    """The first error, and whether the others have other values in it."""
    same = len({use.error for use in group}) == 1
    return f"{'' if same else ', the first time'}: {group[0].error.rstrip('.')}"


def _is_command(use: ToolUse) -> bool:
    """A shell's exit code may only mean that nothing was found."""
    return isinstance(use.arguments, dict) and not use.arguments.keys().isdisjoint(_COMMANDS)


def _quote(use: ToolUse) -> str:
    """From the calling step: the line that raised, the result where the step has it, else the arguments."""
    if use.is_code:
        return beginning(failing_line(use.reply or "", use.step.text), ERROR_LINE) or arguments_quote(use)
    if use.reply_step is use.step and use.reply and use.error in use.reply:
        return use.error
    return arguments_quote(use)


def repeated_calls(uses: Sequence[ToolUse]) -> Iterator[Observation]:
    """The same call with the same result: nothing was learnt from it. Polling is none; failures are listed apart."""
    seen: dict[tuple[str, str], ToolUse] = {}
    groups: dict[tuple[str, str], list[ToolUse]] = {}
    for use in uses:
        if use.reply is None or use.error or not use.reply.strip() or not use.arguments:
            continue
        key = (use.name, same_key(use.arguments))
        before = seen.get(key)
        if before is not None and before.reply == use.reply and not is_waiting(key[1]):
            groups.setdefault(key, [before]).append(use)
        seen[key] = use
    for group in groups.values():
        again = group[1]
        steps = [use.step.index for use in group]
        yield Observation(
            kind="call_repeated",
            step=again.step.index,
            speaker=speaker_of(again.step),
            text=f"{again.name} was called {times(len(group))} with the same arguments and result "
            f"({listed_steps(steps)}).",
            quote=arguments_quote(again),
            related_step=group[0].step.index,
            tool="" if again.is_code else again.name,
            strength="moderate" if len(group) > OFTEN else "weak",
            steps=tuple(dict.fromkeys(steps)),
        )


def _kind(use: ToolUse) -> tuple[str, ...]:
    """Calls that can make up for each other: the same tool on the same object, the same command, any code."""
    if use.is_code:
        return (CODE,)
    if isinstance(use.arguments, dict):
        command = next((use.arguments[key] for key in _COMMANDS if isinstance(use.arguments.get(key), str)), None)
        if command is not None:
            return (use.name, *command.split()[:1])
        return (use.name, *sorted(object_ids(use.arguments)))
    return (use.name,)
