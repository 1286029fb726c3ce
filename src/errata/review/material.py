"""What a packet is made of: a failure, what is known around it, and the words that lead to its error."""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Any

import msgspec

from errata.model import Attempt, Attribution, Case, Check, Observation, Question, Run, StoredRun
from errata.model.record import Struct
from errata.model.run import case_name
from errata.review.excerpts import Tell, in_short
from errata.review.redaction import LONG
from errata.text.lazy_regex import lazy_regex
from errata.text.tool_output import find_key_line
from errata.transcript.error_text import error_of
from errata.transcript.evidence_log import evidence_log

History = tuple[dict[str, Any], ...]
"""Earlier verdicts and reports, known gaps, how other runs did."""
LONGEST = 160
NEEDLES = 8
ELSEWHERE = "other runs"
"""Where triage saw a signal that names the subjects of other runs."""
TELLING = 60
"""Lines of a log that may tell."""
SCANNED = 200_000
"""Characters of a log, from its end."""
LINE = 400
# an error that names itself; then any line that speaks of one
_STRONG = lazy_regex(
    r"(?:Error|Exception)\b ?[:(]|\berror TS\d|\d:\d{1,6}[ \t]{1,20}error[ \t]|✖|^E  "
    r"|\bcommand not found|^fatal: |^panic: ",
    re.MULTILINE,
)
_WEAK = lazy_regex(r"(?i)\b(?:error|failed|failure|exception|fatal|denied|refused|timed out)\b")
_WORD = lazy_regex(r"[A-Za-z0-9_][\w-]{2,}")
_COMMON = frozenset(
    _WORD.findall(
        "the and for you your are was were with that this have has had not but all can will would could should from "
        "they them there then than please what which who when where how why did does done its "
        "true false null none name text args success status response result user_text assistant_text tool_calls"
    )
)
# words of a harness that say no more than that it failed
SAYS_NOTHING = frozenset(("", "unset", "none", "fail", "failed", "failure", "error", "false", "incorrect", "f", "i"))


class RunContext(Struct):
    """One run as a review sees it, with what only other stages know of it."""

    stored: StoredRun
    handle: str
    """The short name by which people know the run."""
    attributions: Mapping[str, Attribution]
    """Attempt → whom triage names."""
    buckets: Callable[[], Mapping[str, str]]
    """Attempt → the slug of its bucket; only called where failures are selected by it."""
    question: Callable[[str], Question]
    """By the name of a taxonomy; an empty name means the taxonomy of the run's source."""
    history: Callable[[Collection[str]], Mapping[str, History]]
    """Of some cases, and their keys: by key, what is known from elsewhere."""

    def owners_by_rules(self, attempt: str) -> tuple[str, ...]:
        """Whom triage names for an attempt: the owner, and others that it may be as well."""
        attribution = self.attributions.get(attempt)
        return (attribution.owner, *attribution.also) if attribution is not None else ()


class Material(Struct):
    run: Run
    """With the texts of its context files."""
    handle: str = ""
    """The short name by which people know the run; else the beginning of its id."""
    attempt: Attempt
    """With its transcript and the texts of its files."""
    case: Case | None = None
    attribution: Attribution | None = None
    before: tuple[Attempt, ...] = ()
    """The turns before it, where it is a turn of a conversation, in their order."""
    after: tuple[Attempt, ...] = ()
    """Those that only follow from it."""
    kin: tuple[Attempt, ...] = ()
    """Other attempts at the same case in the same run: parts, earlier sessions, repetitions."""
    subjects: tuple[tuple[str, Attempt], ...] = ()
    """In a packet about a task: the names of other subjects, and a failed attempt of each with its files."""
    history: History = ()

    @property
    def case_name(self) -> str:
        return case_name(self.run, self.attempt.case)

    @property
    def is_turn(self) -> bool:
        """Whether the case is a turn of a conversation."""
        steps = self.attempt.steps
        return self.attempt.position is not None and any(step.actor.role == "user" for step in steps)


class Clues(msgspec.Struct, frozen=True):
    error_line: str
    """The exact error, in one line."""
    needles: tuple[str, ...]
    """Texts that stand where the failure shows, the best first."""
    trouble: str
    """Every message of the harness about the failure."""
    words: frozenset[str]
    """What the task, the answer and the judge speak of."""
    observations: tuple[Observation, ...] = ()
    """The evidence log."""
    flagged: tuple[int, ...] = ()
    """Positions of the steps that the evidence log points to, those of the strongest observations first."""


