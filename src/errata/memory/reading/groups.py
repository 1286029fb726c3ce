"""One label for several failures: "All 9 failed evals are MODEL_FAULT except …", "the rest are known gaps"."""

import re
from collections.abc import Sequence

import msgspec

from errata.memory.reading.rates import NUMBER
from errata.memory.reading.steps import failed_step_in, only_step_in
from errata.memory.spelling import Segments, ends_alike, same_part, segments
from errata.text.lazy_regex import lazy_regex

_REST = rf"(?:the\s+)?(?:{NUMBER}\s+)?(?:remaining|rest|others?|everything else|all else|anything else)"
_GROUP = lazy_regex(
    rf"(?i)\b(?:(?:all|every|each|both|none)\b|{_REST}\b|unless\s+(?:noted|stated|marked)\b|(?:the|these|those)(?=\s+))"
    r"(?:\s+(?:of|the)\b)*"
)
_FAILURES = lazy_regex(
    rf"(?i)\s*{NUMBER}?\s*(?:(?!tests?\b|checks?\b|models?\b)[\w`'/-]+\s+){{0,3}}?(?:fail\w*|evals?|cases?|tasks?|them|ones?)\b"
    rf"|\s*(?:{NUMBER}\s+)?(?:are|were|is|count as|get|as)\b|\s*{NUMBER}\W"
)
_HERE = lazy_regex(
    r"(?i)\b(?:these|those|(?:failures?|evals?|cases?) here|listed here|above|below|following"
    r"|in this (?:group|section|category))\b"
)
_ALL = lazy_regex(
    r"(?i)(?:^|[.,;:]\s+|\band\s+)\W*(?:they\s+)?(?:all|each|both|every)\b"
    rf"(?:\s+(?:of|the|them|these|{NUMBER}|one)\b)*"
)
_EXCEPT = lazy_regex(
    r"(?i)\b(?:except(?:ing|ions?)?(?:\s+for)?|other than|apart from|aside from|besides|save for|but(?:\s+for)?"
    r"|with the exception of|excluding|barring|minus)\b"
)
_COUNT = lazy_regex(rf"(?i)\b{NUMBER}\s+$")
"""In front of a label: `6 model faults, 6 others` gives the others none."""
WIDE = 60
"""Characters between "all" and what it is about."""


class GroupLabel(msgspec.Struct, frozen=True, kw_only=True):
    label: str
    step: str = ""
    """Only failures of this step."""
    categories: tuple[str, ...] = ()
    without: tuple[Segments, ...] = ()
    run: str = ""
    section: int | None = None
    """Only failures that are named there."""
    failed_at: str = ""
    """The step of all of them; a label may give none."""

    @property
    def filters(self) -> int:
        return bool(self.step) + bool(self.categories) + (self.section is not None)

    def is_about(self, case: str, step: str, run: str, section: int) -> bool:
        parts = segments(case)
        return (
            self.section in (None, section)
            and (not self.step or self.step == step)
            and (not self.run or self.run == run)
            and (not self.categories or any(same_part(name, part) for name in self.categories for part in parts[:-1]))
            and not any(ends_alike(parts, other) for other in self.without)
        )


def group_step(text: str, section: int) -> GroupLabel | None:
    """`Each stops at eslint.`: the step of all failures of the section that have none of their own."""
    match = _ALL.search(text)
    step = failed_step_in(text[match.end() :]) if match else ""
    return GroupLabel(label="", failed_at=step, section=section) if step else None


class SentenceWord(msgspec.Struct, frozen=True):
    """A name or a label, and its place in a sentence."""

    at: int
    text: str


def group_label(
    text: str,
    names: Sequence[SentenceWord],
    labels: Sequence[SentenceWord],
    *,
    categories: Sequence[str] = (),
    section: int = 0,
) -> tuple[GroupLabel | None, Sequence[SentenceWord]]:
    """The label of a group in a sentence, and the names that it excepts; none where it speaks of no group."""
    for match in _GROUP.finditer(text) if labels else ():
        if _is_of_failures(text, match):
            group, excepted = _group_at(text, match, names, labels, categories)
            if group is not None:
                here = section if _HERE.search(text) else None
                return msgspec.structs.replace(group, section=here), excepted
    return None, ()


def _group_at(
    text: str,
    match: re.Match[str],
    names: Sequence[SentenceWord],
    labels: Sequence[SentenceWord],
    categories: Sequence[str],
) -> tuple[GroupLabel | None, Sequence[SentenceWord]]:
    limit = _EXCEPT.search(text, match.end())
    end = limit.start() if limit else len(text)
    inside = [label for label in labels if match.start() <= label.at < end]
    before = [label for label in labels if label.at < match.start()]
    inside = inside or [label for label in before if not _COUNT.search(text, max(0, label.at - 12), label.at)]
    if not inside or match[0].lower().startswith("none"):
        return None, ()
    excepted = [name for name in names if limit and name.at >= limit.start()]
    ahead = text[match.end() : inside[0].at]
    group = GroupLabel(
        label=inside[0].text,
        step=only_step_in(ahead[:WIDE]),
        categories=tuple(segments(name)[-1] for name in categories if _names_category(ahead, name)),
        without=tuple(segments(name.text) for name in excepted),
    )
    is_some = re.match(r"(?i)(?:the|these|those)$", match[0]) is not None  # `the two eslint failures`
    return (None, ()) if is_some and not (group.step or group.categories) else (group, excepted)


def _names_category(text: str, name: str) -> bool:
    """Near, and not in front of the name of a case."""
    match = re.search(rf"(?i)(?<![\w/]){re.escape(name)}(?![\w/-])", text)
    return match is not None and match.start() < WIDE


def _is_of_failures(text: str, match: re.Match[str]) -> bool:
    """`all 9 failed evals`, `the rest`, `all are`; not "all tests pass" or "all models"."""
    return re.match(rf"(?i){_REST}|unless", match[0]) is not None or _FAILURES.match(text, match.end()) is not None


def labels_of_names(names: Sequence[SentenceWord], labels: Sequence[SentenceWord]) -> dict[str, str]:
    """Which label each name of a sentence gets: the next one; in `Model faults: a, b; known gaps: c` the last one."""
    if not names or not labels:
        return {}
    labels_first = labels[0].at < names[0].at and (len(labels) == 1 or names[-1].at > labels[-1].at)
    pairs: dict[str, str] = {}
    for name in names:
        before = [label for label in labels if label.at < name.at]
        after = [label for label in labels if label.at > name.at]
        label = before[-1] if labels_first and before else next(iter(after), None)
        if label is not None:
            pairs.setdefault(name.text, label.text)
    return pairs
