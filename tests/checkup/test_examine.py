"""The checkup as a whole: silent on a healthy run, never raising, every finding with its evidence."""

import msgspec
import pytest
from checkup_fixtures import NOW, RUN, check, crashed, failed, missing, row, rows
from hypothesis import given
from hypothesis import strategies as st

from errata.checkup import RULES, examine, is_fit
from errata.model import (
    Case,
    Check,
    Conduct,
    FileConflict,
    Finding,
    Judgement,
    Limit,
    Obstacle,
    Output,
    Reported,
    ScoreScale,
    Session,
    Sighting,
    SourceInfo,
    SourceRef,
    Undelivered,
    Unreadable,
    Usage,
    UsageByRole,
)
from errata.testing import a_run
from record_strategies import attempts, plain, texts, unreadables

PLACE = SourceRef(file="summary.json", pointer="/passed")
UNSCORED = {"measurement": "unscored", "outcome": "none"}
NOT_RUN = {"measurement": "not_run", "outcome": "none"}
DUPLICATE = {"case": "suite/case-0", "index": 2, "duplicate_of": row(0).id}


def a_changed_run(**changes):
    return msgspec.structs.replace(RUN, **changes)


def judged_twice(number, second):
    result = (Judgement(judge="a", raw={"passed": True}), Judgement(judge="b", raw={"passed": second}))
    return row(number, judgements=result)


def checked_twice(number, by_judge):
    checks = (Check(name="grade", judge="jury", status=by_judge), Check(name="match", status="pass"))
    return row(number, checks=checks)


def running(**process):
    given_ = {"name": "exp-1", "status": "running", "pid": 7, "heartbeat": "2026-03-01T10:00:00Z"}
    return a_changed_run(environment={"processes": [given_ | process]})


# finding → severity, and a minimal run that shows it
def stopped_by(kind):
    return Conduct(obstacle=Obstacle(kind=kind, where="agent.txt:1", quote="it broke", ref=PLACE))


