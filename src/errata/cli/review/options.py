"""What the commands of `errata review` share: who is reading, how packets are made, and that there is nothing."""

from collections.abc import Callable
from typing import Any

import click

from errata.model import Reviewer
from errata.model.attempt import Filters
from errata.model.words import ReviewerKind
from errata.settings import Settings

REVIEWER = (
    "The name under which verdicts are kept; readers of one name share the work, those of another read for themselves. "
    "Else `agent`; of a person $ERRATA_AUTHOR, else the user's name."
)
PERSON = "A person reads: this verdict stands until a person gives a newer one, and may go without quotes."


def reader_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Adds `--reviewer` and `--person`."""
    named = click.option("--reviewer", default="", metavar="NAME", help=REVIEWER)
    person = click.option("--person", is_flag=True, help=PERSON)
    return named(person(function))


def packet_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Adds `--taxonomy` and `--blind`: how packets are made."""
    words = click.option(
        "--taxonomy", default="", metavar="NAME", help="Labels of this taxonomy; else the source's own."
    )
    blind = click.option("--blind", is_flag=True, help="Without the names of the model and who serves it.")
    return words(blind(function))


def reader(name: str, settings: Settings, *, kind: ReviewerKind) -> Reviewer:
    """A person is called as the settings say; a program that runs as that person is not that person."""
    return Reviewer(kind=kind, name=name.strip() or (settings.author if kind == "person" else "") or kind)


def no_failure(filters: Filters, *runs: str) -> str:
    whose = ", ".join(f"`{run}`" for run in runs)
    named = {"--case": filters.case, "--owner": filters.owner, "--bucket": filters.bucket}
    given = " ".join(f"{name} {value}" for name, value in named.items() if value)
    return f"no failure of {whose} matches `{given}`" if given else f"there are no failures in {whose}"
