"""The evidence log of an attempt: what its steps show by themselves, the strongest observations first."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

from msgspec.structs import replace

from errata.model import Artefact, Attempt, Case, Observation
from errata.model.words import ObservationKind, Strength
from errata.text.cut_secrets import CutSecrets
from errata.transcript.action_flags import action_flags
from errata.transcript.actions import compare_actions
from errata.transcript.answer_flags import answer_flags
from errata.transcript.call_trouble import empty_results, failed_calls, repeated_calls
from errata.transcript.claims import unsupported_claims
from errata.transcript.conduct_flags import conduct_flags
from errata.transcript.contradictions import contradictions
from errata.transcript.mentions import Mentions
from errata.transcript.simulated_user import user_flags
from errata.transcript.tool_use import as_json, is_agent, speaker_of, text_of, tool_uses

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
    "contradicts_result",
    "answer_overlooked",
    "data_assumed",
    "unsupported_claim",
    "action_not_made",
    "call_failed",
    "unchecked_confirmation",
    "user_invents",
    "value_named",
    "speaks_for_another",
    "call_returned_nothing",
    "ended_early",
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
        contradictions(attempt.steps, uses, compared),
        failed_calls(uses),
        empty_results(uses),
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
    yield from conduct_flags(attempt.steps, uses)


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
