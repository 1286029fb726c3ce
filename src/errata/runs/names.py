"""What a user means by RUN: a path, which is imported first, or a name that the store knows."""

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

from errata.errors import ErrataError, NotFoundError, did_you_mean
from errata.model import Run, StoredRun
from errata.runs.importing import import_paths
from errata.runs.log_search import all_of
from errata.sources import harness_of
from errata.sources.folder_names import LONG_ID
from errata.store.database import Store
from errata.store.runs import RunNames, all_runs, find_run, run_by_id
from errata.text.clean import one_line
from errata.text.lazy_regex import lazy_regex

LISTED = 10
VALUE = 48
SHORT, LONG = 8, 16


def runs_named(selectors: Iterable[str], store: Store) -> Iterator[StoredRun]:
    """Every run that is meant, in the order given, each once.

    A wrong selector does not hide the others: it is reported at the end.
    """
    seen: set[str] = set()
    problems: list[ErrataError] = []
    for selector in selectors:
        try:
            runs = _runs_of(selector, store)
        except ErrataError as problem:
            problems.append(problem)
            continue
        for stored in runs:
            if stored.run.id not in seen:
                seen.add(stored.run.id)
                yield stored
    if problems:
        raise all_of(problems)


def run_named(selector: str, store: Store) -> StoredRun:
    runs = list(runs_named([selector], store))
    if len(runs) > 1:
        raise NotFoundError(f"`{selector}` holds {len(runs)} runs", hint=f"name one of them:\n{candidates(runs)}")
    return runs[0]


def known_run(selector: str, store: Store) -> StoredRun:
    """The one run of the store that is meant, never a path to be imported.

    A whole name wins over a model's, and both win over the beginning of a name or id. A beginning that may as well mean
    a run of another model is refused.
    """
    is_named = _is_named(selector, store)
    if not is_named and (labelled := runs_of_model(selector, store)):
        return _the_only(selector, labelled)
    try:
        stored = find_run(store, selector)
    except NotFoundError as error:
        meant = did_you_mean(selector, _names(store))
        if not meant or "\n" in error.hint:
            raise
        raise NotFoundError(error.message, hint=f"{meant}\n{error.hint}") from None
    if is_named:
        return stored
    others = [one for one in all_runs(store) if any(label.startswith(selector) for label in _models(one.run))]
    return _the_only(selector, [stored, *(one for one in others if one.run.id != stored.run.id)])


def _the_only(selector: str, runs: list[StoredRun]) -> StoredRun:
    if len(runs) > 1:
        raise NotFoundError(f"`{selector}` names {len(runs)} runs", hint=f"name one of them:\n{candidates(runs)}")
    return runs[0]


def _is_named(selector: str, store: Store) -> bool:
    if selector == "latest":
        return True
    runs = (stored.run for stored in all_runs(store))
    return any(selector in (run.id, run.native_id, run.external_id, run.name) for run in runs)


def is_name_of_runs(text: str, store: Store) -> bool:
    if _is_named(text, store) or runs_of_model(text, store):
        return True
    return text in handles_of(all_runs(store)).values()


def _names_another_run(selector: str, store: Store) -> bool:
    """Whether a run in the store has this very name, and what is here under the same name is not that run's log.

    What a name means must not depend on the working folder; `./NAME` is always the path.
    """
    if "/" in selector or not _is_named(selector, store):
        return False
    here, log = Path(selector).resolve(), known_run(selector, store).run.origin
    origin = Path(log).resolve() if log else here
    return origin not in (here, *here.parents) and here not in origin.parents


def runs_of_model(name: str, store: Store) -> list[StoredRun]:
    """The runs of a model: by its name, its name without the vendor, or NAME@MODEL."""
    runs = all_runs(store) if name else []
    return [stored for stored in runs if name in _labels(stored.run) or name in _models(stored.run)]


def _labels(run: Run | RunNames) -> list[str]:
    """What else may name a run: `alpha-1`, `nightly@alpha-1`, `alpha-1@terse`, `nightly@alpha-1@terse`."""
    model, name = run.subject.model, run.native_id
    if not model:
        return []
    variant = [value for value in run.variant.values() if isinstance(value, str) and _WORD.fullmatch(value)]
    behind = "@".join([model, *variant])
    return [model, f"{name}@{model}", *([behind, f"{name}@{behind}"] if variant else [])]


def _models(run: Run | RunNames) -> set[str]:
    return {run.subject.model, run.subject.model.rpartition("/")[2]} - {""}


def candidates(runs: list[StoredRun]) -> str:
    """A line for each run that may be meant, with its description and its id, which is unique."""
    lines = [one_line(" · ".join([*described(stored.run), f"id {stored.run.id}"])) for stored in runs[:LISTED]]
    more = [f"and {len(runs) - LISTED} more: `errata runs` lists them all"] if len(runs) > LISTED else []
    return "\n".join([*lines, *more])


