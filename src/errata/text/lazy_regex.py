"""Patterns of modules, compiled at first use: a command uses a third of the patterns that it imports."""

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    lazy_regex = re.compile
else:

    class lazy_regex:  # noqa: N801 used as `re.compile` is
        """As `re.compile`, for a constant of a module. Its methods are those of the compiled pattern from then on."""

        def __init__(self, pattern: str | bytes, flags: int = 0) -> None:
            self.pattern, self._flags = pattern, flags

        def __getattr__(self, name: str) -> Any:
            if name.startswith("__"):
                raise AttributeError(name)
            compiled = re.compile(self.pattern, self._flags)
            for method in _METHODS:
                setattr(self, method, getattr(compiled, method))
            return getattr(compiled, name)


_METHODS = (
    *("search", "match", "fullmatch", "sub", "subn", "split", "findall", "finditer"),
    *("flags", "groups", "groupindex"),
)
