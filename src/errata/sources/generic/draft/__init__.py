"""Draft a mapping for an unknown table: from the names and values of its columns, with what is unsure."""

from itertools import islice
from pathlib import Path
from statistics import fmean

from errata.errors import SourceError
from errata.model import Attempt, Case, Item, Run
from errata.model.output.mapping import MapOutput, MappingPreviewRow
from errata.sources.generic import FOLDER_MAP, MAP_SUFFIX
from errata.sources.generic.draft.columns import (
    guess_case,
    guess_headline,
    guess_repetitions,
    guess_run,
    guess_texts,
    guess_times,
    guess_usage,
    put_key,
)
from errata.sources.generic.draft.folders import FolderSample, sample_of_folder
from errata.sources.generic.draft.names import HEADLINE, MODEL_LIKE, last_name, plain_name
from errata.sources.generic.draft.pool import ColumnPool
from errata.sources.generic.draft.profiles import ColumnProfile, profiles_of
from errata.sources.generic.draft.record import DraftedMapping
from errata.sources.generic.draft.run_objects import guess_run_objects
from errata.sources.generic.draft.sample import TableSample, sample_of
from errata.sources.generic.draft.status import guess_status
from errata.sources.generic.draft.verdicts import guess_errors, guess_verdicts
from errata.sources.generic.draft.wide import find_attempts, find_cases, find_models, put_single_column
from errata.sources.generic.reader import MappedSource
from errata.sources.generic.values import yes_or_no

__all__ = ["draft_mapping", "target_of"]

PREVIEWED = 200
"""How many attempts are read with the draft, to count what becomes of them."""


def target_of(path: Path) -> Path:
    """Where the mapping of a table belongs."""
    return path / FOLDER_MAP if path.is_dir() else path.with_name(path.name + MAP_SUFFIX)


def draft_mapping(path: Path) -> MapOutput:
    """Draft a mapping for a file, or for a folder of files. Reads the first rows only."""
    if not path.exists():
        raise SourceError(f"No such file or folder: `{path}`", hint="check the path")
    draft = DraftedMapping()
    if path.is_dir():
        folder = sample_of_folder(path)
        if folder.pattern:
            draft.put("", "files", folder.pattern)
        _guess(draft, folder.sample, path.absolute().name)
        _note_folder(draft, folder)
        source = path if folder.pattern else folder.first
    else:
        _guess(draft, sample_of(path), path.stem)
        source = path
    return _previewed(draft, path, source)


def _guess(draft: DraftedMapping, sample: TableSample, name: str) -> None:
    if sample.place:
        draft.put("", "rows", sample.place)
        if sample.other_places:
            draft.doubt("", "rows", "the document has other lists", [f"`{place}`" for place in sample.other_places])
    profiles = profiles_of(sample.rows)
    profiles = _with_decimal_commas(draft, profiles) if sample.is_delimited else profiles
    wide = find_models(profiles, draft) or find_attempts(profiles, draft)
    wide = wide or (find_cases(profiles, draft) if sample.is_delimited else None)
    profiles = wide or profiles
    rows = len(next(iter(profiles.values())).values) if profiles else 0
    pool = ColumnPool(profiles, rows, draft)
    if "@value" in profiles:
        pool.put("attempt", "passed" if profiles["@value"].is_flag else "score", profiles["@value"])
    put_single_column(pool)
    guess_usage(pool)
    guess_times(pool)
    guess_errors(pool)
    if not draft.has("attempt", "passed"):
        guess_verdicts(pool)
    guess_status(pool)
    guess_run(pool)
    put_key(pool)
    guess_texts(pool)
    guess_case(pool)
    guess_run_objects(pool)
    guess_repetitions(pool)
    if not draft.has("", "suite"):
        draft.keys = {("", "suite"): plain_name(name) or "table", **draft.keys}
    if draft.has("", "cases"):
        pool.assign("run", "headline", "score", lambda profile: HEADLINE.fullmatch(last_name(profile.path)) is not None)
    guess_headline(pool, sample.stated, _rate(pool) if sample.whole else None, per_run=_has_several_runs(pool))
    _finish(draft, pool)


def _with_decimal_commas(draft: DraftedMapping, profiles: dict[str, ColumnProfile]) -> dict[str, ColumnProfile]:
    german = {path for path, profile in profiles.items() if profile.has_decimal_commas}
    if not german:
        return profiles
    draft.put("", "decimal", ",")
    return {path: profile.with_commas() if path in german else profile for path, profile in profiles.items()}


def _has_several_runs(pool: ColumnPool) -> bool:
    model = pool.draft.keys.get(("run", "model"))
    profile = pool.profiles.get(model["column"]) if isinstance(model, dict) else None
    return profile is not None and profile.distinct > 1


