"""A file of traces → its runs, one for each subject: traces know no run of their own."""

from pathlib import Path
from typing import Any

from errata.model import Run, SourceInfo, SourceRef, Subject
from errata.sources.otlp import names
from errata.sources.otlp.layout import NAME
from errata.sources.otlp.survey import Survey, Tested
from errata.sources.otlp.values import Attributes
from errata.sources.shared.spans import moment
from errata.sources.shared.values import known, rest, settings, text


def run_of(survey: Survey, tested: Tested, resource: dict[str, Any], path: Path) -> Run:
    attributes = Attributes(resource.get("attributes"))
    begun, ended = survey.times(tested)
    environment: dict[str, Any] = settings(known(**{str(key): value for key, value in attributes.all.items()}))
    return Run(
        native_id=survey.first or path.name,
        source=SourceInfo(name=NAME),
        name=text(attributes.get("service.name")),
        subject=Subject(**tested._asdict()),
        suite=text(attributes.get(*names.SUITE)) or "traces",
        started_at=moment(begun),
        finished_at=moment(ended),
        environment=environment,
        origin=str(path.parent),
        extra=known(resource=rest(resource, ("attributes",))),
        ref=SourceRef(file=path.name),
    )
