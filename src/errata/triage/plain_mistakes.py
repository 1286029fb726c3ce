"""Mistakes of the subject that are plain to see: a program that does not compile, a demanded form that is ignored."""

import re
from collections.abc import Iterator
from functools import lru_cache

from errata.model import Attempt, Case
from errata.text.answers import json_in
from errata.text.lazy_regex import lazy_regex
from errata.transcript.calls import calls_in, required_calls
from errata.triage.expected import task_text
from errata.triage.observed import Observed, signal
from errata.triage.runner_output import verifier_logs

_FAILED = ("fail", "partial")
TAIL = 60_000

_BROKEN = lazy_regex(
    r'File "(?P<python>[^"\n]{1,300})", line \d+\n(?:[^\n]*\n){1,4}?(?:E +)?(?:Syntax|Indentation|Tab)Error: .*'
    r"|^(?:E +)?(?P<c>[\w./-]{1,300}\.(?:c|cc|cpp|cxx|h|hpp|f90|java|go|zig)):\d+(?::\d+)?: (?:fatal )?error: .*"
    r"|^(?P<typescript>[\w./-]{1,300}\.tsx?)[(:]\d+[,:]\d+\)?(?::| -) error TS\d+: .*"
    r"|^error(?:\[E\d+\])?: .*\n +--> (?P<rust>[\w./-]{1,300}\.rs):\d+:\d+",
    re.MULTILINE,
)
_HINTS = ("SyntaxError", "IndentationError", "TabError", "error: ", "error TS", "error[E")
_TESTS = lazy_regex(r"(?:^|/)(?:tests?|verifier|node_modules|_generated|grader)/|site-packages|(?:^|/)test_|[._]test\.")


def does_not_compile(attempt: Attempt, case: Case | None) -> Iterator[Observed]:
    """A compiler or interpreter refuses a file that the subject wrote or the task asked for."""
    if attempt.outcome not in _FAILED or not (attempt.artefacts or attempt.checks):
        return
    is_subjects: dict[str, bool] = {}
    for where, text in _refusals(attempt):
        tail = text[-TAIL:]
        if not any(hint in tail for hint in _HINTS):
            continue
        for match in _BROKEN.finditer(tail):
            file = next(part for part in match.groups() if part)
            if _TESTS.search(file):
                continue
            name = file.rpartition("/")[2]
            if name not in is_subjects:
                is_subjects[name] = _is_subjects(name, attempt, case)
            if is_subjects[name]:
                evidence = signal("does_not_compile", "likely", where, match[0], attempt.ref)
                yield Observed(signal=evidence, owner="model", is_self_evident=True)
                return


def _refusals(attempt: Attempt) -> Iterator[tuple[str, str]]:
    yield from ((artefact.path, text) for artefact, text in verifier_logs(attempt))
    for check in attempt.checks:
        if check.failed and check.explanation and check.kind in ("tests", "step"):
            yield f"checks[{check.name}].explanation", check.explanation


def _is_subjects(name: str, attempt: Attempt, case: Case | None) -> bool:
    if any(one.role == "output" and one.path.rpartition("/")[2] == name for one in attempt.artefacts):
        return True
    return case is not None and re.search(rf"(?<![\w.-]){re.escape(name)}(?![\w-])", task_text(case)) is not None


_JSON_CHECK = lazy_regex(r"\bjson\b", re.IGNORECASE)
_ASKS_FOR_JSON = lazy_regex(
    r"\b(?:in|as|valid|only|return|output|respond with|reply with|produce|a|an?\s\w+)\s(?:\w+\s)?JSON\b", re.IGNORECASE
)
# the line that an answer has to contain: `ANSWER: $LETTER`
_TEMPLATE = lazy_regex(r"(?P<marker>[^\s\"'`“”‘’「」《》()（）\[\]$<>{}]{2,16}[:：])[ \t]*[\[$<({\"']{0,2}LETTER\b")
FEW = 3


def ignored_form(attempt: Attempt, case: Case | None) -> Iterator[Observed]:
    """The task prescribes a form, and the answer has nothing of it."""
    text = attempt.output.text
    if case is None or not text or attempt.outcome not in _FAILED or attempt.measurement != "scored":
        return
    ignored = _is_prose_for_json(text, case, attempt) or _is_prose_for_calls(text, case, attempt)
    if ignored or _lacks_template(text, case):
        evidence = signal("ignored_form", "likely", "output.text", text, attempt.ref)
        yield Observed(signal=evidence, owner="model", is_self_evident=True)


def _is_prose_for_json(text: str, case: Case, attempt: Attempt) -> bool:
    for check in attempt.checks:
        if _wants_json(check.scorer, check.name) and check.failed and not check.judge:
            prose = "{" not in text and "[" not in text and json_in(text) is None
            return prose and _ASKS_FOR_JSON.search(task_text(case)) is not None
    return False


@lru_cache(maxsize=1_000)
def _wants_json(scorer: str, name: str) -> bool:
    return _JSON_CHECK.search(f"{scorer} {name}") is not None


def _lacks_template(text: str, case: Case) -> bool:
    task = case.input if isinstance(case.input, str) else task_text(case)
    if "LETTER" not in task or len(text.strip()) <= FEW:
        return False
    markers = {match["marker"].lower() for match in _TEMPLATE.finditer(task)}
    return bool(markers) and not any(marker[:-1] in text.lower() for marker in markers)


_NO_CALL = lazy_regex(r"fail(?:ed|ure) to decode|decoder_failed|no (?:function|tool) calls?", re.IGNORECASE)


def _is_prose_for_calls(text: str, case: Case, attempt: Attempt) -> bool:
    """Calls are required, and the answer is a sentence without any."""
    if type(case.expected) not in (dict, list) or "(" in text or "{" in text:
        return False
    failed = [check for check in attempt.checks if check.failed and not check.judge]
    if not any(_NO_CALL.search(f"{one.reason_code} {one.explanation}") for one in failed):
        return False
    return bool(required_calls(case.expected)) and not calls_in(text) and len(text.split()) > FEW
