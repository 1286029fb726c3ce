"""Mistakes of the subject that are plain to see: a program that does not compile, a demanded form that is ignored."""

import re
from collections.abc import Iterator

from errata.model import Attempt, Case, Check
from errata.triage.answers import json_in
from errata.triage.calls import calls_in, required_calls
from errata.triage.expected import task_text
from errata.triage.observed import Observed, signal
from errata.triage.test_output import verifier_logs

_FAILED = ("fail", "partial")
TAIL = 60_000

_BROKEN = re.compile(
    r'File "(?P<python>[^"\n]{1,300})", line \d+\n(?:[^\n]*\n){1,4}?(?:E +)?(?:Syntax|Indentation|Tab)Error: .*'
    r"|^(?:E +)?(?P<c>[\w./-]{1,300}\.(?:c|cc|cpp|cxx|h|hpp|f90|java|go|zig)):\d+(?::\d+)?: (?:fatal )?error: .*"
    r"|^(?P<typescript>[\w./-]{1,300}\.tsx?)[(:]\d+[,:]\d+\)?(?::| -) error TS\d+: .*"
    r"|^error(?:\[E\d+\])?: .*\n +--> (?P<rust>[\w./-]{1,300}\.rs):\d+:\d+",
    re.MULTILINE,
)
_HINTS = ("SyntaxError", "IndentationError", "TabError", "error: ", "error TS", "error[E")
_TESTS = re.compile(r"(?:^|/)(?:tests?|verifier|node_modules|_generated|grader)/|site-packages|(?:^|/)test_|[._]test\.")


def does_not_compile(attempt: Attempt, case: Case | None) -> Iterator[Observed]:
    """A compiler or interpreter refuses a file that the subject wrote or the task asked for."""
    if attempt.outcome not in _FAILED or not (attempt.artefacts or attempt.checks):
        return
    for where, text in _refusals(attempt):
        if not any(hint in text for hint in _HINTS):
            continue
        for match in _BROKEN.finditer(text[-TAIL:]):
            file = next(part for part in match.groups() if part)
            if not _TESTS.search(file) and _is_subjects(file, attempt, case):
                evidence = signal("does_not_compile", "likely", where, match[0], attempt.ref)
                yield Observed(signal=evidence, owner="model", is_self_evident=True)
                return


def _refusals(attempt: Attempt) -> Iterator[tuple[str, str]]:
    yield from ((artefact.path, text) for artefact, text in verifier_logs(attempt))
    for check in attempt.checks:
        if check.failed and check.explanation and check.kind in ("tests", "step"):
            yield f"checks[{check.name}].explanation", check.explanation


def _is_subjects(file: str, attempt: Attempt, case: Case | None) -> bool:
    name = file.rpartition("/")[2]
    if any(one.role == "output" and one.path.rpartition("/")[2] == name for one in attempt.artefacts):
        return True
    return case is not None and re.search(rf"(?<![\w.-]){re.escape(name)}(?![\w-])", task_text(case)) is not None


_JSON_CHECK = re.compile(r"\bjson\b", re.IGNORECASE)
_ASKS_FOR_JSON = re.compile(
    r"\b(?:in|as|valid|only|return|output|respond with|reply with|produce|a|an?\s\w+)\s(?:\w+\s)?JSON\b", re.IGNORECASE
)
# the line that an answer has to contain: `ANSWER: $LETTER`
_TEMPLATE = re.compile(r"(?P<marker>[^\s\"'`“”‘’「」《》()（）\[\]$<>{}]{2,16}[:：])[ \t]*[\[$<({\"']{0,2}LETTER\b")
FEW = 3


def ignored_form(attempt: Attempt, case: Case | None) -> Iterator[Observed]:
    """The task prescribes a form, and the answer has nothing of it."""
    text = attempt.output.text
    if (
        case is None
        or not text
        or not text.strip()
        or attempt.outcome not in _FAILED
        or attempt.measurement != "scored"
    ):
        return
    failed = [check for check in attempt.checks if check.failed and not check.judge]
    if (
        _is_prose_for_json(text, case, failed)
        or _lacks_the_template(text, case)
        or _is_prose_for_calls(text, case, failed)
    ):
        evidence = signal("ignored_form", "likely", "output.text", text, attempt.ref)
        yield Observed(signal=evidence, owner="model", is_self_evident=True)


def _is_prose_for_json(text: str, case: Case, failed: list[Check]) -> bool:
    if "{" in text or "[" in text or not any(_JSON_CHECK.search(f"{one.scorer} {one.name}") for one in failed):
        return False
    return json_in(text) is None and _ASKS_FOR_JSON.search(task_text(case)) is not None


def _lacks_the_template(text: str, case: Case) -> bool:
    task = task_text(case)
    if "LETTER" not in task or len(text.strip()) <= FEW:
        return False
    markers = {match["marker"].lower() for match in _TEMPLATE.finditer(task)}
    return bool(markers) and not any(marker[:-1] in text.lower() for marker in markers)


_NO_CALL = re.compile(r"fail(?:ed|ure) to decode|decoder_failed|no (?:function|tool) calls?", re.IGNORECASE)


def _is_prose_for_calls(text: str, case: Case, failed: list[Check]) -> bool:
    """Calls are required, and the answer is a sentence without any."""
    if type(case.expected) not in (dict, list) or "(" in text or "{" in text:
        return False
    if not any(_NO_CALL.search(f"{one.reason_code} {one.explanation}") for one in failed):
        return False
    return bool(required_calls(case.expected)) and not calls_in(text) and len(text.split()) > FEW
