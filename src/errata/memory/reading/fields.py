"""Fields and columns by the names that people give them: `**Classification**: MODEL_FAULT`, a column `Eval`."""

import re
from collections.abc import Iterator
from functools import cache, lru_cache
from typing import NamedTuple

from errata.memory.reading.markdown import Words
from errata.memory.spelling import folded
from errata.text.lazy_regex import lazy_regex

_FAILURE = {
    "case": (
        "eval evals case cases test-case test-cases task tasks scenario sample problem question turn turns item name "
        "eval-name case-name eval-path task-name task-id test-id case-id eval-id failed-eval failed-evals failing-eval "
        "failing-evals failed-case failed-cases failure failures test tests id"
    ),
    "label": (
        "final-classification final-label final-verdict revised-classification revised-label new-classification "
        "new-label corrected-label classification label verdict class classified-as classified fault diagnosis "
        "assessment judgement judgment our-call call attribution category kind type"
    ),
    "step": (
        "failed-step step failed-check check failing-step failing-check stage phase failed-at fails-at failed-in "
        "step-first-failed first-failed-step failed-steps failed-checks failed-dimension failed-dimensions dimension "
        "dimensions where broke-at stops-at stopped-at failing-stage failed-stage failure-type failure-step error-type"
    ),
    "reasoning": (
        "reasoning reason why note notes explanation comment comments details detail what-happened root-cause cause "
        "analysis summary description finding rationale justification because remarks remark one-line-reasoning "
        "short-reasoning one-liner what-went-wrong evidence"
    ),
    "status": "status result outcome pass-fail passed state",
}
_RUN = {
    "run": "run id run-id run-ids runs runid id-of-run run-identifier run-no eval-run evaluation-run run-id-prefix",
    "model": "model model-name model-slug slug subject model-under-test model-id llm models",
    "provider": "provider api routed-via via",
    "experiment": "experiment variant setup",
    "date": (
        "date day analysis-date analysed analyzed analysed-on analyzed-on when report-date created date-of-analysis "
        "reviewed written analysed-at analyzed-at"
    ),
    "run_date": "run-date date-of-run started run-started started-at ran-on run-on finished completed",
    "rate": (
        "pass-rate pass-rates recorded-pass-rate recorded-pass-rates passrate score result results overall "
        "overall-pass-rate passing passed-total outcome overall-result overall-score success-rate headline"
    ),
    "passed": "passed passes pass evals-passed passed-evals green",
    "failed": "failed failures fails fail evals-failed failed-evals failing red",
    "total": "total total-evals evals cases tests evals-total total-cases",
}


def _by_name(roles: dict[str, str]) -> dict[str, str]:
    return {name: role for role, names in roles.items() for name in names.split()}


FAILURE, RUN = _by_name(_FAILURE), _by_name(_RUN)


def role_of(name: str, roles: dict[str, str]) -> str:
    """The role of a column or field; empty where its name is none of the known ones."""
    return roles.get(_key(name), "")


def _key(name: str) -> str:
    """`totalEvals` is `total-evals`."""
    bare = name.partition("(")[0].partition(":")[0]
    return folded(re.sub(r"(?<=[a-z])(?=[A-Z])", "-", bare))


def columns_of(header: tuple[str, ...], roles: dict[str, str]) -> dict[str, int]:
    """Role → column. Of two columns with the same role, the one whose name is earlier in the list of names wins."""
    return dict(_columns_of(header, is_failure=roles is FAILURE))


@lru_cache(maxsize=4_096)
def _columns_of(header: tuple[str, ...], *, is_failure: bool) -> dict[str, int]:
    """Kept, because every row of a table asks again."""
    roles = FAILURE if is_failure else RUN
    order = {name: place for place, name in enumerate(roles)}
    columns: dict[str, tuple[int, int]] = {}
    for at, name in enumerate(header):
        role = role_of(name, roles) or (_loose_role(name) if is_failure else "")
        if role:
            rank = order.get(_key(name), len(order))
            columns[role] = min(columns.get(role, (rank, at)), (rank, at))
    return {role: at for role, (_, at) in columns.items()}


_FORMER = lazy_regex(r"\b(?:prior|previous(?:ly)?|before|earlier|last|old|was|initial(?:ly)?|former|first|original)\b")
_LOOSE = (
    ("label", lazy_regex(r"\b(?:classification|verdict|label)\b")),
    ("step", lazy_regex(r"\b(?:failed|failing|failure)-(?:step|stage)\b|\bstep\b")),
    ("reasoning", lazy_regex(r"\breason(?:ing)?\b")),
)


def is_former(title: str) -> bool:
    """`Prior classification`: a column about the time before."""
    return _FORMER.search(folded(title)) is not None


def _loose_role(title: str) -> str:
    """`Classification now`, `Our verdict`"""
    name = folded(title)
    return "" if is_former(title) else next((role for role, form in _LOOSE if form.search(name)), "")


class LabelledField(NamedTuple):
    role: str
    value: Words
    line: int
    """How many lines below the beginning of the piece."""


def fields_in(words: Words, roles: dict[str, str]) -> list[LabelledField]:
    """The fields with known names. A line holds fields if it starts with one."""
    fields: list[LabelledField] = []
    start = 0
    for at, line in enumerate(words.text.split("\n")):
        part = words.cut(start, start + len(line))
        start += len(line) + 1
        fields += [LabelledField(role, value, at) for role, value in _of_line(part, roles)]
    return fields


def _of_line(line: Words, roles: dict[str, str]) -> Iterator[tuple[str, Words]]:
    names = sorted({*_with_colon(line, roles), *_bold(line, roles)})
    if not names or re.search(r"\w", line.text[: names[0][0]]):
        return
    starts = [start for start, _, _ in names[1:]]
    for (_, begin, role), end in zip(names, [*starts, len(line.text)], strict=True):
        yield role, _stripped(line.cut(begin, max(begin, end)))


Start = tuple[int, int, str]
"""Where a name begins, where its value does, and what it holds."""


def _with_colon(line: Words, roles: dict[str, str]) -> Iterator[Start]:
    for match in _names(frozenset(roles)).finditer(line.text):
        yield match.start(1), match.end(), role_of(match[1], roles)


def _bold(line: Words, roles: dict[str, str]) -> Iterator[Start]:
    """`**Run** jn7w1k1a`: where the name is bold, nothing else has to part it from its value."""
    for start, end in line.bold:
        role = role_of(line.text[start:end].strip(), roles)
        if role and ":" not in line.text[start:end] and not line.text[end:].lstrip().startswith(":"):
            yield start, end, role


def _stripped(value: Words) -> Words:
    left = len(value.text) - len(value.text.lstrip(" \t:–—"))
    right = len(value.text.rstrip(" \t·|;,•-–—*"))
    return value.cut(left, max(left, right))


@cache
def _names(names: frozenset[str]) -> re.Pattern[str]:
    """A name at the beginning of a line or behind a separator, with a colon after it."""
    longest_first = sorted(names, key=len, reverse=True)
    pattern = "|".join(r"[\s_-]*".join(map(re.escape, name.split("-"))) for name in longest_first)
    return re.compile(
        rf"(?:^|[·|;•>,]|(?<=\s)[-–—])[\s*_-]*(?:[^\w\s`\"'(\[*]{{1,3}}\s*\**)?({pattern})\s*(?:\([^()\n]{{0,30}}\)\s*)?"
        r"(?:[:：=]|\s[–—]\s|(?:(?<=\w)\t|(?<=\w) {2,})(?=\S))",
        re.I,
    )
