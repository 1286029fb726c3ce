"""Where a store is: in a file, or in a PostgreSQL database at an address. A password is in no text that is shown."""

import re
from pathlib import Path

import msgspec

from errata.errors import SettingsError
from errata.text.lazy_regex import lazy_regex

SCHEMES = ("postgresql", "postgres")
EXAMPLE = "postgresql://USER@HOST/DATABASE"
_MASK = "***"
_SCHEME = lazy_regex(r"\s*([A-Za-z][A-Za-z0-9+.-]*)://")
_SECRET_PARAMETER = lazy_regex(r"([?&](?:ssl)?password=)[^&#]*", re.IGNORECASE)


class StoreAddress(msgspec.Struct, frozen=True):
    """The address of a database, as libpq takes it."""

    url: str
    """With the password, if it has one: only the driver gets it."""

    def __str__(self) -> str:
        return masked(self.url)

    def __repr__(self) -> str:
        return f"StoreAddress({masked(self.url)!r})"

    @property
    def name(self) -> str:
        """The database."""
        from urllib.parse import unquote, urlsplit  # noqa: PLC0415 most stores are files

        return unquote(urlsplit(self.url).path.strip("/"))

    @property
    def without_password(self) -> str:
        """The same for everybody who names the same database, whatever the password is."""
        return masked(self.url).replace(f":{_MASK}@", "@", 1)


StoreLocation = Path | StoreAddress


def is_address(text: str) -> bool:
    """Whether it is meant as an address; a file may have any other name."""
    return _SCHEME.match(text) is not None


def address_of(text: str) -> StoreAddress:
    given = _SCHEME.match(text)
    scheme = given[1].lower() if given else ""
    if scheme not in SCHEMES:
        raise SettingsError(
            f"errata stores runs in a SQLite file or in PostgreSQL, not at a `{scheme}` address",
            hint=f"give `--store FILE` or `--store {EXAMPLE}`",
        )
    _, _, place = text.strip().partition("://")
    url = f"{scheme}://{place}"
    database = place.rpartition("@")[2].partition("?")[0].partition("/")[2]
    if not database.strip("/") and not re.search(r"[?&]dbname=[^&]", place):
        raise SettingsError(
            f"The address of the store does not name a database: `{masked(url)}`", hint=f"give `{EXAMPLE}`"
        )
    return StoreAddress(url)


def location_of(text: str) -> StoreLocation:
    """What `--store` names: an address or a file."""
    return address_of(text) if is_address(text) else Path(text).expanduser()


def spelled_location(location: StoreLocation) -> str:
    """For another process of errata, which may work in another folder: with the password, so never shown."""
    return location.url if isinstance(location, StoreAddress) else str(location.absolute())


def masked(url: str) -> str:
    """The address without its password."""
    head, sign, rest = url.partition("://")
    # a password may hold any sign: all up to the last `@` of the host part belongs to the user
    user, at, place = rest.rpartition("@")
    if at:
        name, colon, _ = user.partition(":")
        rest = f"{name}{colon}{_MASK if colon else ''}@{place}"
    return _SECRET_PARAMETER.sub(rf"\g<1>{_MASK}", f"{head}{sign}{rest}")


PRODUCTION = frozenset(("prod", "production"))
"""Deployments that are written only on purpose, and whose schema only a release changes."""
HEADER = "Errata-Deployment"
"""Names the deployment that a report is for."""
