"""What `errata run --json` and `errata models … --json` print."""

from typing import Literal

from errata.model.record import Struct

InvalidWord = Literal["no_log", "no_tokens", "rate_limited", "unavailable", "nothing_scored"]


class ModelsListOutput(Struct):
    """One model of the models file."""

    name: str
    provider: str
    model: str
    base_url: str | None
    api: Literal["chat", "responses"]
    key_name: str | None
    """The environment variable that holds the key; never the key."""
    schedule: Literal["daily", "weekly", "monthly"] | None
    settings: dict[str, int | float | str | bool]
    inspect_model: str
    """The name that Inspect and its logs use."""


class ModelsCheckOutput(Struct):
    name: str
    ok: bool
    key_variable: str | None
    """The variable that must hold a key; null where none is needed or Inspect decides."""
    problem: Literal["key_missing"] | None


class SmokeOutput(Struct):
    cases: int
    tokens: int | None
    invalid: InvalidWord | None
    """Why the model could not be measured; null where it could."""
    error: str | None
    """The first error in the log."""


class ModelsSmokeOutput(Struct):
    name: str
    suite: str
    smoke: SmokeOutput


class RunJobOutput(Struct):
    """One model on one suite."""

    model: str
    suite: str
    run: str | None
    run_id: str | None
    invalid: InvalidWord | None
    """Why the run does not measure the model; such a run is excluded from every score."""
    smoke: SmokeOutput | None
    """Null where the model had no smoke run."""
    cases: int | None
    failures: int | None
    strict: float | None
    clean: float | None
    report: str | None
    """Path of the report; null where none was written."""
    inspect_exit_code: int


class RunPlanOutput(Struct):
    """One command that `errata run --dry-run` would run."""

    model: str
    suite: str
    argv: tuple[str, ...]
    env: dict[str, str]
    """Variables that are added; keys are not among them."""
    smoke: bool
    """Whether a smoke run comes first."""


SHAPES = {
    "models list": ModelsListOutput,
    "models check": ModelsCheckOutput,
    "models smoke": ModelsSmokeOutput,
    "run": RunJobOutput,
    "run --dry-run": RunPlanOutput,
}
