"""Every sample of the measurement: which template goes where, which failures are twins, and what is true of each."""

import tomllib
from collections.abc import Callable, Iterator
from typing import Literal

import msgspec

from bench.triage import (
    field_agents,
    field_experiments,
    field_rows,
    field_tests,
    field_traces,
    fresh_conversation_bench,
    fresh_convex_evals,
    fresh_errata_jsonl,
    fresh_generic,
    fresh_harbor,
    fresh_inspect_ai,
    fresh_promptfoo,
    fresh_scylla,
    inject_conversation_bench,
    inject_convex_evals,
    inject_errata_jsonl,
    inject_generic,
    inject_harbor,
    inject_inspect_ai,
    inject_promptfoo,
    inject_scylla,
)
from bench.triage.logs import Harness, Place, Target
from bench.triage.templates import (
    HERE,
    Part,
    Template,
    decoys,
    faults,
    field_decoys,
    field_faults,
    fresh_decoys,
    fresh_faults,
    part_of,
)
from errata.model.words import Owner

HARNESSES: tuple[Harness, ...] = (
    inject_convex_evals.HARNESS,
    inject_conversation_bench.HARNESS,
    inject_scylla.HARNESS,
    inject_inspect_ai.HARNESS,
    inject_promptfoo.HARNESS,
    inject_harbor.HARNESS,
    inject_generic.HARNESS,
    inject_errata_jsonl.HARNESS,
)
FRESH_HARNESSES: tuple[Harness, ...] = (
    fresh_convex_evals.HARNESS,
    fresh_conversation_bench.HARNESS,
    fresh_scylla.HARNESS,
    fresh_inspect_ai.HARNESS,
    fresh_promptfoo.HARNESS,
    fresh_harbor.HARNESS,
    fresh_generic.HARNESS,
    fresh_errata_jsonl.HARNESS,
)
"""The same with more places, and with other twins."""
FIELD_HARNESSES: tuple[Harness, ...] = (
    *field_rows.FIELD,
    *field_experiments.FIELD,
    *field_agents.FIELD,
    *field_tests.FIELD,
    *field_traces.FIELD,
)
"""Those that were read later."""
Parting = Callable[[str, str], Part]
"""Template, harness → the part that a sample of them is in."""
Kind = Literal["fault", "twin", "decoy", "label"]


class Sample(msgspec.Struct, frozen=True, kw_only=True):
    """One failure with a known owner."""

    name: str
    harness: str
    kind: Kind
    part: Part | Literal["labels"]
    owner: Owner
    fixture: str
    target: Target | None = None
    """Of a failure in an untouched log; an injector names its own."""
    template: Template | None = None
    place: str = ""
    unsure: str = ""
    """Why no log can show this by itself."""


def injected() -> Iterator[Sample]:
    for harness in HARNESSES:
        yield from _all(harness, faults(), decoys(), part_of)


def fresh() -> Iterator[Sample]:
    for harness in FRESH_HARNESSES:
        yield from _all(harness, fresh_faults(), fresh_decoys(), lambda _template, _harness: "fresh")


def field() -> Iterator[Sample]:
    """A template once for each place that is really another."""
    for harness in FIELD_HARNESSES:
        seen: set[tuple[str, Place]] = set()
        for sample in _all(harness, field_faults(), field_decoys(), lambda _template, _harness: "field"):
            if sample.template is None:
                yield sample
            elif (what := (sample.template.name, harness.places[sample.place])) not in seen:
                seen.add(what)
                yield sample


def place_of(sample: Sample) -> Place:
    harnesses = {"fresh": FRESH_HARNESSES, "field": FIELD_HARNESSES}.get(sample.part, HARNESSES)
    return next(one for one in harnesses if one.name == sample.harness).places[sample.place]


def labelled() -> Iterator[Sample]:
    """By case; `*` means every failure of the run."""
    for run in tomllib.loads((HERE / "labels.toml").read_text(encoding="utf-8"))["run"]:
        unsure = {case: why for why, cases in run.get("unsure", {}).items() for case in cases}
        for owner, cases in run["owners"].items():
            for case in cases:
                yield Sample(
                    name=f"{run['fixture']} {run['run'][-8:]} {case}".replace("  ", " "),
                    harness=_harness_of(run["fixture"]),
                    kind="label",
                    part="labels",
                    owner=owner,
                    fixture=run["fixture"],
                    target=Target(case, index=0, run=run["run"]),
                    unsure=unsure.get(case, ""),
                )


def _all(harness: Harness, wanted: list[Template], misleading: list[Template], parting: Parting) -> Iterator[Sample]:
    yield from _twins(harness, parting)
    yield from _from(harness, "fault", wanted, parting)
    yield from _from(harness, "decoy", misleading, parting)


def _twins(harness: Harness, parting: Parting) -> Iterator[Sample]:
    for twin in harness.twins:
        name = f"twin {twin.target.case}"
        yield Sample(
            name=f"{name} @ {harness.name} {twin.fixture.rpartition('/')[2]}",
            harness=harness.name,
            kind="twin",
            part=parting(name, harness.name),
            owner="model",
            fixture=twin.fixture,
            target=twin.target,
        )


def _from(harness: Harness, kind: Kind, templates: list[Template], parting: Parting) -> Iterator[Sample]:
    for template in templates:
        if not template.is_for(harness.name):
            continue
        for place in template.places:
            if place in harness.places:
                yield Sample(
                    name=f"{template.name} @ {harness.name} {place}",
                    harness=harness.name,
                    kind=kind,
                    part=parting(template.name, harness.name),
                    owner=template.owner,
                    fixture=harness.places[place].fixture,
                    template=template.worded(harness.name),
                    place=place,
                )


def _harness_of(fixture: str) -> str:
    return fixture.partition("/")[0].replace("_", "-")
