"""Secrets with a known shape: how each begins, and how it continues."""

import re
from typing import NamedTuple


class Shape(NamedTuple):
    kind: str
    marks: tuple[str, ...]
    """Literal text that must occur: searching for it is far cheaper than matching the pattern."""
    pattern: re.Pattern[str]
    """Begins with one of the marks; a group marks the secret if the match is longer than it."""


def _shape(kind: str, marks: str, rest: str, *, start: str = r"\b") -> Shape:
    words = tuple(marks.split("|"))
    return Shape(kind, words, re.compile(f"{start}(?:{'|'.join(re.escape(word) for word in words)}){rest}"))


_WORD = r"[A-Za-z0-9]"
_DASHED = r"[A-Za-z0-9_-]"
_KEY_END = r"PRIVATE KEY(?: BLOCK)?-----"

SHAPES: tuple[Shape, ...] = (
    _shape("private-key", "-----BEGIN ", rf"[A-Z ]*{_KEY_END}[\s\S]*?(?:-----END [A-Z ]*{_KEY_END}|\Z)", start=""),
    _shape("age-key", "AGE-SECRET-KEY-1", r"[A-Z0-9]{20,}"),
    _shape("anthropic-key", "sk-ant-", rf"{_DASHED}{{8,}}"),
    _shape("openai-key", "sk-", rf"(?:proj-|svcacct-|or-v1-)?{_DASHED}{{20,}}"),
    _shape("github-token", "ghp_|gho_|ghu_|ghs_|ghr_", rf"{_WORD}{{20,}}"),
    _shape("github-token", "github_pat_", r"[A-Za-z0-9_]{20,}"),
    _shape("gitlab-token", "glpat-", rf"{_DASHED}{{16,}}"),
    _shape("aws-key-id", "AKIA|ASIA", r"[A-Z0-9]{16}\b"),
    _shape("google-key", "AIza", rf"{_DASHED}{{30,}}"),
    _shape("google-token", "ya29.|GOCSPX-", rf"{_DASHED}{{20,}}"),
    _shape("slack-token", "xoxa-|xoxb-|xoxe-|xoxo-|xoxp-|xoxr-|xoxs-|xapp-", r"[A-Za-z0-9-]{10,}"),
    _shape("slack-hook", "hooks.slack.com/services/", r"([A-Za-z0-9/]{20,})"),
    _shape("hugging-face-token", "hf_", rf"{_WORD}{{20,}}"),
    _shape("stripe-key", "sk_live_|sk_test_|rk_live_|rk_test_|pk_live_|pk_test_|whsec_", rf"{_WORD}{{16,}}"),
    _shape("npm-token", "npm_", rf"{_WORD}{{30,}}"),
    _shape("pypi-token", "pypi-", rf"{_DASHED}{{40,}}"),
    _shape("sendgrid-key", "SG.", rf"{_DASHED}{{16,}}\.{_DASHED}{{16,}}"),
    _shape("model-key", "gsk_|xai-|pplx-|r8_|fw_|csk-|tvly-|e2b_|nvapi-", rf"{_DASHED}{{20,}}"),
    _shape("platform-token", "lsv2_|dop_v1_|dapi|hvs.|glsa_|sntrys_|shpat_|lin_api_|ntn_|sbp_", rf"{_DASHED}{{24,}}"),
    _shape(
        "jwt",
        "eyJ",
        rf"{_DASHED}{{8,}}\.eyJ{_DASHED}{{8,}}\.{_DASHED}{{4,}}",
        start=r"(?<![A-Za-z0-9_-])",
    ),
    _shape("convex-key", "prod:|dev:|preview:|project:", r"[a-z0-9-]+\|[A-Za-z0-9+/=_-]{20,}"),
    _shape("bearer", "Bearer |bearer ", r"([A-Za-z0-9._~+/=-]{16,})", start=""),
    _shape("basic-auth", "uthorization", r"[\"']?\s*[:=]\s*[\"']?[Bb]asic\s+([A-Za-z0-9+/=_-]{8,})", start=""),
    _shape("docker-auth", '"auth"', r'\s*:\s*"([A-Za-z0-9+/=]{8,})"', start=""),
    _shape("url-password", "://", r"([^\s/:@\"']+:[^\s/@\"']+)(?=@)", start=""),
    _shape("url-signature", "X-Amz-Signature=|&sig=|?sig=", r"([A-Za-z0-9%/+=]{20,})", start=""),
    _shape("netrc-password", "machine ", r"\S{1,200}\s+login\s+\S{1,200}\s+password\s+(\S+)"),
    _shape("user-password", " -u | --user ", r"[^\s:'\"-][^\s:'\"]{0,200}:([^\s'\"@]{4,})(?=\s|$)", start=""),
)
