"""The verb `fetch`: an address of the visualizer, or a run's id → a folder that the convex source reads."""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import urlsplit

from errata.errors import FetchError
from errata.fetch.convex import Fetched, fetch_run
from errata.fetch.transport import PROD, TIMEOUT, Target, Transport, deployment_address, is_address, target_of
from errata.settings import Settings
from errata.settings.store_location import downloads_of

FETCHED = "fetched"


def fetch(
    text: str,
    settings: Settings,
    environ: Mapping[str, str],
    *,
    deployment: str = "",
    folder: Path | None = None,
    timeout: float = TIMEOUT,
    on_items: Callable[[int], None] = lambda _: None,
) -> Fetched:
    target = target_of(text)
    address = _address(target, deployment, settings, text)
    place = folder or downloads_of(settings.store) / FETCHED / _slug(address) / target.run
    transport = Transport(address, key=_key(address, settings, environ), timeout=timeout)
    now = datetime.now(UTC).isoformat(timespec="seconds")
    return fetch_run(target, transport, place, when=now, on_items=on_items)


def _address(target: Target, named: str, settings: Settings, text: str) -> str:
    """What was asked for explicitly; else what the address of the run belongs to; an id alone means production."""
    if named:
        known = settings.deployments.get(named)
        return deployment_address(known.url if known is not None and known.url else named)
    if not target.deployment and is_address(text):
        raise FetchError(
            f"`{urlsplit(text).hostname}` is not a visualizer that errata knows",
            hint="name its deployment: `--deployment prod`, `dev`, or an address",
        )
    return deployment_address(target.deployment or PROD)


def _key(address: str, settings: Settings, environ: Mapping[str, str]) -> str:
    """Only a key that the user's own configuration names for this very host."""
    named = (one.key_name for one in settings.deployments.values() if one.url == address and one.key_name)
    return next((environ[name] for name in named if environ.get(name)), "")


def _slug(address: str) -> str:
    parts = urlsplit(address)
    return (parts.hostname or "unknown") + (f"-{parts.port}" if parts.port else "")
