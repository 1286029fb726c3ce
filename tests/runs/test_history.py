"""What was known before a run comes out as it is known of the sample."""

import json
import os
import shutil
from datetime import datetime

import pytest

from errata.errors import NotFoundError
from errata.model import Action, Attempt, Run, SourceInfo, Subject
from errata.model.history import FailedRun, History
from errata.runs.history import RunHistory
from errata.runs.importing import import_paths
from errata.runs.reports import reports_at
from errata.store.attempts import attempts_of
from errata.store.importing import Importing
from errata.store.memory import keep_action
from errata.store.packing import pack_items, seal
from errata.store.removal import remove_run
from errata.store.runs import find_run, run_by_id
from errata.verbs.action import list_actions

NAMED_IN_A = (
    "000-fundamentals/002-http_greeting",
    "001-data_modeling/003-optional_index",
    "002-queries/004-range_condition",
    "002-queries/006-pagination_shape",
    "003-mutations/002-cascade_remove",
    "004-actions/003-rate_limit_guard",
    "006-clients/002-optimistic_toggle",
)
NAMED_IN_B = (
    "000-fundamentals/002-http_greeting",
    "001-data_modeling/003-optional_index",
    "002-queries/006-pagination_shape",
    "004-actions/003-rate_limit_guard",
)
GREETING, REMOVE = "convex-evals/000-fundamentals/002-http_greeting", "convex-evals/003-mutations/002-cascade_remove"


@pytest.fixture
def reports(fixtures, tmp_path):
    shutil.copytree(fixtures / "memory" / "convex" / "reports", tmp_path / "reports")
    return tmp_path / "reports"


@pytest.fixture
def run(fixtures, store, tmp_path):
    def imported(name):
        # a copy: around the fixtures lies a repository, in which somebody may keep reports
        place = tmp_path / "runs" / f"run-{name}"
        source = fixtures / "sources" / "convex_evals" / f"run_{name}" / "data" / f"run-{name}"
        shutil.copytree(source, place, dirs_exist_ok=True)
        import_paths([place], store)
        return find_run(store, {"a": "jn709tmj", "b": "jn7mqywb", "c": "jn7h2dcx"}[name])

    return imported


def failed_before(stored, store, place="reports"):
    remembered = RunHistory(stored, store)
    cases = sorted({attempt.case for attempt in attempts_of(store, stored.pk, failures=True)})
    return tuple(case.removeprefix("convex-evals/") for case in cases if getattr(remembered.before(case), place))


def remember_case(stored, store, case):
    return RunHistory(stored, store).before(f"convex-evals/{case}")


@pytest.mark.req("C-03", "A-04", "A-05")
def test_the_earlier_reports_of_the_model_are_listed_the_newest_first(run, store, reports):
    found = RunHistory(run("b"), store).reports.same_model

    assert [one.path for one in found] == [
        "reports/acme/nimbus-2-coder/jn71a14a_2026-02-20.md",
        "reports/nimbus-2-coder_jn7vec_2026-02-12.md",
    ]


@pytest.mark.req("C-04")
@pytest.mark.parametrize(("name", "named"), [("a", NAMED_IN_A), ("b", NAMED_IN_B)])
def test_the_failures_that_earlier_reports_name_are_known(run, store, reports, name, named):
    assert failed_before(run(name), store) == named


@pytest.mark.req("C-04")
def test_earlier_classifications_come_with_day_place_and_words(run, store, reports):
    (found,) = remember_case(run("b"), store, "004-actions/003-rate_limit_guard").reports

    assert (found.date, found.label, found.text, found.line) == (
        "2026-02-12",
        "MODEL_FAULT",
        "Fourth call not refused",
        14,
    )


@pytest.mark.req("C-05")
def test_the_lint_change_should_have_removed_the_failure_in_b(run, store, reports):
    before = RunHistory(run("b"), store).before(GREETING)

    assert before.should_be_gone
    assert [(one.action.date, one.why) for one in before.due] == [
        ("2026-03-04", "000-fundamentals/002-http_greeting fails again")
    ]


@pytest.mark.req("C-05")
def test_a_change_that_came_after_the_run_should_have_removed_nothing_in_it(run, store, reports):
    before = RunHistory(run("a"), store).before(GREETING)

    assert before.is_repeat
    assert not before.should_be_gone


