"""What tests demand beside what the task asks for, on the logs of published trials."""

from pathlib import Path

import pytest

from errata.model import Artefact, Case, Check
from errata.testing import a_run, an_attempt
from errata.triage import RunWide, attribute, built_in, observe
from errata.triage.across import Across, CaseElsewhere
from errata.triage.demands import is_near_miss, missing_paths, nearly_passed, unnamed_demands

LOGS = Path(__file__).parents[1] / "fixtures/triage/test_logs"
POLYGLOT = "Write me a single file in /app/main.c.py which is a polyglot: `python3 main.c.py N` or `gcc main.c.py`."
RAMAN = 'Fit the peaks and write x0, gamma, amplitude and offset to "results.json": {"G": {"x0": 1, "amplitude": 2}}'
PDP11 = "In /app/data.hex is the output of hexdump on a binary file. Tell me what the output of that program is."


def case(task):
    return Case(run="r", suite="s", key="s/c", native_id="c", input=task)


def with_log(name, *checks, more=""):
    log = (LOGS / f"{name}.txt").read_text("utf-8")
    artefacts = [Artefact(role="log", path="panes/post-test.txt", text=log)]
    artefacts += [Artefact(role="log", path="panes/post-agent.txt", text=more)] if more else []
    return an_attempt(case="s/c", artefacts=tuple(artefacts), checks=checks)


def attributed(attempt, task, across=None):
    observed = observe(a_run(), attempt, case(task), RunWide(), built_in())
    observed += (across or Across()).observe(attempt, case(task))
    return attribute(attempt, observed)


def test_a_test_that_opens_a_near_miss_of_the_file_that_the_task_names_is_the_tasks():
    found = attributed(with_log("gpt5.polyglot-c-py"), POLYGLOT)

    assert (found.owner, found.confidence, found.decided_by) == ("task", "likely", "other_path")
    assert [(one.where.partition(":")[0], one.quote) for one in found.signals if one.name == "other_path"] == [
        ("panes/post-test.txt", "can't open file '/app/main.py.c'"),
        ("case.input", "/app/main.c.py"),
    ]


@pytest.mark.parametrize(
    ("log", "task"),
    [("gpt5.polyglot-c-py", POLYGLOT), ("gpt5.raman-fitting.easy", RAMAN), ("gpt5.run-pdp11-code", PDP11)],
)
def test_what_is_quoted_of_a_demand_is_in_the_log_or_in_the_task_word_for_word(log, task):
    attempt = with_log(log)
    signals = [one for one in attributed(attempt, task).signals if one.name in ("other_path", "unnamed_demand")]

    assert signals
    assert all(one.quote in (task if one.where == "case.input" else attempt.artefacts[0].text) for one in signals)


@pytest.mark.req("B-09")
def test_a_file_that_is_missing_under_the_name_in_the_task_is_not_the_tasks():
    task = POLYGLOT.replace("main.c.py", "main.py.c")

    assert attributed(with_log("gpt5.polyglot-c-py"), task).owner == "model"


