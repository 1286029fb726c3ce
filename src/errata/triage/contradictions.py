"""Signals against a task: nobody can solve it as it is written."""

import re
from collections.abc import Iterable, Iterator
from typing import Any

from errata.model import Attempt, Case, Step
from errata.model.words import Confidence
from errata.text.answers import bare, json_in
from errata.text.lazy_regex import lazy_regex
from errata.transcript.calls import made_calls, required_calls
from errata.triage.dialogues import writes_of
from errata.triage.expected import expected_texts, task_text
from errata.triage.observed import Observed, signal

_SUM = lazy_regex(r"(?<![\w.])(\d{1,9}(?:\.\d{1,6})?)\s*([+*/×x÷−-])\s*(\d{1,9}(?:\.\d{1,6})?)(?![\w.]*\d)")
_NUMBER = lazy_regex(r"\d+(?:\.\d+)?")
SHORT = 200


def name_contradicts_the_input(attempt: Attempt, case: Case | None) -> Iterator[Observed]:
    """The case's own name, its task and its expected answer are about different numbers."""
    if case is None or attempt.outcome not in ("fail", "partial"):
        return
    named = _SUM.search(f"{case.name} {case.native_id}")
    if named is None:
        return
    task, wanted = task_text(case), [bare(text) for text in expected_texts(case)]
    asked = list(_SUM.finditer(task)) if len(task) <= SHORT else []
    if len(asked) != 1 or len(_NUMBER.findall(task)) != 2 or _sum(asked[0]) == _sum(named):
        return
    sums = (_value(named), _value(asked[0]))
    contradicts = len(wanted) == 1 and _NUMBER.fullmatch(wanted[0]) and sums[1] is not None
    wrong = contradicts and sums[1] != float(wanted[0]) and sums[0] == float(wanted[0])
    contradiction = f"{named[0]} in the name, {asked[0][0]} in the task, expected {', '.join(wanted)}"
    yield _observed(case, "prompt_contradicts_expected", "likely" if wrong else "weak", "case.name", contradiction)


_SIGNS = str.maketrans("×x÷−", "**/-")


def _sum(match: re.Match[str]) -> tuple[str, str, str]:
    return match[1], match[2].translate(_SIGNS), match[3]


def _value(match: re.Match[str]) -> float | None:
    left, sign, right = float(match[1]), _sum(match)[1], float(match[3])
    if sign == "/":
        return left / right if right else None
    return left + right if sign == "+" else left - right if sign == "-" else left * right


def _observed(case: Case, name: str, strength: Confidence, where: str, stated: str) -> Observed:
    return Observed(signal=signal(name, strength, where, "", case.ref, stated=stated), owner="task")


def expected_contradicts_data(attempt: Attempt, case: Case | None) -> Iterator[Observed]:
    """A required call gives a person another birth date than the case's own tools do, and the subject used theirs."""
    if case is None or attempt.outcome != "fail" or not attempt.steps or not isinstance(case.expected, dict | list):
        return
    wanted = dict(_birth_dates([call.arguments for call in required_calls(case.expected)]))
    if not wanted:
        return
    made = dict(_birth_dates([call.arguments for call in made_calls(attempt)]))
    given, task = dict(_birth_dates(_returned(attempt.steps))), task_text(case)
    for person, date in wanted.items():
        known = given.get(person)
        if known is not None and known != date and made.get(person) == known and date not in task:
            writes = writes_of(attempt, case)
            is_all = writes is None or (len(writes.unexpected) <= 1 and len(writes.missing) <= 1)
            strength: Confidence = "likely" if is_all else "weak"
            more = "" if is_all else "; the model also made other mistakes"
            stated = f"expected {' '.join(person)} born {date}, the tools return {known}{more}"
            evidence = signal("expected_contradicts_data", strength, "case.expected", "", case.ref, stated=stated)
            yield Observed(signal=evidence, owner="task", is_specific=True)
            return


def _returned(steps: Iterable[Step]) -> list[Any]:
    """What tools returned, where it is a document."""
    texts = [step.text for step in steps if step.kind == "tool_result"]
    texts += [call.result.text for step in steps for call in step.tool_calls if call.result]
    return [json_in(text) for text in texts if "dob" in text]


def _birth_dates(value: Any) -> Iterator[tuple[tuple[str, str], str]]:
    if isinstance(value, dict):
        name = value["name"] if isinstance(value.get("name"), dict) else value
        first, last, date = name.get("first_name"), name.get("last_name"), value.get("dob")
        if isinstance(first, str) and isinstance(last, str) and isinstance(date, str):
            yield (first, last), date
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _birth_dates(inner)
