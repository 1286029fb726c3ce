"""The MCP server: what the commands know, as tools, resources and prompts for an agent. Needs the extra `mcp`."""

from importlib.util import find_spec

from errata.errors import SettingsError, extra_hint


def require_sdk() -> None:
    if find_spec("mcp") is None:
        message = "`errata mcp` needs the package `mcp`, which is not installed"
        raise SettingsError(message, hint=extra_hint("mcp"))
