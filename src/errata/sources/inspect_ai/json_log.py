"""A log as one JSON document, whose samples are decoded one by one."""

from pathlib import Path

from errata.model import Unreadable
from errata.sources.base import describe, unreadable
from errata.sources.inspect_ai.layout import NAME
from errata.sources.inspect_ai.log import Log
from errata.sources.shared.json_rows import LongDocument, long_document


def read_json_log(path: Path) -> Log | Unreadable:
    document = long_document(path, "samples", source=NAME, root=path)
    return document if isinstance(document, Unreadable) else _log(document)


def _log(document: LongDocument) -> Log:
    header, problems = {}, []
    for name in document.fields:
        if name == "reductions":
            continue
        try:
            header[name] = document.field(name)
        except ValueError as error:
            problems.append(unreadable(NAME, document.ref.below(name), describe(error)))
    return Log(header=header, ref=document.ref, samples=document.rows(), problems=(*problems, *document.problems()))
