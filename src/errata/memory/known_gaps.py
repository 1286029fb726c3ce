"""The verbs behind `errata known`: which limitations of a suite are accepted, so that they are not found again."""

from collections.abc import Iterable, Iterator
from datetime import datetime
from fnmatch import fnmatchcase

import msgspec

from errata.errors import NotFoundError, SettingsError
from errata.memory.entries import safe
from errata.memory.gaps import gap_for, gap_id, is_pattern, pattern_over_keys
from errata.model import KnownGap, StoredRun
from errata.model.times import to_iso
from errata.runs.addresses import case_meant, not_found
from errata.store.database import Store
from errata.store.memory import forget_gap, gap_by_id, keep_gap, known_gaps
from errata.store.named_cases import case_keys, suites_of, tries_of
from errata.store.runs import all_runs
from errata.text.nearest import did_you_mean

DAY = len("2026-03-04")


class Known(msgspec.Struct, frozen=True, kw_only=True):
    gap: KnownGap
    cases: tuple[str, ...] = ()
    """Those of the store that fall under it."""
    was: KnownGap | None = None
    """What was known of the same cases before."""
    runs: tuple[StoredRun, ...] = ()
    """Those with failures on them, newest first."""

    @property
    def name(self) -> str:
        """As its harness names the case."""
        told = self.gap.case_key or self.gap.pattern
        return told.removeprefix(f"{self.gap.suite}/") if self.gap.suite else told

    @property
    def undo(self) -> list[str]:
        """The command that brings it back."""
        words = ["errata", "known", "add", self.name, "--text", self.gap.text]
        words += ["--suite", self.gap.suite] if self.gap.suite else []
        return [*words, *(["--author", self.gap.author] if self.gap.author else [])]


class ToldGap(msgspec.Struct, frozen=True, kw_only=True):
    """What the user says about a gap: a case or a pattern, and what is the matter with it."""

    case: str
    text: str
    suite: str = ""
    author: str = ""


def add_gap(told: ToldGap, store: Store, *, now: datetime, dry_run: bool = False) -> Known:
    """A case by its name, or all that a pattern fits. Told again, it has the new words."""
    text = safe(told.text)
    if not text:
        raise SettingsError("`--text` says nothing", hint="in a sentence: what is the limitation?")
    meant = _meant(told.case, store, told.suite)
    name = gap_id(meant)
    was = next((one for one in known_gaps(store) if one.id == name), None)
    since = was.since if was else to_iso(now)[:DAY]
    gap = msgspec.structs.replace(meant, id=name, text=text, since=since, author=safe(told.author))
    if not dry_run:
        keep_gap(store, gap)
    (known,) = _with_cases([gap], store)
    return msgspec.structs.replace(known, was=was, runs=_failing(known.cases, store))


def list_gaps(store: Store, *, suite: str = "") -> list[Known]:
    return list(_with_cases(known_gaps(store, suite), store))


def remove_gap(named: str, store: Store, *, suite: str = "", dry_run: bool = False) -> Known:
    """By its id, its case or its pattern."""
    known = list_gaps(store, suite=suite)
    found = [one for one in known if named in (one.name, one.gap.case_key, one.gap.pattern)]
    found = found or [one for one in known if one.name.endswith(f"/{named}")]
    if len(found) > 1:
        listed = "\n".join(f"`{one.gap.id}` {one.gap.case_key or one.gap.pattern}" for one in found)
        raise NotFoundError(f"`{named}` names {len(found)} known gaps", hint=f"name one by its id:\n{listed}")
    gap = found[0].gap if found else _by_id(named, known, store)
    if not dry_run:
        forget_gap(store, gap.id)
    (gone,) = _with_cases([gap], store)
    return msgspec.structs.replace(gone, runs=_failing(gone.cases, store))


def _by_id(named: str, known: list[Known], store: Store) -> KnownGap:
    try:
        return gap_by_id(store, named)
    except NotFoundError as error:
        meant = did_you_mean(named, [one.name for one in known])
        hint = "\n".join(filter(None, (meant, error.hint)))
        raise NotFoundError(f"No known gap is named `{named}`", hint=hint) from None


def _meant(text: str, store: Store, suite: str) -> KnownGap:
    case = case_meant(text, store, suite=suite)
    if case is not None:
        return KnownGap(suite=case.suite, case_key=case.key, text="")
    if not is_pattern(text):
        raise not_found(text, store, suite=suite)
    patterns = dict(_fitting(text, store, suite))
    if len(patterns) == 1:
        ((name, pattern),) = patterns.items()
        return KnownGap(suite=name, pattern=pattern, text="")
    if patterns:
        listed = ", ".join(f"`--suite {name}`" for name in patterns)
        raise NotFoundError(f"`{text}` fits cases of {len(patterns)} suites", hint=f"say which: {listed}")
    raise NotFoundError(
        f"No case fits the pattern `{text}`",
        hint="`*` stands for anything, also for slashes; `errata failures RUN` lists the cases that failed",
    )


def _fitting(pattern: str, store: Store, suite: str) -> Iterator[tuple[str, str]]:
    """Suite → the pattern over its keys, for every suite with a case that it fits."""
    by_suite: dict[str, list[str]] = {}
    for key, names in suites_of(store, case_keys(store, suite=suite)).items():
        for name in names:
            by_suite.setdefault(name, []).append(key)
    for name, keys in sorted(by_suite.items()):
        over = pattern_over_keys(name, pattern)
        if any(fnmatchcase(key, over) for key in keys):
            yield name, over


def _with_cases(gaps: Iterable[KnownGap], store: Store) -> Iterator[Known]:
    keys: dict[str, list[str]] = {}
    for gap in gaps:
        if gap.suite not in keys:
            keys[gap.suite] = case_keys(store, suite=gap.suite)
        yield Known(gap=gap, cases=tuple(key for key in keys[gap.suite] if gap_for(key, [gap])))


def _failing(cases: Iterable[str], store: Store) -> tuple[StoredRun, ...]:
    failing = {one.run_id for one in tries_of(store, cases) if one.failed}
    return tuple(one for one in all_runs(store) if one.run.id in failing) if failing else ()
