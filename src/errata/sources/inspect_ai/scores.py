"""The scores of a sample → checks, judgements, and the primary score, which decides.

A sample may have several scorers. The primary one is the log's headline, else the first of its results, else the first
scorer of the eval: Inspect's own convention. The others are kept and do not count. A scorer without verdicts, such as
one that keeps the diff of a repository and calls each of them `C`, is never the primary one.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from msgspec.structs import replace

from errata.model import Check, CheckEdit, ErrorInfo, Judgement, Scorer, SourceRef
from errata.model.words import CheckKind, CheckStatus, Outcome
from errata.sources.base import Row, number_or_none
from errata.sources.inspect_ai.values import words
from errata.sources.shared.values import mapping, moment, plain, rest, sequence
from errata.text.lazy_regex import lazy_regex

_TAKEN = frozenset(("value", "explanation", "reason", "history", "metadata"))
_EDIT = frozenset(("value", "provenance"))
_UNCHANGED = "UNCHANGED"
_WORDS = {"yes": 1.0, "true": 1.0, "no": 0.0, "false": 0.0}
_DIFF = lazy_regex(r"\s*(?:diff --git |--- \S.*\n\+\+\+ |Index: \S)")
_NOT_FOUND = "Grade not found in model output"
_INSTRUMENT = frozenset(("grader_failed", "scoring_failed", "grade_parse_failure", "partial_credit_disabled"))


class Grade(NamedTuple):
    outcome: Outcome
    status: CheckStatus
    number: float | None = None
    """The number that Inspect's metrics use."""
    value: float | str | bool | None = None
    reason: str = ""
    text: str = ""
    """The value as text, if a record can't contain it."""


class Primary(NamedTuple):
    scorer: str = ""
    key: str = ""
    """The name of the value, for scorers with several values."""
    silent: frozenset[str] = frozenset()
    """Scorers that give no verdicts."""


class SampleScores(NamedTuple):
    checks: tuple[Check, ...]
    judgements: tuple[Judgement, ...]
    main: Grade | None
    """None if the primary scorer has no score."""
    answer: str | None
    native: str


def scorers_without_verdict(
    header: dict[str, Any], names: Sequence[str], samples: Callable[[], Iterator[object]]
) -> frozenset[str]:
    """Those without a metric. Where no scorer has one: those that give one value throughout, or a diff.

    `names` are those of the header's scorers. A scorer with a metric may give one value throughout: all passed.
    """
    declared = [mapping(scorer).get("metrics") for scorer in sequence(mapping(header.get("eval")).get("scorers"))]
    # a log that was scored again may list the metrics of before
    measured = {words(score.get("scorer")) for score in _with_metrics(mapping(header.get("results")))}
    silent = frozenset(name for name, metrics in zip(names, declared, strict=False) if metrics in ([], {})) - measured
    if not silent or len(silent) < len(names):
        return silent
    rows = [mapping(mapping(row.data).get("scores")) for row in samples() if type(row) is Row]
    scores = {name: [mapping(row[name]) for row in rows if name in row] for name in names}
    verdicts = {name for name, given in scores.items() if _differ(given, verdicts=True)}
    # where none gives verdicts, labels that differ are what the run has
    return frozenset(scores) - (verdicts or {name for name, given in scores.items() if _differ(given, verdicts=False)})


def _with_metrics(results: dict[str, Any]) -> list[dict[str, Any]]:
    """Some versions also list scorers that have no metric."""
    return [score for score in map(mapping, sequence(results.get("scores"))) if score.get("metrics")]


def _differ(scores: list[dict[str, Any]], *, verdicts: bool) -> bool:
    given = [score.get("value") for score in scores]
    values = {repr(value) for value in given if not verdicts or grade(value).outcome != "none"}
    is_diff = any(_DIFF.match(words(score.get("explanation"))) for score in scores)
    return not is_diff and len(values) >= min(2, len(scores)) > 0


def primary_of(header: dict[str, Any], silent: frozenset[str] = frozenset()) -> Primary:
    results, spec = mapping(header.get("results")), mapping(header.get("eval"))
    headline = mapping(results.get("headline")) or mapping(spec.get("headline_metric"))
    for score in _with_metrics(results) or [mapping(results.get("scorer"))]:
        wanted = (headline.get("scorer"), headline.get("score"))
        given = (score.get("scorer"), score.get("name"))
        if score and all(want is None or want == have for want, have in zip(wanted, given, strict=True)):
            return Primary(words(score.get("scorer")) or words(score.get("name")), words(score.get("name")), silent)
    names = [words(mapping(scorer).get("name")) for scorer in sequence(spec.get("scorers"))]
    first = next((name for name in names if name not in silent), "")
    return Primary(words(headline.get("scorer")) or first, words(headline.get("score")), silent)


