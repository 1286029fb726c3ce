"""What `errata run` and `errata models` share."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from errata.model.output.runner import SmokeOutput
from errata.runner.models import FILE
from errata.runner.run import SmokeResult


def models_option(function: Callable[..., Any]) -> Callable[..., Any]:
    return click.option(
        "--models",
        type=click.Path(path_type=Path),
        default=Path(FILE),
        show_default=True,
        help="File that defines models and suites.",
    )(function)


def smoke_output(result: SmokeResult) -> SmokeOutput:
    return SmokeOutput(cases=result.cases, tokens=result.tokens, invalid=result.invalid, error=result.quote or None)