@pytest.mark.req("C-05")
def test_the_run_shows_which_actions_worked(run, store, reports):
    found = RunHistory(run("b"), store).effects

    assert [(one.action.path, one.worked, one.why) for one in found] == [
        ("eslint.config.mjs", "no", "000-fundamentals/002-http_greeting fails again"),
        (
            "evals/003-mutations/002-cascade_remove/TASK.txt",
            "yes",
            "003-mutations/002-cascade_remove passes now",
        ),
    ]


def test_of_actions_after_the_run_nothing_is_told(run, store, reports):
    assert RunHistory(run("a"), store).effects == ()


@pytest.mark.req("C-20")
def test_earlier_runs_of_the_model_are_remembered_without_any_report(run, store):
    run("a")

    assert failed_before(run("b"), store, "runs") == NAMED_IN_B


def test_a_later_run_is_no_earlier_one(run, store):
    stored = run("a")
    run("b")

    assert failed_before(stored, store, "runs") == ()


@pytest.mark.req("A-10")
def test_reports_about_other_models_that_name_the_case_are_found(run, store, reports):
    (reports / "other.md").write_text(
        "# Run jn7other99\n\nModel: zeta/drift-1\nDate: 2026-02-01\n\n| Eval | Classification |\n|---|---|\n"
        "| 005-idioms/003-shared_validator | MODEL_FAULT |\n"
    )

    before = remember_case(run("b"), store, "005-idioms/003-shared_validator")

    assert not before.is_repeat
    assert [(one.model, one.label) for one in before.others] == [("zeta/drift-1", "MODEL_FAULT")]


def test_the_report_of_this_very_run_makes_nothing_a_repeat(run, store, reports):
    (reports / "acme/nimbus-2-coder/jn7mqywb_2026-03-09.md").write_text(
        "# Run\n\nRun: jn7mqywbwe952an46zjc\nDate: 2026-03-08\n\n- 005-idioms/003-shared_validator: MODEL_FAULT\n"
    )

    assert failed_before(run("b"), store) == NAMED_IN_B


def test_the_same_action_in_store_and_report_is_one(run, store, reports):
    result = {"what": "now ignores unused arguments", "path": "eslint.config.mjs", "date": "2026-03-04"}
    keep_action(store, Action(id="1", addresses=(GREETING,), **result))

    assert [one.action.date for one in RunHistory(run("b"), store).effects] == ["2026-03-04", "2026-03-05"]


def test_an_action_that_only_the_store_knows_is_looked_at_too(run, store):
    run("a")
    keep_action(store, Action(id="1", what="asks for an error", path="T", addresses=(REMOVE,), date="2026-03-05"))

    assert [(one.action.path, one.worked) for one in RunHistory(run("b"), store).effects] == [("T", "yes")]


def a_run_of_one_case(store, day, outcome, *, has_date=True):
    """A run of the suite `s` with its only case `one`."""
    subject, started = Subject(model="acme/nimbus"), f"{day}T10:00:00Z" if has_date else None
    run = Run(native_id=day, source=SourceInfo(name="test"), suite="s", subject=subject, started_at=started)
    facts = {"execution": "completed", "measurement": "scored", "outcome": outcome}
    with Importing(store) as importing:
        for batch in seal(pack_items([run, Attempt(run=run.id, case="s/one", **facts)])):
            importing.add(batch)
        importing.finish()
    return run_by_id(store, run.id)


@pytest.mark.parametrize(("day", "told"), [("2026-03-03", ["yes"]), ("2026-03-04", [])])
def test_what_worked_is_told_by_the_first_run_after_it(store, day, told):
    a_run_of_one_case(store, "2026-03-01", "fail")
    runs = {when: a_run_of_one_case(store, when, "pass") for when in ("2026-03-03", "2026-03-04")}
    keep_action(store, Action(id="1", what="w", path="p", addresses=("s/one",), date="2026-03-02"))

    assert [one.worked for one in RunHistory(runs[day], store).effects] == told


def test_what_still_fails_is_told_every_time(store):
    for day in ("2026-03-01", "2026-03-03"):
        a_run_of_one_case(store, day, "fail")
    keep_action(store, Action(id="1", what="w", path="p", addresses=("s/one",), date="2026-03-02"))

    assert [one.worked for one in RunHistory(a_run_of_one_case(store, "2026-03-04", "fail"), store).effects] == ["no"]