def scores_of(sample: dict[str, Any], primary: Primary) -> dict[str, dict[str, Any]]:
    """Scores by scorer. Old logs have a single `score` without a name."""
    if "score" in sample and not sample.get("scores"):
        return {primary.key or primary.scorer or "score": mapping(sample["score"])} if sample["score"] else {}
    return {name: mapping(score) for name, score in mapping(sample.get("scores")).items()}


def read_scores(
    scores: dict[str, dict[str, Any]], primary: Primary, scorers: dict[str, Scorer], ref: SourceRef, *, output: str
) -> SampleScores:
    """`output` is the subject's answer."""
    chosen = _chosen(scores, primary)
    checks: list[Check] = []
    main, native = None, ""
    for name, score in scores.items():
        scorer = scorers.get(name) or Scorer(name=name)
        made = _Score(name, score, scorer, ref.below("scores", name), why_no_verdict(score, output))
        if name in primary.silent:
            made.grades = {key: Grade("none", "not_applicable", None, one.value) for key, one in made.grades.items()}
        counting = made.counting(primary.key) if name == chosen else frozenset()
        checks += made.checks(counting, len(checks))
        if name == chosen:
            main, native = made.grade_of(counting), made.native(counting)
            if main.status == "not_applicable" and primary.key not in (name, "", *made.values):
                main = main._replace(number=None)  # the number of the log is the share of one label
    answer = scores[chosen].get("answer") if chosen else None
    return SampleScores(
        checks=tuple(_with_unique_names(checks)),
        judgements=tuple(_judgements(scores, scorers, output)),
        main=main,
        answer=answer if isinstance(answer, str) else None,
        native=native,
    )


def _chosen(scores: dict[str, dict[str, Any]], primary: Primary) -> str:
    if primary.scorer in scores:
        return primary.scorer
    if primary.key in scores:
        return primary.key
    judging = [name for name in scores if name not in primary.silent]
    return "" if primary.scorer and len(scores) > 1 else next(iter(judging), "")


class _Score:
    """One scorer's score: one value, or several with names or numbers."""

    def __init__(self, name: str, score: dict[str, Any], scorer: Scorer, ref: SourceRef, broken: str) -> None:
        self.name, self.score, self.scorer, self.ref = name, score, scorer, ref
        self.broken = broken
        """Why there is no verdict; empty if there is one."""
        value = score.get("value")
        self.single = not (isinstance(value, dict | list) and value)
        self.values: dict[str, Any] = _several(name, value) if not self.single else {name: value}
        self.grades = {key: without_verdict(grade(one)) if broken else grade(one) for key, one in self.values.items()}

    def counting(self, key: str) -> frozenset[str]:
        """The values that decide: that of the headline, else the first; all values of a list."""
        if self.single or isinstance(self.score.get("value"), list):
            return frozenset(self.values)
        return frozenset((key if key in self.values else next(iter(self.values)),))

    def grade_of(self, counting: frozenset[str]) -> Grade:
        grades = [self.grades[key] for key in self.values if key in counting]
        return grades[0] if len(grades) == 1 else of_several(grades)

    def native(self, counting: frozenset[str]) -> str:
        return ", ".join(str(plain(self.values[key])) for key in self.values if key in counting)

    def checks(self, counting: frozenset[str], order: int) -> Iterator[Check]:
        metadata = mapping(self.score.get("metadata"))
        reason = reason_of(self.score) or self.broken
        for place, (key, item_grade) in enumerate(self.grades.items()):
            extra = rest(self.score, _TAKEN)
            other_metadata = rest(metadata, frozenset(("grading",)))
            yield Check(
                name=key,
                status=item_grade.status,
                scorer=self.name,
                judge=self.scorer.model,
                order=order + place,
                kind=self._kind,
                value=item_grade.value,
                is_primary=key in counting,
                counts=key in counting,
                explanation=words(self.score.get("explanation")),
                reason_code=reason or item_grade.reason,
                error=self._error,
                history=tuple(self._history(key)),
                extra=extra
                | ({"metadata": other_metadata} if other_metadata else {})
                | ({"value": item_grade.text} if item_grade.text else {}),
                ref=self.ref,
            )

    @property
    def _error(self) -> ErrorInfo | None:
        if not self.broken:
            return None
        explanation = words(self.score.get("explanation"))
        return ErrorInfo(type=self.broken, message=explanation or self.broken, phase="scoring", ref=self.ref)

    @property
    def _kind(self) -> CheckKind:
        if not self.single:
            return "dimension"
        return "criterion" if self.scorer.kind == "judge" else "assertion"

    def _history(self, key: str) -> Iterator[CheckEdit]:
        """The first entry is the scorer's own value; an edit contains only its changes."""
        last = None
        for entry in map(mapping, sequence(self.score.get("history"))):
            value = entry.get("value")
            if value != _UNCHANGED:
                inner = _several(self.name, value) if isinstance(value, dict | list) else {key: value}
                last = grade(inner.get(key)).value
            by = mapping(entry.get("provenance"))
            yield CheckEdit(
                value=last,
                by=words(by.get("author")),
                at=moment(by.get("timestamp")),
                why=words(by.get("reason")),
                extra={name: plain(said) for name, said in rest(entry, _EDIT).items() if said != _UNCHANGED},
            )


