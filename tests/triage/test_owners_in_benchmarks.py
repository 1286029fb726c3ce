"""Who has to act, in logs of benchmarks: what a harness scores as wrong is often somebody else's."""

from pathlib import Path

import pytest
from tests.sources.changed_logs import FIXTURES, change_rows, copy_of, items

from errata.model import Attempt, Case, Run
from errata.triage import attribute, built_in, observe


def owners(path: Path) -> dict[str, str]:
    """Case and index → owner, of all failures at a path."""
    found, rules = items(path), built_in()
    runs = {item.id: item for item in found if isinstance(item, Run)}
    cases = {(item.run, item.key): item for item in found if isinstance(item, Case)}
    return {
        f"{one.case.rpartition('/')[2]}#{one.index}": attribute(
            one, observe(runs[one.run], one, cases.get((one.run, one.case)), None, rules), rules=rules
        ).owner
        for one in found
        if isinstance(one, Attempt) and one.is_failure
    }


def test_a_429_that_bfcl_scores_like_a_refusal_is_the_provider_s():
    assert owners(FIXTURES / "bfcl" / "simple" / "data") == {
        "simple_python_1#1": "model",
        "simple_python_2#1": "provider",
        "simple_python_3#1": "model",
    }


def test_a_right_call_that_bfcl_refuses_for_the_dot_in_its_name_is_the_grader_s(tmp_path):
    log = copy_of("bfcl/simple", tmp_path)
    for path in log.rglob("*.json"):
        path.write_text(
            path.read_text().replace('\\"number\\": 6', '\\"number\\": 5').replace('"number": 6', '"number": 5')
        )

    assert owners(log)["simple_python_1#1"] == "grader"


def test_an_answer_that_only_the_other_filter_of_lm_eval_found_is_the_grader_s(tmp_path):
    log = copy_of("lm_eval/api", tmp_path)

    def found_by_one(row):
        if row["doc_id"] == 1:
            strict = row["filter"] == "strict"
            row |= {"resps": [["It is Canberra.", ""]], "exact_match": 0.0 if strict else 1.0}
            row["filtered_resps"] = ["It is Canberra."] if strict else ["Canberra"]
        return row

    change_rows(next(log.rglob("samples*")), found_by_one)

    assert owners(log)["1#1"] == "grader"


def test_errors_that_every_eval_ever_writes_as_zeros_are_the_provider_s():
    found = owners(FIXTURES / "every_eval_ever" / "from_inspect" / "data")

    assert {found["crash#1"], found["crash#2"]} == {"provider"}
    assert found["wrong#1"] == "model"


@pytest.mark.parametrize("fixture", ["junit/pytest", "pytest_json/report", "allure/pytest"])
def test_what_a_test_or_its_fixture_raises_is_not_the_model_s(fixture):
    found = owners(FIXTURES / fixture / "data")

    assert {name.rpartition("test_")[2]: owner for name, owner in found.items() if "answer" not in name} == {
        "infra#1": "provider",
        "setup_error#1": "environment",
    }


@pytest.mark.parametrize("inner", ['<error message="boom"/>', '<error message="boom" type="KeyError"/>'])
def test_a_test_runner_tells_nothing_of_how_far_the_model_came(tmp_path, inner):
    (tmp_path / "r.xml").write_text(f'<testsuite name="s"><testcase name="t">{inner}</testcase></testsuite>')

    assert owners(tmp_path) == {"t#1": "unknown"}


@pytest.mark.parametrize("fixture", ["langsmith/repetitions", "braintrust/trials"])
def test_a_scorer_that_broke_beside_the_one_that_decides_excuses_nobody(fixture):
    found = owners(FIXTURES / fixture / "data")

    assert sorted(found.values()) == ["model", "model", "provider", "provider"]


def test_a_scorer_that_decides_and_broke_is_the_grader_s(tmp_path):
    log = copy_of("langsmith/repetitions", tmp_path)
    change_rows(next(log.iterdir()), lambda row: row | {"evaluation_results": row["evaluation_results"][1:]})

    assert "grader" in owners(log).values()


def test_a_time_out_in_a_log_of_openai_evals_is_the_provider_s():
    assert owners(FIXTURES / "openai_evals" / "match" / "data") == {
        "tides.dev.0#1": "model",
        "tides.dev.1#1": "provider",
    }


def test_judges_without_a_verdict_are_the_grader_s():
    assert owners(FIXTURES / "openai_evals" / "judged" / "data") == {
        "tide-facts.dev.1#1": "model",
        "tide-facts.dev.2#1": "grader",
        "tide-facts.dev.3#1": "grader",
    }


@pytest.mark.parametrize("status", ["transport_error", "parse_error"])
def test_a_review_of_evalscope_that_broke_is_the_grader_s(tmp_path, status):
    log = copy_of("evalscope/repeats", tmp_path)

    def broke(row):
        row["sample_score"]["score"] |= {"status": status, "value": {}}
        return row

    change_rows(next(log.rglob("reviews/*/*.jsonl")), broke)

    assert set(owners(log).values()) == {"grader"}