CONFLICT = FileConflict(text="a.json has 2, b.json has 1", counted=2, stated=1, cases=("q1",), differing=1, ref=PLACE)
MINIMAL = {
    "unavailable": ("error", {"attempts": [crashed(number) for number in range(3)]}),
    "no_attempts": ("error", {"attempts": []}),
    "missing_cases": ("error", {"attempts": [*rows(2), missing(2)]}),
    "unfinished_cases": ("error", {"attempts": [*rows(2), row(2, execution="unfinished", **NOT_RUN)]}),
    "not_judged": ("error", {"attempts": rows(2, **NOT_RUN)}),
    "no_verdict": ("warning", {"attempts": [*rows(2), row(2, **UNSCORED)]}),
    "duplicate_case": ("error", {"attempts": [row(0), failed(0, **DUPLICATE)]}),
    "rows_differ": (
        "warning",
        {
            "attempts": rows(8),
            "descriptions": [
                Case(run=RUN.id, suite="suite", native_id="case-0", input="q", expected=gold, ref=PLACE)
                for gold in (4, 7)
            ],
        },
    ),
    "foreign_checks": (
        "warning",
        {"attempts": [*rows(8), row(8, checks=(Check(name="case-7/test.py::test_it", status="pass"),))]},
    ),
    "aggregate_mismatch": (
        "error",
        {
            "attempts": rows(2),
            "run": a_changed_run(reported=(Reported(name="passed", metric="passed", value=3, ref=PLACE),)),
        },
    ),
    "run_not_completed": ("warning", {"attempts": rows(2), "run": a_changed_run(native_status="failed")}),
    "unknown_statuses": (
        "warning",
        {"attempts": [*rows(2), failed(2, native_status="zorked", is_status_known=False)]},
    ),
    "dead_process": ("warning", {"attempts": rows(2), "run": running()}),
    "several_sessions": (
        "warning",
        {
            "attempts": rows(2),
            "run": a_changed_run(sessions=tuple(Session(number=number, ref=PLACE) for number in (1, 2))),
        },
    ),
    "unreadable": (
        "warning",
        {"attempts": rows(2), "unreadables": [Unreadable(source="s", where="w", why="cut off", ref=PLACE)]},
    ),
    "cases_not_in_log": ("warning", {"attempts": rows(2), "run": a_changed_run(expected_cases=5, measured_attempts=5)}),
    "errors": ("info", {"attempts": [*rows(9), crashed(9)]}),
    "identical_outputs": ("warning", {"attempts": rows(5, output=Output(text="always the very same text"))}),
    "prompt_not_delivered": (
        "error",
        {"attempts": rows(2, undelivered=Undelivered(fault="reference", sent="greeting_v1"))},
    ),
    "error_bodies": ("error", {"attempts": rows(2, http_status=422)}),
    "not_measured": ("error", {"attempts": [*rows(2), row(2, execution="error", **NOT_RUN)]}),
    "nothing_changed": (
        "info",
        {"attempts": rows(2, checks=(Check(name="DB", status="pass", weakness="nothing_changed"),))},
    ),
    "empty_outputs": ("info", {"attempts": [*rows(9), row(9, output=Output(text=""))]}),
    "truncated_outputs": ("info", {"attempts": [*rows(9), row(9, stop_reason="length")]}),
    "unknown_costs": ("info", {"attempts": [*rows(2), row(2, usage=UsageByRole(subject=Usage(input=1)))]}),
    "judge_conflict": ("info", {}),
    "nothing_asserted": (
        "warning",
        {"attempts": rows(2, checks=()), "run": a_changed_run(source=SourceInfo(name="promptfoo"))},
    ),
    "valueless_checks": (
        "warning",
        {
            "attempts": [
                row(number, checks=(Check(name="a", status="pass"), Check(name="b", status="unscored")))
                for number in range(2)
            ]
        },
    ),
    "judges_disagree": ("warning", {"attempts": [judged_twice(number, number % 2 == 0) for number in range(10)]}),
    **{
        name: ("error", {"attempts": [*rows(6), *(failed(number, conduct=conduct) for number in range(6, 9))]})
        for name, conduct in {
            "agent_not_installed": stopped_by("not_installed"),
            "agent_crashed": stopped_by("crashed"),
            "setup_failed": stopped_by("not_set_up"),
            "tool_channel_broken": Conduct(turns=4, calls=4, mangled_calls=Sighting(count=4, step=0, quote=":ls")),
            "empty_final_turns": Conduct(turns=4, calls=3, ended_empty=Sighting(count=1, step=4)),
        }.items()
    },
    "impossible_count": ("error", {"attempts": rows(3), "run": a_changed_run(expected_cases=2)}),
    "files_disagree": (
        "warning",
        {"attempts": rows(2), "run": a_changed_run(conflicts=(CONFLICT,))},
    ),
    "impossible_cost": (
        "warning",
        {"attempts": [*rows(2), row(2, usage=UsageByRole(subject=Usage(input=1, cost=-0.01)))]},
    ),
    "impossible_score": (
        "error",
        {"attempts": [*rows(2), row(2, reported=7.5)], "run": a_changed_run(scale=ScoreScale(lowest=0, highest=1))},
    ),
    "impossible_time": ("warning", {"attempts": [*rows(2), row(2, duration=-1.0)]}),
    "thinned": ("info", {"attempts": [row(0, thinned="2026-11-17T10:00:00Z")]}),
    "row_order": ("info", {"attempts": [row(0, position=2), row(1, position=1)]}),
    "judge_contradicts_program": ("info", {"attempts": [checked_twice(0, "pass"), checked_twice(1, "fail")]}),
    "values_not_understood": (
        "warning",
        {"attempts": rows(2), "run": a_changed_run(extra={"not_understood": {"passed": {"maybe": 2}}})},
    ),
    "ambiguous_columns": (
        "warning",
        {"attempts": rows(2), "run": a_changed_run(extra={"ambiguous_columns": ["`ok` or `OK`"]})},
    ),
}


def findings_of(name):
    return [one for one in check(**MINIMAL[name][1]) if one.name == name]


NAMES = [name for name in MINIMAL if name != "judge_conflict"]


