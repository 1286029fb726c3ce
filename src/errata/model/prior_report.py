"""An earlier report as it lies in a folder: what somebody, or errata itself, once wrote about a run."""

from errata.model.action import Action
from errata.model.record import Record
from errata.model.words import RecommendationGroup


class PriorRun(Record):
    """A run that a report is about."""

    id: str
    """Native id, or the part of it that the report gives."""
    model: str = ""
    date: str = ""
    """The day that the report gives to this run; empty where it only has a day of its own."""
    passed: int | None = None
    total: int | None = None


class PriorFailure(Record):
    """One failure that a report names; `ref` is its line."""

    case: str
    """As the report writes it; `case_key` of a run is found by its ending."""
    label: str = ""
    """In the taxonomy's own spelling where it can be recognised, else as written."""
    by_rule: bool = False
    """The label comes from rules: errata's own report marks the failure as not reviewed."""
    failed_check: str = ""
    owner: str = ""
    """As a report by errata has it."""
    reasoning: str = ""
    run: str = ""
    """The run's id as the report writes it, if it is about several."""


class PriorRecommendation(Record):
    text: str
    group: RecommendationGroup | str = ""
    cases: tuple[str, ...] = ()


class PriorReport(Record):
    path: str
    digest: str
    own: bool = False
    """Written by errata, so that every field is exact."""
    run: str = ""
    """Native id, or the prefix of it that the file or its name gives."""
    run_id: str = ""
    """As a report by errata has it: several runs may share a native id."""
    model: str = ""
    """As written; folder and slug may be spelled differently."""
    provider: str = ""
    experiment: str = ""
    date: str = ""
    written: str = ""
    """The day of its file; counts where it names no day."""
    passed: int | None = None
    total: int | None = None
    runs: tuple[PriorRun, ...] = ()
    """All runs that it is about; `run`, `model` and the pass rate above are those of the first."""
    failures: tuple[PriorFailure, ...] = ()
    others: PriorFailure | None = None
    """What one statement gives to every failure that it does not list: `the remaining 22 are MODEL_FAULT`."""
    actions: tuple[Action, ...] = ()
    recommendations: tuple[PriorRecommendation, ...] = ()
    patterns: tuple[str, ...] = ()
    gaps: tuple[str, ...] = ()
    """Cases that it calls a known gap."""
