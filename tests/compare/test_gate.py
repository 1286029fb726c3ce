"""The gate: which changes fail it, which are only listed, and when it can't tell."""

from datetime import UTC, datetime
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from errata.compare.gate import AllowedCase, GateRules, owners_of, parse_allowed
from errata.errors import SettingsError
from errata.runs.triaging import triage_if_needed
from errata.verbs.gate import baseline_for, gate, record_code_ref, record_gate
from suite_of_runs import import_run

NOW = datetime(2026, 3, 9, tzinfo=UTC)


class Row(NamedTuple):
    """A line of the truth table. Letters as in `suite_of_runs`: `+` passed, `-` failed, `x` provider down."""

    situation: str
    before: str
    after: str
    verdict: str
    codes: tuple[str, ...] = ()
    listed: dict[str, int] = {}
    """Kind of change → how many cases."""
    rules: GateRules = GateRules()
    notes: tuple[str, ...] = ()
    after_suite: str = "suite"
    earlier: str = ""
    """A run before the baseline, by the same subject."""
    after_task: str = "How many?"


FEW = GateRules(min_score=0.9)
ROWS = [
    Row("nothing changed", "++++-", "++++-", "passed", listed={"still_failing": 1}),
    Row("a new failure", "+++++", "++++-", "failed", ("new_failures",), {"regressed": 1}),
    Row("a fixed case", "++++-", "+++++", "passed", listed={"fixed": 1}),
    Row("a flaky case", "+++++", "++++-", "passed", listed={"flaky": 1}, earlier="++++- +++++"),
    Row("a case that failed until it was fixed", "+++++", "++++-", "failed", ("new_failures",), {"regressed": 1},
        earlier="++++-"),
    Row("infrastructure only", "+++++", "++++x", "passed", listed={"infrastructure": 1}),
    Row("infrastructure, where that is asked for", "+++++", "++++x", "failed", ("new_failures",),
        {"infrastructure": 1}, rules=GateRules(owners=owners_of(("model", "infrastructure")))),
    Row("an owner that was not chosen", "+++++", "++++-", "passed", listed={"regressed": 1},
        rules=GateRules(owners=frozenset({"grader"}))),
    Row("infrastructure in the baseline", "++++x", "++++-", "passed", listed={"no_baseline_result": 1}),
    Row("a missing case", "+++++", "++++ ", "passed", listed={"missing": 1}),
    Row("a missing case, where that is asked for", "+++++", "++++ ", "failed", ("missing_cases",), {"missing": 1},
        rules=GateRules(fail_on_missing=True)),
    Row("an added case that fails", "++++ ", "++++-", "passed", listed={"added": 1}),
    Row("another suite", "+++++", "+++++", "not_comparable", ("not_comparable",), after_suite="other"),
    Row("edited tasks", "+++++", "+++++", "not_comparable", ("not_comparable",), after_task="How few?"),
    Row("nothing in common", "++   ", "   ++", "not_comparable", ("nothing_shared",), {"missing": 2, "added": 2}),
    Row("an allowed failure", "+++++", "++++-", "passed", listed={"regressed": 1},
        rules=GateRules(allowed=(AllowedCase("case-04"),))),
    Row("a stale entry: the case passes", "+++++", "+++++", "failed", ("stale_allowances",),
        rules=GateRules(allowed=(AllowedCase("case-04"),))),
    Row("a stale entry: there is no such case", "+++++", "+++++", "failed", ("stale_allowances",),
        rules=GateRules(allowed=(AllowedCase("gone"),))),
    Row("an entry whose case was not measured is no stale one", "+++++", "++++x", "passed",
        listed={"infrastructure": 1}, rules=GateRules(allowed=(AllowedCase("case-04"),))),
    Row("an entry whose case fails in the baseline too is no stale one", "++++-", "++++-", "passed",
        listed={"still_failing": 1}, rules=GateRules(allowed=(AllowedCase("case-04"),))),
    Row("a score below the bar, but too few cases to tell", "++++-", "++++-", "passed", listed={"still_failing": 1},
        rules=FEW, notes=("too_few_cases",)),
    Row("a score below the bar, by its whole interval", "+" + 39 * "-", "+" + 39 * "-", "failed", ("score_below",),
        {"still_failing": 39}, rules=FEW),
    Row("a score above the bar", 60 * "+", 60 * "+", "passed", rules=FEW),
    Row("no score under the policy", "++++-", "++++-", "not_comparable", ("no_score",), {"still_failing": 1},
        rules=GateRules(min_score=0.5, policy="reviewed")),
    Row("a regression and a low score", 40 * "+", "+" + 39 * "-", "failed", ("new_failures", "score_below"),
        {"regressed": 39}, rules=FEW),
]  # fmt: skip


