"""The verb `consistency --judges`: how far several judges of the same attempts say the same, and where they do not."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from statistics import fmean
from typing import Any

import msgspec

from errata.model import Attempt, Judgement, StoredRun, split_attempt_id
from errata.model.output.agreement import RaterAgreementOutput
from errata.model.output.consistency import (
    JudgeDisputeOutput,
    JudgedQuestionOutput,
    JudgeOutput,
    JudgesOutput,
    ScoreGapOutput,
)
from errata.model.run import case_name
from errata.review.agreement import Ratings, agreement_in

OVERALL = "overall"
"""The judgement of the attempt as a whole; besides it, each check that two judges have rated."""
MOST_JUDGES = 20
"""Those who judged most: everybody is held against everybody, and a log may name a judge in every row."""


class _Judgement(msgspec.Struct, frozen=True):
    """A judge's judgement of an attempt."""

    judge: str
    valid: bool
    passed: str
    score: float | None
    checks: dict[str, str]


def judges_agreement(runs: Iterable[tuple[StoredRun, Iterable[Attempt]]]) -> JudgesOutput:
    """Over all runs and all their attempts: judged subtests count, too."""
    heard: dict[str, list[_Judgement]] = {}
    homes: dict[str, StoredRun] = {}
    for stored, attempts in runs:
        for attempt in attempts:
            if attempt.judgements:
                heard[attempt.id], homes[attempt.id] = list(_heard(attempt)), stored
    often = Counter(one.judge for said in heard.values() for one in said)
    known = {name for name, _ in often.most_common(MOST_JUDGES)}
    valid = {
        attempt: {
            judgement.judge: judgement for judgement in judgements if judgement.valid and judgement.judge in known
        }
        for attempt, judgements in heard.items()
    }
    return JudgesOutput(
        attempts=len(heard),
        shared=sum(len(said) > 1 for said in valid.values()),
        judges=tuple(_judge(name, [one for said in heard.values() for one in said]) for name in sorted(known)),
        left_out=len(often) - len(known),
        gaps=tuple(_gaps(valid)),
        questions=tuple(_questions(valid, homes)),
    )


def _heard(attempt: Attempt) -> Iterator[_Judgement]:
    """Of a judge without a word on the whole, the checks decide; of several judges only those that two have rated."""
    by_judge: dict[str, dict[str, str]] = {}
    for check in attempt.checks:
        if check.judge and check.status in ("pass", "fail"):
            by_judge.setdefault(check.judge, {})[check.name] = check.status
    for judgement in attempt.judgements:
        own = by_judge.get(judgement.judge) or by_judge.get(judgement.model) or {}
        others = {name for rated in by_judge.values() if rated is not own for name in rated}
        shared = {name: status for name, status in own.items() if name in others or len(by_judge) == 1}
        raw = judgement.raw if isinstance(judgement.raw, dict) else {}
        yield _Judgement(_name(judgement), judgement.valid, _passed(judgement, shared), _score(raw), own)


def _name(judgement: Judgement) -> str:
    name = judgement.judge or judgement.model or "judge"
    return f"{name} ({judgement.model})" if judgement.model and judgement.model != name else name


def _passed(judgement: Judgement, checks: Mapping[str, str]) -> str:
    if judgement.passed is not None:
        return "pass" if judgement.passed else "fail"
    return "fail" if "fail" in checks.values() else "pass" if checks else ""


def _score(raw: Mapping[str, Any]) -> float | None:
    value = raw.get("score")
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def _judge(name: str, judgements: Sequence[_Judgement]) -> JudgeOutput:
    own = [one for one in judgements if one.judge == name]
    valid = [one for one in own if one.valid]
    scores = [one.score for one in valid if one.score is not None]
    return JudgeOutput(
        name=name,
        judged=len(valid),
        invalid=len(own) - len(valid),
        passes=sum(one.passed == "pass" for one in valid),
        fails=sum(one.passed == "fail" for one in valid),
        score=fmean(scores) if scores else None,
    )


def _gaps(valid: Mapping[str, Mapping[str, _Judgement]]) -> Iterator[ScoreGapOutput]:
    apart: dict[tuple[str, str], list[float]] = {}
    for by_judge in valid.values():
        scored = sorted((name, one.score) for name, one in by_judge.items() if one.score is not None)
        for at, (left, first) in enumerate(scored):
            for right, second in scored[at + 1 :]:
                apart.setdefault((left, right), []).append(abs(first - second))
    for (left, right), gaps in sorted(apart.items()):
        yield ScoreGapOutput(first=left, other=right, both=len(gaps), apart=fmean(gaps))


def _questions(
    valid: Mapping[str, Mapping[str, _Judgement]], homes: Mapping[str, StoredRun]
) -> Iterator[JudgedQuestionOutput]:
    overall = {
        attempt: {name: judgement.passed for name, judgement in by_judge.items() if judgement.passed}
        for attempt, by_judge in valid.items()
    }
    asked = {OVERALL: overall} | _by_check(valid)
    questions = [_question(name, ratings, valid, homes) for name, ratings in asked.items()]
    with_attempts = [one for one in questions if one.agreement.attempts]
    return iter(sorted(with_attempts, key=lambda one: (one.name != OVERALL, _least(one.agreement), one.name)))


def _by_check(valid: Mapping[str, Mapping[str, _Judgement]]) -> dict[str, dict[str, dict[str, str]]]:
    by_check: dict[str, dict[str, dict[str, str]]] = {}
    for attempt, by_judge in valid.items():
        for judge, judgement in by_judge.items():
            for check, status in judgement.checks.items():
                by_check.setdefault(check, {}).setdefault(attempt, {})[judge] = status
    return by_check


def _least(agreement: RaterAgreementOutput) -> float:
    return 1.0 if agreement.alpha is None else agreement.alpha


def _question(
    name: str, ratings: Ratings, valid: Mapping[str, Mapping[str, _Judgement]], homes: Mapping[str, StoredRun]
) -> JudgedQuestionOutput:
    measured = agreement_in(ratings)
    disputes = tuple(
        JudgeDisputeOutput(
            run=homes[attempt].run.native_id,
            case=_case_title(homes[attempt], attempt),
            attempt_id=attempt,
            verdicts=dict(ratings[attempt]),
            scores={judge: one.score for judge, one in valid[attempt].items() if one.score is not None},
        )
        for attempt in measured.disagreements
    )
    return JudgedQuestionOutput(name=name, agreement=measured, disputes=disputes)


def _case_title(stored: StoredRun, attempt: str) -> str:
    """The case as its harness names it, and which part of it or try at it was judged."""
    parts = split_attempt_id(attempt)
    number = f"#{parts.index}" if parts.index > 1 else ""
    return " ".join(part for part in (case_name(stored.run, parts.case), number, parts.path) if part)
