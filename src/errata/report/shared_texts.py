"""Error texts that several failures of a run share, whatever their causes: a hint for the reader of a report."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import NamedTuple

from errata.model import Attempt, Attribution, FailureKey, Run
from errata.model.run import case_name
from errata.runs.explanation import BY_DEFAULT
from errata.runs.view import RunView
from errata.text.lazy_regex import lazy_regex
from errata.text.mask import mask
from errata.transcript.error_text import LogLine, error_lines, has_logs
from errata.triage.keys import is_informative, text_in_key

MOST_COMPARED = 50
LOGS_SEARCHED = 1_000
"""Failures whose own logs are searched."""
_MASKED = lazy_regex(r"<\w+>(?:[\s:]+<\w+>)*")


class SharedError(NamedTuple):
    text: str
    is_verbatim: bool
    """All failures have exactly this text; else the parts that differ are masked."""
    cases: tuple[str, ...]
    failures: int


class _ErrorText(NamedTuple):
    shape: str
    """Equal for failures with the same error."""
    verbatim: str
    """The text itself; empty where it is another text than the shape."""


class _SharingFailures:
    def __init__(self, first: _ErrorText) -> None:
        self._first = first
        self._is_verbatim = bool(first.verbatim)
        self.members: dict[str, str] = {}
        """Attempt → case."""

    def add(self, attempt: str, case: str, error: _ErrorText) -> None:
        self.members[attempt] = case
        self._is_verbatim = self._is_verbatim and error.verbatim == self._first.verbatim

    @property
    def shared(self) -> SharedError:
        text = self._first.verbatim if self._is_verbatim else _readable(self._first.shape)
        return SharedError(text, self._is_verbatim, tuple(dict.fromkeys(self.members.values())), len(self.members))


def _readable(shape: str) -> str:
    """`… is defined but never used no-unused-vars`: an ellipsis where the texts differ, none at their ends."""
    return _MASKED.sub("…", shape).strip(" …") or shape


def log_lines(view: RunView, attempts: Iterable[Attempt]) -> dict[str, list[LogLine]]:
    """The error lines in the logs of attempts, by attempt id."""
    searched = islice((attempt for attempt in attempts if has_logs(attempt)), LOGS_SEARCHED)
    return {attempt.id: list(error_lines(view.with_texts(attempt))) for attempt in searched}


def shared_errors(
    run: Run, failures: Iterable[tuple[str, Attribution]], lines: Mapping[str, Sequence[LogLine]]
) -> list[SharedError]:
    """`failures` come with their case keys; `lines` are the error lines in the logs of an attempt, by attempt id."""
    groups: dict[str, _SharingFailures] = {}
    for case, attribution in failures:
        for error in _errors_of(attribution, lines.get(attribution.attempt, ())):
            group = groups.setdefault(error.shape, _SharingFailures(error))
            group.add(attribution.attempt, case_name(run, case), error)
    shared = [group for group in groups.values() if len(group.members) > 1]
    # at equal size, what the harness reports comes before what its logs hold
    return list(_distinct(sorted(shared, key=lambda group: -len(group.members))))


def _distinct(groups: Sequence[_SharingFailures]) -> Iterator[SharedError]:
    """Without those that only repeat, in other words or longer, the text of a larger group of the same failures."""
    kept: list[_SharingFailures] = []
    for group in groups:
        if not any(_repeats(group, other) for other in kept[:MOST_COMPARED]):
            kept.append(group)
            yield group.shared


def _repeats(group: _SharingFailures, larger: _SharingFailures) -> bool:
    if not group.members.keys() <= larger.members.keys():
        return False
    text, other = group.shared.text, larger.shared.text
    return group.members.keys() == larger.members.keys() or text in other or other in text


def _errors_of(attribution: Attribution, lines: Sequence[LogLine]) -> Iterator[_ErrorText]:
    key = attribution.failure_key
    quote = next((signal.quote for signal in attribution.signals if signal.name == attribution.decided_by), "")
    if is_informative(key):
        yield _error_in_key(key, quote)
    elif attribution.decided_by not in BY_DEFAULT and quote:
        yield _ErrorText(mask(quote), quote)
    for line in {line.shared: line for line in lines}.values():
        yield _ErrorText(line.shared, line.message)


def _error_in_key(key: FailureKey, quote: str) -> _ErrorText:
    shape = text_in_key(key)
    # the quote that decided may be another text, or only a part of it
    is_whole = shape in (mask(quote), mask(quote, strings=False))
    return _ErrorText(shape, quote if is_whole else "" if _MASKED.search(shape) else shape)