def imported(store: Any, name: str, letters: str, **how: Any) -> Any:
    stored = import_run(store, name, letters, model="m", **how)
    triage_if_needed(stored, store)
    return stored


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.situation)
def test_the_truth_table(store, row):
    for at, letters in enumerate(reversed(row.earlier.split())):
        imported(store, f"earlier-{at}", letters)
    imported(store, "before", row.before)
    after = imported(store, "after", row.after, suite=row.after_suite, task=row.after_task)

    made = gate(after, store, row.rules, baseline="before")

    assert (made.verdict, made.codes, made.notes) == (row.verdict, row.codes, row.notes)
    changes = made.given.changes
    kinds = {kind: len(cases) for kind, cases in changes.cases.items()} if changes is not None else {}
    assert {kind: count for kind, count in kinds.items() if kind != "still_passing"} == row.listed


def test_a_run_that_is_not_fit_fails_whatever_the_cases_do(store):
    imported(store, "before", "+++")
    after = imported(store, "after", "xxx")

    made = gate(after, store, GateRules(), baseline="before")

    assert made.verdict == "failed"
    assert made.codes[0] == "not_fit"
    assert not made.new


def test_without_a_baseline_only_fit_and_score_are_checked(store):
    run = imported(store, "first", "++++-")

    alone = gate(run, store, GateRules(needs_baseline=False))
    wanted = gate(run, store, GateRules(), baseline="latest-green")

    assert (alone.verdict, alone.notes) == ("passed", ("no_baseline",))
    assert (wanted.verdict, wanted.codes) == ("not_comparable", ("no_baseline",))


def test_presumed_failures_can_be_left_out(store):
    imported(store, "before", "+++++")
    after = imported(store, "after", "++++-")
    counted = gate(after, store, GateRules(), baseline="before")

    (failure,) = counted.new
    without_presumed = gate(after, store, GateRules(without_presumed=True), baseline="before")

    counts = (len(without_presumed.new), len(without_presumed.others))
    assert counts == ((0, 1) if failure.failure.is_presumed else (1, 0))


def test_latest_green_is_the_newest_run_whose_gate_passed(store):
    runs = [imported(store, name, letters) for name, letters in {"a": "+++", "b": "++-", "c": "+++"}.items()]
    for run, baseline in zip(runs, ("", "latest-green", "latest-green"), strict=True):
        made = gate(run, store, GateRules(needs_baseline=bool(baseline)), baseline=baseline)
        record_gate(made, store, now=NOW)
        assert made.verdict == ("failed" if run.run.native_id == "b" else "passed")
    last = imported(store, "d", "+++")

    assert baseline_for(last, "latest-green", store).run.run.native_id == "c"
    assert baseline_for(runs[1], "latest-green", store).run.run.native_id == "a"


def test_a_run_that_failed_its_last_gate_is_not_green(store):
    first, second = imported(store, "a", "+++"), imported(store, "b", "+++")
    for rules in (GateRules(needs_baseline=False), GateRules(allowed=(AllowedCase("gone"),), needs_baseline=False)):
        record_gate(gate(first, store, rules), store, now=NOW)

    assert baseline_for(second, "latest-green", store).run is None


def test_a_baseline_is_of_the_same_suite_and_subject(store):
    others = [
        imported(store, "other-suite", "+++", suite="other"),
        import_run(store, "other-model", "+++"),
        import_run(store, "other-agent", "+++", model="m", agent="agent"),
    ]
    for run in others:
        record_gate(gate(run, store, GateRules(needs_baseline=False)), store, now=NOW)

    assert baseline_for(imported(store, "run", "+++"), "latest-green", store).run is None


def test_a_branch_means_its_newest_run(store):
    for name, branch in {"a": "main", "b": "main", "c": "topic"}.items():
        record_code_ref([imported(store, name, "+++").run.id], store, branch=branch, commit=name, now=NOW)
    run = imported(store, "d", "+++")

    assert baseline_for(run, "branch:main", store).run.run.native_id == "b"
    assert "did you mean `main`" in baseline_for(run, "branch:mian", store).why_none


def test_runs_of_one_commit_with_mixed_outcomes_make_a_case_flaky(store):
    before = imported(store, "before", "+++")
    again, after = imported(store, "again", "+++"), imported(store, "after", "++-")
    for run, commit in ((before, "c1"), (again, "c2"), (after, "c2")):
        record_code_ref([run.run.id], store, branch="b", commit=commit, now=NOW)

    made = gate(after, store, GateRules(), baseline="before")

    assert (made.verdict, len(made.given.changes.of("flaky"))) == ("passed", 1)


@given(st.lists(st.text(st.characters(exclude_categories=["C", "Z"]), min_size=1, max_size=8), unique=True))
def test_every_name_on_an_allow_list_is_read_back(names):
    names = [name for name in names if not name.startswith("#")]
    text = "\n# a comment\n\n".join(f"{name} # why" for name in names)

    assert [(one.name, one.reason) for one in parse_allowed(text, place="f")] == [(name, "why") for name in names]


def test_a_case_that_is_listed_twice_is_an_error():
    with pytest.raises(SettingsError, match="lines 1 and 3"):
        parse_allowed("a\nb\na # again\n", place="allowed.txt")
