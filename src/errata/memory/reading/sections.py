"""What the sections, fields and columns of a report are about, by the names that people give them."""

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Literal, NamedTuple

import msgspec

from errata.memory.entries import is_none
from errata.memory.reading.markdown import PlainText, ReportPart
from errata.memory.spelling import folded
from errata.text.lazy_regex import lazy_regex

Topic = Literal["", "failures", "actions", "recommendations", "patterns", "other", "run"]
FAILURES = "failures"
CLOSED = ("actions", "recommendations", "patterns", "other")
"""Sections that may name failures of other runs, or failures again in other words."""

_TOPICS: tuple[tuple[Topic, re.Pattern[str]], ...] = (
    (
        "other",
        lazy_regex(r"\b(?:passed|passing|fixed|resolved|previous|prior|earlier|reproduction|former)\b|clean-?up"),
    ),
    (
        "recommendations",
        lazy_regex(
            r"recommend|suggest|next-steps?|action-items?|to-?dos?\b|propos|follow-ups?$|no-actions?-(?:needed|required)"
            r"|(?:planned|open|pending|future|deferred|possible|outstanding)-(?:actions?|changes|fixes|work)|improvement"
        ),
    ),
    (
        "actions",
        lazy_regex(
            r"^actions?$|actions?-(?:taken|done)|(?:changes|fixes|updates|steps)-(?:taken|done|made|applied)"
            r"|what-(?:we|i)-(?:changed|did|fixed)|^(?:changes|fixes|changelog|done)$"
        ),
    ),
    ("patterns", lazy_regex(r"pattern|themes?\b|cross-cutting|root-causes?\b|observations?")),
    ("other", lazy_regex(r"^net-impact|impact-(?:analysis|assessment)")),
    ("failures", lazy_regex(r"fail|broke|what-went-wrong|classification|affected")),
    ("run", lazy_regex(r"^(?:the-)?runs?(?:-(?:metadata|details|info|facts|overview))?$|metadata")),
)
_REMARK = lazy_regex(r"\([^()]{0,200}\)")


@lru_cache(maxsize=4_096)
def topic_of(title: str) -> Topic:
    name = folded(_REMARK.sub("", title))
    return next((topic for topic, form in _TOPICS if form.search(name)), "")


def in_topics(parts: Iterable[ReportPart], topic: Topic) -> Iterator[ReportPart]:
    """The parts of the sections about a topic, and of what a line in bold introduces; their own headings on level 0."""
    inside = skipped = 0
    for part in parts:
        is_bold = part.kind == "text" and not part.level and is_title(part)
        if part.kind == "heading" or is_bold:
            level = 6 if is_bold else part.level
            about = topic_of(part.text)
            if not 0 < inside < level:
                inside, skipped = level if about == topic else 0, 0
                if inside:
                    yield msgspec.structs.replace(part, kind="heading", level=0)
                continue
            skipped = skipped if 0 < skipped < level else 0
            # advice among actions, or actions among advice, up to the next heading of its level
            skipped = skipped or (level if about in ("actions", "recommendations") and about != topic else 0)
        if inside and not skipped:
            yield part


def is_title(part: ReportPart) -> bool:
    """`**Actions taken**`: a paragraph that introduces what follows; `**Actions taken:** None` is one, too."""
    if part.kind != "text" or "\n" in part.text:
        return False
    name, colon, rest = part.text.partition(":")
    known = (
        topic_of(name) in ("actions", "recommendations")
        and len(name.split()) <= 3
        and (not rest.strip() or is_none(rest))
    )
    return part.words.bold.strip(" :") == part.text.strip(" :") != "" or (bool(colon) and known)


# --- fields and columns


_FAILURE = {
    "case": (
        "eval evals case cases test-case task tasks scenario sample question turn turns case-name task-name task-id "
        "case-id eval-id failed-eval failed-evals failed-cases remaining-failures failures test tests"
    ),
    "label": "classification final-classification label verdict class classified-as fault category kind",
    "step": (
        "failed-step step step-type failed-check check failing-step stage phase failed-at failed-steps failed-checks "
        "failed-dimension failed-dimensions dimension dimensions where failure-type"
    ),
    "reasoning": (
        "reasoning reason why note notes explanation comment details root-cause cause analysis summary finding "
        "one-line-reasoning rationale"
    ),
    "error": "error",
    "status": "status result outcome",
    "action": "action-taken actions-taken",
}
_RUN = {
    "run": "run run-id run-ids runs id",
    "model": "model model-name model-slug subject model-id",
    "provider": "provider",
    "experiment": "experiment variant",
    "date": "date day analysis-date when run-date started",
    "rate": "pass-rate pass-rates recorded-pass-rate recorded-pass-rates score recorded-score result overall",
    "passed": "passed passes",
    "failed": "failed failures",
    "total": "total total-evals evals cases",
}
FAILURE = {name: role for role, names in _FAILURE.items() for name in names.split()}
RUN = {name: role for role, names in _RUN.items() for name in names.split()}


@lru_cache(maxsize=4_096)
def role_of(name: str, *, run: bool = False) -> str:
    return (RUN if run else FAILURE).get(folded(name.partition("(")[0]), "")


def columns_of(header: Iterable[str], *, run: bool = False) -> dict[str, int]:
    """Role → column. Of two columns with the same role, the one whose name is earlier in the list of names wins."""
    order = list(RUN if run else FAILURE)
    ranked: dict[str, tuple[int, int]] = {}
    for at, name in enumerate(header):
        role = role_of(name, run=run)
        if role:
            rank = order.index(folded(name.partition("(")[0]))
            ranked[role] = min(ranked.get(role, (rank, at)), (rank, at))
    return {role: at for role, (_, at) in ranked.items()}


class LabelledField(NamedTuple):
    role: str
    value: str
    line: int
    """How many lines below the beginning of the part."""
    remark: str = ""


_FIELD = lazy_regex(
    r"(?:^|[·|;•,]|\s[-–—]\s)[\s*_-]{0,8}([A-Za-z][A-Za-z _-]{1,40}?)\s?(?:\(([^()\n]{0,60})\)\s?)?[:：](?=\s|$)"
)


def fields_in(words: PlainText, *, run: bool = False) -> list[LabelledField]:
    fields: list[LabelledField] = []
    for at, line in enumerate(words.text.split("\n")):
        names = [(match, role) for match in _FIELD.finditer(line) if (role := role_of(match[1], run=run))]
        if not names:
            bold = words.bold.strip(" :") if at == 0 else ""
            role = role_of(bold, run=run) if bold and line.lstrip().startswith(bold) else ""
            if role:
                fields.append(LabelledField(role, line.lstrip()[len(bold) :].strip(" :;"), at))
            continue
        if re.search(r"\w", line[: names[0][0].start(1)]):
            continue
        ends = [*(match.start() for match, _ in names[1:]), len(line)]
        for (match, role), end in zip(names, ends, strict=True):
            fields.append(LabelledField(role, line[match.end() : end].strip(" \t·|;,•*"), at, match[2] or ""))
    return fields


def cell_fields(part: ReportPart, *, run: bool = False) -> list[LabelledField]:
    """A row with a name and a value: `| Classification | MODEL_FAULT |`."""
    if part.kind != "row" or len(part.cells) != 2:
        return []
    role = role_of(part.cells[0].text, run=run)
    return [LabelledField(role, part.cells[1].text.strip(), 0)] if role else []
