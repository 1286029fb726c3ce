"""Failures as commands select them."""

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
