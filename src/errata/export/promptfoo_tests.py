"""Tests in promptfoo's form, and the YAML they are written in.

promptfoo loads files that a value names, renders templates in values, and runs code of assertions. Texts of logs must
do none of that.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from errata.text.lazy_regex import lazy_regex

_LOADED = lazy_regex(r"\s*(?:(?:file|huggingface)://|(?:package|exec|python):)", re.IGNORECASE)
_TEMPLATE = lazy_regex(r"\{[{%#]")
_END = lazy_regex(r"\{%-?\s*endraw")
_PLAIN_ASSERTIONS = frozenset(
    f"{prefix}{name}"
    for prefix in ("", "not-")
    for name in (
        "equals", "contains", "icontains", "contains-all", "contains-any", "icontains-all", "icontains-any",
        "starts-with", "regex", "is-json", "contains-json", "llm-rubric", "similar", "levenshtein", "cost", "latency",
    )
)  # fmt: skip
"""Kinds that compare texts; the others run code or load something."""
_KEPT = ("type", "value", "threshold", "weight", "metric")


def promptfoo_test(
    name: str, given: Any, expected: Any, targets: Sequence[str], metadata: dict[str, Any]
) -> dict[str, Any] | None:
    """None where promptfoo would load a file or run code that the log names."""
    variables = given if isinstance(given, dict) else {"input": given}
    if any(map(_is_loaded, _texts(variables))):
        return None
    test: dict[str, Any] = {"description": name, "vars": _raw(variables)}
    assertions, left_out = _assertions(expected, targets)
    if assertions:
        test["assert"] = assertions
    elif expected is not None:
        metadata = metadata | {"expected": msgspec.json.encode(expected).decode()}
    if left_out:
        metadata = metadata | {"assertions_left_out": left_out}
    if any(isinstance(value, list) for value in variables.values()):
        test["options"] = {"disableVarExpansion": True}
    return test | {"metadata": metadata}


def _assertions(expected: Any, targets: Sequence[str]) -> tuple[list[dict[str, Any]], int]:
    """Those of promptfoo's own log that only compare texts; else the expected answer."""
    own = [one for one in expected if isinstance(one, dict) and "type" in one] if isinstance(expected, list) else []
    if own:
        kept = [one for one in own if one["type"] in _PLAIN_ASSERTIONS and not any(map(_is_loaded, _texts(one)))]
        return [_raw({key: one[key] for key in _KEPT if key in one}) for one in kept], len(own) - len(kept)
    if not targets or any(map(_is_loaded, targets)):
        return [], 0
    if len(targets) == 1:
        return [{"type": "equals", "value": _raw(targets[0])}], 0
    return [{"type": "contains-any", "value": [_raw(one) for one in targets]}], 0


def _is_loaded(text: str) -> bool:
    return _LOADED.match(text) is not None or (_TEMPLATE.search(text) is not None and _END.search(text) is not None)


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for inner in value.values():
            yield from _texts(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _texts(inner)


def _raw(value: Any) -> Any:
    """Braces in texts are letters, not templates."""
    if isinstance(value, str):
        return f"{{% raw %}}{value}{{% endraw %}}" if _TEMPLATE.search(value) else value
    if isinstance(value, dict):
        return {key: _raw(one) for key, one in value.items()}
    return [_raw(one) for one in value] if isinstance(value, list) else value


def to_yaml(rows: Sequence[Any]) -> str:
    """A list in block style. Scalars are JSON, which every YAML parser reads the same way."""
    return "".join(f"- {_block(row, 2).lstrip()}\n" for row in rows) if rows else "[]\n"


def _block(value: Any, indent: int) -> str:
    blank = " " * indent
    if isinstance(value, dict) and value:
        return "\n".join(f"{blank}{_scalar(str(key))}:{_below(one, indent)}" for key, one in value.items())
    if _is_list(value):
        return "\n".join(f"{blank}- {_block(one, indent + 2).lstrip()}" for one in value)
    return _scalar(value)


def _below(value: Any, indent: int) -> str:
    if (isinstance(value, dict) and value) or _is_list(value):
        return f"\n{_block(value, indent + 2)}"
    return f" {_scalar(value)}"


def _is_list(value: Any) -> bool:
    return isinstance(value, list | tuple) and bool(value)


_PLAIN_KEY = lazy_regex(r"[A-Za-z][A-Za-z_]{2,40}")
_WORDS = frozenset(("true", "false", "null", "yes", "off"))


def _scalar(value: Any) -> str:
    if isinstance(value, str) and _PLAIN_KEY.fullmatch(value) and value.lower() not in _WORDS:
        return value
    return msgspec.json.encode(value).decode()
