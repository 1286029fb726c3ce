"""Where a rule may look. A word in a task, a path or an answer is not evidence; the same word in an error field is."""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from errata.model import Attempt, ErrorInfo, SourceRef
from errata.model.words import Phase
from errata.text.lazy_regex import lazy_regex
from errata.text.mask import steady
from errata.triage.runner_output import plain

HEAD, TAIL = 4_000, 16_000
"""The end of a long log explains why it ended."""


class TextPlace(NamedTuple):
    kind: str
    """error, traceback, check, assertion, status, judge, log or stop: what rules name in `where`."""
    where: str
    text: str
    ref: SourceRef | None
    phase: Phase | None = None
    lines_before: int = 0
    """Lines of the file before the text."""
    cut_after: int = 0
    """The line of the text after which lines are left out; 0 where it is whole."""
    lines_cut: int = 0

    def line_at(self, offset: int) -> int:
        """The number that a line has in the file."""
        line = self.text.count("\n", 0, offset) + 1
        return self.lines_before + line + (self.lines_cut if 0 < self.cut_after < line else 0)


def places(attempt: Attempt) -> Iterator[TextPlace]:
    """Everything about an attempt that its harness, not its subject, wrote."""
    for at, error in enumerate(attempt.errors):
        if error.recovered:
            continue
        phase = phase_of(error)
        # one by one, so that a quote can be found in the log literally
        for name, text in (("message", error.message), ("type", error.type), ("code", error.code)):
            if text and name not in error.derived:
                yield TextPlace("error", f"errors[{at}].{name}", text, error.ref, phase)
        if error.traceback:
            yield TextPlace("traceback", f"errors[{at}].traceback", error.traceback[-TAIL:], error.ref, phase)
    for check in attempt.checks:
        # a scorer that broke, but does not decide, is not evidence about the one that does
        if check.status in ("fail", "error", "unscored") and (check.counts or check.kind == "step"):
            if check.error is not None and check.error not in attempt.errors:
                error = check.error
                yield TextPlace("error", f"checks[{check.name}].error", error.message, error.ref, phase_of(error))
            # a test's message about the subject's work is not evidence; a pipeline step's message about itself is
            kind = "check" if check.kind == "step" else "assertion" if check.status == "error" else ""
            if check.explanation and kind:
                yield TextPlace(kind, f"checks[{check.name}].explanation", check.explanation, check.ref)
    if attempt.is_status_classified:
        # the word may still name which limit it was
        if attempt.execution == "limit":
            yield TextPlace("stop", "native_status", attempt.native_status, attempt.ref)
    elif attempt.native_status:
        yield TextPlace("status", "native_status", attempt.native_status, attempt.ref)
        if not attempt.is_status_known and (apart := _words_apart(attempt.native_status)) != attempt.native_status:
            yield TextPlace("status", "native_status", apart, attempt.ref)
    if attempt.stop_reason:
        yield TextPlace("stop", "stop_reason", attempt.stop_reason, attempt.ref)
    for judgement in attempt.judgements:
        if not judgement.valid:
            yield TextPlace("judge", f"judgements[{judgement.judge}].reasoning", judgement.reasoning, judgement.ref)
    yield from _logs(attempt)


def _words_apart(name: str) -> str:
    """`usageLimits` as people write it."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name[:HEAD]).lower()


def _logs(attempt: Attempt) -> Iterator[TextPlace]:
    for artefact in attempt.artefacts:
        if artefact.role == "log" and artefact.text:
            text, before = artefact.text, artefact.lines_before
            if len(text) <= HEAD + TAIL:
                yield TextPlace("log", artefact.path, plain(text), artefact.ref, lines_before=before)
                continue
            head, tail = text[:HEAD], text[-TAIL:]
            cut_after = head.count("\n") + 1
            lines_cut = text.count("\n", HEAD, len(text) - TAIL) - 1  # the two parts are joined by a line break
            shown = plain(f"{head}\n{tail}")
            yield TextPlace("log", artefact.path, shown, artefact.ref, None, before, cut_after, lines_cut)


def phase_of(error: ErrorInfo) -> Phase:
    """Where to look for the cause of an error: where the log does not tell, its words may, else the subject's work."""
    if error.phase not in ("", "subject"):
        return error.phase
    return _phase_by_words(error.type, steady(error.message), error.traceback[-HEAD:])


# only words that do not occur in relayed provider messages
_WORLD = lazy_regex(
    r"error response from daemon|(?-i:\btoomanyrequests:)|pull (?:rate limit|access denied)|docker daemon"
    r"|docker\.errors|kubernetes\.client"
    r"|(?:error|failed|failure|unable)(?: to)? (?:creat|start|build|pull|launch|provision|initiali[sz]|boot|deploy)\w* "
    r"(?:the |a |new |remote |docker |base |env |environment )*(?:sandbox|container|image|pod|environment|runtime|vm)\b"
    r"|failed to execute command: \(|failed to solve|registry-1\.docker|/v2/\S{0,120}manifests/"
    r"|BuildImageError|docker\.sock|(?:daytona|modal|e2b|sandbox)\w{0,30}(?:error|exception)\b"
    r"|sandbox.{0,30}\b(?:not (?:found|running|ready|started)|unavailable|failed|timed out|crashed|died|terminated)"
    r"|(?:container|environment|runtime|pod|vm) (?:creation|start-?up|launch|provisioning) (?:failed|timed out)"
    r"|npm (?:err!|error)|(?:bun|pnpm|yarn|npm|pip|uv pip|poetry|conda) install|apt-get|registry\.npm|pypi\."
    r"|files\.python|crates\.i|pip\._vendor|fatal: unable to access|git clone|E: failed to fetch",
    re.IGNORECASE,
)
_MEASURING = lazy_regex(
    r"(?i:\b(?:judge|grader|scorer|verifier|llm[- ]rubric|model[-_]graded\w*|judging|grading|scoring)\b)"
    r"|(?:Judge|Grad(?:er|ing)|Scor(?:er|ing)|Verifier)\w{0,30}Error|reward\.(?:txt|json)|reward file|[Ee]valuation LLM"
    r"|failed to apply test[_ ]patch|[Tt]est run failed"
)
_WORLDS_FRAME = lazy_regex(r"packages[/\\](?:docker|daytona\w*|modal|e2b\w*|kubernetes\w*|swerex|podman)[/\\]")


@lru_cache(maxsize=20_000)
def _phase_by_words(kind: str, message: str, traceback: str) -> Phase:
    message = f"{kind}: {message[:HEAD]}"
    if _MEASURING.search(message):
        return "scoring"
    if _WORLD.search(message) or _WORLDS_FRAME.search(traceback):
        return "environment"
    return "subject"