def test_reports_of_a_folder_that_is_named_are_the_only_ones(run, store, reports, tmp_path):
    (tmp_path / "empty").mkdir()

    with reports_at(tmp_path / "empty"):
        found = RunHistory(run("b"), store).reports

    assert found.same_model == ()
    assert len(RunHistory(run("b"), store).reports.same_model) == 2


def test_a_folder_that_is_not_there_is_told_before_anything_is_done(tmp_path):
    with pytest.raises(NotFoundError), reports_at(tmp_path / "nowhere"):
        raise AssertionError("not reached")


@pytest.mark.parametrize(("earlier", "same"), [("nimbus (Old)", False), ("nimbus", False), ("nimbus (New)", True)])
def test_a_run_of_the_other_variant_of_a_model_is_no_earlier_run_of_it(store, earlier, same):
    """Two variants that a leaderboard lists under one name with a remark."""
    for model, day in ((earlier, "01"), ("nimbus (New)", "02")):
        fields = {"native_id": f"run-{day}", "source": SourceInfo(name="test"), "suite": "suite"}
        run = Run(**fields, subject=Subject(model=model), started_at=f"2026-03-{day}T08:00:00Z")
        attempt = Attempt(run=run.id, case="suite/1", execution="completed", measurement="scored", outcome="fail")
        with Importing(store) as importing:
            for batch in seal(pack_items([run, attempt])):
                importing.add(batch)
            importing.finish()

    before = RunHistory(find_run(store, "run-02"), store).before("suite/1")

    assert bool(before.runs) is same
    assert bool(before.other_runs) is not same


def test_the_order_of_import_alone_makes_no_run_earlier(store):
    runs = [a_run_of_one_case(store, name, "fail", has_date=False) for name in ("jn7aaa11", "jn7bbb22")]

    assert [RunHistory(one, store).before("s/one").runs for one in runs] == [(), ()]


@pytest.mark.req("N-13")
@pytest.mark.parametrize("forgotten", [False, True])
def test_what_has_no_date_counts_by_the_day_of_its_analysis(store, tmp_path, monkeypatch, forgotten):
    """Two logs without a date, imported and reported on one day after the other, an action between them."""
    runs = {}
    for day in ("01", "03"):
        monkeypatch.setattr("errata.store.run_totals.now_as_text", lambda day=day: f"2026-03-{day}T08:00:00Z")
        runs[day] = a_run_of_one_case(store, f"run-of-{day}", "fail", has_date=False)
        (tmp_path / "reports").mkdir(exist_ok=True)
        memory = {"format": 1, "run": f"run-of-{day}", "run_id": runs[day].run.id, "model": "acme/nimbus"}
        memory |= {"failures": [{"case": "one", "label": "MODEL_FAULT", "reviewed": True}]}
        path = tmp_path / f"reports/{day}.md"
        path.write_text(f"# Report\n\n<!-- errata:memory {json.dumps(memory)} -->\n")
        os.utime(path, (datetime.fromisoformat(f"2026-03-{day}T09:00:00Z").timestamp(),) * 2)
    keep_action(store, Action(id="1", what="w", path="p", addresses=("s/one",), date="2026-03-02"))
    if forgotten:
        remove_run(store, runs["01"].run.id)

    with reports_at(tmp_path / "reports"):
        first, second = RunHistory(runs["01"], store), RunHistory(runs["03"], store)

    assert [one.path for one in second.reports.same_model] == ["reports/01.md"]
    before = second.before("s/one")
    assert before.is_repeat
    assert [one.run for one in before.runs] == ([] if forgotten else ["run-of-01"])
    if not forgotten:
        assert not first.reports.same_model
        assert not first.before("s/one").is_repeat
        assert [one.worked for one in second.effects] == ["no"]


