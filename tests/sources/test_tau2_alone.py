"""Simulations of tau2-bench without the usual document: bare lists, and documents with fields of their own."""

import json
from pathlib import Path

import pytest
from changed_logs import FIXTURES, attempts, facts, runs

WHOLE = FIXTURES / "tau_bench" / "tau2" / "data" / "ft-gpt-4.1_airline.json"
ALONE = FIXTURES / "tau_bench" / "tau2_alone" / "data"
LIST, FLAT = ALONE / "gpt-4.1_airline_20.json", ALONE / "acme.json"


def document():
    return json.loads(WHOLE.read_text())


def put(path: Path, content) -> Path:
    path.write_text(json.dumps(content))
    return path


def verdicts(path: Path):
    return [(one.case, one.index, facts(one), one.reported, len(one.steps)) for one in attempts(path)]


def test_the_simulations_are_the_same_in_every_form(tmp_path):
    as_usual = [one for one in verdicts(WHOLE) if one[2][0] != "missing"]
    as_list = put(tmp_path / "gpt-4.1_airline_20.json", document()["simulations"])
    flat = put(tmp_path / "flat.json", {"domain": "airline", "simulations": document()["simulations"]})

    assert verdicts(as_list) == as_usual
    assert verdicts(flat) == as_usual


def test_a_document_names_its_model_agent_and_domain_in_its_own_fields():
    (run,) = runs(FLAT)

    assert (run.name, run.subject.model, run.subject.agent, run.suite) == (
        "acme",
        "acme-1",
        "llm_agent",
        "tau2-bench/airline",
    )
    assert run.roles == {"user": "gpt-4.1"}
    assert run.environment["num_trials"] == 1


@pytest.mark.parametrize(
    ("name", "model", "domain", "user"),
    [
        ("gpt-4.1_airline_20", "gpt-4.1", "airline", ""),
        ("claude-3-7_retail_default_gpt-4.1-2025-04-14_4trials", "claude-3-7", "retail", "gpt-4.1-2025-04-14"),
        ("my_results", "", "", ""),
    ],
)
def test_a_list_is_named_by_its_file(tmp_path, name, model, domain, user):
    (run,) = runs(put(tmp_path / f"{name}.json", document()["simulations"]))

    assert (run.name, run.subject.model, run.roles.get("user", "")) == (name, model, user)
    assert run.suite == (f"tau2-bench/{domain}" if domain else "tau2-bench")


def test_fields_of_the_simulations_name_the_run_where_the_document_has_none(tmp_path):
    rows = [row | {"model": "acme-2", "domain": "retail"} for row in document()["simulations"]]
    (run,) = runs(put(tmp_path / "all.json", rows))

    assert (run.subject.model, run.suite) == ("acme-2", "tau2-bench/retail")
