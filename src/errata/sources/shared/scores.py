"""What scorers say: of a trace, and of rows with any number of scorers. They have no common scale and no direction.

A score is yes or no, a number, or a word; a toxicity of 0 is good, a similarity of 0 is not. Where no rule says what
makes a pass, one scorer of the rows decides: the first that says yes or no, else the first of all.
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
    """From 0 to 1; none for a word that says neither, and for a number on a scale that nobody tells."""
    if isinstance(value, bool):
        return float(value)
    if isinstance(value, str):
        word = value.strip().lower()
        return 1.0 if word in _YES else 0.0 if word in _NO else None
    told = number(value)
    return told if told is not None and 0 <= told <= 1 else None


def status_of_value(value: Any) -> CheckStatus:
    if value is None:
        return "unscored"
    grade = grade_of(value)
    return "not_applicable" if grade is None else status_of(grade)


def facts_of(execution: Execution, checks: Iterable[Check]) -> Facts:
    """Of the checks that count: all have to be passed, and one that is failed decides."""
    counted = [check for check in checks if check.counts]
    if not counted:
        return Facts(execution, "not_run", "none")  # nobody looked at it: that is no failure
    grades = [_grade(check) for check in counted if check.status in ("pass", "fail")]
    if any(check.status == "error" for check in counted) and 0 not in grades:
        return Facts(execution, "error", "none")
    said = outcome_of(min(grades)) if grades else "none"
    measured: Measurement = "scored" if any(check.status != "unscored" for check in counted) else "unscored"
    return Facts(execution, measured, said if execution == "completed" else despite_error(said))


def _grade(check: Check) -> float:
    if check.status == "pass":
        return 1.0
    grade = grade_of(check.value)
    return 0.0 if grade is None or grade == 1 else grade


class Seen:
    """The scorers of a run, in the order in which they come, and how many numbers each has given."""

    def __init__(self, names: Iterable[str] = ()) -> None:
        self.counts = dict.fromkeys(names, 0)
        self._verdicts: set[str] = set()

    def add(self, name: str, value: Any) -> None:
        told = grade_of(value) is not None or isinstance(value, int | float)
        self.counts[name] = self.counts.get(name, 0) + told
        if isinstance(value, bool):
            self._verdicts.add(name)

    @property
    def main(self) -> str:
        return next((name for name in self.counts if name in self._verdicts), next(iter(self.counts), ""))

    @property
    def scorers(self) -> tuple[Scorer, ...]:
        return tuple(Scorer(name=name) for name in self.counts)

    def reported(self, ref: SourceRef, stated: dict[str, float | None] | None = None) -> tuple[Reported, ...]:
        """The mean of each scorer over the rows that it gave a number; `stated` where the harness says it itself."""
        values, main = stated or {}, self.main
        return tuple(
            Reported(
                name=name,
                metric="mean",
                scorer=name,
                value=values.get(name),
                n=often or None,
                headline=name == main,
                ref=ref,
            )
            for name, often in self.counts.items()
        )


class Scored(NamedTuple):
    facts: Facts
    checks: tuple[Check, ...]
    errors: tuple[ErrorInfo, ...]
    value: float | None
    """What went into the mean of the main scorer."""
    status: str

    @property
    def told(self) -> dict[str, Any]:
        """The fields of an attempt that it fills."""
        return self.facts._asdict() | {
            "reported": self.value,
            "reported_counted": self.value is not None,
            "errors": self.errors,
            "checks": self.checks,
        }


def scored(execution: Execution, checks: Sequence[Check], errors: tuple[ErrorInfo, ...], main: str) -> Scored:
    """Whether a row was made, measured and passed.

    An error of the main scorer is one of the row. What breaks another is told, and is no reason for what the main one
    found: it counts as recovered.
    """
    told = tuple(replace(check, is_primary=check.name == main, counts=check.name == main) for check in checks)
    decides = next((check for check in told if check.is_primary), None)
    value = None if decides is None else grade_of(decides.value)
    if decides is not None and value is None and isinstance(decides.value, int | float):
        value = float(decides.value)
    broken = tuple(replace(check.error, recovered=not check.is_primary) for check in told if check.error is not None)
    status = f"{decides.name} {decides.value}" if decides is not None and decides.value is not None else ""
    return Scored(facts_of(execution, told), told, (*errors, *broken), value, status)


def case_of(run: Run, name: str, asked: Any, expected: Any, **others: Any) -> Case:
    """What was asked is all that names it to a reader."""
    return Case(
        run=run.id,
        suite=run.suite,
        native_id=name,
        name=shown_as(asked),
        input=plain(asked),
        expected=plain(expected),
        **others,
    )


def answer_of(output: Any) -> str | None:
    """The text in an output; where it is an object with one text in it, that one."""
    if isinstance(output, dict):
        texts = list(_texts(output))
        return texts[0] if len(texts) == 1 else None
    return output if isinstance(output, str) else None


def shown_as(asked: Any) -> str:
    """A name for a case that has none but a number: what was asked."""
    return "" if asked is None else one_line((answer_of(asked) or as_text(asked))[:400], NAME_WIDTH)


def _texts(output: dict[str, Any]) -> Iterator[str]:
    return (value for value in map(text, output.values()) if value)
