"""Where the store is: the nearest `.errata/errata.db` upward, else a new one; and what lies beside it."""

import os
from collections.abc import Mapping
from pathlib import Path

from errata.model.store_address import StoreAddress, StoreLocation
from errata.settings.files import project_file
from errata.settings.paths import cache_home

STORE_FOLDER = ".errata"
STORE_FILE = "errata.db"


def home_of(store: StoreLocation) -> Path:
    """The folder that a store belongs to; a database belongs to the working folder, or to the project above it."""
    if isinstance(store, StoreAddress):
        file = project_file(Path.cwd())
        return file.parent if file is not None else Path.cwd()
    folder = store.absolute().parent
    return folder.parent if folder.name == STORE_FOLDER else folder


def found_store(folder: Path) -> Path | None:
    places = (place / STORE_FOLDER / STORE_FILE for place in (folder, *folder.parents))
    return next((place for place in places if place.is_file()), None)


def new_store(folder: Path) -> Path:
    return folder / STORE_FOLDER / STORE_FILE


def is_there(store: StoreLocation) -> bool:
    """Whether a store is worth opening to read from it; only opening shows it for a database."""
    return isinstance(store, StoreAddress) or store.exists()


def local_file(store: StoreLocation, environ: Mapping[str, str] = os.environ) -> Path:
    """What the files beside a store are named after. Those of a database lie in the user's cache folder."""
    if isinstance(store, Path):
        return store
    import hashlib  # noqa: PLC0415 only a database needs it
    import tempfile  # noqa: PLC0415

    base = cache_home(environ) or Path(tempfile.gettempdir()) / f"errata-{os.getuid()}"
    # the digest keeps the databases of two servers apart
    digest = hashlib.sha256(store.without_password.encode("utf-8", "replace")).hexdigest()[:16]
    folder = base / "stores" / digest
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    return folder / STORE_FILE


def downloads_of(store: StoreLocation) -> Path:
    """Where logs that errata fetches are kept."""
    return store.parent if isinstance(store, Path) else home_of(store) / STORE_FOLDER
