"""The commands about the store itself: list, exclude, forget and examine runs; deployments, sources, the example."""

import platform
from collections.abc import Iterable, Sequence
from datetime import datetime
from pathlib import Path

import msgspec

from errata import __version__, sources
from errata.errors import DamagedStoreError, SettingsError, StoreError, did_you_mean
from errata.model import StoredRun
from errata.model.output.store import RepairOutput, StoreProblem
from errata.model.store_address import PRODUCTION, StoreLocation, location_of
from errata.model.times import to_text
from errata.runs.names import handles_of, known_run, names_only
from errata.settings import Settings
from errata.store import engine
from errata.store.changes import ChangeFeed
from errata.store.damage import problems_of, rebuilding
from errata.store.database import (
    Store,
    damaged,
    last_opened,
    mark_deployment,
    open_store,
    schema_of,
    write_to_production,
)
from errata.store.removal import collect_garbage, free_space, remove_run
from errata.store.runs import all_runs, exclude, include, run_by_id
from errata.verbs.doctor import OnProgress, check_deeply, repair_store

__all__ = [
    "ChangeFeed",
    "Store",
    "StoreHealth",
    "all_runs",
    "bundled_example",
    "examine_deeply",
    "examine_store",
    "exclude",
    "forget",
    "handles_of",
    "include",
    "list_sources",
    "names_only",
    "open_store",
    "run_by_id",
    "second_example",
    "store_size",
    "stored_runs",
    "write_to_production",
]


class StoreHealth(msgspec.Struct, frozen=True):
    errata: str
    python: str
    sqlite: str | None
    postgres: str | None
    """The version of the server; none for a store in a file."""
    path: str
    schema: int
    size: int
    runs: int | None
    """None, like the next two, where the store is too damaged to count."""
    attempts: int | None
    cleared: int | None
    problems: tuple[StoreProblem, ...]
    deep: bool = False
    digests_confirmed: int | None = None
    digests_open: int | None = None
    repairs: tuple[RepairOutput, ...] = ()

    @property
    def rebuild_from(self) -> list[str]:
        """Paths of logs that bring damaged runs back."""
        return rebuilding(self.problems)


def stored_runs(selectors: Iterable[str], store: Store) -> list[StoredRun]:
    """Runs that the store already holds; a path names the run that was read from it."""
    by_id = {one.run.id: one for one in (known_run(selector, store) for selector in selectors)}
    return list(by_id.values())


def forget(meant: Iterable[StoredRun], store: Store) -> bool:
    """Remove runs and free their space; false where the space could not be freed yet."""
    for stored in meant:
        remove_run(store, stored.run.id)
    return free_space(store)


def examine_store(location: StoreLocation) -> StoreHealth:
    store = open_store(location)
    with store.kept_open():
        return _health(store, problems_of(store))


def examine_deeply(location: StoreLocation, *, repair: bool, on_progress: OnProgress = lambda _: None) -> StoreHealth:
    """Every record decoded and compared; with `repair`, what can be rebuilt is rebuilt, and the store checked again."""
    store = open_store(location)
    with store.kept_open():
        checked = check_deeply(store, on_progress)
        repairs = repair_store(store, checked.problems, on_progress) if repair and checked.problems else []
        if repairs:
            checked = check_deeply(store, on_progress)
        return msgspec.structs.replace(
            _health(store, checked.problems),
            deep=True,
            digests_confirmed=checked.confirmed,
            digests_open=checked.open,
            repairs=tuple(repairs),
        )


def _health(store: Store, problems: Sequence[StoreProblem]) -> StoreHealth:
    cleared, runs = None, None
    if not problems:
        cleared = None if store.is_read_only else collect_garbage(store)
        runs = all_runs(store)
    with store.reading() as connection:
        schema, version, size = schema_of(connection), engine.version_of(connection), engine.size_of(connection)
    is_file = isinstance(store.path, Path)
    return StoreHealth(
        errata=__version__,
        python=platform.python_version(),
        sqlite=version if is_file else None,
        postgres=None if is_file else version,
        path=str(store.path),
        schema=schema,
        size=size,
        runs=len(runs) if runs is not None else None,
        attempts=sum(one.counts.attempts for one in runs) if runs is not None else None,
        cleared=cleared,
        problems=tuple(problems),
    )


def store_size(store: Store) -> int:
    """In bytes."""
    with store.reading() as connection:
        return engine.size_of(connection)


def damage_of_store_in_use() -> DamagedStoreError | None:
    """Whether damage of the store may be the cause of an unexpected failure."""
    store = last_opened()
    try:
        return damaged(store.path) if store is not None and problems_of(store) else None
    except StoreError:
        return None


def list_sources() -> list[tuple[str, str]]:
    return [(name, source.TITLE) for name, source in sources.all_sources().items()]


_EXAMPLES = Path(sources.__file__).parent.parent / "examples"


def bundled_example() -> Path:
    return _EXAMPLES / "convex-evals-run-b"


def second_example() -> Path:
    """A job whose tests never ran for half of its failures."""
    return _EXAMPLES / "harbor-kimi-k2.5"


# --- deployments: which store belongs to one, and how a new release reaches production


def store_of_deployment(name: str, settings: Settings) -> StoreLocation:
    known = settings.deployments.get(name)
    if known is None or not known.store:
        with_store = [one for one, deployment in settings.deployments.items() if deployment.store]
        hint = did_you_mean(name, with_store) or f'put `store = "FILE"` below `[deployments.{name}]` in `errata.toml`'
        raise SettingsError(f"No store is set for the deployment `{name}`", hint=hint)
    return location_of(known.store)


def prepare_deployment(name: str, path: StoreLocation, *, release: bool, now: datetime) -> None:
    """Before a server of the deployment starts: the store is its own, and has the schema of this errata.

    A production deployment is served by an installed release, never from a checkout, and only `release` migrates it.
    """
    if name in PRODUCTION and is_checkout():
        hint = "install a release with `pip install errata`, or serve another deployment from here"
        raise SettingsError(f"The deployment `{name}` is not served from a checkout of errata", hint=hint)
    store = open_store(path, deployment=name, release=release)
    if not store.deployment:
        mark_deployment(store, name, at=to_text(now))
    store.engine.dispose()
    if store.deployment != name:
        message = f"`{path}` is the store of the deployment `{store.deployment}`, not of `{name}`"
        raise SettingsError(message, hint="give each deployment a store of its own")


def is_checkout() -> bool:
    """Whether this code runs from the repository it is developed in."""
    folder = Path(__file__).resolve().parents[2]
    return folder.name == "src" and (folder.parent / "pyproject.toml").is_file()
