"""The assertions of a row as checks, the limits among them, and promptfoo's error texts."""

import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from msgspec.structs import replace

from errata.model import Check, ErrorInfo, Judgement, Limit, SourceRef
from errata.model.words import CheckKind, CheckStatus, Phase
from errata.sources.promptfoo.columns import Graders, kind_of, name_of
from errata.sources.promptfoo.values import as_text, rest, without_secrets
from errata.sources.shared.values import mapping, number, sequence, text
from errata.text.lazy_regex import lazy_regex

_COMPONENT = ("pass", "score", "reason", "assertion", "componentResults", "metadata")
_LIMITS = {"cost": "cost", "latency": "time", "trace-span-duration": "time"}
_MILLISECONDS = 1000
_STACK_LINE = lazy_regex(r"^[^\S\n]+at\s", re.MULTILINE)
_THROWN = lazy_regex(r"^(?P<type>[A-Z]\w*(?:Error|Exception)|Error): (?P<message>.*)", re.DOTALL)
_PLACE = lazy_regex(r"^[^\S\n]+at[^\S\n]++(.*(?:\.[cm]?[jt]s|\.py|\.rb|\.go):\d+.*)$", re.MULTILINE)
_LIBRARY = lazy_regex(r"/node_modules/|\bnode:")
_HTTP = lazy_regex(r"\b(?:API|HTTP|status|code|error)\b[^\d\n]{0,20}\b([45]\d\d)\b|^([45]\d\d)\b", re.IGNORECASE)
# promptfoo's functions and modules that only run while an answer is graded
_GRADING = lazy_regex(
    r"^[^\S\n]+at\s.*(?:\b(?:runAssertions?|runCompareAssertion|runJsonGradingPrompt|matches[A-Z]\w*)\b"
    r"|/(?:graders|matchers|assertions)[-/.])",
    re.MULTILINE,
)
# how a model-graded assertion reports that its judge gave no verdict
_NO_VERDICT = lazy_regex(
    r"Could not extract JSON from |llm-rubric produced malformed response|API (?:call )?error: |Remote grading failed"
)
_TIMED_OUT = lazy_regex(r"Evaluation timed out after (\d+)\s*ms")
_RAN_OUT = lazy_regex(r"Evaluation exceeded max duration of (\d+)\s*ms")


class RowGrading(NamedTuple):
    checks: tuple[Check, ...]
    judgements: tuple[Judgement, ...]


class _GradingPart(NamedTuple):
    """One result: of an assertion, or of an assertion inside of a set, which decides in its place."""

    data: dict[str, Any]
    pointer: str
    children: int
    inside: str = ""


def grade_row(row: dict[str, Any], ref: SourceRef, graders: Graders) -> RowGrading:
    grading, test = mapping(row.get("gradingResult")), mapping(row.get("testCase"))
    checks: list[Check] = []
    judgements: list[Judgement] = []
    for order, part in enumerate(_parts(grading)):
        place = SourceRef(file=ref.file, line=ref.line, pointer=f"{ref.pointer}{part.pointer}")
        model = graders.model_of(mapping(part.data.get("assertion")), test)
        check = _check(part, test, order, place)
        if kind_of(check.scorer) == "judge":
            judgements.append(_judgement(part, test, check, model))
            check = replace(check, judge=model)
        checks.append(check)
    return RowGrading(tuple(_with_sets(checks)), tuple(judgements))


def summary(row: dict[str, Any], status: CheckStatus, ref: SourceRef) -> Check:
    """The score of the whole row, which alone decides if the test has a threshold."""
    return Check(
        name="score",
        kind="reward",
        status=status,
        value=number(row.get("score")),
        threshold=number(mapping(row.get("testCase")).get("threshold")),
        is_primary=True,
        counts=False,
        explanation=text(mapping(row.get("gradingResult")).get("reason")),
        ref=ref.below("gradingResult"),
    )


_ANY_NUMBER_PASSES = frozenset((
    "javascript", "python", "ruby", "webhook", "answer-relevance", "context-faithfulness", "context-recall",
    "context-relevance",
))  # fmt: skip
"""Without a threshold, promptfoo lets a number above 0 pass, or even 0."""


