"""Which case falls under which known gap."""

import pytest

from errata.memory.known_gaps import gap_for, gap_id, gaps_of_model, gaps_of_others, is_pattern, pattern_over_keys
from errata.memory.report_files import RelatedReports, ReportFiles, RunReports
from errata.memory.spelling import CaseSpellings
from errata.model import KnownGap, Run, SourceInfo, Subject
from errata.model.prior_report import PriorFailure, PriorReport

OF_CASE = KnownGap(suite="evals", case_key="evals/002/006", text="of the case")
OF_PATTERN = KnownGap(suite="evals", pattern="evals/002/*", text="of the pattern")


def test_a_case_falls_under_its_own_gap_before_that_of_a_pattern():
    assert gap_for("evals/002/006", [OF_PATTERN, OF_CASE]) is OF_CASE


def test_a_case_falls_under_a_pattern():
    assert gap_for("evals/002/001", [OF_CASE, OF_PATTERN]) is OF_PATTERN


@pytest.mark.parametrize("key", ["evals/003/001", "evals/002", "other/002/006", "002/006"])
def test_other_cases_fall_under_none(key):
    assert gap_for(key, [OF_CASE, OF_PATTERN]) is None


def test_a_gap_without_a_case_and_a_pattern_is_of_none():
    assert gap_for("", [KnownGap(text="empty")]) is None


def test_a_gap_told_in_other_words_is_the_same():
    assert gap_id(OF_CASE) == gap_id(KnownGap(suite="evals", case_key="evals/002/006", text="in other words"))
    assert gap_id(OF_CASE) != gap_id(OF_PATTERN)


def test_the_name_of_a_suite_is_no_pattern():
    pattern = pattern_over_keys("evals [v1]*", "002/*")

    assert gap_for("evals [v1]*/002/006", [KnownGap(pattern=pattern, text="")])
    assert not gap_for("evals v/002/006", [KnownGap(pattern=pattern, text="")])


def test_a_pattern_over_keys_stays_as_it_is():
    assert pattern_over_keys("evals", "evals/002/*") == "evals/002/*"


def test_a_suite_without_a_name_changes_nothing():
    assert pattern_over_keys("", "002/*") == "002/*"


def test_what_is_a_pattern():
    assert [is_pattern(text) for text in ("a/*", "a?", "a[1]", "a/b-c")] == [True, True, True, False]


CASE = "s/002-queries/006-pagination_shape"
NAMES = CaseSpellings([CASE], suite="s")


def a_run(native_id, *, model="acme/nimbus-2", experiment="default"):
    source, subject = SourceInfo(name="test"), Subject(model=model)
    return Run(native_id=native_id, source=source, suite="s", subject=subject, variant={"experiment": experiment})


def a_report(label, date, *, check="tsc", model="acme/nimbus-2", run="jn71a14a", **changes):
    failure = PriorFailure(case="006-pagination_shape", label=label, failed_check=check, **changes)
    gaps = (failure.case,) if label == "KNOWN_GAP" else ()
    path = f"reports/{run}_{date}.md"
    return PriorReport(path=path, digest="", run=run, model=model, date=date, failures=(failure,), gaps=gaps)


def reports(*same_model, others=()):
    return RunReports(ReportFiles(), RelatedReports(same_model=same_model, others=tuple(others)), NAMES)


def test_a_gap_in_a_report_keeps_its_check_model_and_day():
    (gap,) = gaps_of_model(reports(a_report("KNOWN_GAP", "2026-02-20")))[CASE]

    assert (gap.checks, gap.model, gap.date, gap.keys) == (frozenset(["tsc"]), "acme/nimbus-2", "2026-02-20", None)


def test_a_later_report_that_calls_it_otherwise_ends_a_gap():
    old, new = a_report("KNOWN_GAP", "2026-02-20"), a_report("MODEL_FAULT", "2026-03-01", run="jn72b25b")

    assert gaps_of_model(reports(new, old)) == {}
    assert CASE in gaps_of_model(reports(old))


def test_a_label_that_only_rules_gave_ends_no_gap():
    old, new = a_report("KNOWN_GAP", "2026-02-20"), a_report("MODEL_FAULT", "2026-03-01", run="jn72b25b", by_rule=True)

    assert CASE in gaps_of_model(reports(new, old))


def test_the_gap_of_another_model_is_one_only_with_its_run_and_in_the_same_experiment():
    other = a_report("KNOWN_GAP", "2026-02-20", model="heron/heron-7b")
    run, heron = a_run("jn7mqywb00"), a_run("jn71a14a00", model="heron/heron-7b")
    without = a_run("jn71a14a00", model="heron/heron-7b", experiment="no_guidelines")

    ((key, gap, its_run),) = gaps_of_others(reports(others=[other]), run, [heron])
    assert (key, its_run, gap.where) == (CASE, heron, "reports/jn71a14a_2026-02-20.md (heron/heron-7b)")
    assert list(gaps_of_others(reports(others=[other]), run, [])) == []
    assert list(gaps_of_others(reports(others=[other]), run, [without])) == []


def test_a_failure_of_the_provider_is_no_gap():
    report = a_report("KNOWN_GAP", "2026-02-20", check="none", reasoning="No endpoint was found")

    assert gaps_of_model(reports(report)) == {}
