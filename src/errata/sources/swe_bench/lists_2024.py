"""SWE-bench's reports of 2024: lists of instance ids by result, and a log per instance.

`logs/<instance>.<model>.eval.log` lies beside the report. A log names neither the tests that had to pass nor those that
decided, so the tests it lists are shown beside the verdict and count for nothing.

Published submissions have a shorter form, `results/results.json` with `resolved`, `no_generation` and `no_logs`. It
does not name the instances that failed: these are known from the logs and predictions in the folder of the run.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from msgspec.structs import replace

from errata.model import Artefact, Check, ErrorInfo, FileConflict, Output, Reported, SourceRef
from errata.model.words import CheckStatus, Phase
from errata.sources.base import children
from errata.sources.shared.documents import Documents
from errata.sources.shared.values import sequence, text
from errata.sources.swe_bench.instances import Instance
from errata.sources.swe_bench.verdict import SCORER, TESTS_CAP, PatchVerdict, measurement_error
from errata.text.clean import clean
from errata.text.lazy_regex import lazy_regex
from errata.text.pytest_output import counts_in, own_output
from errata.text.redact import redact

LISTS = ("no_generation", "generated", "with_logs", "no_logs", "install_fail", "reset_failed", "no_apply", "applied",
         "test_errored", "test_timeout", "resolved")  # fmt: skip
UNRESOLVED = "unresolved"
"""For instances that a short report does not name."""
RESULT_FOLDERS = ("results", "result", "evaluation", "eval", "report", "reports", "output", "outputs")
_SPLITS = {"lite": 300, "verified": 500, "test": 2294, "multimodal": 517}
_SUBMISSION = lazy_regex(r"/evaluation/(?P<split>lite|verified|test|multimodal)/[^/]+(?:/results)?/[^/]+\.json$")
CONFLICTS_NAMED = 200
NO_FAILURES = "it does not name the instances that failed, so the pass rate is unknown; import the folder with its logs"
_LOG = lazy_regex(r"^(?=.{1,300}\Z)(?P<instance>[\w.-]+?__[\w.-]+?-\d+)\.(?P<model>.+)\.eval\.log$")
_REFERENCE = lazy_regex(r"(?:^|[-_/ ])(?:gold|golden|reference)$", re.IGNORECASE)
_BROKEN: tuple[tuple[str, str, Phase], ...] = (
    # list, what it means, where it broke
    ("no_logs", "the evaluation left no log", "environment"),
    ("install_fail", "the installation of the repository failed", "setup"),
    ("reset_failed", "the repository could not be reset before the evaluation", "environment"),
    ("test_timeout", "the tests timed out", "scoring"),
    ("test_errored", "the test command failed", "scoring"),
)
# SWE-bench's own markers, and how its test runners list single tests
_APPLIED_TESTS = ">>>>> Applied Patch (test)"
_TEST = lazy_regex(
    r"^(?P<pytest>PASSED|FAILED|ERROR) (?P<path>[^\s()]+(?:\.py|::)\S*)"
    r"|^(?P<django>\w+ \([\w.]+\)) \.\.\. (?P<django_status>ok|FAIL|ERROR)$"
    r"|^(?P<sympy>test_\w+) (?P<sympy_status>ok|F|E)\b",
    re.MULTILINE,
)
_PASSED = ("PASSED", "ok")
_FINISHED = lazy_regex(r"^[= ]*tests finished: (?P<counts>\d.*)$", re.MULTILINE)
_COUNT = lazy_regex(r"(?<!\d)(\d++) (passed|failed|exceptions)")
_RAN = lazy_regex(r"^Ran (?P<ran>\d+) tests? in [\d.]+s\n\s*(?:OK|FAILED)(?: \((?P<counts>[\w =,]+)\))?$", re.MULTILINE)
_UNITTEST_COUNT = lazy_regex(r"(failures|errors|skipped)=(\d+)")
# git's words about a patch that it can't apply
_REFUSED = lazy_regex(
    r"^error: (?:patch failed: .+|.+: (?:patch does not apply|No such file or directory|does not exist in index"
    r"|already exists in working directory)|corrupt patch at line \d+|No valid patches in input.*)$",
    re.MULTILINE,
)


class InstanceLog(NamedTuple):
    path: Path
    model: str


def run_folder(report: Path) -> Path:
    """The folder that is named after the run: a published submission has its report in `results`."""
    return report.parent.parent if report.parent.name.lower() in RESULT_FOLDERS else report.parent


def logs_beside(report: Path) -> dict[str, InstanceLog]:
    logs = {}
    for folder in dict.fromkeys((run_folder(report) / "logs", report.parent / "logs")):
        for path in children(folder) if folder.is_dir() else ():
            if match := _LOG.match(path.name):
                logs[match["instance"]] = InstanceLog(path, match["model"])
    return logs


def model_of(name: str, logs: dict[str, InstanceLog], predicted: Collection[str] = ()) -> str:
    """The report does not name it, but the logs do, or the only model of the predictions."""
    models = Counter(log.model for log in logs.values())
    if models:
        return models.most_common(1)[0][0]
    return next(iter(predicted)) if len(predicted) == 1 else name


def is_short(document: dict[str, Any]) -> bool:
    """Whether a report names only some of its instances."""
    return "generated" not in document


def total_of(report: Path, document: dict[str, Any]) -> int | None:
    """How many instances a published submission was evaluated on: its folder names the split."""
    match = _SUBMISSION.search(report.as_posix()) if is_short(document) else None
    return _SPLITS[match["split"]] if match else None


def predictions_of(model: str) -> str:
    """`gold` where the reference patches themselves were evaluated."""
    return "gold" if _REFERENCE.search(model) else ""


def lists_by_instance(document: dict[str, Any], others: Iterable[str] = ()) -> dict[str, tuple[str, ...]]:
    """`others`: instances that were evaluated, whether or not the report names them."""
    lists: dict[str, list[str]] = {}
    for name in LISTS:
        ids = document.get(name)
        for instance in ids if isinstance(ids, list) else ():
            lists.setdefault(text(instance) or str(instance), []).append(name)
    if is_short(document):
        lists |= {instance: [UNRESOLVED] for instance in others if instance not in lists}
    return {instance: tuple(lists[instance]) for instance in sorted(lists)}


def conflicts_of(
    document: dict[str, Any], ref: SourceRef, others: Mapping[str, dict[str, Any]]
) -> Iterator[FileConflict]:
    """Reports in the same folder, by file, that resolve other instances."""
    own = resolved_in(document)
    for file, other in others.items():
        differing = sorted(own ^ resolved_in(other))
        if differing:
            counted, stated = len(own), len(resolved_in(other))
            yield FileConflict(
                text=f"{ref.file} has {counted} resolved, {file} has {stated}; {ref.file} counts",
                counted=counted,
                stated=stated,
                cases=tuple(differing[:CONFLICTS_NAMED]),
                differing=len(differing),
                ref=ref.below("resolved"),
            )


def resolved_in(document: dict[str, Any]) -> set[str]:
    return {text(instance) or str(instance) for instance in sequence(document.get("resolved"))}


def numbers_of(document: dict[str, Any], ref: SourceRef, total: int | None = None) -> Iterator[Reported]:
    """How many are in each list: the report states no rate. `total` is known for published submissions."""
    if total:
        resolved = len(resolved_in(document))
        yield Reported(name="resolved", metric="pass_rate", value=resolved / total, n=total, headline=True, ref=ref)
    for name in LISTS:
        if isinstance(ids := document.get(name), list):
            metric = "passed" if name == "resolved" else "count"
            yield Reported(name=name, metric=metric, value=float(len(ids)), ref=ref.below(name))


def instance_of(
    name: str,
    lists: tuple[str, ...],
    log: InstanceLog | None,
    documents: Documents,
    ref: SourceRef,
    *,
    patch: Output,
    elsewhere: Mapping[str, bool] | None = None,
) -> Instance:
    """`elsewhere`: other report → whether it lists the instance as resolved."""
    artefact = documents.artefact(log.path, "log", name=log.path.name, clean=True) if log else None
    place = documents.ref(log.path) if log else ref
    error = _error(lists, place)
    verdict = PatchVerdict(
        resolved=_is_resolved(lists),
        reason="",
        checks=(*_checks(lists, artefact, place), *_in_other_reports(lists, elsewhere or {}, ref)),
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
        patch=patch,
        counted=any(name in lists for name in ("generated", "no_generation", "no_logs", "resolved", UNRESOLVED)),
    )


def _in_other_reports(lists: tuple[str, ...], elsewhere: Mapping[str, bool], ref: SourceRef) -> Iterator[Check]:
    for file, resolved in elsewhere.items():
        if resolved != ("resolved" in lists):
            verdict = "resolved" if resolved else "not resolved"
            yield Check(
                name=f"{file}: resolved",
                status="pass" if resolved else "fail",
                kind="tests",
                scorer=SCORER,
                counts=False,
                explanation=f"{file} lists it as {verdict}",
                ref=ref,
            )


def _is_resolved(lists: tuple[str, ...]) -> bool | None:
    """A patch that is missing or does not apply counts as measured; None where the measurement broke."""
    if "resolved" in lists:
        return True
    if any(name in lists for name, _, _ in _BROKEN):
        return None
    return False if {"no_apply", "applied", "no_generation", UNRESOLVED} & set(lists) else None


def _error(lists: tuple[str, ...], ref: SourceRef) -> ErrorInfo | None:
    for name, message, phase in _BROKEN:
        if name in lists and "resolved" not in lists:
            return replace(measurement_error(name, message, phase, ref), derived=("message",))
    return None


def _checks(lists: tuple[str, ...], log: Artefact | None, ref: SourceRef) -> Iterator[Check]:
    if "no_generation" in lists:
        yield Check(name="patch_exists", status="fail", kind="step", scorer=SCORER, ref=ref)
        return
    if "no_apply" in lists or "applied" in lists:
        applied: CheckStatus = "fail" if "no_apply" in lists else "pass"
        refused = _REFUSED.search(clean(log.text or "")) if log and applied == "fail" else None
        why = redact(refused[0]) if refused else ""
        yield Check(name="patch_applied", status=applied, kind="step", scorer=SCORER, explanation=why, ref=ref)
    if not {"applied", "resolved", UNRESOLVED} & set(lists) or _is_resolved(lists) is None:
        return
    output = _test_output(log.text or "") if log else ""
    passed, total = _counts(output)
    yield Check(
        name="tests",
        status="pass" if "resolved" in lists else "fail",
        kind="tests",
        scorer=SCORER,
        achieved=passed,
        max=total,
        ref=ref,
    )
    failed = [test for test, is_passed in dict(_tests(output)).items() if not is_passed]
    for order, test in enumerate(failed[:TESTS_CAP]):
        yield Check(name=test, status="fail", kind="tests", scorer=SCORER, order=order + 1, counts=False, ref=ref)


def _test_output(log: str) -> str:
    """Only of what ran after the patch with the tests was applied; of a long log, what is kept of it."""
    return own_output(clean(log[max(0, log.rfind(_APPLIED_TESTS)) :]))


def _counts(output: str) -> tuple[int | None, int | None]:
    """Passed and all tests as the runner counts them. The tests that it lists may be only some of those that ran."""
    if counted := counts_in(output):
        passed, total = counted.passed, counted.passed + counted.failed
    elif finished := _FINISHED.search(output):
        counts = {word: int(number) for number, word in _COUNT.findall(finished["counts"])}
        passed, total = counts.get("passed", 0), sum(counts.values())
    elif ran := _RAN.search(output):
        counts = {word: int(number) for word, number in _UNITTEST_COUNT.findall(ran["counts"] or "")}
        total = int(ran["ran"]) - counts.get("skipped", 0)
        passed = total - counts.get("failures", 0) - counts.get("errors", 0)
    else:
        return None, None
    # errors outside the tests and failed subtests count, too, and may be more than the tests
    return (passed, total) if total > 0 and passed >= 0 else (None, None)


def _tests(output: str) -> Iterator[tuple[str, bool]]:
    for match in _TEST.finditer(output):
        status = match["pytest"] or match["django_status"] or match["sympy_status"]
        yield match["path"] or match["django"] or match["sympy"], status in _PASSED