@pytest.mark.req("R-05")
def test_an_action_that_a_report_repeats_below_each_failure_is_about_all_of_them(store, tmp_path):
    a_run_of_one_case(store, "2026-03-01", "fail")
    (tmp_path / "reports").mkdir()
    failures = "".join(
        f"### {case} -- tests\n\n**Classification**: OVERLY_STRICT\n\n**Action taken**: Relaxed the rule.\n\n"
        for case in ("s/one", "s/two")
    )
    text = f"# Run jn7one\n\nRun: jn7one\nModel: acme/nimbus\nDate: 2026-03-02\n\n## Failures\n\n{failures}"
    (tmp_path / "reports/one.md").write_text(text)

    with reports_at(tmp_path / "reports"):
        (found,) = [status.effect.action for status in list_actions(store)]

    assert [name.rpartition("/")[2] for name in found.addresses] == ["one", "two"]


SINCE = {
    "the same check": ("acme/nimbus", "tests): MODEL_FAULT", "no", "one fails again (reports/since.md)"),
    "another check": (
        "acme/nimbus", "eslint): MODEL_FAULT", "unknown",
        "one fails now for another reason than before (reports/since.md)",
    ),
    "the task, for another model": ("other/fable", "tests): KNOWN_GAP", "no", "one fails again (reports/since.md)"),
    "another model itself": (
        "other/fable", "tests): MODEL_FAULT", "unknown", "one fails for another model (reports/since.md)",
    ),
    "another check of the task": (
        "other/fable", "eslint): KNOWN_GAP", "unknown", "one fails for another model (reports/since.md)",
    ),
    "before the action": ("acme/nimbus", "tests): MODEL_FAULT", "unknown", "it was made after the run began"),
    "infrastructure": ("other/fable", "tests): HARNESS_FAILURE", "unknown", "it was made after the run began"),
}  # fmt: skip


@pytest.mark.req("R-05")
@pytest.mark.parametrize("kind", SINCE)
def test_what_an_action_did_is_read_from_later_reports_too(store, tmp_path, kind):
    """The store has one run, before the action; a report is about a run since then that nobody imported."""
    model, written, worked, why = SINCE[kind]
    a_run_of_one_case(store, "2026-03-01", "fail")
    (tmp_path / "reports").mkdir()
    day = "2026-02-01" if kind == "before the action" else "2026-03-09"
    for name, about, date, failed, actions in (
        ("listed", "acme/nimbus", "2026-03-02", "tests): OVERLY_STRICT", "- 2026-03-03: Relaxed `one`."),
        ("since", model, day, written, "None"),
    ):
        (tmp_path / f"reports/{name}.md").write_text(
            f"# Run jn7{name}\n\nRun: jn7{name}\nModel: {about}\nDate: {date}\n\n"
            f"## Failures\n\n- `one` ({failed}\n\n## Actions taken\n\n{actions}\n"
        )

    with reports_at(tmp_path / "reports"):
        (found,) = [status.effect for status in list_actions(store)]

    assert (found.worked, found.why) == (worked, why)


@pytest.mark.req("C-05")
@pytest.mark.parametrize("order", [("jn7aaa11", "jn7bbb22"), ("jn7bbb22", "jn7aaa11")])
def test_a_report_dates_a_run_and_its_actions_come_before_a_run_without_a_date(store, tmp_path, order):
    runs = {name: a_run_of_one_case(store, name, "fail", has_date=False) for name in order}
    (tmp_path / "reports").mkdir()
    (tmp_path / "reports/a.md").write_text(
        "# Run jn7aaa11\n\nRun: jn7aaa11\nModel: acme/nimbus\nDate: 2026-03-01\n\n"
        "## Failures\n\n- `one` (tests): MODEL_FAULT\n\n"
        "## Actions taken\n\n- 2026-03-02: Relaxed the rule (addresses `one`).\n"
    )

    with reports_at(tmp_path / "reports"):
        later, earlier = (RunHistory(runs[name], store).before("s/one") for name in ("jn7bbb22", "jn7aaa11"))

    assert ([one.run for one in later.runs], later.should_be_gone) == (["jn7aaa11"], True)
    assert (earlier.runs, earlier.should_be_gone) == ((), False)


@pytest.mark.req("C-05")
@pytest.mark.parametrize(
    ("same", "is_repeat", "otherwise"),
    [((), False, False), ((False,), False, True), ((None,), True, False), ((False, True), True, False)],
)
def test_a_failure_in_another_way_is_no_repeat(same, is_repeat, otherwise):
    before = History(runs=tuple(FailedRun(run="r", run_id="r", is_same=one) for one in same))

    assert (before.is_repeat, before.failed_otherwise) == (is_repeat, otherwise)
