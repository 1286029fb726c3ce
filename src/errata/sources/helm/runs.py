"""The specification of a run and its statistics → the run."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from errata.model import Reported, Run, Scorer, SourceInfo, SourceRef, Subject
from errata.sources.helm.layout import NAME, SPEC, STATE, STATS
from errata.sources.helm.stats import Stat, main_measure
from errata.sources.shared.values import known, mapping, moment_since_1970, plain, rest, sequence, settings, text

_MODEL = re.compile(r"(?<=[:,])model(?:_deployment)?=[^,]*,?")
_SPEC = ("name", "scenario_spec", "adapter_spec", "groups", "metric_specs")
_TESTED = ("test", "valid")


class Folder(NamedTuple):
    """The documents of a run but for its requests and their statistics, which are many."""

    path: Path
    spec: dict[str, Any]
    scenario: dict[str, Any]
    stats: tuple[Stat, ...]
    state_spec: dict[str, Any]
    """The `adapter_spec` as it stands beside the requests."""
    since: Any
    """When the first request was made."""

    @property
    def adapter(self) -> dict[str, Any]:
        return mapping(self.spec.get("adapter_spec")) or self.state_spec

    @property
    def groups(self) -> list[str]:
        return [text(one) for one in sequence(self.spec.get("groups"))]

    @property
    def main(self) -> str:
        return main_measure(self.groups, (one.name for one in self.stats if one.is_measure and one.value is not None))

    @property
    def split(self) -> str:
        """Leaderboards show the test split."""
        given = {one.split for one in self.stats}
        return next((name for name in _TESTED if name in given), "")


def run_of(folder: Folder) -> Run:
    name = text(folder.spec.get("name"))
    suite = suite_of(name) or text(folder.scenario.get("name")) or "".join(folder.groups[:1])
    since = moment_since_1970(folder.since)
    return Run(
        native_id="_".join(filter(None, (name or suite, since))) or folder.path.name,
        source=SourceInfo(name=NAME),
        name=name,
        subject=_subject(folder.adapter),
        suite=suite,
        expected_cases=_expected(folder),
        measured_attempts=_expected(folder),
        started_at=since,
        reported=tuple(_reported(folder)),
        scorers=tuple(Scorer(name=one) for one in dict.fromkeys(one.name for one in folder.stats if one.is_measure)),
        origin=str(folder.path),
        extra=_extra(folder),
        ref=SourceRef(file=SPEC if folder.spec else STATE),
    )


def suite_of(name: str) -> str:
    """The name of a run without its model: `mmlu:subject=philosophy`."""
    return _MODEL.sub("", name).rstrip(",:")


def _subject(adapter: dict[str, Any]) -> Subject:
    model, deployment = text(adapter.get("model")), text(adapter.get("model_deployment"))
    params: dict[str, Any] = settings(rest(adapter, ("model", "model_deployment")))
    return Subject(
        model=model or deployment,
        provider=deployment.partition("/")[0],
        params=params,
        extra=known(model_deployment=deployment if deployment != model else None),
    )


def _expected(folder: Folder) -> int | None:
    """Counted by HELM itself, but for copies of instances that were changed on purpose."""
    if sequence(mapping(folder.spec.get("data_augmenter_spec")).get("perturbation_specs")):
        return None
    told = [one.value for one in folder.stats if one.name == "num_instances" and one.value and not one.perturbation]
    return int(sum(told)) if told else None


def _reported(folder: Folder) -> Iterator[Reported]:
    """Means over train trials of means over instances; of the same instances, as here, that is the mean of all."""
    main, split = folder.main, folder.split
    for one in folder.stats:
        if one.is_measure and one.value is not None:
            plainly = (one.name, one.split, one.sub_split, one.perturbation) == (main, split, "", "")
            yield Reported(
                name=one.name,
                metric="mean",
                filter=" ".join(filter(None, (one.split, one.sub_split, one.perturbation))),
                value=one.value,
                headline=plainly,
                ref=SourceRef(file=STATS, pointer=f"/{one.place}"),
            )


def _extra(folder: Folder) -> dict[str, Any]:
    beside = {one.label: one.value for one in folder.stats if not one.is_measure and one.value is not None}
    other = folder.state_spec if folder.spec and folder.state_spec != folder.adapter else None
    return rest(folder.spec, _SPEC) | known(
        scenario=folder.scenario,
        scenario_spec=plain(folder.spec.get("scenario_spec")),
        metric_specs=plain(folder.spec.get("metric_specs")),
        groups=folder.groups,
        stats=beside,
        adapter_of_requests=other,
    )
