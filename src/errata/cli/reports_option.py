"""`--reports DIR`: by which earlier reports a command goes."""

from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any

import click


def reports_option(function: Callable[..., Any]) -> Callable[..., Any]:
    """Adds the option; the command itself need not know of it."""

    @click.option(
        "--reports",
        type=click.Path(path_type=Path),
        metavar="DIR",
        help="Earlier reports; else `reports` here, beside the run, and above it in its repository.",
    )
    @wraps(function)
    def wrapped(*arguments: Any, reports: Path | None, **named: Any) -> Any:
        from errata.runs.reports import reports_at

        with reports_at(reports):
            return function(*arguments, **named)

    return wrapped
