"""Scores of a trace, and of rows with any number of scorers, which share neither a scale nor a direction.

A score is yes or no, a number, or a word. A toxicity of 0 is good, a similarity of 0 is not. If no rule defines a pass,
one scorer decides: the first that answers yes or no, otherwise the first of all.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from msgspec.structs import replace

from errata.model import Case, Check, ErrorInfo, Reported, Run, Scorer, SourceRef
from errata.model.words import CheckStatus, Execution, Measurement
from errata.sources.shared.facts import Facts, despite_error, outcome_of, status_of
from errata.sources.shared.values import as_text, number, plain, text
from errata.text.clean import one_line

_YES = frozenset(("pass", "passed", "yes", "true", "correct", "success"))
_NO = frozenset(("fail", "failed", "no", "false", "incorrect", "failure"))
NAME_WIDTH = 80


def grade_of(value: Any) -> float | None:
    """From 0 to 1; None for other words, and for a number on an unknown scale."""
    if isinstance(value, bool):
        return float(value)
    if isinstance(value, str):
        word = value.strip().lower()
        return 1.0 if word in _YES else 0.0 if word in _NO else None
    grade = number(value)
    return grade if grade is not None and 0 <= grade <= 1 else None


def status_of_value(value: Any) -> CheckStatus:
    if value is None:
        return "unscored"
    grade = grade_of(value)
    return "not_applicable" if grade is None else status_of(grade)


def facts_of(execution: Execution, checks: Iterable[Check]) -> Facts:
    """From the checks that count: all have to pass, and one failure decides."""
    counted = [check for check in checks if check.counts]
    if not counted:
        return Facts(execution, "not_run", "none")  # without a check there is no failure
    grades = [_grade(check) for check in counted if check.status in ("pass", "fail")]
    if any(check.status == "error" for check in counted) and 0 not in grades:
        return Facts(execution, "error", "none")
    outcome = outcome_of(min(grades)) if grades else "none"
    measurement: Measurement = "scored" if any(check.status != "unscored" for check in counted) else "unscored"
    return Facts(execution, measurement, outcome if execution == "completed" else despite_error(outcome))


def _grade(check: Check) -> float:
    if check.status == "pass":
        return 1.0
    grade = grade_of(check.value)
    return 0.0 if grade is None or grade == 1 else grade


class ScorerCounts:
    """The scorers of a run in the order they appear, and how many values each has given."""

    def __init__(self, names: Iterable[str] = ()) -> None:
        self.counts = dict.fromkeys(names, 0)
        self._verdicts: set[str] = set()

    def add(self, name: str, value: Any) -> None:
        is_value = grade_of(value) is not None or isinstance(value, int | float)
        self.counts[name] = self.counts.get(name, 0) + is_value
        if isinstance(value, bool):
            self._verdicts.add(name)

    @property
    def main(self) -> str:
        return next((name for name in self.counts if name in self._verdicts), next(iter(self.counts), ""))

    @property
    def scorers(self) -> tuple[Scorer, ...]:
        return tuple(Scorer(name=name) for name in self.counts)

    def reported(self, ref: SourceRef, harness_means: dict[str, float | None] | None = None) -> tuple[Reported, ...]:
        """The mean of each scorer over the rows with a value; `harness_means` has those that the harness reports."""
        values, main = harness_means or {}, self.main
        return tuple(
            Reported(
                name=name,
                metric="mean",
                scorer=name,
                value=values.get(name),
                n=count or None,
                headline=name == main,
                ref=ref,
            )
            for name, count in self.counts.items()
        )


class RowScore(NamedTuple):
    facts: Facts
    checks: tuple[Check, ...]
    errors: tuple[ErrorInfo, ...]
    value: float | None
    """The value that went into the mean of the main scorer."""
    status: str

    @property
    def attempt_fields(self) -> dict[str, Any]:
        return self.facts._asdict() | {
            "reported": self.value,
            "reported_counted": self.value is not None,
            "errors": self.errors,
            "checks": self.checks,
        }


def score_row(execution: Execution, checks: Sequence[Check], errors: tuple[ErrorInfo, ...], main: str) -> RowScore:
    """Whether a row was executed, measured and passed.

    An error of the main scorer is an error of the row. An error of another scorer is listed as recovered: it did not
    affect the main score.
    """
    checks = tuple(replace(check, is_primary=check.name == main, counts=check.name == main) for check in checks)
    decides = next((check for check in checks if check.is_primary), None)
    value = None if decides is None else grade_of(decides.value)
    if decides is not None and value is None and isinstance(decides.value, int | float):
        value = float(decides.value)
    broken = tuple(replace(check.error, recovered=not check.is_primary) for check in checks if check.error is not None)
    status = f"{decides.name} {decides.value}" if decides is not None and decides.value is not None else ""
    return RowScore(facts_of(execution, checks), checks, (*errors, *broken), value, status)


def case_of(run: Run, name: str, question: Any, expected: Any, **others: Any) -> Case:
    """A case whose only name for a reader is its input."""
    return Case(
        run=run.id,
        suite=run.suite,
        native_id=name,
        name=title_of(question),
        input=plain(question),
        expected=plain(expected),
        **others,
    )


def answer_of(output: Any) -> str | None:
    """The text of an output; for an object with a single text in it, that text."""
    if isinstance(output, dict):
        texts = list(_texts(output))
        return texts[0] if len(texts) == 1 else None
    return output if isinstance(output, str) else None


def title_of(question: Any) -> str:
    """A name for a case that only has a number: the beginning of its input."""
    return "" if question is None else one_line((answer_of(question) or as_text(question))[:400], NAME_WIDTH)


def _texts(output: dict[str, Any]) -> Iterator[str]:
    return (value for value in map(text, output.values()) if value)
