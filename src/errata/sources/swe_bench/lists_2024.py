"""SWE-bench's reports of 2024: lists of instance ids by what became of them, and a log per instance.

`logs/<instance>.<model>.eval.log` lies beside the report. A log names neither the tests that had to pass nor those that
decided, so the tests it lists are shown beside the verdict and count for nothing.
"""

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from errata.model import Artefact, Check, ErrorInfo, Reported, SourceRef
from errata.model.words import CheckStatus, Phase
from errata.sources.shared.documents import Documents, children
from errata.sources.shared.values import text
from errata.sources.swe_bench.instances import Instance
from errata.sources.swe_bench.verdict import SCORER, TESTS_CAP, PatchVerdict, measurement_error
from errata.text.clean import clean

LISTS = ("no_generation", "generated", "with_logs", "install_fail", "reset_failed", "no_apply", "applied",
         "test_errored", "test_timeout", "resolved")  # fmt: skip
_LOG = re.compile(r"^(?P<instance>[\w.-]+?__[\w.-]+?-\d+)\.(?P<model>.+)\.eval\.log$")
_REFERENCE = re.compile(r"(?:^|[-_/ ])(?:gold|golden|reference)$", re.IGNORECASE)
_BROKEN: tuple[tuple[str, str, Phase], ...] = (
    # list, what it means, where it broke
    ("install_fail", "the installation of the repository failed", "setup"),
    ("reset_failed", "the repository could not be reset before the evaluation", "environment"),
    ("test_timeout", "the tests timed out", "scoring"),
    ("test_errored", "the test command failed", "scoring"),
)
# SWE-bench's own markers, and how its test runners list single tests
_APPLIED_TESTS = ">>>>> Applied Patch (test)"
_TEST = re.compile(
    r"^(?P<pytest>PASSED|FAILED|ERROR) (?P<path>[^\s()]+(?:\.py|::)\S*)"
    r"|^(?P<django>\w+ \([\w.]+\)) \.\.\. (?P<django_status>ok|FAIL|ERROR)$"
    r"|^(?P<sympy>test_\w+) (?P<sympy_status>ok|F|E)\b",
    re.MULTILINE,
)
_PASSED = ("PASSED", "ok")


class InstanceLog(NamedTuple):
    path: Path
    model: str


def logs_beside(report: Path) -> dict[str, InstanceLog]:
    """By instance."""
    logs = {}
    for path in children(report.parent / "logs") if (report.parent / "logs").is_dir() else ():
        if match := _LOG.match(path.name):
            logs[match["instance"]] = InstanceLog(path, match["model"])
    return logs


def model_of(report: Path, logs: dict[str, InstanceLog]) -> str:
    """The report does not name it, but the logs do."""
    models = Counter(log.model for log in logs.values())
    return models.most_common(1)[0][0] if models else report.parent.name


def predictions_of(model: str) -> str:
    """`gold` where the reference patches themselves were evaluated."""
    return "gold" if _REFERENCE.search(model) else ""


def lists_by_instance(document: dict[str, Any]) -> dict[str, tuple[str, ...]]:
    lists: dict[str, list[str]] = {}
    for name in LISTS:
        ids = document.get(name)
        for instance in ids if isinstance(ids, list) else ():
            lists.setdefault(text(instance) or str(instance), []).append(name)
    return {instance: tuple(lists[instance]) for instance in sorted(lists)}


def numbers_of(document: dict[str, Any], ref: SourceRef) -> Iterator[Reported]:
    """How many are in each list: the report states no rate."""
    for name in LISTS:
        if isinstance(ids := document.get(name), list):
            metric = "passed" if name == "resolved" else "count"
            yield Reported(name=name, metric=metric, value=float(len(ids)), ref=ref.below(name))


def instance_of(
    name: str, lists: tuple[str, ...], log: InstanceLog | None, documents: Documents, ref: SourceRef
) -> Instance:
    artefact = documents.artefact(log.path, "log", name=log.path.name, clean=True) if log else None
    place = documents.ref(log.path) if log else ref
    error = _error(lists, place)
    verdict = PatchVerdict(
        resolved=_is_resolved(lists),
        applied="applied" in lists,
        reason="",
        checks=tuple(_checks(lists, artefact, place)),
        errors=(error,) if error else (),
        artefacts=(artefact,) if artefact else (),
        ref=place,
    )
    modern = ("resolved",) if "resolved" in lists else ("error",) if error else ()
    return Instance(
        name=name,
        ref=place,
        lists=modern or (("unresolved",) if verdict.resolved is False else ("incomplete",)),
        reason=error.type if error else "",
        verdict=verdict,
        counted="generated" in lists or "no_generation" in lists,
    )


def _is_resolved(lists: tuple[str, ...]) -> bool | None:
    """A patch that is missing or does not apply counts as measured; None where the measurement broke."""
    if "resolved" in lists:
        return True
    if any(name in lists for name, _, _ in _BROKEN):
        return None
    return False if {"no_apply", "applied", "no_generation"} & set(lists) else None


def _error(lists: tuple[str, ...], ref: SourceRef) -> ErrorInfo | None:
    for name, message, phase in _BROKEN:
        if name in lists and "resolved" not in lists:
            return measurement_error(name, message, phase, ref)
    return None


def _checks(lists: tuple[str, ...], log: Artefact | None, ref: SourceRef) -> Iterator[Check]:
    if "no_generation" in lists:
        yield Check(name="patch_exists", status="fail", kind="step", scorer=SCORER, ref=ref)
        return
    if "no_apply" in lists or "applied" in lists:
        applied: CheckStatus = "fail" if "no_apply" in lists else "pass"
        yield Check(name="patch_applied", status=applied, kind="step", scorer=SCORER, ref=ref)
    if "applied" not in lists or _is_resolved(lists) is None:
        return
    tests = dict(_tests(log.text or "")) if log else {}
    yield Check(
        name="tests",
        status="pass" if "resolved" in lists else "fail",
        kind="tests",
        scorer=SCORER,
        achieved=sum(tests.values()) if tests else None,
        max=len(tests) or None,
        ref=ref,
    )
    failed = [test for test, passed in tests.items() if not passed]
    for order, test in enumerate(failed[:TESTS_CAP]):
        yield Check(name=test, status="fail", kind="tests", scorer=SCORER, order=order + 1, counts=False, ref=ref)


def _tests(log: str) -> Iterator[tuple[str, bool]]:
    """Only what ran after the patch with the tests was applied; of a long log, what is kept of it."""
    log = clean(log[max(0, log.rfind(_APPLIED_TESTS)) :])
    for match in _TEST.finditer(log):
        status = match["pytest"] or match["django_status"] or match["sympy_status"]
        yield match["path"] or match["django"] or match["sympy"], status in _PASSED
