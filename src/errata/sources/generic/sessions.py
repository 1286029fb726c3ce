"""Sessions of coding agents that a column of the results names: the transcripts of its rows."""

import re
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

FILES_CAP = 20_000
DEPTH = 6

# `rollout-2026-03-01T11-00-00-<session>`
_ROLLOUT = re.compile(r"^rollout-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-(?P<session>.+)$")
_NOTHING = Output()


class Sessions:
    """What a row names is looked for in one folder, and nowhere else: by its path there, or by its session."""

    def __init__(self, mapping: Mapping, columns: Collection[str], folder: Path) -> None:
        asked = mapping.attempt.transcript
        self._get = getter(as_column(asked).column, columns) if asked else None
        self._folder = (folder / mapping.transcripts).resolve()
        self._root = folder.resolve()
        self._measures = mapping.measures
        self._tells_ends = bool(mapping.attempt.error or mapping.attempt.status)

    def join(self, data: dict[str, Any], values: dict[str, Any]) -> tuple[Unreadable, ...]:
        """Fill the fields of an attempt from its session; what could not be read of the session."""
        told = self._get(data) if self._get else None
        if is_empty(told):
            return ()
        path = self._find(text(told))
        found = transcript_at(path, source=NAME, root=self._root) if path else None
        extra = values.setdefault("extra", {})
        if path is None or found is None:
            extra.setdefault("not_understood", {})["transcript"] = text(told)
            return ()
        extra["session"] = non_empty(
            agent=found.agent,
            version=found.version,
            model=found.model,
            id=found.session,
            file=relative(path, self._root),
            **found.extra,
        )
        self._fill(values, found)
        return found.unreadable

    def _fill(self, values: dict[str, Any], found: SessionTranscript) -> None:
        """What the results say themselves goes before what the session says."""
        if not values.get("steps"):
            values["steps"] = found.steps
        if values.get("output", _NOTHING).text is None and found.answer is not None:
            answer = values.get("output", _NOTHING).answer
            values["output"] = Output(text=found.answer, answer=answer, extraction="last assistant message")
        for name, value in (("started_at", found.started_at), ("finished_at", found.finished_at)):
            if value is not None:
                values.setdefault(name, value)
        values.setdefault("usage", UsageByRole(subject=found.usage))
        values["stop_reason"] = values.get("stop_reason") or found.stop_reason
        # a file of results that has no word for how it ended leaves it to the session; a result says that it ended
        if not self._tells_ends and found.execution in ("error", "limit", "cancelled"):
            outcome = values["outcome"]
            values["execution"], values["limit"] = found.execution, found.limit
            values["errors"] = (*values.get("errors", ()), *found.errors)
            values["measurement"], values["outcome"] = facts(found.execution, outcome, measures=self._measures)

    def _find(self, told: str) -> Path | None:
        for name in (told, f"{told}.jsonl"):
            try:
                path = (self._folder / name).resolve()
                if path.is_relative_to(self._folder) and kind_of(path) is not None:
                    return path
            except (OSError, ValueError):
                continue
        return self._by_session.get(last_part(told).removesuffix(".jsonl"))

    @cached_property
    def _by_session(self) -> dict[str, Path]:
        found: dict[str, Path] = {}
        for path in islice(_lines_below(self._folder, 0), FILES_CAP):
            told = _ROLLOUT.match(path.stem)
            found.setdefault(told["session"] if told else path.stem, path)
        return found


def _lines_below(folder: Path, depth: int) -> Iterator[Path]:
    for child in children(folder):
        if child.is_dir() and depth < DEPTH:
            yield from _lines_below(child, depth + 1)
        elif child.suffix == ".jsonl" and kind_of(child) is not None:
            yield child
