"""What is kept of a configuration: no secrets, and of environment variables only the names."""

import re
from typing import Any

from errata.sources.shared.values import plain
from errata.text.redact import redact, redact_named

_ENVIRONMENT = re.compile(r"(?i)^(?:.*_)?(?:env|environ|env_vars|headers)$")
_SECRET = re.compile(r"(?i)(?:key|token|secret|password|passwd|credentials?|auth|authorization|cookie)$")


def settings(value: Any) -> Any:
    """A configuration without what is unset and without secrets."""
    if isinstance(value, dict):
        told = {str(key): _setting(str(key), item) for key, item in value.items()}
        return {key: item for key, item in told.items() if item not in (None, "", [], {})}
    if isinstance(value, list):
        return [settings(item) for item in value]
    return redact(value) if isinstance(value, str) else plain(value)


def _setting(name: str, value: Any) -> Any:
    if _ENVIRONMENT.match(name) and isinstance(value, dict | list):
        return sorted(str(item).partition("=")[0] for item in value if not isinstance(item, dict | list))
    if isinstance(value, str):
        return "[redacted:named]" if value and _SECRET.search(name) else redact_named(name, value)
    return settings(value)
