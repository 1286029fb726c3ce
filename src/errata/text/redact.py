"""Secrets out of text before it is shown, written or sent.

Tokens are known by their shape, anything else by the name in front of it (`DB_PASSWORD=…`). A redaction names its
kind, so that a reader still sees that something stood there: `[redacted:github-token]`.
"""

import re
from typing import Any

_SHAPES: tuple[tuple[str, str], ...] = (
    ("private-key", r"-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)"),
    ("anthropic-key", r"\bsk-ant-[A-Za-z0-9_-]{8,}"),
    ("openai-key", r"\bsk-(?:proj-|svcacct-|or-v1-)?[A-Za-z0-9_-]{20,}"),
    ("github-token", r"\b(?:gh[pousr]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,})"),
    ("gitlab-token", r"\bglpat-[A-Za-z0-9_-]{16,}"),
    ("aws-key-id", r"\b(?:AKIA|ASIA)[A-Z0-9]{16}\b"),
    ("google-key", r"\bAIza[A-Za-z0-9_-]{30,}"),
    ("slack-token", r"\bxox[abeoprs]-[A-Za-z0-9-]{10,}"),
    ("hugging-face-token", r"\bhf_[A-Za-z0-9]{20,}"),
    ("stripe-key", r"\b[rsp]k_(?:live|test)_[A-Za-z0-9]{16,}"),
    ("npm-token", r"\bnpm_[A-Za-z0-9]{30,}"),
    ("pypi-token", r"\bpypi-[A-Za-z0-9_-]{40,}"),
    ("jwt", r"(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{4,}"),
    ("convex-key", r"\b(?:prod|dev|preview|project):[a-z0-9-]+\|[A-Za-z0-9+/=_-]{20,}"),
    ("bearer", r"(?<=[Bb]earer )[A-Za-z0-9._~+/=-]{16,}"),
    ("url-password", r"(?<=://)[^\s/:@\"']+:[^\s/@\"']+(?=@)"),
)

_SECRET_NAMES = "PASSWORD|PASSWD|PASSPHRASE|SECRET|TOKEN|API[_-]?KEY|ACCESS[_-]?KEY|PRIVATE[_-]?KEY|CREDENTIALS?"  # noqa: S105
# the name's beginning is not matched: it stays in any case, and a pattern that looked for it would be quadratic
_NAMED = re.compile(
    rf"""(?ix)
    ( (?: {_SECRET_NAMES} ) (?: _ID )? (?![A-Z0-9_]) (?: \\* ["'] )? \s* (?: => | = | : ) \s* )
    (?: ( \\* ["'] ) ( [^"'\\\n]{{6,400}} ) | ( [^\s"',;&\\]{{6,}} ) )
    """
)
_NAME_ALONE = re.compile(rf"(?:^|[_.-]|(?<=[a-z0-9])(?=[A-Z]))(?i:{_SECRET_NAMES})(?i:_ID)?$")
_SHORTEST = 6
_SHAPE = re.compile("|".join(f"(?P<{name.replace('-', '_')}>{shape})" for name, shape in _SHAPES))

# a value that is itself a placeholder, a number or a type tells nothing
_PLACEHOLDERS = (
    r"none|null|true|false|undefined|\$\{?[a-z_].*|<.*>|\[redacted.*|[\d.,]+[)\]}]*"
    r"|str(?:ing)?|int|os\.environ.*|process\.env.*"
)
_HARMLESS = re.compile(rf"(?i)(?:{_PLACEHOLDERS})$")
_CODE = re.compile(rf"(?i)(?:{_PLACEHOLDERS}|[A-Za-z_][\w.]*[(\[].*)$")


def redact(text: str) -> str:
    """The text with every secret replaced by `[redacted:<kind>]`."""
    text = _SHAPE.sub(_by_kind, text)
    return _NAMED.sub(_by_name, text)


def _by_kind(match: re.Match[str]) -> str:
    return f"[redacted:{(match.lastgroup or 'secret').replace('_', '-')}]"


def _by_name(match: re.Match[str]) -> str:
    quote, quoted, bare = match[2] or "", match[3], match[4]
    if quoted is not None:
        return match[0] if _HARMLESS.match(quoted) else f"{match[1]}{quote}[redacted:named]"
    return match[0] if _CODE.match(bare) else f"{match[1]}[redacted:named]"


def redact_tree(value: Any) -> Any:
    """The same for every text inside dicts and lists, their keys apart."""
    if isinstance(value, str):
        return redact(value)
    if isinstance(value, dict):
        return {key: redact_named(str(key), item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [redact_tree(item) for item in value]
    return value


def redact_named(name: str, value: Any) -> Any:
    """A value under a name: a text is a secret too where its name says so."""
    if isinstance(value, str) and _NAME_ALONE.search(name) and not _HARMLESS.match(value) and len(value) >= _SHORTEST:
        return "[redacted:named]"
    return redact_tree(value)