def _rate(pool: ColumnPool) -> float | None:
    """The rate of passes, or the mean score, over the rows; of nested runs over the first one."""
    outer = [profile.values for path, profile in pool.profiles.items() if path.startswith("^")]
    first = [at for at in range(pool.rows) if all(values[at] == values[0] for values in outer)]
    for key in ("passed", "score"):
        value = pool.draft.keys.get(("attempt", key))
        profile = pool.profiles.get(value["column"] if isinstance(value, dict) else value) if value else None
        if profile is not None:
            part = ColumnProfile(profile.path, [profile.values[at] for at in first])
            flags = [float(flag) for one in part.filled if (flag := yes_or_no(one)) is not None]
            numbers = flags if key == "passed" else part.numbers
            return fmean(numbers) if numbers else None
    return None


def _finish(draft: DraftedMapping, pool: ColumnPool) -> None:
    """List the columns that no key names: of nested ones the innermost."""
    used = draft.columns()
    stems = tuple(f"{name}." for name in used)
    inside = tuple(dict.fromkeys(path.rpartition(".")[0] for path in pool.profiles if "." in path))
    left = [
        path
        for path in pool.profiles
        if path not in used
        and path[:1] != "@"
        and not path.startswith(stems)
        and path not in inside
        and "]" not in path
    ]
    draft.unmapped = [path for path in left if path[:1] not in ("^", "$")]
    draft.unmapped_outer = [path for path in left if path[:1] in ("^", "$")]


def _note_folder(draft: DraftedMapping, folder: FolderSample) -> None:
    if folder.names and not draft.has("run", "model") and not draft.has("", "models"):
        draft.doubts[:] = [doubt for doubt in draft.doubts if doubt.key not in ("[run] model", "[attempt] index")]
        draft.put("run", "model", {"column": "@folder" if folder.pattern else "@file"})
        if not all(MODEL_LIKE.search(name) for name in folder.names):
            kind = "folders" if folder.pattern else "files"
            draft.doubt("run", "model", f"are the names of the {kind} the models?")
    if folder.others:
        listed = ", ".join(f"`{name}`" for name in folder.others[:4])
        more = f" and {len(folder.others) - 4} more" if len(folder.others) > 4 else ""
        key = "files" if folder.pattern else "rows"
        draft.doubt("", key, f"other files have other fields: {listed}{more}")


def _previewed(draft: DraftedMapping, path: Path, source: Path) -> MapOutput:
    items = MappedSource(draft.mapping).read(source)
    runs: dict[str, Run] = {}
    cases: dict[tuple[str, str], Case] = {}
    rows: list[MappingPreviewRow] = []
    unreadable: list[str] = []
    outcomes: dict[str, int] = {}
    for item in islice(items, 3 * PREVIEWED):
        if isinstance(item, Run):
            runs[item.id] = item
        elif isinstance(item, Case):
            cases[item.run, item.key] = item
        elif isinstance(item, Attempt):
            rows.append(_preview(item, runs.get(item.run), cases.get((item.run, item.case))))
            kind = _kind(item)
            outcomes[kind] = outcomes.get(kind, 0) + 1
            if len(rows) >= PREVIEWED:
                break
        else:
            unreadable.append(_reason(item))
    return MapOutput(
        path=str(path),
        target=str(target_of(path)),
        written=False,
        text=draft.text(),
        doubts=tuple(draft.doubts),
        rows=tuple(rows),
        outcomes=outcomes,
        unreadable=tuple(unreadable),
        unmapped=(*draft.unmapped, *draft.unmapped_outer),
        models=tuple(dict.fromkeys(run.subject.model for run in runs.values())),
    )


def _reason(item: Item) -> str:
    return f"{getattr(item, 'where', '')}: {getattr(item, 'why', '')}"


def _kind(attempt: Attempt) -> str:
    if attempt.outcome != "none":
        return attempt.outcome
    return attempt.execution if attempt.execution != "completed" else attempt.measurement


def _preview(attempt: Attempt, run: Run | None, case: Case | None) -> MappingPreviewRow:
    suite = run.suite if run is not None else ""
    return MappingPreviewRow(
        model=run.subject.model if run is not None else "",
        case=case.native_id if case is not None else attempt.case.removeprefix(f"{suite}/"),
        index=attempt.index,
        execution=attempt.execution,
        measurement=attempt.measurement,
        outcome=attempt.outcome,
        answer=attempt.output.answer if attempt.output.answer is not None else attempt.output.text,
        expected=case.expected if case is not None else None,
        failed_checks=attempt.failed_checks,
        error=attempt.errors[0].message or attempt.errors[0].type if attempt.errors else "",
        where=str(attempt.ref),
    )
