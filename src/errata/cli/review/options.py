"""Options that the commands of `errata review` share: the reviewer, and how packets are made."""

from collections.abc import Callable
from typing import Any

import click

from errata.model import Reviewer
from errata.model.filters import Filters
from errata.model.words import ReviewerKind
from errata.settings import Settings

REVIEWER = (
    "Name for your verdicts. Reviewers with the same name share the work; other names review independently. "
    "Default: `agent`; with --person, $ERRATA_AUTHOR or your user name."
)
PERSON = "Review as a person: the verdict holds until a person gives a newer one, and needs no quotes."


def reader_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Adds `--reviewer` and `--person`."""
    named = click.option("--reviewer", default="", metavar="NAME", help=REVIEWER)
    person = click.option("--person", is_flag=True, help=PERSON)
    return named(person(function))


def packet_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Adds `--taxonomy` and `--blind`: how packets are made."""
    words = click.option(
        "--taxonomy", default="", metavar="NAME", help="Taxonomy of the labels; default: the source's own."
    )
    blind = click.option("--blind", is_flag=True, help="Hide the names of model and provider.")
    return words(blind(function))


def reader(name: str, settings: Settings, *, kind: ReviewerKind) -> Reviewer:
    """A person has the name from the settings; a program run by that person does not."""
    return Reviewer(kind=kind, name=name.strip() or (settings.author if kind == "person" else "") or kind)


def no_failure(filters: Filters, *runs: str) -> str:
    whose = ", ".join(f"`{run}`" for run in runs)
    named = {"--case": filters.case, "--owner": filters.owner, "--bucket": filters.bucket}
    given = " ".join(f"{name} {value}" for name, value in named.items() if value)
    return f"no failure of {whose} matches `{given}`" if given else f"no failures in {whose}"
