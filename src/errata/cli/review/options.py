"""Options that the commands of `errata review` share: the reviewer, and how packets are made."""

from collections.abc import Callable
from typing import Any

import click

from errata.model.filters import Filters

REVIEWER = (
    "Name for your verdicts. Reviewers with the same name share the work; other names review independently. "
    "Default: `agent`; with --person, $ERRATA_AUTHOR or your user name."
)
MODEL = (
    "Model that reviews, with its version. A second opinion needs another model, person or token; "
    "without a model, all your programs are one reviewer."
)
PERSON = "Review as a person: the verdict holds until a person gives a newer one, and needs no quotes."


def reader_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Adds `--reviewer`, `--model` and `--person`."""
    named = click.option("--reviewer", default="", metavar="NAME", help=REVIEWER)
    model = click.option("--model", default="", metavar="MODEL@VERSION", help=MODEL)
    person = click.option("--person", is_flag=True, help=PERSON)
    return named(model(person(function)))


def packet_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Adds `--taxonomy` and `--blind`: how packets are made."""
    words = click.option(
        "--taxonomy", default="", metavar="NAME", help="Taxonomy of the labels; default: the source's own."
    )
    blind = click.option("--blind", is_flag=True, help="Hide the names of model and provider.")
    return words(blind(function))


def no_failure(filters: Filters, *runs: str) -> str:
    whose = ", ".join(f"`{run}`" for run in runs)
    named = {"--case": filters.case, "--owner": filters.owner, "--bucket": filters.bucket}
    given = " ".join(f"{name} {value}" for name, value in named.items() if value)
    return f"no failure of {whose} matches `{given}`" if given else f"no failures in {whose}"
