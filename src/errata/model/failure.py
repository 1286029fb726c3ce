"""Failures as commands select them."""

from typing import NamedTuple

import msgspec


class Filters(msgspec.Struct, frozen=True, kw_only=True):
    case: str = ""
    category: str = ""
    failed_check: str = ""
    execution: str = ""
    measurement: str = ""
    outcome: str = ""
    owner: str = ""
    bucket: str = ""
    """The slug of a bucket, or the beginning of it."""


class ListedFailure(NamedTuple):
    """A failure as a list of what is to be done has it."""

    seq: int
    case: str
    id: str
    execution: str
    measurement: str
    outcome: str
    owner: str | None
