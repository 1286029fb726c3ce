"""What SWE-bench says of one patch: `report.json`, or, without it, its log of the evaluation."""

import re
from pathlib import Path
from typing import Any, NamedTuple

from errata.model import Artefact, Check, ErrorInfo, SourceRef
from errata.model.words import ArtefactRole, Phase
from errata.sources.shared.documents import Documents
from errata.sources.shared.values import mapping, rest, text
from errata.sources.swe_bench.layout import INSTANCE_LOG, REPORT
from errata.sources.swe_bench.tests_status import checks_of
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
# SWE-bench's own words, written by nobody else
_NOT_APPLIED = re.compile(r"^.*>>>>> Patch Apply Failed", re.MULTILINE)
_TIMED_OUT = re.compile(r"Test timed out after \d+ seconds")
_RAISED = re.compile(
    r"^(?:[\w.]*\.)?(?P<type>[A-Z]\w*(?:Error|Exception|Timeout)\b)[:\s](?P<message>.*)$", re.MULTILINE
)


class Verdict(NamedTuple):
    """`resolved` is absent where no patch was measured."""

    resolved: bool | None = None
    applied: bool | None = None
    reason: str = ""
    """SWE-bench's word for what may have kept the environment from working."""
    is_infra: bool = False
    checks: tuple[Check, ...] = ()
    errors: tuple[ErrorInfo, ...] = ()
    artefacts: tuple[Artefact, ...] = ()
    ref: SourceRef | None = None
    extra: dict[str, Any] = {}


def verdict_of(folder: Path, documents: Documents) -> Verdict:
    """About the instance whose folder it is."""
    document = documents.get(folder / REPORT)
    found = [documents.artefact(folder / name, role, name=name, clean=role == "log") for name, role in _FILES]
    artefacts = tuple(one for one in found if one is not None)
    told = mapping(document.get(folder.name)) or mapping(next(iter(document.values()), None))
    if not told:
        return _without_report(artefacts, documents.ref(folder / INSTANCE_LOG))
    resolved = told.get("resolved")
    ref = documents.ref(folder / REPORT, f"/{folder.name}")
    is_infra = told.get("infra_failure") is True
    reason = text(told.get("infra_failure_reason"))
    return Verdict(
        resolved=resolved if isinstance(resolved, bool) else None,
        applied=_applied(told),
        reason=reason,
        is_infra=is_infra,
        checks=checks_of(told, ref),
        errors=(broken(reason, "", "environment", ref),) if is_infra else (),
        artefacts=artefacts,
        ref=ref,
        extra=rest(told, _HOMES),
    )


def broken(reason: str, message: str, phase: Phase, ref: SourceRef | None) -> ErrorInfo:
    """Something that kept a patch from being measured."""
    kind = reason or "EvaluationError"
    return ErrorInfo(type=kind, message=message or reason or "the evaluation left no report", phase=phase, ref=ref)


def _applied(told: dict[str, Any]) -> bool | None:
    applied = told.get("patch_successfully_applied")
    return applied if isinstance(applied, bool) else None


def _without_report(artefacts: tuple[Artefact, ...], ref: SourceRef) -> Verdict:
    """Harnesses before 5 keep the cause of an error in the log alone."""
    log = "\n".join(one.text or "" for one in artefacts if one.path == INSTANCE_LOG)
    if not log:
        return Verdict(artefacts=artefacts)
    if _NOT_APPLIED.search(log):
        check = Check(name="patch_applied", status="fail", kind="step", scorer="SWE-bench", ref=ref)
        return Verdict(resolved=False, applied=False, checks=(check,), artefacts=artefacts, ref=ref)
    if timed_out := _TIMED_OUT.search(log):
        error = broken("tests_timed_out", timed_out[0], "scoring", ref)
        return Verdict(reason="tests_timed_out", errors=(error,), artefacts=artefacts, ref=ref)
    return Verdict(errors=(_logged(log, ref),), artefacts=artefacts, ref=ref)


def _logged(log: str, ref: SourceRef) -> ErrorInfo:
    """The last exception in the log; without one, its last line."""
    raised = [*_RAISED.finditer(log)]
    if raised:
        return broken(raised[-1]["type"], redact(raised[-1]["message"].strip()), "environment", ref)
    lines = [line.strip() for line in log.splitlines() if line.strip()]
    return broken("", redact(lines[-1]) if lines else "", "environment", ref)
