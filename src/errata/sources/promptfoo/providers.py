"""What a provider's id says: `openai:chat:gpt-4o` is a model of a provider, `file://agent.py` somebody's program."""

from typing import Any

from errata.model import Subject
from errata.sources.promptfoo.values import kept
from errata.sources.shared.values import mapping, text

# what stands between the provider and its model, where anything does
_WAYS = frozenset(
    (
        "agents",
        "assistant",
        "chat",
        "completion",
        "converse",
        "embedding",
        "embeddings",
        "image",
        "messages",
        "moderation",
        "realtime",
        "responses",
        "text-generation",
        "transcription",
        "video",
    )
)
_PROGRAMS = frozenset(
    (
        "browser",
        "exec",
        "file",
        "golang",
        "http",
        "https",
        "mcp",
        "package",
        "promptfoo",
        "python",
        "ruby",
        "webhook",
        "ws",
        "wss",
    )
)


def provider_id(told: Any) -> str:
    """The id of a provider that is given as such, as an object, or by what it is for."""
    if isinstance(told, str):
        return told
    found = mapping(told)
    if isinstance(found.get("id"), str):
        return text(found["id"])
    if "text" in found:
        return provider_id(found["text"])
    return next(iter(found), "") if len(found) == 1 and isinstance(next(iter(found.values())), dict) else ""


def label_of(told: Any) -> str:
    return text(mapping(told).get("label"))


def subject_of(ident: str, told: Any) -> Subject:
    scheme, colon, model = ident.partition(":")
    options = {key: kept(value, key) for key, value in mapping(told).items() if key not in ("id", "label") and value}
    if not colon or not model or scheme.lower() in _PROGRAMS:
        return Subject(model=ident, params=options)
    way, colon, rest = model.partition(":")
    if colon and rest and way in _WAYS:
        return Subject(model=rest, provider=scheme, params={"api": way} | options)
    return Subject(model=model, provider=scheme, params=options)


def configured(config: dict[str, Any], ident: str, label: str) -> Any:
    """How the configuration describes a provider: by label where it has one."""
    listed = config.get("providers") or config.get("targets")
    entries = listed if isinstance(listed, list) else [listed]
    for entry in entries:
        if label and label_of(entry) == label:
            return entry
    for entry in entries:
        if isinstance(entry, dict) and provider_id(entry) == ident:
            inner = entry.get(ident)
            return inner if isinstance(inner, dict) else entry
    return None
