"""The burden of proof: from all signals of a failure to the one who has to act."""

from collections.abc import Iterable

from errata.model import Attempt, Attribution
from errata.model.words import Confidence, Owner, Proof, ProofReason
from errata.transcript.simulated_user import has_simulated_user
from errata.triage.keys import failure_key
from errata.triage.observed import OWNER_BY_PHASE, Observed, placed, signal
from errata.triage.rulesets import Rules
from errata.triage.taxonomy import suggestions

_STRENGTH: dict[Confidence, int] = {"certain": 0, "likely": 1, "weak": 2}

# at equal strength the earlier cause in the chain decides: what never ran can't have been graded wrongly
_ORDER: tuple[Owner, ...] = (
    "collateral",
    "simulator",
    "provider",
    "environment",
    "harness",
    "budget",
    "grader",
    "task",
    "model",
    "unknown",
)
_LAST = 100
_RANK = {owner: rank for rank, owner in enumerate(_ORDER)}
_SAYS_LEAST = ("measurement_failed", "no_verdict")
# the question never arrived, or no answer came back: whatever graded it, there was nothing to be graded
_NOTHING_TO_GRADE = frozenset(("prompt_not_delivered", "error_body"))


def attribute(
    attempt: Attempt,
    observed: Iterable[Observed],
    *,
    source: str = "",
    rules: Rules | None = None,
    passed_by: str | None = None,
    is_other_task: bool = False,
) -> Attribution:
    """The owner of a failure, how sure that is, which signal decided, and the label each taxonomy would give it.

    `passed_by` names somebody who passed the case; it is empty where others were measured and none of them passed.
    Without it, `is_other_task` means that others were measured with another version of the task.
    """
    every = list(observed)
    if len(every) > 1:
        every.sort(key=_weight)
    owner, confidence, decided_by, also = _decide(attempt, every)
    proof, reason = _proof(attempt, every, also, passed_by) if owner == "model" else NOT_ASKED
    if reason == "no_other_result" and is_other_task:
        reason = "task_differs"
    signals = [placed(one.signal, attempt) for one in every]
    if reason == "passed_elsewhere":
        signals.append(signal(reason, "likely", "other results", "", stated=f"passed by {passed_by}"))
    return Attribution(
        attempt=attempt.id,
        owner=owner,
        also=also,
        confidence="weak" if proof == "presumed" else confidence,
        proof=proof,
        proof_reason=reason,
        signals=tuple(signals),
        decided_by=decided_by,
        suggested_labels=suggestions(
            source, attempt, owner, frozenset([one.signal.name for one in every]), rules.taxonomies if rules else None
        ),
        failure_key=failure_key(attempt),
        follows=attempt.follows or next((one.follows for one in every if one.follows), ""),
        rules_version=rules.version if rules else "",
    )


NOT_ASKED: tuple[Proof, ProofReason] = ("", "")


def _proof(
    attempt: Attempt, observations: list[Observed], also: tuple[Owner, ...], passed_by: str | None
) -> tuple[Proof, ProofReason]:
    """Whether the failure is shown to be the subject's, or only presumed because nothing points elsewhere.

    It is shown where the mistake is plain to see, or where the subject did its work, a working grader refused it, and
    somebody else passed the case.
    """
    if any(one.is_self_evident for one in observations):
        return "shown", "self_evident"
    if also:
        return "presumed", "in_doubt"
    if not passed_by:
        return "presumed", "no_other_result" if passed_by is None else "nobody_passed"
    if has_simulated_user(attempt) and not any(one.contradicts_user for one in observations):
        return "presumed", "simulated_user"
    return ("shown", "passed_elsewhere") if attempt.shows_work else ("presumed", "no_answer_logged")


def _weight(observation: Observed) -> tuple[int, bool, int, bool]:
    """The strongest first, then what names the cause, then the earlier cause; those without an owner last."""
    if observation.owner is None:
        return _LAST, False, 0, False
    seen = observation.signal
    is_vague = seen.strength == "likely" and not observation.is_specific
    rank = _RANK["budget"] if seen.name in _NOTHING_TO_GRADE else _RANK[observation.owner]
    return _STRENGTH[seen.strength], is_vague, rank, seen.name in _SAYS_LEAST


def _decide(attempt: Attempt, observations: list[Observed]) -> tuple[Owner, Confidence, str, tuple[Owner, ...]]:
    first = _first(attempt, observations)
    if first is None or first.owner is None:
        return _by_phase(attempt)
    owner = first.owner
    others = dict.fromkeys(first.also)
    if len(observations) > 1:
        for observation in observations:
            strong = observation.signal.strength != "weak"
            if observation.owner not in (None, "model", "unknown") and (strong or owner == "model"):
                others.setdefault(observation.owner)
    return (
        owner,
        first.signal.strength,
        first.signal.name,
        tuple([observation for observation in others if observation != owner]),
    )


def _first(attempt: Attempt, observations: list[Observed]) -> Observed | None:
    """The strongest signal. A weak one never takes a measured failure away from the subject."""
    measured = attempt.measurement == "scored" and attempt.outcome in ("fail", "partial")
    for observation in observations:
        if observation.owner is None or (
            measured and observation.signal.strength == "weak" and observation.owner != "model"
        ):
            continue
        return observation
    return None


def _by_phase(attempt: Attempt) -> tuple[Owner, Confidence, str, tuple[Owner, ...]]:
    error = next((one for one in attempt.errors if not one.recovered), None)
    owner = OWNER_BY_PHASE.get(error.phase) if error is not None else None
    if owner is not None:
        return owner, "weak", "phase", ()
    return "unknown", "weak", "nothing known", ()