def clues_of(material: Material, tell: Tell) -> Clues:
    attempt = material.attempt
    messages = [readable(text, tell) for text in _messages(attempt)]
    lines = [line for text in _logs(attempt) for line in telling_lines(readable(text, tell))]
    signals = material.attribution.signals if material.attribution else ()
    quotes = [one.quote for one in signals if one.quote and not one.stated and one.where != ELSEWHERE]
    error = _error_line(attempt, lines, tell)
    wanted = [error, *quotes, *(line for text in messages for line in text.splitlines()[:3]), *lines]
    observations = () if material.is_turn else evidence_log(attempt, material.case, material.run.context)
    positions = {step.index: at for at, step in enumerate(attempt.steps)}
    pointed_to = dict.fromkeys(step for one in observations for step in (one.step, one.related_step))
    return Clues(
        error_line=in_short(error, LINE, tell),
        needles=_needles(wanted),
        trouble="\n".join((*messages, *lines)),
        words=words(" ".join(_spoken(material))),
        observations=observations,
        flagged=tuple(positions[step] for step in pointed_to if step in positions),
    )


def readable(text: str, tell: Tell) -> str:
    """Redacted, so that a line can be taken from it; a very long log is redacted once the line is known."""
    return tell(text) if len(text) <= LONG else text


def telling_lines(log: str) -> list[str]:
    """The lines of a log that speak of an error: those that name one first."""
    if len(log) > SCANNED:  # from the beginning of a line on: half a line may hold half a secret
        log = log[log.find("\n", len(log) - SCANNED) + 1 or len(log) :]
    strong = _lines_with(_STRONG, log)
    return strong or _lines_with(_WEAK, log)[::-1]


def words(text: str) -> frozenset[str]:
    return frozenset(word for word in map(str.lower, _WORD.findall(text)) if word not in _COMMON)


def _lines_with(pattern: re.Pattern[str], log: str) -> list[str]:
    lines: dict[str, None] = {}
    at = 0
    while len(lines) < TELLING and (match := pattern.search(log, at)):
        start = log.rfind("\n", 0, match.start()) + 1
        end = log.find("\n", match.end())
        end = len(log) if end < 0 else end
        lines.setdefault(log[start:end].strip())
        at = end
        if end == len(log):
            break
    return list(lines)


def noteworthy(check: Check) -> bool:
    return check.status in ("fail", "error", "unscored")


def _messages(attempt: Attempt) -> Iterator[str]:
    for error in attempt.errors:
        if not error.recovered:
            yield from (error.message, error.traceback[-SCANNED:])
    for check in attempt.checks:
        if noteworthy(check):
            yield check.explanation


def _logs(attempt: Attempt) -> Iterator[str]:
    for artefact in attempt.artefacts:
        if artefact.role == "log" and artefact.text:
            yield artefact.text


def gist(text: str) -> str:
    """The informative line of a tool's output or of a longer text; else all of it."""
    text = text.strip()
    if (key := find_key_line(text)) is not None:
        return key.text
    if len(text) <= LINE:
        return text
    lines = text if len(text) <= SCANNED else text[: max(text.rfind("\n", 0, SCANNED), 0)]
    return next(iter(_lines_with(_STRONG, lines)), text)


def _error_line(attempt: Attempt, lines: list[str], tell: Tell) -> str:
    """As every page shows it; where its texts only state that it failed, a line of its logs or the harness's reason."""
    if error := error_of(attempt, wash=lambda text: readable(text, tell)):
        return error.text
    explained = [check.explanation for check in attempt.checks if noteworthy(check) and check.explanation.strip()]
    reasons = [readable(text, tell) for text in explained]
    candidates = [*(gist(text) for text in reasons if _STRONG.search(text)), *lines, *reasons]
    candidates += [*(judgement.reasoning for judgement in attempt.objections), attempt.native_reason]
    return next((text for text in candidates if text.strip().lower() not in SAYS_NOTHING), "")


def _needles(texts: Iterable[str]) -> tuple[str, ...]:
    needles: dict[str, None] = {}
    for text in texts:
        line = text.strip().partition("\n")[0].strip()[:LONGEST]
        if len(line) > 3:
            needles.setdefault(line)
        if len(needles) == NEEDLES:
            break
    return tuple(needles)


def _spoken(material: Material) -> Iterator[str]:
    attempt, case = material.attempt, material.case
    if case is not None:
        yield from (str(case.input or "")[:LINE], str(case.expected or "")[:LINE])
    yield (attempt.output.text or "")[:LINE]
    for judgement in attempt.judgements:
        yield judgement.reasoning[:LINE]
    for step in attempt.steps[:4]:
        for call in step.tool_calls[:4]:
            yield str(call.arguments)[:LINE]
