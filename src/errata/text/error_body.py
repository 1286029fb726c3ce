"""Answers that are not answers: the body of a failed HTTP request, as JSON, as an HTML page, or as its status line."""

import json
import re
from functools import lru_cache
from typing import Any, NamedTuple

from errata.text.lazy_regex import lazy_regex

LONGEST = 20_000
FAILED, LAST = 400, 599
_STATUS_WORDS = (
    "Bad Request|Unauthorized|Payment Required|Forbidden|Not Found|Method Not Allowed|Request Timeout|Conflict|Gone|"
    "Payload Too Large|Content Too Large|Unsupported Media Type|Unprocessable (?:Entity|Content)|Too Many Requests|"
    "Internal Server Error|Not Implemented|Bad Gateway|Service (?:Temporarily )?Unavailable|Gateway Time-?out"
)
_LINE = lazy_regex(
    rf"(?:HTTP(?:/[\d.]+)?\s+)?(?:error:?\s*)?(?P<status>[45]\d\d)\s*+(?:[:\-–]\s*+)?(?:{_STATUS_WORDS})\.?"
    rf"|(?:error:\s*)?(?:Internal Server Error|Bad Gateway|Service (?:Temporarily )?Unavailable|Gateway Time-?out)\.?"
    r"|upstream (?:connect error|request timeout)\b[^\n]{0,300}",
    re.IGNORECASE,
)
_PAGE = lazy_regex(r"<(?:!doctype html|html)\b", re.IGNORECASE)
_PAGE_STATUS = lazy_regex(
    rf"<(?:title|h1)[^<>]*>[^<]{{0,80}}?(?:(?P<status>[45]\d\d)\b[^<]{{0,80}}|{_STATUS_WORDS})", re.IGNORECASE
)
# what an error object is made of; anything else in it is an answer
_ENVELOPE = frozenset(
    ("error", "errors", "message", "msg", "detail", "details", "title", "type", "code", "status", "statuscode", "name",
     "status_code", "httpstatus", "http_status", "reason", "description", "error_description", "errorcode", "url",
     "error_code", "requestid", "request_id", "trace", "traceid", "trace_id", "timestamp", "path", "instance",
     "method", "success", "ok", "param", "params", "stack", "exception", "help", "hint", "documentation_url",
     "metadata", "user_id", "userid", "org_id", "organization")
)  # fmt: skip
_STATUSES = ("status", "statuscode", "status_code", "httpstatus", "http_status", "code", "error_code", "errorcode")
_DETAILS = frozenset(("loc", "msg", "type"))
_SHORT_DETAIL = lazy_regex(rf"(?:{_STATUS_WORDS}|Not authenticated|Invalid (?:token|credentials))\.?", re.IGNORECASE)


class ErrorBody(NamedTuple):
    status: int | None = None
    """As the body states it."""
    is_typed: bool = False
    """Whether the form leaves no doubt: a status code, or the typed object of an API."""


def error_body(text: str) -> ErrorBody | None:
    """What the whole text is the error of; none where it may be an answer."""
    if len(text) > LONGEST:
        return None
    body = text.strip()
    if body[:1] == "{" and body[-1:] == "}":
        return _of_json(body)
    if _PAGE.match(body):
        page = _PAGE_STATUS.search(body)
        return None if page is None else ErrorBody(_number(page["status"]), is_typed=True)
    line = _LINE.fullmatch(body) if len(body) < 400 else None
    return None if line is None else ErrorBody(_number(line["status"]), is_typed=line["status"] is not None)


@lru_cache(maxsize=1_024)
def _of_json(body: str) -> ErrorBody | None:
    try:
        fields = json.loads(body)
    except (ValueError, RecursionError):
        return None
    fields = {str(name).lower(): value for name, value in fields.items()}
    if not fields or not _ENVELOPE.issuperset(fields):
        return None
    error = fields.get("error") or fields.get("errors")
    inner = {str(name).lower(): value for name, value in error.items()} if isinstance(error, dict) else {}
    status = _status(fields) or _status(inner)
    if error:
        typed = status is not None or bool(inner.keys() & {"message", "type", "code"})
        return ErrorBody(status, is_typed=typed)
    if status is not None and fields.keys() & {"detail", "details", "message", "title", "msg", "reason"}:
        return ErrorBody(status, is_typed=True)
    return ErrorBody(is_typed=True) if _is_refused_request(fields.get("detail"), alone=len(fields) == 1) else None


def _is_refused_request(detail: Any, *, alone: bool) -> bool:
    """`{"detail": "Not Found"}`, or a list of the fields that are wrong."""
    if isinstance(detail, str):
        return alone and _SHORT_DETAIL.fullmatch(detail.strip()) is not None
    listed = detail if isinstance(detail, list) else []
    return bool(listed) and all(isinstance(one, dict) and _DETAILS.issubset(one) for one in listed)


def _status(fields: dict[str, Any]) -> int | None:
    for name in _STATUSES:
        number = _number(fields.get(name))
        if number is not None:
            return number
    return None


def _number(value: Any) -> int | None:
    if isinstance(value, str) and value.isdecimal() and len(value) == 3:
        value = int(value)
    is_status = isinstance(value, int) and not isinstance(value, bool) and FAILED <= value <= LAST
    return value if is_status else None
