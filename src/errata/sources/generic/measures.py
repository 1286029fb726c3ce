"""The result of a row: execution, measurement, outcome, checks and errors."""

from collections.abc import Collection, Sequence
from typing import Any, NamedTuple, cast

from errata.model import Check, ErrorInfo, SourceRef
from errata.model.words import EXECUTIONS, CheckStatus, ErrorText, Execution, Measurement, Outcome, Phase
from errata.sources.base import number_or_none
from errata.sources.generic.mapping import Get, Mapping, StatusWords, VerdictColumn, as_check, getter
from errata.sources.generic.values import NOTHING, is_empty, plain_number, rate, structured, text, yes_or_no
from errata.sources.shared.values import plain
from errata.text.lazy_regex import lazy_regex

NO_ERROR = ("false", "no", "0", "-", "{}", "[]", "no error", "ok", "success")
"""What tables write where there was no error."""
NEVER_MADE = ("skipped", "unfinished", "missing")
# the last line of a Python traceback: `openai.RateLimitError: slow down`
_TYPED = lazy_regex(r"([A-Za-z_][\w.]*(?:Error|Exception|Timeout|Interrupt|Exit|Failure|Expired))(?::\s*|$)")
_NAMES = {
    "type": ("type", "name", "class", "error_type", "exception"),
    "message": ("message", "msg", "detail", "error", "text"),
    "traceback": ("traceback", "stack", "stacktrace", "trace"),
    "code": ("code", "status_code", "status"),
}


class RowMeasurement(NamedTuple):
    outcome: Outcome | None
    """None if the row has no value."""
    reported: float | None
    native: str
    """The harness's own word, if any."""
    odd: Any
    """A value of `passed` that is neither yes nor no."""
    odd_score: Any = None
    """A score that is not a number."""


class PassRule(NamedTuple):
    threshold: float | None
    lower_is_better: bool

    def passes(self, value: float) -> bool | None:
        """None without a threshold."""
        if self.threshold is None:
            return None
        return value <= self.threshold if self.lower_is_better else value >= self.threshold


class CheckRule(NamedTuple):
    order: int
    name: str
    get: Get
    rule: PassRule
    counts: bool
    explanation: Get | None
    judge: str = ""
    is_measured: bool = False
    """Whether its numbers are measured values, not yes or no: the column has others than 0 and 1."""


def check_rules(mapping: Mapping, columns: Collection[str], sample: Sequence[Any] = ()) -> tuple[CheckRule, ...]:
    """`sample` are the first rows: they show which columns hold measured values."""
    rules = []
    for order, (name, asked) in enumerate(mapping.checks.items()):
        column = as_check(asked)
        explanation = getter(column.explanation, columns) if column.explanation else None
        rule = PassRule(column.threshold, column.lower_is_better)
        get, judge = number_getter(column.column, columns, mapping), judge_name(column, mapping)
        rules.append(CheckRule(order, name, get, rule, column.counts, explanation, judge, _is_measured(get, sample)))
    return tuple(rules)


def _is_measured(get: Get, sample: Sequence[Any]) -> bool:
    values = (number_or_none(get(row)) for row in sample if type(row) is dict)
    return any(value not in (None, 0, 1) for value in values)


def number_getter(column: str, columns: Collection[str], mapping: Mapping) -> Get:
    """A getter that reads decimal commas, if the mapping has them."""
    get = getter(column, columns)
    return get if mapping.decimal == "." else lambda row: plain_number(get(row))


def judge_name(column: str | VerdictColumn | None, mapping: Mapping) -> str:
    """The judge that gave a verdict; empty for a program's."""
    if not isinstance(column, VerdictColumn) or not column.judge:
        return ""
    if isinstance(column.judge, str):
        return column.judge
    return mapping.run.judge if isinstance(mapping.run.judge, str) and mapping.run.judge else "judge"


def deciding_check(outcome: Outcome | None, reported: float | None, judge: str, order: int) -> Check | None:
    """The verdict on the whole as a check, for mappings that distinguish judges from programs."""
    if outcome not in ("pass", "fail"):
        return None
    return Check(name="passed", status=outcome, order=order, value=reported, judge=judge, is_primary=True)


def check(rule: CheckRule, row: dict[str, Any]) -> Check:
    value = rule.get(row)
    status, shown = _check_status(rule, value)
    explanation = rule.explanation(row) if rule.explanation else None
    return Check(
        name=rule.name,
        order=rule.order,
        status=status,
        kind="assertion" if rule.rule.threshold is None else "dimension",
        value=shown,
        threshold=rule.rule.threshold,
        lower_is_better=rule.rule.lower_is_better,
        # a number without a threshold has no pass rule
        counts=rule.counts and status != "number",
        explanation="" if is_empty(explanation) else text(explanation),
        judge=rule.judge,
    )


