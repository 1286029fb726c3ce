"""The measurement of triage: its data is sound, its split is fixed, and a short pass of it works."""

import re
import sys
from collections import Counter
from pathlib import Path

import pytest
from tests.length import every

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))  # the benchmarks are no part of the package

from bench.triage import report, speed  # noqa: E402
from bench.triage.logs import FIXTURES, Target  # noqa: E402
from bench.triage.measures import measure  # noqa: E402
from bench.triage.samples import FIELD_HARNESSES, HARNESSES, Sample, field, fresh, injected, labelled  # noqa: E402
from bench.triage.soundness import unsound  # noqa: E402
from bench.triage.templates import (  # noqa: E402
    HELD_OUT_HARNESSES,
    decoys,
    faults,
    field_decoys,
    field_faults,
    fresh_decoys,
    fresh_faults,
    part_of,
)
from bench.triage.trying import NO_FAILURE, Trials, Tried  # noqa: E402

AT_LEAST = 8
SAYS_SOMETHING = 3
"""Words. A shorter text may stand inside of another by chance."""


def masked(template):
    """The texts of a template without numbers and spacing, so that another number does not make another text."""
    return {" ".join(re.sub(r"\d+", "#", text.casefold()).split()) for text in template.texts}


def shares(text, known):
    if text == known:
        return True
    shorter, longer = sorted((text, known), key=len)
    return len(shorter.split()) >= SAYS_SOMETHING and shorter in longer


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
    names = Counter(template.name for template in (*faults(), *decoys(), *fresh_faults(), *fresh_decoys()))

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


@pytest.mark.parametrize("part", ["held-out", "fresh", "field"])
def test_a_miss_of_a_part_that_nobody_tunes_on_is_named_and_never_quoted(part, capsys):
    missed = [Tried(a_sample(part=part), "model", decided_by="rule", quote="the text of the log")]
    report.print_part(part, missed, misses=True)

    assert "x: provider, predicted model" in (shown := capsys.readouterr().out)
    assert "the text of the log" not in shown + str(report.as_json(part, missed))


def test_the_fresh_part_says_that_it_was_never_looked_at(capsys):
    report.print_part("fresh", [Tried(a_sample(part="fresh"), "provider")], misses=False)

    assert "since its first measurement the names of its misses are known" in capsys.readouterr().out


def test_every_owner_has_enough_fresh_faults():
    owners = Counter(fault.owner for fault in fresh_faults())

    assert min(owners.values()) >= AT_LEAST
    assert set(owners) == {fault.owner for fault in faults()} | {"task"}


def test_every_fresh_template_says_where_its_wording_was_seen():
    assert [one.name for one in (*fresh_faults(), *fresh_decoys()) if not one.source] == []


def test_every_fresh_decoy_is_the_models_and_says_what_may_mislead():
    assert [decoy.name for decoy in fresh_decoys() if decoy.owner != "model" or not decoy.words] == []


def test_every_fresh_template_can_occur_somewhere():
    used = {sample.template.name for sample in fresh() if sample.template}

    assert {template.name for template in (*fresh_faults(), *fresh_decoys())} - used == set()


def test_no_text_of_a_fresh_template_stands_among_those_that_rules_were_tuned_on():
    known = {text for template in (*faults(), *decoys()) for text in masked(template)}
    new = {text: one.name for one in (*fresh_faults(), *fresh_decoys()) for text in masked(one)}

    assert [(name, old) for text, name in new.items() for old in known if shares(text, old)] == []


def test_nothing_fresh_is_in_another_part():
    assert {sample.part for sample in fresh()} == {"fresh"}
    assert "fresh" not in {sample.part for sample in injected()}


@pytest.mark.parametrize("harness", [harness.name for harness in HARNESSES])
def test_a_fresh_log_can_be_read_and_its_target_is_a_failure(harness, tmp_path):
    samples = every(5, [sample for sample in fresh() if sample.harness == harness])

    assert {sample.name: why for sample in samples if (why := unsound(sample, tmp_path))} == {}


def one_of_each_place(harness):
    seen = {}
    for sample in field():
        if sample.harness == harness.name:
            seen.setdefault((sample.kind, sample.place), sample)
    return seen.values()


@pytest.mark.parametrize("harness", FIELD_HARNESSES, ids=lambda harness: harness.name)
def test_a_log_of_the_field_can_be_read_and_its_target_is_a_failure(harness, tmp_path):
    assert {one.name: why for one in one_of_each_place(harness) if (why := unsound(one, tmp_path))} == {}


def test_every_harness_of_the_field_has_a_twin_and_a_decoy():
    kinds = {(sample.harness, sample.kind) for sample in field()}

    assert [one.name for one in FIELD_HARNESSES if not {(one.name, "twin"), (one.name, "decoy")} <= kinds] == []


def test_every_template_of_the_field_can_occur_there():
    used = {sample.template.name for sample in field() if sample.template}
    known = {template.name for template in (*fresh_faults(), *fresh_decoys())}

    assert {template.name for template in (*field_faults(), *field_decoys())} - known - used == set()


def test_nothing_of_the_field_stands_there_twice():
    assert max(Counter(sample.name for sample in field()).values()) == 1


@pytest.mark.parametrize(
    ("harness", "place", "owner"),
    [("helm", "call", "provider"), ("swe-bench", "ending", "budget"), ("otlp", "recovered", "model")],
)
def test_a_fault_of_the_field_is_told(harness, place, owner, tmp_path):
    sample = next(one for one in field() if (one.harness, one.place) == (harness, place))
    (tried,) = Trials(tmp_path).all([sample])

    assert (tried.owner, sample.owner) == (owner, owner)


def test_speed_is_measured_on_failures_alone(tmp_path):
    measured = speed.compare(tmp_path, 200)

    assert measured.failures == 200
    assert measured.ratio > 0