@pytest.mark.parametrize("filler", ["-", "a-", "-.", "@/", "-a/", ".a"])
def test_a_ruler_in_the_task_is_searched_once(filler):
    """Tried from each of its characters, twenty such rulers took minutes."""
    rulers = [filler * ((18_000 + number) // len(filler)) for number in range(20)]
    attempt = with_log("gpt5.polyglot-c-py")

    assert {attributed(attempt, f"{ruler} {POLYGLOT}").owner for ruler in rulers} == {"task"}


@pytest.mark.parametrize("named", ["./main.c.py", ".config/main.c.py", "`~/src/main.c.py`", "--out=main.c.py,"])
def test_a_path_is_found_in_any_notation(named):
    assert attributed(with_log("gpt5.polyglot-c-py"), f"Write {named} today.").owner == "task"


def test_a_log_that_lists_no_failures_leaves_the_word_to_the_checks():
    missing = "FileNotFoundError: [Errno 2] No such file or directory: '/app/out.txt'"
    check = Check(name="test_out", kind="tests", status="fail", explanation=missing)
    log = Artefact(role="log", path="verifier/test-stdout.txt", text="Installing\nDone\n")

    found = list(missing_paths(an_attempt(artefacts=(log,), checks=(check,))))

    assert [(one.path, one.where) for one in found] == [("/app/out.txt", "checks[test_out].explanation")]
    (logged,) = {one.where.partition(":")[0] for one in missing_paths(with_log("gpt5.run-pdp11-code", check))}
    assert logged == "panes/post-test.txt"


@pytest.mark.parametrize(
    ("demanded", "named"), [("main.py.c", "main.c.py"), ("results.json", "result.json"), ("Output.txt", "output.txt")]
)
def test_a_near_miss_has_the_same_parts_or_one_letter_more(demanded, named):
    assert is_near_miss(demanded, named)
    assert is_near_miss(named, demanded)


@pytest.mark.parametrize(
    ("demanded", "named"),
    [("out1.txt", "out2.txt"), ("out.txt", "in.txt"), ("main.py", "main.c"), ("a.py", "b.py"), ("x.json", "x.json")],
)
def test_numbered_files_and_other_names_are_no_near_misses(demanded, named):
    assert not is_near_miss(demanded, named)


@pytest.mark.parametrize(
    ("log", "task", "demand"),
    [("gpt5.raman-fitting.easy", RAMAN, "key A"), ("gpt5.run-pdp11-code", PDP11, "file out.txt")],
)
def test_what_the_task_does_not_name_is_the_tasks_from_two_subjects_on(log, task, demand):
    attempt = with_log(log)
    assert demand in unnamed_demands(attempt, case(task))

    two = Across({"s/c": CaseElsewhere(("a", "b"), demanded={demand: 2})})
    assert (attributed(attempt, task, two).owner, attributed(attempt, task, two).decided_by) == (
        "task",
        "unnamed_demand",
    )
    one = attributed(attempt, task)
    assert (one.owner, one.also, one.proof_reason) == ("model", ("task",), "in_doubt")


def test_where_somebody_passed_the_demand_can_be_met():
    attempt = with_log("gpt5.run-pdp11-code")

    assert attributed(attempt, PDP11, Across(passed_by={"s/c": "another"})).also == ()


def test_a_key_that_the_task_names_is_the_subjects_to_write():
    assert not unnamed_demands(with_log("gpt5.raman-fitting.easy"), case(f'{RAMAN} and "A"'))


def listed(passed, *failed):
    tests = [(f"test_{at}", "pass") for at in range(passed)] + [(name, "fail") for name in failed]
    return [Check(name=name, kind="tests", status=status) for name, status in tests]


NGINX = ("c4.nginx-request-logging", *listed(7, "test_nginx_config_settings"))


def everybody(refused, alike):
    return Across({"s/c": CaseElsewhere(("a", "b", "c"), refused={refused: alike})}, passed_by={"s/c": ""})


def test_a_case_whose_one_check_refuses_everybody_alike_is_the_tasks():
    attempt = with_log(*NGINX)
    refused = nearly_passed(attempt)
    assert [test for test, _ in refused] == ["test_nginx_config_settings"]

    found = attributed(attempt, "Set up nginx.", everybody(refused, 3))
    assert (found.owner, found.confidence, found.decided_by) == ("task", "likely", "all_fail")


def test_fewer_than_three_alike_are_noted_only():
    attempt = with_log(*NGINX)

    found = attributed(attempt, "Set up nginx.", everybody(nearly_passed(attempt), 2))
    assert (found.owner, found.also) == ("model", ())
    assert [one.strength for one in found.signals if one.name == "all_fail"] == ["weak"]


@pytest.mark.parametrize("log", sorted(path.stem for path in LOGS.glob("collection.*.txt")))
def test_a_file_that_could_not_be_collected_is_no_refusal(log):
    assert nearly_passed(with_log(log, *listed(3))) == ()


def test_neither_is_a_service_that_does_not_answer_nor_work_that_fails_most_tests():
    assert nearly_passed(with_log("gpt5.fibonacci-server", *listed(9, "test_server_running"))) == ()
    assert nearly_passed(with_log("c4.nginx-request-logging", *listed(1, "test_a", "test_b"))) == ()
    assert nearly_passed(with_log("v3.raman-fitting.easy", *listed(9, "test_a"))) == ()


DATES = "Calculate the average difference and save it in `avg_temp.txt`, which should only contain the number."


def test_a_rounded_value_is_the_graders_where_the_task_names_no_precision():
    found = attributed(with_log("c4.heterogeneous-dates"), DATES)

    assert (found.owner, found.decided_by) == ("grader", "strict_match")
    assert attributed(with_log("c4.heterogeneous-dates"), f"{DATES} Give three decimals.").owner == "model"


def test_another_value_is_the_models():
    log = (LOGS / "c4.heterogeneous-dates.txt").read_text("utf-8").replace("got 11.43", "got 11.44")
    attempt = an_attempt(case="s/c", artefacts=(Artefact(role="log", path="panes/post-test.txt", text=log),))

    assert attributed(attempt, DATES).owner == "model"
