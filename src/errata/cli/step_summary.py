"""`--step-summary`: a report in a screenful, appended to the page of a CI run."""

import os
import sys
from collections.abc import Iterable
from pathlib import Path

from errata.errors import ReportError, SettingsError
from errata.render.document import Document
from errata.render.markdown import to_markdown

VARIABLE = "GITHUB_STEP_SUMMARY"


def goes_to_stdout() -> bool:
    return not os.environ.get(VARIABLE)


def refuse_beside_json() -> None:
    """Markdown and JSON on one stream can't be told apart."""
    if goes_to_stdout():
        told = f"`--step-summary` goes to stdout where ${VARIABLE} is not set, and so does `--json`"
        raise SettingsError(told, hint="leave out one of them")


def add_summaries(documents: Iterable[Document]) -> None:
    text = "\n".join(map(to_markdown, documents))
    if goes_to_stdout():
        sys.stdout.write(text)
        return
    path = Path(os.environ[VARIABLE])
    try:
        with path.open("a", encoding="utf-8", errors="replace") as file:
            file.write(f"{text}\n")
    except OSError as error:
        raise ReportError(f"`{path}` can't be written: {error.strerror}", hint=f"see ${VARIABLE}") from error
