"""What to fetch: the address of a run or an eval in the visualizer, or an id and a deployment."""

from collections.abc import Mapping
from ipaddress import ip_address
from typing import NamedTuple
from urllib.parse import SplitResult, unquote, urlsplit

from errata.errors import FetchError
from errata.text.lazy_regex import lazy_regex

PROD, DEV = "prod", "dev"
DEPLOYMENTS: Mapping[str, str] = {
    PROD: "https://fabulous-panther-525.convex.cloud",
    DEV: "https://brazen-pelican-414.convex.cloud",
}
"""The deployments for scheduled runs and for local work."""
VISUALIZERS: Mapping[str, str] = {"convex-evals.netlify.app": PROD}

_RUN = lazy_regex(r"/run/(?P<run>[a-z0-9]{20,64})(?:/(?P<category>[^/?#]+)(?:/(?P<eval>[a-z0-9]{20,64}))?)?/?$")
_ID = lazy_regex(r"[a-z0-9]{20,64}")
_LOOPBACK = ("localhost", "127.0.0.1", "::1")


class Target(NamedTuple):
    """A run, or one eval of it."""

    run: str
    eval: str = ""
    category: str = ""
    deployment: str = ""
    """Its name or address; empty if only an id was given."""


def is_address(text: str) -> bool:
    return text.startswith(("https://", "http://"))


def is_run_id(text: str) -> bool:
    return _ID.fullmatch(text) is not None


def target_of(text: str) -> Target:
    """An address of the visualizer (old and new form), or a bare id."""
    if is_run_id(text):
        return Target(text)
    parts = split(text)
    match = _RUN.search(parts.path)
    if match is None:
        raise FetchError(
            f"`{text}` does not name a run",
            hint="use `https://convex-evals.netlify.app/experiment/default/run/RUN_ID`, or the id itself",
        )
    known = VISUALIZERS.get(parts.hostname or "", "")
    return Target(match["run"], match["eval"] or "", unquote(match["category"] or ""), known)


def deployment_address(named: str) -> str:
    """`prod`, `dev` or an address, as one without path or password."""
    if named in DEPLOYMENTS:
        return DEPLOYMENTS[named]
    if not is_address(named):
        raise FetchError(f"`{named}` is not a deployment", hint=f"use `{PROD}`, `{DEV}`, or an https:// address")
    parts = split(named)
    host = parts.hostname or ""
    if parts.scheme == "http" and host not in _LOOPBACK:
        raise FetchError(f"`{named}` is not encrypted", hint="use `https://`")
    if is_private(host) and host not in _LOOPBACK:
        raise FetchError(f"`{named}` is a private address", hint="use the deployment's public address")
    return f"{parts.scheme}://{parts.netloc}"


def split(address: str) -> SplitResult:
    try:
        parts = urlsplit(address)
        usable = bool(parts.hostname) and parts.scheme in ("http", "https") and not parts.username
        _ = parts.port
    except ValueError:
        usable = False
    if not usable:
        raise FetchError(f"`{address}` is not a valid address", hint="use one such as `https://example.convex.cloud`")
    return parts


def is_private(host: str) -> bool:
    try:
        return not ip_address(host).is_global
    except ValueError:
        return host.endswith((".local", ".internal", ".localhost")) or host == "localhost" or "." not in host


def belongs_to(address: str, deployment: str) -> bool:
    """Whether an address in an answer is on the requested deployment; no other address is ever opened."""
    try:
        theirs, ours = split(address), split(deployment)
    except FetchError:
        return False
    return (theirs.scheme, theirs.hostname, theirs.port) == (ours.scheme, ours.hostname, ours.port)
