"""Which reports came before a run, which of its cases they name, and what should have been gone."""

import pytest

from errata.memory.history import RunOutcomes, effects_on, mentions, outcomes_in, with_case_keys
from errata.memory.report_files import group_by_relation, is_about
from errata.memory.spelling import CaseSpellings
from errata.model import Action, Run, SourceInfo, SourceRef, Subject
from errata.model.prior_report import PriorFailure, PriorReport, PriorRun

BEGAN = "2026-03-09T10:00:00Z"
CASE = "s/003-mutations/002-cascade_remove"


def a_run(native_id="jn7mqywbwe952an46zjcswtz9r7by5p7", *, model="acme/nimbus-2", suite="s", began=BEGAN):
    source = SourceInfo(name="test")
    return Run(native_id=native_id, source=source, suite=suite, subject=Subject(model=model), started_at=began)


def a_report(*cases, run="jn71a14a", model="acme/nimbus-2", date="2026-02-20", **changes):
    failures = [
        PriorFailure(case=case, label="MODEL_FAULT", ref=SourceRef(file="r.md", line=at))
        for at, case in enumerate(cases, 1)
    ]
    result = {"path": f"reports/{run}_{date}.md", "digest": "", "failures": tuple(failures)}
    return PriorReport(run=run, model=model, date=date, **result | changes)


def kind_of(report, run=None, runs=()):
    found = group_by_relation([report], run or a_run(), began=BEGAN, runs=runs)
    return next(name for name in ("same_model", "others", "own", "later") if getattr(found, name))


@pytest.mark.parametrize(
    ("report", "kind"),
    [
        (a_report(), "same_model"),
        (a_report(model="Nimbus_2"), "same_model"),
        (a_report(model="acme/other"), "others"),
        (a_report(model=""), "others"),
        (a_report(run="jn7mqywb"), "own"),
        (a_report(run="jn7mqywb", date="2026-03-20"), "own"),
        (a_report(date="2026-03-09"), "later"),
        (a_report(date="2026-03-10"), "later"),
        (a_report(date=""), "later"),
        (a_report(date="", written="2026-03-08"), "same_model"),
        (a_report(date="", written="2026-03-09"), "later"),
        (a_report(date="2026-03-10", written="2026-03-08"), "later"),
    ],
)
@pytest.mark.req("N-13")
def test_a_report_is_earlier_only_where_that_is_known(report, kind):
    assert kind_of(report) == kind


@pytest.mark.req("C-05")
def test_a_report_of_the_same_day_is_earlier_where_its_run_is_known_to_be():
    earlier = a_run("jn71a14as7ze", began="2026-03-09T08:00:00Z")

    assert kind_of(a_report(date="2026-03-09"), runs=[earlier]) == "same_model"


def test_a_report_written_late_about_an_earlier_run_is_earlier():
    earlier = a_run("jn71a14as7ze", began="2026-03-02T08:00:00Z")

    assert kind_of(a_report(date="2026-03-15"), runs=[earlier]) == "same_model"


def test_a_report_without_a_model_has_that_of_its_run():
    assert kind_of(a_report(model=""), runs=[a_run("jn71a14as7ze", began="2026-02-20T08:00:00Z")]) == "same_model"


def test_a_report_about_a_run_of_another_suite_is_none_of_ours():
    other = a_run("jn71a14as7ze", suite="another", began="2026-02-20T08:00:00Z")

    assert group_by_relation([a_report()], a_run(), began=BEGAN, runs=[other]).all == ()


def test_reports_come_newest_first():
    reports = [a_report(date=day) for day in ("2026-01-01", "2026-03-01", "2026-02-01")]

    found = group_by_relation(reports, a_run(), began=BEGAN).same_model

    assert [one.date for one in found] == ["2026-03-01", "2026-02-01", "2026-01-01"]


@pytest.mark.parametrize(
    "written",
    ["jn7mqywbwe952an46zjcswtz9r7by5p7", "JN7MQYWB", "jn7mqy", "jn7other0, jn7mqywb"],
)
def test_a_report_names_its_run_by_its_id_or_the_beginning_of_it(written):
    assert is_about(a_report(run=written), a_run())


def test_a_short_beginning_names_a_run_only_together_with_its_day():
    assert is_about(a_report(run="jn7m", date="2026-03-09"), a_run())
    assert not is_about(a_report(run="jn7m", date="2026-03-08"), a_run())


def test_a_conversation_is_called_by_its_tail():
    assert is_about(a_report(run="1a2b3c4d"), a_run("20260301T100000_voice-alpha_1a2b3c4d"))


@pytest.mark.req("C-04")
def test_the_cases_that_reports_name_are_found_by_their_endings():
    names = CaseSpellings([CASE, "s/000-a/001-b"], suite="s")
    reports = [
        a_report("002-cascade_remove", date="2026-02-20"),
        a_report("003-mutations/002-cascade_remove", run="jn7vec"),
    ]

    found = mentions(reports, names)

    assert [(one.run, one.line, one.label) for one in found.cases[CASE]] == [
        ("jn71a14a", 1, "MODEL_FAULT"),
        ("jn7vec", 1, "MODEL_FAULT"),
    ]


