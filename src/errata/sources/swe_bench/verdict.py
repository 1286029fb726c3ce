"""SWE-bench's verdict on one patch: `report.json` or, without it, the log of the evaluation."""

import re
from pathlib import Path
from typing import Any, NamedTuple

from msgspec.structs import replace

from errata.model import Artefact, Check, ErrorInfo, SourceRef
from errata.model.words import ArtefactRole, CheckStatus, ErrorText, Phase
from errata.sources.shared.documents import Documents
from errata.sources.shared.values import mapping, rest, sequence, text
from errata.sources.swe_bench import INSTANCE_LOG, REPORT
from errata.text.lazy_regex import lazy_regex
from errata.text.redact import redact

_FILES: tuple[tuple[str, ArtefactRole], ...] = (
    ("patch.diff", "patch"),
    ("test_output.txt", "log"),
    (INSTANCE_LOG, "log"),
    ("eval.sh", "grader"),
)
_HOMES = frozenset(
    ["patch_is_None", "patch_exists", "patch_successfully_applied", "resolved", "infra_failure", "tests_status"]
)
# SWE-bench's own texts, which nothing else writes
_NOT_APPLIED = lazy_regex(r"^.*>>>>> Patch Apply Failed", re.MULTILINE)
_TIMED_OUT = lazy_regex(r"Test timed out after \d+ seconds")
_RAISED = lazy_regex(
    r"^(?:[\w.]*\.)?(?P<type>[A-Z]\w*(?:Error|Exception|Timeout)\b)[:\s](?P<message>.*)$", re.MULTILINE
)
SCORER = "SWE-bench"
TESTS_CAP = 2_000
_DECIDING = ("FAIL_TO_PASS", "PASS_TO_PASS")
"""Only these decide whether a patch resolves its instance; the others are listed beside them."""
_APPLIED: dict[Any, CheckStatus] = {True: "pass", False: "fail"}


class PatchVerdict(NamedTuple):
    """`resolved` is None if no patch was measured."""

    resolved: bool | None = None
    reason: str = ""
    """SWE-bench's reason why the environment may not have worked."""
    is_infra: bool = False
    checks: tuple[Check, ...] = ()
    errors: tuple[ErrorInfo, ...] = ()
    artefacts: tuple[Artefact, ...] = ()
    ref: SourceRef | None = None
    extra: dict[str, Any] = {}


def verdict_of(folder: Path, documents: Documents) -> PatchVerdict:
    document = documents.get(folder / REPORT)
    files = [documents.artefact(folder / name, role, name=name, clean=role == "log") for name, role in _FILES]
    artefacts = tuple(one for one in files if one is not None)
    report = mapping(document.get(folder.name)) or mapping(next(iter(document.values()), None))
    if not report:
        return _without_report(artefacts, documents.ref(folder / INSTANCE_LOG))
    resolved = report.get("resolved")
    ref = documents.ref(folder / REPORT, f"/{folder.name}")
    is_infra = report.get("infra_failure") is True
    reason = text(report.get("infra_failure_reason"))
    return PatchVerdict(
        resolved=resolved if isinstance(resolved, bool) else None,
        reason=reason,
        is_infra=is_infra,
        checks=checks_of(report, ref),
        errors=(measurement_error(reason, "", "environment", ref),) if is_infra else (),
        artefacts=artefacts,
        ref=ref,
        extra=rest(report, _HOMES),
    )


def measurement_error(reason: str, message: str, phase: Phase, ref: SourceRef | None) -> ErrorInfo:
    kind = reason or "EvaluationError"
    derived: tuple[ErrorText, ...] = () if reason else ("type",) if message else ("type", "message")
    message = message or reason or "the evaluation left no report"
    return ErrorInfo(type=kind, message=message, phase=phase, derived=derived, ref=ref)


def _without_report(artefacts: tuple[Artefact, ...], ref: SourceRef) -> PatchVerdict:
    """Harness versions before 5 only have the cause of an error in the log."""
    log = "\n".join(one.text or "" for one in artefacts if one.path == INSTANCE_LOG)
    if not log:
        return PatchVerdict(artefacts=artefacts)
    if _NOT_APPLIED.search(log):
        check = Check(name="patch_applied", status="fail", kind="step", scorer="SWE-bench", ref=ref)
        return PatchVerdict(resolved=False, checks=(check,), artefacts=artefacts, ref=ref)
    if timed_out := _TIMED_OUT.search(log):
        error = replace(measurement_error("tests_timed_out", timed_out[0], "scoring", ref), derived=("type",))
        return PatchVerdict(reason="tests_timed_out", errors=(error,), artefacts=artefacts, ref=ref)
    return PatchVerdict(errors=(_error_in_log(log, ref),), artefacts=artefacts, ref=ref)


def _error_in_log(log: str, ref: SourceRef) -> ErrorInfo:
    """The last exception in the log; without one, its last line."""
    raised = [*_RAISED.finditer(log)]
    if raised:
        return measurement_error(raised[-1]["type"], redact(raised[-1]["message"].strip()), "environment", ref)
    lines = [line.strip() for line in log.splitlines() if line.strip()]
    return measurement_error("", redact(lines[-1]) if lines else "", "environment", ref)


def checks_of(report: dict[str, Any], ref: SourceRef) -> tuple[Check, ...]:
    applied = report.get("patch_successfully_applied")
    checks = [
        Check(
            name="patch_applied",
            status=_APPLIED.get(applied, "unscored"),
            kind="step",
            scorer=SCORER,
            ref=ref,
            extra={key: report[key] for key in ("patch_is_None", "patch_exists") if key in report},
        )
    ]
    for name, lists in mapping(report.get("tests_status")).items():
        checks += _group(name, mapping(lists), ref.below("tests_status", name))
    return tuple(checks)


def _group(name: str, lists: dict[str, Any], ref: SourceRef) -> list[Check]:
    """The group decides; failed tests, and tests that had to be fixed, are listed beside it."""
    passed, failed = ([text(test) for test in sequence(lists.get(key))] for key in ("success", "failure"))
    counts = name in _DECIDING
    if not passed and not failed and not counts:
        return []
    group = Check(
        name=name,
        status="fail" if failed else "pass" if passed else "not_applicable",
        kind="tests",
        scorer=SCORER,
        achieved=len(passed),
        max=len(passed) + len(failed),
        counts=counts,
        ref=ref,
    )
    # thousands of tests may have passed before and after: only their number is kept
    listed: list[tuple[str, CheckStatus]] = [(test, "fail") for test in failed]
    listed += [(test, "pass") for test in passed] if name != "PASS_TO_PASS" else []
    return [group, *(_test(test, status, name, order, ref) for order, (test, status) in enumerate(listed[:TESTS_CAP]))]


def _test(test: str, status: CheckStatus, group: str, order: int, ref: SourceRef) -> Check:
    return Check(
        name=f"{group}: {test}", status=status, kind="tests", scorer=SCORER, order=order + 1, counts=False, ref=ref
    )