def is_bare_number(row: dict[str, Any], checks: tuple[Check, ...]) -> bool:
    """Whether the row passed by nothing but numbers between 0 and 1 for which nobody set a threshold."""
    counted = [check for check in checks if check.counts]
    free = all(check.threshold is None and check.scorer in _ANY_NUMBER_PASSES for check in counted)
    has_threshold = number(mapping(row.get("testCase")).get("threshold")) is not None
    return free and not has_threshold and any(check.value not in (None, 0, 1) for check in counted)


def named_scores(row: dict[str, Any], checks: tuple[Check, ...]) -> Iterator[Check]:
    """Named scores that no single check shows: sums over several assertions, and results of custom assertions."""
    scores = mapping(mapping(row.get("gradingResult")).get("namedScores")) | mapping(row.get("namedScores"))
    for name, score in scores.items():
        same = [check.value for check in checks if check.name == name and check.counts]
        if same != [number(score)]:
            yield Check(name=name, kind="dimension", status="not_applicable", value=number(score), counts=False)


def _parts(grading: dict[str, Any]) -> Iterator[_GradingPart]:
    """promptfoo lists the content of a set again after the set; if it does not, it is listed here."""
    listed = sequence(grading.get("componentResults"))
    if not listed and isinstance(grading.get("assertion"), dict):
        yield _GradingPart(grading, "/gradingResult", 0)
    repeats_left, parent = 0, ""
    for at, data in enumerate(listed):
        if not isinstance(data, dict):
            continue
        pointer = f"/gradingResult/componentResults/{at}"
        inside = sequence(data.get("componentResults"))
        if repeats_left:
            repeats_left -= 1
            yield _GradingPart(data, pointer, 0, parent)
            continue
        yield _GradingPart(data, pointer, len(inside))
        parent = _name(data)
        if _is_repeated(inside, listed[at + 1 :]):
            repeats_left = len(inside)
        else:
            yield from _inside(inside, pointer, parent)


def _inside(listed: list[Any], pointer: str, parent: str) -> Iterator[_GradingPart]:
    for at, data in enumerate(listed):
        if isinstance(data, dict):
            yield _GradingPart(data, f"{pointer}/componentResults/{at}", 0, parent)


def _is_repeated(inside: list[Any], following: list[Any]) -> bool:
    return bool(inside) and len(following) >= len(inside) and all(map(_same, inside, following))


def _same(left: Any, right: Any) -> bool:
    return all(mapping(left).get(key) == mapping(right).get(key) for key in ("pass", "score", "reason"))


def _name(data: dict[str, Any]) -> str:
    assertion_set = mapping(mapping(data.get("metadata")).get("assertionSet"))
    return name_of(mapping(data.get("assertion")) or assertion_set)


def _check(part: _GradingPart, test: dict[str, Any], order: int, place: SourceRef) -> Check:
    data, assertion = part.data, mapping(part.data.get("assertion"))
    kind, reason = text(assertion.get("type")), text(data.get("reason"))
    assertion_set = mapping(mapping(data.get("metadata")).get("assertionSet"))
    status = _status(data, kind, reason)
    weight = number(assertion.get("weight", assertion_set.get("weight")))
    return Check(
        name=_name(data),
        status=status,
        scorer=kind or text(assertion_set.get("type")),
        order=order,
        kind=check_kind(kind),
        value=number(data.get("score")),
        threshold=number(assertion.get("threshold", assertion_set.get("threshold"))),
        # a weight of 0 or `metricOnly` excludes an assertion; assertions in a set count through the set
        counts=not (part.inside or weight == 0 or assertion.get("metricOnly") is True),
        explanation=reason,
        error=error_of(reason, "scoring", place) if status == "error" else None,
        extra=_extra(part, test, kind, weight),
        ref=place,
    )


def _status(data: dict[str, Any], kind: str, reason: str) -> CheckStatus:
    if data.get("pass") is True:
        return "pass"
    judged = kind_of(kind) == "judge"
    if mapping(data.get("metadata")).get("graderError") or (judged and is_no_verdict(reason)):
        return "error"
    return "fail" if data.get("pass") is False else "unscored"


def _extra(part: _GradingPart, test: dict[str, Any], kind: str, weight: float | None) -> dict[str, Any]:
    data, assertion = part.data, part.data.get("assertion")
    extra = rest(data, _COMPONENT)
    if weight is not None:
        extra["weight"] = weight
    if part.inside:
        extra["part_of"] = part.inside
    if part.children:
        extra["parts"] = part.children
    # the assertions of a test are in its case
    if isinstance(assertion, dict) and assertion not in _all_assertions(test):
        extra["assertion"] = without_secrets(assertion)
    metadata = _metadata(data, test)
    if metadata and kind_of(kind) != "judge":
        extra["metadata"] = metadata
    return extra


