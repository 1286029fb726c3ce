"""The model's output beside the expected output: as a reviewer chose it, at the error, or at the first difference."""

from collections.abc import Iterable, Sequence
from difflib import SequenceMatcher
from pathlib import PurePosixPath

from errata.model import Artefact, Attempt, Case, Verdict
from errata.model.output.report.shared import Snippets
from errata.runs.view import RunView
from errata.text.lazy_regex import lazy_regex
from errata.text.outgoing import for_others
from errata.text.tool_output import find_key_line

FAILURES = 200
"""Failures that are compared with the expected output; beyond them only reviewed failures have snippets."""
LINES, AROUND, WIDE = 12, 1, 300
NEAR = 2
"""Lines around the place that an error names."""
_QUOTED = lazy_regex(r"[\"'`]([\w./@-]{3,80})[\"'`]")
_ASSERTS = lazy_regex(r"\w*AssertionError\b")
LARGEST = 20_000
"""Characters of a file that is compared."""
LANGUAGES = ("ts", "tsx", "js", "jsx", "py", "json", "sh", "go", "rs", "java", "c", "cpp", "rb", "sql", "toml", "yaml")
NONE = Snippets()


class SnippetFinder:
    """The snippets of one run's failures; the files are only read for the first of them."""

    def __init__(self, view: RunView) -> None:
        self._view = view
        self._compared = 0

    def find(self, attempt: Attempt, verdict: Verdict | None, error: str) -> Snippets:
        if verdict is not None and (verdict.model_snippet or verdict.expected_snippet):
            path = _place(verdict)
            return Snippets(
                model=verdict.model_snippet,
                expected=verdict.expected_snippet,
                path=path,
                language=language_of(path),
            )
        if attempt.outcome not in ("fail", "partial") or self._compared >= FAILURES:
            return NONE
        self._compared += 1
        case = self._view.case_for(attempt)
        return compared(self._view.with_texts(attempt), case, error) if case is not None else NONE


def compared(attempt: Attempt, case: Case, error: str) -> Snippets:
    """At the place that the error names, else of the file that is most like what was expected, where they differ."""
    if (placed := _at_the_error(attempt, case, error)) is not None:
        return placed
    pairs = _pairs(attempt.artefacts, case.artefacts)
    if pairs:
        path, wrote, wanted = min(pairs, key=lambda pair: (pair[0] not in error, _unlike(pair[1], pair[2]), pair[0]))
        mine, theirs = _where_they_differ(wrote, wanted)
        return Snippets(model=mine, expected=theirs, path=path, language=language_of(path), differ=True)
    answer, expected = attempt.output.answer or attempt.output.text, case.expected
    if answer and isinstance(expected, str) and expected:
        return Snippets(model=_cut(_lines(answer)), expected=_cut(_lines(expected)))
    return NONE


def _at_the_error(attempt: Attempt, case: Case, error: str) -> Snippets | None:
    """The lines around the place in the output, and those of the expected file that correspond to them."""
    written = [one for one in attempt.artefacts if one.role == "output" and _is_small(one)]
    wanted = [one for one in case.artefacts if one.role == "expected" and _is_small(one)]
    file, line = _named_place(attempt, written) or _named_text(error, written, wanted) or (None, 0)
    if file is None or not file.text or not 0 < line <= file.text.count("\n") + 1:
        return None
    mine, other = file.text.split("\n"), _counterpart(file, wanted)
    first, last = max(0, line - 1 - NEAR), min(len(mine), line + NEAR)
    expected = _corresponding(mine, other.text.split("\n"), first, last) if other and other.text else []
    return Snippets(
        model=_cut(_lines("\n".join(mine[first:last]))),
        expected=_cut(_lines("\n".join(expected))),
        path=file.path,
        language=language_of(file.path),
        line=line,
    )