@pytest.mark.parametrize("name", NAMES)
def test_a_rule_fires_on_a_minimal_example(name):
    (found,) = findings_of(name)

    assert found.severity == MINIMAL[name][0]
    assert found.run == RUN.id
    assert found.text


@pytest.mark.parametrize("name", NAMES)
def test_a_finding_points_to_its_evidence(name):
    (found,) = findings_of(name)

    assert found.evidence
    assert all(one.ref is not None for one in found.evidence)


@pytest.mark.req("fit")
@pytest.mark.parametrize("name", NAMES)
def test_a_run_is_unfit_exactly_where_a_finding_is_an_error(name):
    findings = check(**MINIMAL[name][1])

    assert is_fit(findings) == all(one.severity != "error" for one in findings)


def test_a_healthy_run_has_no_findings():
    assert check([*rows(20), failed(20), failed(21)]) == ()


def test_a_healthy_run_is_fit():
    assert is_fit(check(rows(3)))


def test_every_rule_has_an_example_here():
    assert len(MINIMAL) >= len(RULES)


def test_the_gravest_finding_comes_first():
    everything = [row(0), failed(0, **DUPLICATE), *rows(3, output=Output(text="")), crashed(3), row(4, **UNSCORED)]

    severities = [one.severity for one in check(everything, a_changed_run(expected_cases=99))]

    assert set(severities) == {"error", "warning", "info"}
    assert severities == sorted(severities, key=["error", "warning", "info"].index)


def test_children_and_superseded_attempts_are_not_looked_at():
    beside = [crashed(9, parent=row(0).id), crashed(8, superseded_by=row(0).id), missing(7, superseded_by=row(0).id)]

    assert check([*rows(3), *beside]) == ()


def test_attempts_may_be_a_thing_that_is_iterated_more_than_once():
    class Twice:
        def __iter__(self):
            return iter([row(0), failed(0, **DUPLICATE)])

    (found,) = [one for one in examine(RUN, Twice(), (), now=NOW) if one.name == "duplicate_case"]

    assert found.numbers == {"rows": 2}


def test_a_finding_says_nothing_that_a_terminal_would_obey():
    hostile = "\x1b[2Jgone\u202e"
    result = check([crashed(number, hostile) for number in range(3)])

    assert not any("\x1b" in one.quote or "\u202e" in one.quote for finding in result for one in finding.evidence)


@given(st.lists(attempts, max_size=6), st.lists(unreadables, max_size=2))
def test_no_attempts_whatever_make_the_checkup_fail(any_, bad):
    for finding in examine(RUN, any_, bad, now=NOW):
        assert isinstance(finding, Finding)


METRICS = st.sampled_from(["pass_rate", "passes", "scored", "passed", "failed", "unscored", ""])
REPORTED = st.builds(
    Reported, name=texts, metric=METRICS, value=st.none() | st.floats(), n=st.none() | st.integers(-5, 5)
)


@given(
    st.lists(REPORTED, max_size=3),
    st.none() | st.integers(-5, 5),
    texts,
    st.dictionaries(st.sampled_from(["processes", "x"]), plain, max_size=2),
)
def test_no_run_whatever_makes_the_checkup_fail(reported, expected, status, environment):
    run = a_run(reported=tuple(reported), expected_cases=expected, native_status=status, environment=environment)

    examine(run, rows(3), (), now=NOW)


@pytest.mark.parametrize("beat", ["yesterday", "", None, 17, "2026-99-99T00:00:00Z", {"at": 1}])
def test_a_heartbeat_that_is_no_time_is_no_crash(beat):
    check(rows(2), running(heartbeat=beat))


@pytest.mark.parametrize("processes", [None, "running", 7, {"a": 1}, [None], ["x"], [[]]])
def test_processes_that_are_none_are_no_crash(processes):
    check(rows(2), a_changed_run(environment={"processes": processes}))


def test_a_case_whose_number_is_no_ordinary_digit_is_no_crash():
    check([missing(0, case=case) for case in ("suite/turn-²", "suite/turn-٣", f"suite/turn-{'9' * 5000}")])


def test_a_limit_of_any_kind_is_no_crash():
    check([row(0, limit=Limit(type=""))])
