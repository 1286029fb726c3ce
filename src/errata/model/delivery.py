"""Whether the question reached the subject, and an answer came back: a prompt, not its name; a text, not an error."""

import json
from collections.abc import Mapping
from typing import Any

from errata.model.attempt import Attempt, Undelivered
from errata.model.words import PromptFault
from errata.text.error_body import FAILED, ErrorBody, error_body
from errata.text.lazy_regex import lazy_regex
from errata.text.redact import beginning

QUOTED = 200
LONGEST_NAME = 300
SHORTEST_VALUE = 3
MOST_TEXT = 200_000

# `file://x.txt`, `prompts/x.yaml`, `prompt.j2`: the whole text is one name, and no program ran on its content
_FILE = lazy_regex(
    r"(?:file://\S+|(?:[\w.~-]{1,80}[/\\]){0,12}[\w.-]{1,100}\.(?:txt|md|ya?ml|json[cl]?|j2|jinja2?|njk|hbs|tmpl|"
    r"prompt(?:y)?|mustache|liquid|py|m?js|ts)(?::\w+)?)"
)
# `pain_v1`, `summary-2`: one word that no language has
_ID = lazy_regex(r"(?=[A-Za-z\d.:-]{0,80}[_\d])[A-Za-z][\w.:-]{2,80}")
_PLACEHOLDER = lazy_regex(r"\{\{-?\s{0,4}([A-Za-z_]\w{0,60})\s{0,4}-?\}\}|(?<![{$\\])\{([A-Za-z_]\w{0,60})\}(?!\})")
_ANY_EXPRESSION = lazy_regex(r"\{\{|\{%")


def undelivered(sent: str, variables: Mapping[str, Any] | None = None, template: str = "") -> Undelivered | None:
    """None where the text may well be the prompt. `variables` are those of the case, with the values that were used."""
    fault = _fault(sent.strip(), _texts(variables or {}), template)
    return Undelivered(fault=fault, sent=" ".join(beginning(sent, QUOTED).split())) if fault else None


def _fault(sent: str, values: dict[str, str], template: str) -> PromptFault | None:
    if not sent:
        return "empty"
    if len(sent) <= LONGEST_NAME and not any(map(str.isspace, sent)) and _is_reference(sent, values):
        return "reference"
    if "{" in sent[:MOST_TEXT] and _has_unresolved(sent[:MOST_TEXT], values):
        return "unresolved"
    if template and values and _lacks_variables(sent, values, template):
        return "without_variables"
    return None


def _is_reference(sent: str, values: dict[str, str]) -> bool:
    """A word alone may be the task; an id is none where the case has variables, and none of them is in it."""
    if any(sent in value or (len(value) >= SHORTEST_VALUE and value in sent) for value in values.values()):
        return False
    return _FILE.fullmatch(sent) is not None or (bool(values) and _ID.fullmatch(sent) is not None)


def _has_unresolved(sent: str, values: dict[str, str]) -> bool:
    """The name of one of the case's own variables; a template that the task is about is part of a value."""
    for match in _PLACEHOLDER.finditer(sent):
        name = match[1] or match[2]
        if name in values and not any(match[0] in value for value in values.values()):
            return True
    return False


def _lacks_variables(sent: str, values: dict[str, str], template: str) -> bool:
    """Only where the template inserts values as they are: filters and loops may change them beyond recognition."""
    used = {match[1] for match in _PLACEHOLDER.finditer(template) if match[1]}
    if not used or len(_ANY_EXPRESSION.findall(template)) != sum(1 for m in _PLACEHOLDER.finditer(template) if m[1]):
        return False
    wanted = [values[name] for name in used if name in values]
    if len(wanted) < len(used) or any(len(value) < SHORTEST_VALUE for value in wanted):
        return False
    text = _folded(sent)
    return not any(_folded(form) in text for value in wanted for form in (value, json.dumps(value)[1:-1]))


def _texts(variables: Mapping[str, Any]) -> dict[str, str]:
    """Only plain values, as they would be inserted; files are replaced by their content."""
    return {
        name: str(value).strip()
        for name, value in variables.items()
        if isinstance(value, str | int | float)
        and not isinstance(value, bool)
        and str(value).strip()
        and not str(value).startswith("file://")
    }


def _folded(text: str) -> str:
    return " ".join(text.split()).casefold()


_OPENINGS = frozenset("{<HhEeIiBbSsGgUu45 \n\t\r")
"""How an error body begins: a cheap look before an expensive one."""


def failed_response(attempt: Attempt) -> ErrorBody | None:
    """The answer is the body of a failed request. A text that cost tokens is the subject's own."""
    status, text = attempt.http_status, attempt.output.text
    if status is not None:
        return ErrorBody(status, is_typed=True) if status >= FAILED else None
    spent = tokens_of_answer(attempt)
    if not text or text[0] not in _OPENINGS or spent or did_work(attempt):
        return None
    body = error_body(text)
    return body if body is not None and (body.is_typed or spent == 0) else None


def tokens_of_answer(attempt: Attempt) -> int | None:
    """A request that failed may have cost what it sent, but no token of an answer."""
    used = attempt.usage.subject
    return used.tokens if used.output is None else used.output


def did_work(attempt: Attempt) -> bool:
    """Whether there is work beside the answer: files other than the answer itself, or calls of tools."""
    files = (one for one in attempt.artefacts if one.role != "log" and one.text != attempt.output.text)
    return any(True for _ in files) or any(step.tool_calls for step in attempt.steps)
