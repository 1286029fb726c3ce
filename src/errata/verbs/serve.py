"""`serve --deployment` and `--release`: the store of a deployment, and how a new release reaches production."""

from datetime import datetime
from pathlib import Path

from errata.errors import SettingsError, did_you_mean
from errata.model.store_address import PRODUCTION, StoreLocation, location_of
from errata.model.times import to_text
from errata.settings import Settings
from errata.store.database import mark_deployment, open_store


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
