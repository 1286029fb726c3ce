"""Who speaks in a chat: the words that chat messages use for a role, and the role that they mean."""

from errata.model.words import ActorRole

CHAT_ROLES: dict[str, ActorRole] = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "human": "user",
    "assistant": "assistant",
    "ai": "assistant",
    "model": "assistant",
    "tool": "tool",
    "function": "tool",
}
