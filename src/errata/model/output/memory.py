"""The shapes of `--json` for the history of a run and of its cases."""

from typing import Literal

import msgspec

Worked = Literal["yes", "no", "unknown"]


class Mention(msgspec.Struct, frozen=True, kw_only=True):
    """What one earlier report says of a case."""

    report: str
    line: int | None
    date: str
    run: str
    model: str
    label: str
    by_rule: bool
    """Whether nobody had reviewed the failure that errata labelled so."""
    failed_check: str
    text: str


class FailedRun(msgspec.Struct, frozen=True, kw_only=True):
    """Another run of the store in which the same case failed."""

    run: str
    run_id: str
    at: str
    model: str


class EffectOutput(msgspec.Struct, frozen=True, kw_only=True):
    """An action, and what a run shows of it."""

    date: str
    path: str
    what: str
    cases: tuple[str, ...]
    worked: Worked
    why: str
    report: str


class OtherModelsOutput(msgspec.Struct, frozen=True, kw_only=True):
    reports: tuple[Mention, ...]
    runs: tuple[FailedRun, ...]


class CaseHistoryOutput(msgspec.Struct, frozen=True, kw_only=True):
    """The key `before` of a failure."""

    is_repeat: bool
    reports: tuple[Mention, ...]
    runs: tuple[FailedRun, ...]
    should_be_gone: bool
    actions: tuple[EffectOutput, ...]
    other_models: OtherModelsOutput


class EarlierReportOutput(msgspec.Struct, frozen=True, kw_only=True):
    report: str
    date: str
    run: str
    passed: int | None
    total: int | None
    own: bool


class UnreadReportOutput(msgspec.Struct, frozen=True, kw_only=True):
    path: str
    why: str


class RepeatsOutput(msgspec.Struct, frozen=True, kw_only=True):
    in_reports: int
    in_runs: int
    should_be_gone: int


class AmbiguousNameOutput(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    report: str
    line: int | None
    cases: tuple[str, ...]


class RunHistoryOutput(msgspec.Struct, frozen=True, kw_only=True):
    """The history of a run in `analyze --json`."""

    earlier_reports: tuple[EarlierReportOutput, ...]
    reports_of_other_models: int
    reports_not_read: tuple[UnreadReportOutput, ...]
    repeats: RepeatsOutput
    ambiguous_names: tuple[AmbiguousNameOutput, ...]
    actions: tuple[EffectOutput, ...]
