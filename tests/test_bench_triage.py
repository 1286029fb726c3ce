"""The measurement of triage: its data is sound, its split is fixed, and a short pass of it works."""

import sys
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))  # the benchmarks are no part of the package

from bench.triage import report, speed  # noqa: E402
from bench.triage.logs import Target  # noqa: E402
from bench.triage.measures import measure  # noqa: E402
from bench.triage.samples import HARNESSES, Sample, injected, labelled  # noqa: E402
from bench.triage.templates import HELD_OUT_HARNESSES, decoys, faults, part_of  # noqa: E402
from bench.triage.trying import FIXTURES, NO_FAILURE, Trials, Tried  # noqa: E402

AT_LEAST = 8


def a_sample(**changes):
    facts = {"name": "x", "harness": "generic", "kind": "fault", "part": "tune", "owner": "provider", "fixture": ""}
    return Sample(**facts | changes)


def test_every_owner_has_enough_faults():
    owners = Counter(fault.owner for fault in faults())

    assert min(owners.values()) >= AT_LEAST
    assert set(owners) == {"provider", "environment", "harness", "grader", "budget", "simulator", "collateral"}


def test_every_fault_says_where_its_wording_was_seen():
    assert [fault.name for fault in faults() if not fault.source] == []


def test_every_name_is_there_once():
    names = Counter(template.name for template in (*faults(), *decoys()))

    assert [name for name, often in names.items() if often > 1] == []


def test_every_template_can_occur_somewhere():
    used = {sample.template.name for sample in injected() if sample.template}

    assert {template.name for template in (*faults(), *decoys())} - used == set()


def test_every_harness_has_a_twin_and_a_decoy():
    kinds = {(sample.harness, sample.kind) for sample in injected()}

    assert [one.name for one in HARNESSES if not {(one.name, "twin"), (one.name, "decoy")} <= kinds] == []


def test_the_split_goes_by_the_name_alone():
    assert part_of("anthropic overloaded", "inspect-ai") == part_of("anthropic overloaded", "convex-evals") == "tune"
    assert part_of("gemini overloaded", "inspect-ai") == "held-out"


def test_each_owner_has_about_half_of_its_templates_in_either_part():
    templates = [*faults(), *decoys()]
    every = Counter(template.owner for template in templates)
    tune = Counter(template.owner for template in templates if part_of(template.name, "") == "tune")

    assert all(0.35 <= tune[owner] / often <= 0.65 for owner, often in every.items())


@pytest.mark.parametrize("harness", HELD_OUT_HARNESSES)
def test_nothing_of_a_held_out_harness_is_there_to_tune_on(harness):
    assert {sample.part for sample in injected() if sample.harness == harness} == {"held-out"}


def test_every_label_is_of_a_fixture_that_is_there():
    assert [sample.fixture for sample in labelled() if not (FIXTURES / sample.fixture / "data").is_dir()] == []


@pytest.mark.parametrize("harness", HARNESSES, ids=lambda harness: harness.name)
def test_an_injected_fault_is_found_as_a_failure(harness, tmp_path):
    sample = next(one for one in injected() if one.harness == harness.name and one.kind == "fault")
    (tried,) = Trials(tmp_path).all([sample])

    assert tried.owner != NO_FAILURE


def test_an_injection_leaves_the_fixture_alone(tmp_path):
    sample = next(one for one in injected() if one.harness == "inspect-ai" and one.kind == "fault")
    original = next((FIXTURES / sample.fixture / "data").iterdir())
    before = original.read_bytes()
    list(Trials(tmp_path).all([sample]))

    assert original.read_bytes() == before


def test_a_twin_without_a_failure_is_told(tmp_path):
    sample = a_sample(kind="twin", fixture="generic/jsonl", target=Target("no such case"))
    (tried,) = Trials(tmp_path).all([sample])

    assert tried.owner == NO_FAILURE


def test_unknown_counts_as_wrong():
    measured = measure([Tried(a_sample(), "unknown"), Tried(a_sample(), "provider")])

    assert measured.owners["provider"].recall == 0.5
    assert measured.coverage == 0.5


def test_a_decoy_read_as_a_fault_is_counted():
    measured = measure([Tried(a_sample(kind="decoy", owner="model"), "provider")])

    assert measured.decoys_misread == 1


def test_a_held_out_miss_is_named_and_never_quoted(capsys):
    missed = [Tried(a_sample(part="held-out"), "model", decided_by="rule", quote="the text of the log")]
    report.print_part("held-out", missed, misses=True, texts=False)

    assert "x: provider, said model" in (shown := capsys.readouterr().out)
    assert "the text of the log" not in shown + str(report.as_json("held-out", missed, texts=False))


def test_speed_is_measured_on_failures_alone(tmp_path):
    measured = speed.compare(tmp_path, 200)

    assert measured.failures == 200
    assert measured.ratio > 0