def _several(name: str, value: Any) -> dict[str, Any]:
    if isinstance(value, dict):
        return value
    return {f"{name}[{place}]": one for place, one in enumerate(value)}


def _judgements(scores: dict[str, dict[str, Any]], scorers: dict[str, Scorer], output: str) -> Iterator[Judgement]:
    for name, score in scores.items():
        grading = mapping(score.get("metadata")).get("grading")
        scorer = scorers.get(name)
        if not grading and (scorer is None or scorer.kind != "judge"):
            continue
        spoke = [words(message.get("model")) for message in map(mapping, sequence(grading)) if message.get("model")]
        value = score.get("value")
        values = list(value.values()) if isinstance(value, dict) else value if isinstance(value, list) else [value]
        yield Judgement(
            judge=name,
            model=(spoke[-1] if spoke else "") or (scorer.model if scorer else ""),
            valid=not why_no_verdict(score, output) and any(grade(one).status != "unscored" for one in values),
            reasoning=words(score.get("explanation")),
            raw=plain(grading),
        )


def _with_unique_names(checks: list[Check]) -> Iterator[Check]:
    """Two scorers may use the same name for a dimension."""
    seen: dict[str, str] = {}
    for check in checks:
        first = seen.setdefault(check.name, check.scorer)
        yield check if first == check.scorer else replace(check, name=f"{check.scorer}/{check.name}")


# Inspect's own letters; numbers are grades from 0 to 1
_LETTERS = {
    "C": Grade("pass", "pass", 1.0, "C"),
    "I": Grade("fail", "fail", 0.0, "I"),
    "P": Grade("partial", "partial", 0.5, "P"),
    "N": Grade("fail", "fail", 0.0, "N", reason="noanswer"),
}


def grade(value: Any) -> Grade:
    """The grade of a scalar. `NaN` means that the scorer has no verdict, null that a dimension does not apply."""
    if value is None:
        return Grade("none", "not_applicable")
    if type(value) is bool:
        return _of_number(float(value), value)
    if type(value) is str:
        return _LETTERS.get(value) or _of_text(value)
    if type(value) is int or type(value) is float:
        number = number_or_none(value)
        if number is None:
            return Grade("none", "unscored", text=str(plain(value)))
        return _of_number(number, number)
    return Grade("none", "unscored", text=str(plain(value)))


def without_verdict(given: Grade) -> Grade:
    """The grade of a scorer's fallback value, which Inspect's metrics still count."""
    return given._replace(outcome="none", status="error")


def of_several(grades: list[Grade]) -> Grade:
    """A list of values has one outcome: that of their mean."""
    counted = [one for one in grades if one.outcome != "none"]
    if any(one.status == "error" for one in grades):
        return Grade("none", "error", _mean(grades))
    if not counted:
        return Grade("none", "unscored")
    return _of_number(_mean(counted) or 0.0, None)


def _mean(grades: list[Grade]) -> float | None:
    numbers = [one.number for one in grades if one.number is not None]
    return sum(numbers) / len(numbers) if numbers else None


def _of_text(value: str) -> Grade:
    number = _WORDS.get(value.lower())
    if number is None:
        number = number_or_none(value)
    if number is not None:
        return _of_number(number, value)
    # a class or a label is a verdict without a pass rule; the metrics count it as 0
    return Grade("none", "not_applicable", 0.0, value)


def _of_number(number: float, value: float | str | bool | None) -> Grade:
    if number == 1:
        return Grade("pass", "pass", number, value)
    if number == 0:
        return Grade("fail", "fail", number, value)
    return Grade("number", "number", number, value)


def reason_of(score: dict[str, Any]) -> str:
    return words(score.get("reason")) or words(mapping(score.get("metadata")).get("unscored_reason"))


def why_no_verdict(score: dict[str, Any], answer: str) -> str:
    """A reason code; empty if there is a verdict. `answer` is the subject's own, which a scorer may quote.

    Inspect has recorded this in three ways: as incorrect, with a fixed start of the explanation; then as unscored,
    with a code in the metadata; now with the code as the score's `reason`. Some codes blame the grader, others the
    model under test.
    """
    metadata = mapping(score.get("metadata"))
    reason = reason_of(score) or words(metadata.get("reason"))
    if reason in _INSTRUMENT or reason.startswith("grader_"):
        return reason
    explanation = words(score.get("explanation"))
    # the conversation with the judge was kept only if it contained a grade
    spoken = [words(one.get("content")) for one in map(mapping, sequence(metadata.get("grading"))) if one.get("model")]
    has_grade = any(spoken) if spoken else bool(metadata.get("grading")) or explanation == answer
    return "grade_parse_failure" if explanation.startswith(_NOT_FOUND) and not has_grade else ""
