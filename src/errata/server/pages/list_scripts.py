"""The scripts of a list: keys and the next page; live updates where the server has a stream of changes."""

from functools import cache

from errata.server.layout import static_file


@cache
def list_scripts() -> tuple[str, ...]:
    return ("list.js", "list_live.js") if static_file("live.js") is not None else ("list.js",)
