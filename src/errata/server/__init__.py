"""The server: the page that people look at, and the API behind it. Needs the extra `server`."""

from importlib.util import find_spec

from errata.errors import SettingsError, extra_hint


def require_server() -> None:
    if find_spec("starlette") is None or find_spec("uvicorn") is None:
        message = "`errata serve` needs the packages `starlette` and `uvicorn`, which are not installed"
        raise SettingsError(message, hint=extra_hint("server"))
