"""The tests of an instance as checks: those that a patch has to make pass, and those that it must not break."""

from typing import Any

from errata.model import Check, SourceRef
from errata.model.words import CheckStatus
from errata.sources.shared.values import mapping, sequence, text

SCORER = "SWE-bench"
TESTS_CAP = 2_000

_DECIDING = ("FAIL_TO_PASS", "PASS_TO_PASS")
"""A patch resolves its instance by these alone; the others are told beside."""
_APPLIED: dict[Any, CheckStatus] = {True: "pass", False: "fail"}


def checks_of(told: dict[str, Any], ref: SourceRef) -> tuple[Check, ...]:
    applied = told.get("patch_successfully_applied")
    made = [
        Check(
            name="patch_applied",
            status=_APPLIED.get(applied, "unscored"),
            kind="step",
            scorer=SCORER,
            ref=ref,
            extra={key: told[key] for key in ("patch_is_None", "patch_exists") if key in told},
        )
    ]
    for name, lists in mapping(told.get("tests_status")).items():
        made += _group(name, mapping(lists), ref.below("tests_status", name))
    return tuple(made)


def _group(name: str, lists: dict[str, Any], ref: SourceRef) -> list[Check]:
    """The group decides; beside it each test that failed, and those that had to be repaired."""
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
    # thousands of tests may have passed before and after: of these only the number is kept
    shown: list[tuple[str, CheckStatus]] = [(test, "fail") for test in failed]
    shown += [(test, "pass") for test in passed] if name != "PASS_TO_PASS" else []
    return [group, *(_test(test, status, name, order, ref) for order, (test, status) in enumerate(shown[:TESTS_CAP]))]


def _test(test: str, status: CheckStatus, group: str, order: int, ref: SourceRef) -> Check:
    return Check(
        name=f"{group}: {test}", status=status, kind="tests", scorer=SCORER, order=order + 1, counts=False, ref=ref
    )