def _check_status(asked: CheckRule, value: Any) -> tuple[CheckStatus, float | str | bool | None]:
    if is_empty(value) or (isinstance(value, str) and value.strip().lower() in NOTHING):
        return "not_applicable", None
    number = number_or_none(value)
    passes = asked.rule.passes(number) if number is not None else None
    if passes is None and not (asked.is_measured and number is not None):
        passes = yes_or_no(value)
    shown = number if number is not None else value if isinstance(value, bool) else text(plain(value))
    if passes is None:
        return "unscored" if number is None else "number", shown
    return "pass" if passes else "fail", shown


def measure_row(passed: Any, score: Any, rule: PassRule) -> RowMeasurement:
    """The harness's own pass or fail takes precedence over its score, which is a number without a threshold.

    Where a table has no other scores than 1 and 0, they are yes and no.
    """
    flag = None if is_empty(passed) else yes_or_no(passed)
    odd = plain(passed) if flag is None and not is_empty(passed) else None
    native = passed if isinstance(passed, str) else ""
    value = rate(score)
    if value is None:
        score_flag = yes_or_no(score)
        value = None if score_flag is None else float(score_flag)
    decided = flag if flag is not None else rule.passes(value) if value is not None else None
    if decided is not None:
        return RowMeasurement("pass" if decided else "fail", float(decided) if value is None else value, native, odd)
    odd_score = plain(score) if value is None and not is_empty(score) else None
    native = odd_score if isinstance(odd_score, str) and is_empty(passed) else native
    known: dict[float | None, Outcome | None] = {None: None}
    if not rule.lower_is_better:
        known |= {0: "fail", 1: "pass"}
    return RowMeasurement(known.get(value, "number"), value, native, odd, odd_score)


def outcome_of_checks(checks: tuple[Check, ...]) -> Outcome | None:
    statuses = {one.status for one in checks if one.counts}
    if "fail" in statuses:
        return "fail"
    if "pass" in statuses:
        return "pass"
    return "number" if any(one.status == "number" for one in checks) else None


def facts(execution: Execution, outcome: Outcome | None, *, measures: bool) -> tuple[Measurement, Outcome]:
    """Measurement and outcome. A crash has no outcome; the score that a harness gives it is only kept as reported."""
    if execution in NEVER_MADE:
        return "not_run", "none"
    if outcome is None:
        return "unscored" if measures and execution == "completed" else "not_run", "none"
    return "scored", "none" if execution in ("error", "cancelled") else outcome


def executions(words: StatusWords) -> dict[str, Execution]:
    """The harness's status words → ours. Our own words need no mapping."""
    known = {name: cast(Execution, name) for name in EXECUTIONS}
    for name in StatusWords.__struct_fields__:
        for word in getattr(words, name):
            known[word.strip().lower()] = cast(Execution, name)
    return known


def errors(value: Any, *, phase: Phase, ref: SourceRef) -> tuple[ErrorInfo, ...]:
    """The errors in a cell; empty for values such as `none` or `n/a`."""
    value = structured(value)
    if not value or value != value or (isinstance(value, str) and value.strip().lower() in (*NOTHING, *NO_ERROR)):
        return ()
    if isinstance(value, list):
        return tuple(info for child in value for info in errors(child, phase=phase, ref=ref))
    if isinstance(value, dict):
        return (_from_object(value, phase, ref),)
    return (_from_text("" if value is True else text(value), phase, ref),)


def _from_text(message: str, phase: Phase, ref: SourceRef) -> ErrorInfo:
    traceback = ""
    if "Traceback (most recent call last)" in message:
        traceback = message
        message = next((line for line in reversed(message.splitlines()) if line[:1].strip()), message)
    typed = _TYPED.match(message)
    if typed is None:
        unnamed: tuple[ErrorText, ...] = ("type",)
        return ErrorInfo(type="error", message=message, traceback=traceback, phase=phase, derived=unnamed, ref=ref)
    return ErrorInfo(type=typed[1], message=message[typed.end() :], traceback=traceback, phase=phase, ref=ref)


def _from_object(value: dict[str, Any], phase: Phase, ref: SourceRef) -> ErrorInfo:
    fields: dict[str, str] = {}
    used: set[str] = set()
    for field, names in _NAMES.items():
        name = next((name for name in names if isinstance(value.get(name), (str, int)) and name not in used), None)
        if name is not None and value[name] != "":
            fields[field] = text(value[name])
            used.add(name)
    rest = {key: plain(child) for key, child in value.items() if key not in used and child is not None}
    if "message" not in fields:
        fields["message"] = text(value) if "type" not in fields else ""
    unnamed: tuple[ErrorText, ...] = () if "type" in fields else ("type",)
    fields.setdefault("type", "error")
    return ErrorInfo(**fields, phase=phase, derived=unnamed, ref=ref, extra=rest)  # type: ignore[arg-type]