def test_one_report_counts_once_however_often_it_names_a_case():
    names = CaseSpellings([CASE], suite="s")

    assert len(mentions([a_report("002-cascade_remove", "s/003-mutations/002-cascade_remove")], names).cases[CASE]) == 1


def test_a_name_that_fits_several_cases_is_told_and_not_counted():
    names = CaseSpellings(["s/000-a/001-basic", "s/001-b/001-basic"], suite="s")

    found = mentions([a_report("001-basic")], names)

    assert found.cases == {}
    assert [(mention.text, keys) for mention, keys in found.ambiguous] == [
        ("001-basic", ("s/000-a/001-basic", "s/001-b/001-basic"))
    ]


def an_action(date, *cases):
    return Action(id="1", what="asks for an error", path="TASK.txt", addresses=cases or (CASE,), date=date)


@pytest.mark.req("C-05")
@pytest.mark.parametrize(
    ("date", "worked"),
    [("2026-02-25", "no"), ("2026-03-09", "unknown"), ("2026-03-20", "unknown"), ("2026-02-01", "unknown")],
    ids=["between", "the same day", "after the run", "before it ever failed"],
)
def test_an_action_should_have_resolved_what_failed_before_it_and_fails_after_it(date, worked):
    names = CaseSpellings([CASE], suite="s")
    now = RunOutcomes(run="now", at=BEGAN, suite="s", failed=frozenset((CASE,)))
    before = [outcomes_in(a_report("002-cascade_remove"), names)]

    (found,) = effects_on(CASE, [with_case_keys(an_action(date, "002-cascade_remove"), names)], now, before)

    assert found.worked == worked


def test_an_action_on_other_cases_says_nothing_about_this_one():
    now = RunOutcomes(run="now", at=BEGAN, suite="s", failed=frozenset((CASE,)))

    assert effects_on(CASE, [an_action("2026-02-25", "s/000-a/001-b")], now, []) == ()


def a_failure(case="003-mutations/002-cascade_remove", **changes):
    return PriorFailure(case=case, **changes)


NAMES = CaseSpellings([CASE, "s/a/001-b", "s/a/002-c", "s/a/003-d"], suite="s")


@pytest.mark.parametrize("owner", ["provider", "environment", "harness", "simulator", "collateral"])
def test_an_infrastructure_failure_in_a_report_by_errata_is_no_repeat(owner):
    report = a_report(failures=(a_failure(owner=owner),), own=True)

    assert mentions([report], NAMES).cases == {}
    assert outcomes_in(report, NAMES).failed == frozenset()


@pytest.mark.parametrize(
    "failure",
    [a_failure(label="KNOWN_GAP", failed_check="none"), a_failure(label="Infra flake"), a_failure(label="provider")],
)
def test_an_infrastructure_failure_in_a_report_by_hand_is_no_repeat(failure):
    assert mentions([a_report(failures=(failure,))], NAMES).cases == {}


@pytest.mark.req("B-74")
def test_a_case_in_a_report_of_a_broken_run_is_no_repeat():
    failures = tuple(a_failure(case, label="KNOWN_GAP") for case in ("a/001-b", "a/002-c", "a/003-d"))

    assert mentions([a_report(failures=failures, passed=0, total=3)], NAMES).cases == {}
    assert len(mentions([a_report(failures=failures, passed=1, total=4)], NAMES).cases) == 3


def test_a_run_where_everything_failed_at_a_check_was_not_broken():
    failures = tuple(a_failure(case, failed_check="tests") for case in ("a/001-b", "a/002-c", "a/003-d"))

    assert len(mentions([a_report(failures=failures, passed=0, total=3)], NAMES).cases) == 3


def test_a_report_on_several_models_counts_for_each_with_its_own_failures():
    runs = (PriorRun(id="jn71a14a", model="acme/nimbus-2"), PriorRun(id="jn72b25b", model="heron/heron-7b"))
    failures = (a_failure("a/001-b", run="jn71a14a"), a_failure("a/002-c", run="jn72b25b"), a_failure("a/003-d"))
    report = a_report(run="", model="", runs=runs, failures=failures)

    found = group_by_relation([report], a_run(), began=BEGAN)

    assert [one.case for one in found.same_model[0].failures] == ["a/001-b", "a/003-d"]
    assert [one.case for one in found.others[0].failures] == ["a/002-c", "a/003-d"]
    assert (found.same_model[0].model, found.others[0].run) == ("acme/nimbus-2", "jn72b25b")


def test_of_a_report_on_this_run_and_an_earlier_one_the_earlier_part_counts():
    runs = tuple(
        PriorRun(id=id, model="acme/nimbus-2", date=date)
        for id, date in (("jn71a14a", "2026-03-01"), ("jn7mqywb", "2026-03-09"))
    )
    report = a_report(run="jn71a14a, jn7mqywb", date="2026-03-10", runs=runs, failures=(a_failure("a/001-b"),))

    found = group_by_relation([report], a_run(), began=BEGAN)

    assert (found.same_model[0].run, found.own[0].run) == ("jn71a14a", "jn7mqywb")
