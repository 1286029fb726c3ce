"""The model, run and date in the name of a report file."""

from pathlib import PurePosixPath
from typing import NamedTuple

from errata.memory.reading.dates import date_in
from errata.memory.spelling import folded
from errata.text.lazy_regex import lazy_regex

_DATED = lazy_regex(r"^(?:(?P<head>.*?)[_.\- ])?(?P<date>\d{4}-\d\d-\d\d|20\d{6})(?:[_.\- ](?P<tail>.*))?$")
_PREFIX = lazy_regex(r"[A-Za-z0-9]{3,64}")


class FileName(NamedTuple):
    provider: str = ""
    model: str = ""
    run: str = ""
    """The beginning of the run's id."""
    date: str = ""


def date_in_name(name: str) -> str:
    match = _DATED.match(PurePosixPath(name).stem)
    return date_in(match["date"]) if match else ""


def parse_file_name(below: str) -> FileName:
    """`below` is the path from the folder of reports on."""
    *folders, name = PurePosixPath(below).parts
    match = _DATED.match(PurePosixPath(name).stem)
    if match is None or not date_in(match["date"]):
        return FileName()
    provider, model = (["", "", *folders])[-2:]
    written, run = _split(match["head"] or match["tail"] or "", model)
    day = date_in(match["date"])
    is_own = bool(written) and folded(written) != folded(model)
    return FileName("", written, run, day) if is_own else FileName(provider, model, run, day)


def _split(head: str, folder: str) -> tuple[str, str]:
    """The model and the prefix, where a name holds both; a folder of the model leaves all of it to the prefix."""
    before, _, last = head.rpartition("_")
    if before and _PREFIX.fullmatch(last) and (_is_id(last) or (folder and folded(before) == folded(folder))):
        return before, last
    if folder or _is_id(head):
        return "", head if _PREFIX.fullmatch(head) else ""
    return head, ""


def _is_id(text: str) -> bool:
    """Letters and digits mixed, as no word has them."""
    return len(text) >= 5 and any(letter.isdigit() for letter in text) and text.isalnum()
