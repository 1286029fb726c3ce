"""The scores of a sample → checks, the judges' words, and the one score that decides.

Several scorers may have measured a sample. The primary one is what the log calls its headline, else the first of its
results, else the first scorer of the eval: Inspect's own convention. The others are kept and do not count.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

from msgspec.structs import replace

from errata.model import Check, CheckEdit, ErrorInfo, Judgement, Scorer, SourceRef
from errata.model.words import CheckKind
from errata.sources.inspect_ai.grades import Grade, grade, of_several, without_verdict
from errata.sources.inspect_ai.values import words
from errata.sources.inspect_ai.verdicts import reason_of, why_no_verdict
from errata.sources.shared.values import mapping, moment, plain, rest, sequence

_TAKEN = frozenset(("value", "explanation", "reason", "history", "metadata"))
_EDIT = frozenset(("value", "provenance"))
_UNCHANGED = "UNCHANGED"


class Primary(NamedTuple):
    scorer: str = ""
    key: str = ""
    """Which of its values, where the scorer gives several."""


class Scored(NamedTuple):
    checks: tuple[Check, ...]
    judgements: tuple[Judgement, ...]
    main: Grade | None
    """None where the primary scorer left nothing."""
    answer: str | None
    native: str


def primary_of(header: dict[str, Any]) -> Primary:
    results, spec = mapping(header.get("results")), mapping(header.get("eval"))
    headline = mapping(results.get("headline")) or mapping(spec.get("headline_metric"))
    scores = [mapping(score) for score in sequence(results.get("scores"))] or [mapping(results.get("scorer"))]
    for score in scores:
        wanted = (headline.get("scorer"), headline.get("score"))
        given = (score.get("scorer"), score.get("name"))
        if score and all(want is None or want == have for want, have in zip(wanted, given, strict=True)):
            return Primary(words(score.get("scorer")) or words(score.get("name")), words(score.get("name")))
    first = mapping(next(iter(sequence(spec.get("scorers"))), None))
    return Primary(words(headline.get("scorer")) or words(first.get("name")), words(headline.get("score")))


def scores_of(sample: dict[str, Any], primary: Primary) -> dict[str, dict[str, Any]]:
    """By scorer. Before several scorers could be given there was one `score` without a name."""
    if "score" in sample and not sample.get("scores"):
        return {primary.key or primary.scorer or "score": mapping(sample["score"])} if sample["score"] else {}
    return {name: mapping(score) for name, score in mapping(sample.get("scores")).items()}


def read_scores(
    scores: dict[str, dict[str, Any]], primary: Primary, scorers: dict[str, Scorer], ref: SourceRef, *, said: str
) -> Scored:
    """`said` is the subject's answer."""
    chosen = _chosen(scores, primary)
    checks: list[Check] = []
    main, native = None, ""
    for name, score in scores.items():
        scorer = scorers.get(name) or Scorer(name=name)
        made = _Score(name, score, scorer, ref.below("scores", name), why_no_verdict(score, said))
        counting = made.counting(primary.key) if name == chosen else frozenset()
        checks += made.checks(counting, len(checks))
        if name == chosen:
            main, native = made.grade_of(counting), made.native(counting)
    answer = scores[chosen].get("answer") if chosen else None
    return Scored(
        checks=tuple(_with_unique_names(checks)),
        judgements=tuple(_judgements(scores, scorers, said)),
        main=main,
        answer=answer if isinstance(answer, str) else None,
        native=native,
    )


def _chosen(scores: dict[str, dict[str, Any]], primary: Primary) -> str:
    if primary.scorer in scores:
        return primary.scorer
    if primary.key in scores:
        return primary.key
    return "" if primary.scorer and len(scores) > 1 else next(iter(scores), "")


class _Score:
    """One scorer's score: one value, or several under names or numbers."""

    def __init__(self, name: str, score: dict[str, Any], scorer: Scorer, ref: SourceRef, broken: str) -> None:
        self.name, self.score, self.scorer, self.ref = name, score, scorer, ref
        self.broken = broken
        """Why there is no verdict, where there is none."""
        value = score.get("value")
        self.single = not (isinstance(value, dict | list) and value)
        self.values: dict[str, Any] = _several(name, value) if not self.single else {name: value}
        self.grades = {key: without_verdict(grade(one)) if broken else grade(one) for key, one in self.values.items()}

    def counting(self, key: str) -> frozenset[str]:
        """Which of the values decide: the one of the headline, else the first; of a list all."""
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
        for place, (key, found) in enumerate(self.grades.items()):
            extra = rest(self.score, _TAKEN)
            told = rest(metadata, frozenset(("grading",)))
            yield Check(
                name=key,
                status=found.status,
                scorer=self.name,
                judge=self.scorer.model,
                order=order + place,
                kind=self._kind,
                value=found.value,
                is_primary=key in counting,
                counts=key in counting,
                explanation=words(self.score.get("explanation")),
                reason_code=reason or found.reason,
                error=self._error,
                history=tuple(self._history(key)),
                extra=extra | ({"metadata": told} if told else {}) | ({"value": found.text} if found.text else {}),
                ref=self.ref,
            )

    @property
    def _error(self) -> ErrorInfo | None:
        if not self.broken:
            return None
        told = words(self.score.get("explanation"))
        return ErrorInfo(type=self.broken, message=told or self.broken, phase="scoring", ref=self.ref)

    @property
    def _kind(self) -> CheckKind:
        if not self.single:
            return "dimension"
        return "criterion" if self.scorer.kind == "judge" else "assertion"

    def _history(self, key: str) -> Iterator[CheckEdit]:
        """The first entry is what the scorer said; an edit names only what it changed."""
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


def _judgements(scores: dict[str, dict[str, Any]], scorers: dict[str, Scorer], said: str) -> Iterator[Judgement]:
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
            valid=not why_no_verdict(score, said) and any(grade(one).status != "unscored" for one in values),
            reasoning=words(score.get("explanation")),
            raw=plain(grading),
        )


def _with_unique_names(checks: list[Check]) -> Iterator[Check]:
    """Two scorers may use one name for a dimension."""
    seen: dict[str, str] = {}
    for check in checks:
        first = seen.setdefault(check.name, check.scorer)
        yield check if first == check.scorer else replace(check, name=f"{check.scorer}/{check.name}")