def described(run: Run) -> list[str]:
    name = "" if run.subject.model or run.name == run.native_id else run.name
    return [part for part in (run.native_id, name, run.subject.model, run.subject.agent, *variant_of(run)) if part]


def variant_of(run: Run, *, besides: str = "") -> list[str]:
    """`prompt terse`, `experiment default`; of a value that is a whole text, its beginning."""
    return [f"{key} {one_line(value, VALUE)}" for key, value in run.variant.items() if key != besides]


def _names(store: Store) -> Iterator[str]:
    runs = [stored.run for stored in all_runs(store)]
    yield from ["latest"] if runs else []
    for run in runs:
        yield from (run.native_id, run.name, short(run.native_id), run.subject.model)


def _runs_of(selector: str, store: Store) -> list[StoredRun]:
    if not is_path(selector) or _names_another_run(selector, store):
        return [known_run(selector, store)]
    summaries = import_paths([Path(selector)], store)
    return [run_by_id(store, run.id) for summary in summaries for run in summary.runs]


_takes_paths: ContextVar[bool] = ContextVar("takes_paths", default=True)


@contextmanager
def names_only() -> Iterator[None]:
    """Inside the context a selector never means a path: who asks from afar must not read files of this machine."""
    token = _takes_paths.set(False)
    try:
        yield
    finally:
        _takes_paths.reset(token)


def is_path(selector: str) -> bool:
    if not _takes_paths.get():
        return False
    try:
        return Path(selector).exists()
    except (OSError, ValueError):  # a name that no file can have
        return False


def handle_of(stored: StoredRun, store: Store) -> str:
    return handles_of(all_runs(store))[stored.run.id]


def handles_of(runs: Iterable[StoredRun]) -> dict[str, str]:
    """Id → the shortest name that leads to this run alone."""
    known = [one.run for one in runs]
    return handles_among(known, known)


def handles_among(known: Sequence[Run | RunNames], wanted: Iterable[Run | RunNames]) -> dict[str, str]:
    """The same for some of the runs that are known.

    A handle is the run's name or the beginning of a long one; for runs that share a name their model, alone or behind
    the name; else the beginning of the id.
    """
    named = Counter(name for run in known for name in {run.native_id, run.name, short(run.native_id)})
    labelled = Counter(label for run in known for label in {*_labels(run), *_models(run)})
    # everything that the resolver matches: whole names, and the beginnings of names, ids and tails of names
    whole = Counter(name for run in known for name in {run.id, run.native_id, run.external_id, run.name} if name)
    beginnings = sorted(name for run in known for name in {run.native_id, run.id, run.native_id.rpartition("_")[2]})
    models = sorted({(label, run.subject.model) for run in known for label in _models(run)})

    def is_unique(head: str) -> bool:
        at, first = bisect_left(beginnings, head), bisect_left(models, (head, ""))
        is_other = labelled[head] or whole[head] or head == "latest"
        is_beginning = any(one.startswith(head) for one in beginnings[at + 1 : at + 2])
        is_model = any(one.startswith(head) for one, _ in models[first : first + 1])
        return not is_other and not is_beginning and not is_model

    def is_own_name(head: str, run: Run | RunNames) -> bool:
        return head == run.native_id and whole[head] == 1 and head != "latest"

    def is_own_label(label: str) -> bool:
        taken = named[label] or whole[label] or label == "latest"
        return labelled[label] == 1 and not taken and _TYPEABLE.fullmatch(label) is not None

    def handle(run: Run | RunNames) -> str:
        name = short(run.native_id)
        # a name that is also another run's model leads to this run: names win
        if name and named[name] == 1 and named[run.native_id] == 1:
            heads = [name] if len(name) <= LONG else [name[:size] for size in range(SHORT, LONG)]
            head = next((head for head in heads if is_own_name(head, run) or is_unique(head)), "")
            if head:
                return head.rstrip("-_.:T ") if is_unique(head.rstrip("-_.:T ")) else head
        for label in _labels(run):
            if is_own_label(label):
                return label
        return next((run.id[:size] for size in (SHORT, 12) if is_unique(run.id[:size])), run.id)

    return {run.id: handle(run) for run in wanted}


def needs_native_id(run: Run, handle: str) -> bool:
    return bool(handle) and handle not in run.native_id and not handle.startswith(run.native_id)


def short(native_id: str) -> str:
    """The 8-hex tail of a dated folder, the first 8 characters of a long id, else the name itself."""
    head, _, tail = native_id.rpartition("_")
    if head and len(tail) == SHORT and all(letter in "0123456789abcdef" for letter in tail):
        return tail
    return native_id[:SHORT] if LONG_ID.fullmatch(native_id) else native_id


_WORD = lazy_regex(r"[\w.+-]{1,24}")
_TYPEABLE = lazy_regex(r"[\w.+:/@-]{1,40}")


def are_judged_turns(runs: Sequence[StoredRun]) -> bool:
    return bool(runs) and all(harness_of(stored.run.source.name).judges_turns for stored in runs)
