"""Logs in object storage: an object or a prefix is copied into a temporary folder, read there, and removed."""

import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, Any
from urllib.parse import urlsplit, urlunsplit

from errata.errors import FetchError, extra_hint
from errata.text.clean import one_line
from errata.text.lazy_regex import lazy_regex

MOST_OBJECTS = 200_000
SPARE = 0.9
"""Of the free space of the disk, how much a copy may take."""
PIECE = 1024 * 1024
LONGEST_NAME = 255
ADDRESS = lazy_regex(r"[a-zA-Z][a-zA-Z0-9+.-]*://")
PACKAGES = {"s3": "s3fs", "s3a": "s3fs", "gs": "gcsfs", "gcs": "gcsfs", "az": "adlfs", "abfs": "adlfs"}
"""Protocol → the package that fsspec needs for it."""


def is_object_address(text: str) -> bool:
    """`s3://bucket/logs`; addresses of web servers are fetched in another way."""
    return ADDRESS.match(text) is not None and not text.lower().startswith(("http://", "https://"))


def expand(url: str) -> list[str]:
    """The addresses that match a pattern such as `s3://bucket/runs/*`, sorted; else the address itself."""
    if not any(sign in url for sign in "*?["):
        return [url]
    system, path = _system(url)
    with _explained(url):
        matches = sorted(str(match) for match in system.glob(path))
    if not matches:
        raise FetchError(f"No object matches `{public(url)}`", hint="check the bucket and the pattern")
    return [str(system.unstrip_protocol(match)) for match in matches]


def public(url: str) -> str:
    """Without a user name, password or query: what may be shown and kept."""
    parts = urlsplit(url)
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))


def place_of_copy(path: str, copy: Path, url: str) -> str:
    """The address of the object behind a path inside the copy."""
    below = Path(path).absolute()
    if not below.is_relative_to(copy.absolute()):
        return path
    rest = below.relative_to(copy.absolute()).as_posix()
    return public(url).rstrip("/") + ("" if rest == "." else f"/{rest}")


@contextmanager
def copied(url: str) -> Iterator[Path]:
    """What is at the address, under its own name in a folder that is removed in the end."""
    system, path = _system(url)
    with TemporaryDirectory(prefix="errata-objects-") as folder:
        copy = Path(folder) / _safe_parts(path.rstrip("/").rpartition("/")[2] or "logs", url)[0]
        with _explained(url):
            _copy_all(system, path, copy, url)
        yield copy


def _copy_all(system: Any, path: str, copy: Path, url: str) -> None:
    sizes = _listed(system, path, url)
    # every name is checked before anything is written
    targets = {name: copy if name == path else copy.joinpath(*_safe_parts(_below(name, path), url)) for name in sizes}
    _refuse_too_large(sum(sizes.values()), copy.parent, url)
    for name, size in sizes.items():
        targets[name].parent.mkdir(parents=True, exist_ok=True)
        with system.open(name, "rb") as source, targets[name].open("xb") as file:
            _copy(source, file, size, url)


def _listed(system: Any, path: str, url: str) -> dict[str, int]:
    """Object → its size. Marks of empty folders are left out."""
    objects = system.find(path, detail=True)
    sizes = {
        str(name): int(info.get("size") or 0)
        for name, info in sorted(objects.items())
        if info.get("type") == "file" and not str(name).endswith("/")
    }
    if not sizes:
        raise FetchError(f"No object at `{public(url)}`", hint="check the bucket and the prefix")
    if len(sizes) > MOST_OBJECTS:
        message = f"`{public(url)}` has {len(sizes):,} objects, and one copy holds at most {MOST_OBJECTS:,}"
        raise FetchError(message, hint=f"name smaller prefixes, such as `{public(url).rstrip('/')}/*`")
    return sizes


def _below(name: str, path: str) -> str:
    return name[len(path.rstrip("/")) :].removeprefix("/") if name.startswith(path.rstrip("/")) else name


def _safe_parts(name: str, url: str) -> list[str]:
    """The names of folders and file; a name that would lead out of the folder is refused."""
    parts = name.split("/")
    for part in parts:
        if part in ("", ".", "..") or "\0" in part or os.sep in part or len(part.encode()) > LONGEST_NAME:
            raise FetchError(
                f"An object at `{public(url)}` has a name that no file can have: `{one_line(name, 200)}`",
                hint="nothing was copied; rename the object, or name a prefix without it",
            )
    return parts


def _copy(source: IO[bytes], file: IO[bytes], size: int, url: str) -> None:
    left = size
    while piece := source.read(PIECE):
        left -= len(piece)
        if left < 0:
            raise FetchError(f"An object at `{public(url)}` grew while it was copied", hint="import it again")
        file.write(piece)
    if left:
        raise FetchError(f"An object at `{public(url)}` was cut off while it was copied", hint="import it again")


def _refuse_too_large(total: int, folder: Path, url: str) -> None:
    free = shutil.disk_usage(folder).free
    if total > SPARE * free:
        raise FetchError(
            f"`{public(url)}` has {total / 1e9:,.1f} GB, and `{folder.parent}` has {free / 1e9:,.1f} GB free",
            hint="name smaller prefixes, or set TMPDIR to a folder with more space",
        )


def _system(url: str) -> tuple[Any, str]:
    try:
        import fsspec  # noqa: PLC0415 only object storage needs it
    except ImportError:
        raise FetchError("Object storage needs the package `fsspec`", hint=extra_hint("remote")) from None
    protocol = url.partition("://")[0].lower()
    if "::" in url:
        raise FetchError(f"`{public(url)}` chains several protocols", hint="name the objects with one protocol")
    try:
        system, path = fsspec.core.url_to_fs(url)
    except ImportError:
        package = PACKAGES.get(protocol)
        hint = f"install `{package}` on every machine that reads" if package else "see the documentation of fsspec"
        raise FetchError(f"`{protocol}://` needs another package", hint=hint) from None
    except (ValueError, OSError) as error:
        known = "use `s3://`, `gs://`, `az://`, or another protocol that fsspec has"
        raise FetchError(f"`{public(url)}` can't be opened: {one_line(str(error), 200)}", hint=known) from None
    return system, str(path)


@contextmanager
def _explained(url: str) -> Iterator[None]:
    """Failures of the storage in words."""
    try:
        yield
    except _storage_errors() as error:
        raise FetchError(
            f"`{public(url)}` can't be copied: {one_line(str(error), 200)}",
            hint="check the address, your credentials for it, and the space on the disk",
        ) from error


_ERRORS = (
    ("botocore.exceptions", "BotoCoreError"),
    ("google.auth.exceptions", "GoogleAuthError"),
    ("azure.core.exceptions", "AzureError"),
)
"""What the packages for object storage raise besides failures of the system, such as missing credentials."""


def _storage_errors() -> tuple[type[Exception], ...]:
    return OSError, *(getattr(sys.modules[module], name) for module, name in _ERRORS if module in sys.modules)
