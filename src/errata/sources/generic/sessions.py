"""Sessions of coding agents that a column of the results refers to: the transcripts of its rows."""

from collections.abc import Collection, Iterator
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any

from errata.model import Output, Unreadable, UsageByRole
from errata.sources.base import children, relative
from errata.sources.generic import NAME
from errata.sources.generic.mapping import Mapping, as_column, getter
from errata.sources.generic.measures import facts
from errata.sources.generic.values import is_empty, text
from errata.sources.shared.transcripts import SessionTranscript, kind_of, transcript_at
from errata.sources.shared.values import last_part, non_empty
from errata.text.lazy_regex import lazy_regex

FILES_CAP = 20_000
DEPTH = 6

# `rollout-2026-03-01T11-00-00-<session>`
_ROLLOUT = lazy_regex(r"^rollout-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-(?P<session>.+)$")
_NOTHING = Output()


class Sessions:
    """Finds the session of a row in one folder and nowhere else: by its path there, or by its session id."""

    def __init__(self, mapping: Mapping, columns: Collection[str], folder: Path) -> None:
        asked = mapping.attempt.transcript
        self._get = getter(as_column(asked).column, columns) if asked else None
        self._folder = (folder / mapping.transcripts).resolve()
        self._root = folder.resolve()
        self._measures = mapping.measures
        self._has_status = bool(mapping.attempt.error or mapping.attempt.status)

    def join(self, data: dict[str, Any], values: dict[str, Any]) -> tuple[Unreadable, ...]:
        """Fill the fields of an attempt from its session; return the session's unreadable parts."""
        named = self._get(data) if self._get else None
        if is_empty(named):
            return ()
        path = self._find(text(named))
        transcript = transcript_at(path, source=NAME, root=self._root) if path else None
        extra = values.setdefault("extra", {})
        if path is None or transcript is None:
            extra.setdefault("not_understood", {})["transcript"] = text(named)
            return ()
        extra["session"] = non_empty(
            agent=transcript.agent,
            version=transcript.version,
            model=transcript.model,
            id=transcript.session,
            file=relative(path, self._root),
            **transcript.extra,
        )
        self._fill(values, transcript)
        return transcript.unreadable

    def _fill(self, values: dict[str, Any], transcript: SessionTranscript) -> None:
        """Values in the results take precedence over values in the session."""
        if not values.get("steps"):
            values["steps"] = transcript.steps
        if values.get("output", _NOTHING).text is None and transcript.answer is not None:
            answer = values.get("output", _NOTHING).answer
            values["output"] = Output(text=transcript.answer, answer=answer, extraction="last assistant message")
        for name, value in (("started_at", transcript.started_at), ("finished_at", transcript.finished_at)):
            if value is not None:
                values.setdefault(name, value)
        values.setdefault("usage", UsageByRole(subject=transcript.usage))
        values["stop_reason"] = values.get("stop_reason") or transcript.stop_reason
        # without a status column the session decides how the attempt ended; a result implies that it did end
        if not self._has_status and transcript.execution in ("error", "limit", "cancelled"):
            outcome = values["outcome"]
            values["execution"], values["limit"] = transcript.execution, transcript.limit
            values["errors"] = (*values.get("errors", ()), *transcript.errors)
            values["measurement"], values["outcome"] = facts(transcript.execution, outcome, measures=self._measures)

    def _find(self, named: str) -> Path | None:
        for name in (named, f"{named}.jsonl"):
            try:
                path = (self._folder / name).resolve()
                if path.is_relative_to(self._folder) and kind_of(path) is not None:
                    return path
            except (OSError, ValueError):
                continue
        return self._by_session.get(last_part(named).removesuffix(".jsonl"))

    @cached_property
    def _by_session(self) -> dict[str, Path]:
        by_session: dict[str, Path] = {}
        for path in islice(_lines_below(self._folder, 0), FILES_CAP):
            rollout = _ROLLOUT.match(path.stem)
            by_session.setdefault(rollout["session"] if rollout else path.stem, path)
        return by_session


def _lines_below(folder: Path, depth: int) -> Iterator[Path]:
    for child in children(folder):
        if child.is_dir() and depth < DEPTH:
            yield from _lines_below(child, depth + 1)
        elif child.suffix == ".jsonl" and kind_of(child) is not None:
            yield child
