"""The step of a failure that no line names: by the messages quoted about it, and by how often each step failed."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from errata.memory.reading.drafts import GUESS, PROSE, Draft
from errata.memory.reading.fields import FAILURE, columns_of
from errata.memory.reading.markdown import MarkdownPiece, Words
from errata.memory.reading.rates import NUMBER, number_of
from errata.memory.reading.steps import STEP, canonical_step, mentioned_steps, step_in_field
from errata.text.lazy_regex import lazy_regex

_MESSAGES = (
    ("tsc", lazy_regex(r"\bTS\d{4,5}\b")),
    ("eslint", lazy_regex(r"(?m)^\s*\d+:\d+\s+(?:error|warning)\s|@typescript-eslint/|\beslint-plugin")),
    (
        "tests",
        lazy_regex(r"\bAssertionError\b|\bexpected\b[^\n]{1,80}\b(?:to (?:be|equal|have|match|deeply)|received)\b"),
    ),
    (
        "deploy",
        lazy_regex(
            r"(?i)unable to (?:start )?push|\bSchemaDefinitionError\b|\bInvalidModules\b|failed to analyze \S+\.js"
        ),
    ),
    ("install", lazy_regex(r"(?i)no version matching|downloading tarball|\bnpm err!|failed to resolve")),
)
"""How the tools of each step report an error."""
MESSAGE, RULE, WORD = 4, 3, 1
_LINT_RULE = lazy_regex(r"(?:no|prefer|require|consistent|ban|exhaustive)(?:-[a-z]+)+|@[\w-]+/[\w-]+")
_NOT_COMPILED = lazy_regex(r"(?i)(?:n['’]t|\bnot|\bnever)\s+compiled?\b")
_NO_STEP_AT_ALL = lazy_regex(r"(?i)\b(?:all|every|each)\b.*\bstep\W{0,4}(?:is\s+|was\s+)?none\b", re.DOTALL)
_COUNT_FIRST = lazy_regex(rf"(?i)(?<![\w./])({NUMBER})\s+(?:(?!{NUMBER})[a-z]+\s+){{0,3}}?({STEP})(?![\w/-])")
_COUNT_LAST = lazy_regex(rf"(?i)(?<![\w./-])({STEP})\W{{1,4}}(\d{{1,5}})(?![\w./])")
_EACH = lazy_regex(
    rf"(?i)(?<![\w./])({NUMBER})\s+each\s+(?:of\s+|at\s+|in\s+|for\s+)?((?:(?:{STEP})(?:\s*,\s*|\s+and\s+|\s*&\s*)?)+)"
)
MOST = 1_000_000


class StepEvidence:
    """What the texts about a failure suggest."""

    def __init__(self) -> None:
        self._weights: dict[int, Counter[str]] = {}

    def add(self, draft: Draft, piece: MarkdownPiece) -> None:
        weights = self._weights.setdefault(id(draft), Counter())
        for step, weight in _suggested(piece.words, is_code=piece.kind == "code"):
            weights[step] = max(weights[step], weight)

    def best(self, draft: Draft) -> list[tuple[str, int]]:
        """Steps and their weights, the most likely first."""
        return self._weights.get(id(draft), Counter()).most_common()


def _suggested(words: Words, *, is_code: bool) -> Iterator[tuple[str, int]]:
    for step, form in _MESSAGES:
        if form.search(words.text):
            yield step, MESSAGE
    if not is_code:
        if any(_LINT_RULE.fullmatch(text.strip()) for text in words.code_texts):
            yield "eslint", RULE
        for step in mentioned_steps(words.text):
            yield step, WORD
        if _NOT_COMPILED.search(words.text):
            yield "tsc", WORD


class StepCounts:
    """How often each step failed, from a table or a sentence. Used where it adds up to the failures of the report."""

    def __init__(self) -> None:
        self._counts: dict[str, int] = {}
        self._sentences: list[dict[str, int]] = []

    def add(self, piece: MarkdownPiece) -> None:
        texts = [cell.text.strip() for cell in piece.cells]
        across = {
            step: int(text)
            for title, text in zip(piece.header, texts, strict=False)
            if (step := canonical_step(title)) and text.isdigit()
        }
        if len(across) > 1:
            self._sentences.append(across)
            return
        columns = columns_of(piece.header, FAILURE)
        at = columns.get("step", 0)
        step = step_in_field(texts[at]) if at < len(texts) else ""
        is_none = step.strip("`()").casefold() in ("none", "null")
        numbers = [
            int(match[1]) for text in texts if (match := re.fullmatch(r"\**(\d{1,6})\**(?:\s*\(?[\d.]+\s*%\)?)?", text))
        ]
        if (canonical_step(step) or is_none) and len(numbers) == 1 and len(texts) > 1:
            self._counts["none" if is_none else step] = numbers[0]

    def note(self, text: str) -> None:
        """`Every eval failed before the first step (failed step: none)`, `8 tests, 3 eslint`."""
        if _NO_STEP_AT_ALL.search(text):
            self._counts.setdefault("none", MOST)
        self._sentences.append(_counted(text))

    def fill(self, drafts: Sequence[Draft], evidence: StepEvidence) -> None:
        open_ones = [draft for draft in drafts if not draft.has_step(PROSE)]
        left = self._remaining(drafts, open_ones)
        by_weight = sorted(open_ones, key=lambda draft: -max((weight for _, weight in evidence.best(draft)), default=0))
        for draft in by_weight:
            likely = [(step, weight) for step, weight in evidence.best(draft) if left is None or left[step] > 0]
            first = [step for step, weight in likely if weight == likely[0][1]]
            if draft.step and left is not None and left[draft.step] > 0 and draft.step not in first:
                first = [draft.step]
            if len(first) == 1:
                draft.failed_at(first[0], GUESS if left is None else PROSE)
            if left is not None and draft.step:
                left[draft.step] -= 1
        self._fill_rest(drafts, left)

    def _fill_rest(self, drafts: Sequence[Draft], left: Counter[str] | None) -> None:
        steps = [(step, count) for step, count in (left if left is not None else self._counts).items() if count > 0]
        missing = [draft for draft in drafts if not draft.step]
        if len(steps) == 1 and (len(missing) == steps[0][1] if left is not None else len(drafts) <= steps[0][1]):
            for draft in missing:
                draft.failed_at(steps[0][0], GUESS)

    def _remaining(self, drafts: Sequence[Draft], open_ones: Sequence[Draft]) -> Counter[str] | None:
        """How many of each step are still to be found; none where no count fits."""
        if any(draft.run for draft in drafts):
            return None
        explicit = Counter(draft.step for draft in drafts if draft not in open_ones)
        for counts in (self._counts, *self._sentences):
            left = Counter(counts)
            left.subtract(explicit)
            if counts and sum(counts.values()) == len(drafts) and min(left.values()) >= 0:
                return left
        return None


def _counted(text: str) -> dict[str, int]:
    counts: dict[str, int] = {}
    for each in _EACH.finditer(text):
        counts |= dict.fromkeys(mentioned_steps(each[2]), number_of(each[1]))
    rest = _EACH.sub(" ", text)
    first = {canonical_step(match[2]): number_of(match[1]) for match in _COUNT_FIRST.finditer(rest)}
    last = {canonical_step(match[1]): number_of(match[2]) for match in _COUNT_LAST.finditer(rest)}
    best = max(first, last, key=len)
    return {step: count for step, count in (counts | best).items() if step}