def _named_place(attempt: Attempt, written: Sequence[Artefact]) -> tuple[Artefact, int] | None:
    """The file and line in the output of the tool that refused it."""
    for check in attempt.checks:
        key = find_key_line(check.explanation) if check.failed else None
        if key is not None and key.file and key.line:
            path = key.file.replace("\\", "/").removeprefix("../").removeprefix("./")
            file = next((one for one in written if path == one.path or path.endswith(f"/{one.path}")), None)
            return None if file is None else (file, key.line)
        if check.failed:
            return None
    return None


def _named_text(error: str, written: Sequence[Artefact], wanted: Sequence[Artefact]) -> tuple[Artefact, int] | None:
    """The first line with a name that the error quotes; a name that the expected files lack comes first."""
    if _ASSERTS.match(error):  # it quotes values that the answer computed
        return None
    names = dict.fromkeys(_QUOTED.findall(error))
    for name in sorted(names, key=lambda each: any(each in (one.text or "") for one in wanted)):
        for file in written:
            lines = (file.text or "").split("\n")
            at = next((at for at, line in enumerate(lines, 1) if name in line), None)
            if at is not None:
                return file, at
    return None


def _counterpart(file: Artefact, wanted: Iterable[Artefact]) -> Artefact | None:
    return next((each for each in wanted if each.path == file.path or each.path.endswith(f"/{file.path}")), None)


def _corresponding(mine: Sequence[str], theirs: Sequence[str], first: int, last: int) -> list[str]:
    start, end = len(theirs), 0
    for _, from_, to, other, other_end in SequenceMatcher(None, mine, theirs, autojunk=False).get_opcodes():
        if from_ < last and to > first:
            # equal parts correspond line by line, others as a whole
            is_equal = to - from_ == other_end - other
            start = min(start, other + max(0, first - from_) if is_equal else other)
            end = max(end, other_end - max(0, to - last) if is_equal else other_end)
    return list(theirs[start:end])


def _pairs(written: Iterable[Artefact], case: Iterable[Artefact]) -> list[tuple[str, list[str], list[str]]]:
    """Path, and the lines of both, where a file of the output is there among what was expected and differs."""
    wanted = [one for one in case if one.role == "expected" and _is_small(one)]
    pairs = []
    for file in written:
        if file.role != "output" or not _is_small(file):
            continue
        other = _counterpart(file, wanted)
        if other is not None and file.text and other.text and file.text.split() != other.text.split():
            pairs.append((file.path, _lines(file.text), _lines(other.text)))
    return pairs


def _is_small(file: Artefact) -> bool:
    return file.text is not None and len(file.text) <= LARGEST


def _unlike(wrote: Sequence[str], wanted: Sequence[str]) -> float:
    return 1 - SequenceMatcher(None, wrote, wanted, autojunk=False).quick_ratio()


def _where_they_differ(wrote: Sequence[str], wanted: Sequence[str]) -> tuple[str, str]:
    """The first place, with a line around it."""
    changes = SequenceMatcher(None, wrote, wanted, autojunk=False).get_opcodes()
    whole = ("", 0, len(wrote), 0, len(wanted))  # where they differ in nothing but what was taken out
    _, first, last, other, end = next((change for change in changes if change[0] != "equal"), whole)
    return _cut(wrote[max(0, first - AROUND) : last + AROUND]), _cut(wanted[max(0, other - AROUND) : end + AROUND])


def _lines(text: str) -> list[str]:
    """Without secrets and people, before anything is cut."""
    return for_others(text).strip("\n").split("\n")


def _cut(lines: Sequence[str]) -> str:
    shown = [f"{one[:WIDE]}…" if len(one) > WIDE else one for one in lines[:LINES]]
    return "\n".join([*shown, f"… {len(lines) - LINES} more lines"] if len(lines) > LINES else shown)


def _place(verdict: Verdict) -> str:
    quoted = (quote.place for quote in verdict.evidence if quote.place.startswith("output/"))
    return next(quoted, "").removeprefix("output/")


def language_of(path: str) -> str:
    suffix = PurePosixPath(path).suffix[1:]
    return suffix if suffix in LANGUAGES else ""