def _all_assertions(test: dict[str, Any]) -> list[Any]:
    listed = sequence(test.get("assert"))
    return [*listed, *(inner for one in listed for inner in sequence(mapping(one).get("assert")))]


def _metadata(data: dict[str, Any], test: dict[str, Any]) -> dict[str, Any]:
    """The metadata, without what it repeats of the test."""
    metadata, test_metadata = mapping(data.get("metadata")), mapping(test.get("metadata"))
    return rest(
        {key: value for key, value in metadata.items() if key not in test_metadata or test_metadata[key] != value}
    )


def _judgement(part: _GradingPart, test: dict[str, Any], check: Check, model: str) -> Judgement:
    return Judgement(
        judge=check.name,
        model=model,
        valid=check.status != "error",
        reasoning=as_text(part.data.get("reason")) if part.data.get("reason") is not None else "",
        raw=_metadata(part.data, test) or None,
        ref=check.ref,
    )


def _with_sets(checks: list[Check]) -> list[Check]:
    """A set that failed only because a judge gave no verdict has no verdict either; a set of limits is a limit."""
    result = list(checks)
    for at, check in enumerate(result):
        inside = result[at + 1 : at + 1 + check.extra.get("parts", 0)]
        statuses = {one.status for one in inside}
        if check.status == "fail" and "error" in statuses and "fail" not in statuses:
            broken = next(one.error for one in inside if one.status == "error")
            result[at] = replace(check, status="error", error=broken)
        elif check.status == "fail" and only_limits([one for one in inside if one.status == "fail"]):
            result[at] = replace(check, kind="limit")
    return result


def check_kind(assertion_type: str) -> CheckKind:
    return "limit" if assertion_type in _LIMITS else "assertion"


def only_limits(failed: Sequence[Check]) -> bool:
    return bool(failed) and all(check.kind == "limit" for check in failed)


def limit_of(checks: Sequence[Check]) -> Limit | None:
    """The limit that was missed, if all checks of the answer itself passed."""
    if not only_limits([check for check in checks if check.failed]):
        return None
    missed = next((check for check in checks if check.status == "fail" and check.scorer in _LIMITS), None)
    if missed is None:
        return None
    kind, value = _LIMITS[missed.scorer], missed.threshold
    if kind == "time" and value is not None:
        value /= _MILLISECONDS
    return Limit(type=kind, value=value, reason=missed.explanation)


class TimeCut(NamedTuple):
    """A time limit of promptfoo's own: for one call, or for the whole evaluation."""

    limit: Limit
    never_started: bool


def error_of(message: str, phase: Phase, ref: SourceRef, response: Any = None) -> ErrorInfo:
    stack = _STACK_LINE.search(message)
    head = message[: stack.start()].rstrip() if stack else message
    thrown = _THROWN.match(head)
    status = mapping(mapping(mapping(response).get("metadata")).get("http")).get("status")
    code = _HTTP.search(head)
    failed = isinstance(status, int) and status >= 400
    return ErrorInfo(
        type=thrown["type"] if thrown else "grader_error" if phase == "scoring" else "provider_error",
        message=head,
        code=str(status) if failed else next(filter(None, code.groups()), "") if code else "",
        traceback=message[stack.start() :].strip("\n") if stack else "",
        frame=_frame(message),
        phase=phase,
        derived=() if thrown else ("type",),
        ref=ref,
    )


def thrown_while_grading(message: str) -> bool:
    return bool(_GRADING.search(message))


def is_no_verdict(reason: str) -> bool:
    return bool(_NO_VERDICT.match(reason))


def cut_short(message: str) -> TimeCut | None:
    if match := _TIMED_OUT.match(message):
        return TimeCut(Limit(type="time", value=int(match[1]) / 1000, reason="timeoutMs"), never_started=False)
    if match := _RAN_OUT.search(message):
        return TimeCut(Limit(type="run_time", value=int(match[1]) / 1000, reason="maxEvalTimeMs"), never_started=True)
    return None


def _frame(message: str) -> str:
    """The first line of the stack outside of libraries."""
    return next((place.strip() for place in _PLACE.findall(message) if not _LIBRARY.search(place)), "")
