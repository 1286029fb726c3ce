"""Coding agents as reviewers: how each is called so that it reads a packet and can do nothing else.

Each preset was checked against the program's own help: Claude Code 2.1, Codex 0.166, Gemini CLI 0.61. A packet holds
hostile text; an agent that could run a command, write a file or fetch an address because of it is not started.
"""

from collections.abc import Callable

import msgspec

from errata.model import Usage

POLICY = "errata-policy.toml"
MOST = 2**40
"""Tokens, or dollars, that nobody spends on one answer."""


class Preset(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    argv: tuple[str, ...]
    """The prompt comes on its standard input."""
    switched_off: str
    """In words: what the flags switch off."""
    passes: tuple[str, ...]
    """Environment variables that the program gets beside PATH, HOME and the language."""
    files: dict[str, str] = {}
    """Written into the empty folder it works in."""
    read: Callable[[str], tuple[str, Usage]]
    """Its output → the answer and what it cost."""


def plain_output(text: str) -> tuple[str, Usage]:
    return text, Usage(requests=1)


def _claude_output(text: str) -> tuple[str, Usage]:
    """One JSON object: `result`, `total_cost_usd`, `usage`."""
    answer = _object(text)
    if answer is None or "result" not in answer:
        return plain_output(text)
    spent = answer.get("usage") if isinstance(answer.get("usage"), dict) else {}
    given, taken = _count(spent, "input_tokens"), _count(spent, "output_tokens")
    cached = [_count(spent, f"cache_{way}_input_tokens") for way in ("read", "creation")]
    cost = _cost(answer.get("total_cost_usd"))
    usage = Usage(
        input=given,
        output=taken,
        # what comes out of the cache, or goes into it, is not among the input
        total=None if given is None or taken is None else given + taken + sum(one or 0 for one in cached),
        cache_read=cached[0],
        cache_write=cached[1],
        requests=_count(answer, "num_turns"),
        cost=cost,
        cost_source="unknown" if cost is None else "reported",
    )
    return str(answer["result"] or ""), usage


def _gemini_output(text: str) -> tuple[str, Usage]:
    """One JSON object: `response`, and statistics by model."""
    answer = _object(text)
    if answer is None or "response" not in answer:
        return plain_output(text)
    stats = answer.get("stats")
    models = stats.get("models") if isinstance(stats, dict) else None
    tokens = [one.get("tokens") for one in models.values() if isinstance(one, dict)] if isinstance(models, dict) else []
    totals = [_count(one, "total") for one in tokens]
    known = None if not totals or None in totals else sum(one or 0 for one in totals)
    return str(answer["response"] or ""), Usage(total=known, requests=1)


PRESETS: dict[str, Preset] = {
    preset.name: preset
    for preset in (
        Preset(
            name="claude",
            argv=(
                "claude",
                "--print",
                "--output-format=json",
                "--tools=",
                "--strict-mcp-config",
                "--safe-mode",
                "--disable-slash-commands",
                "--no-session-persistence",
                "--permission-mode=default",
            ),
            switched_off="all tools (--tools=), MCP servers, hooks, skills, plug-ins, memory, saved sessions",
            passes=("ANTHROPIC_API_KEY", "CLAUDE_CODE_OAUTH_TOKEN", "ANTHROPIC_BASE_URL", "ANTHROPIC_MODEL"),
            read=_claude_output,
        ),
        Preset(
            name="codex",
            argv=(
                "codex",
                "exec",
                "--sandbox=read-only",
                "--skip-git-repo-check",
                "--ephemeral",
                "--ignore-user-config",
                "--ignore-rules",
                "--color=never",
                "--disable=shell_tool",
                "--disable=hooks",
                "--disable=plugins",
                "--disable=apps",
                "--disable=view_image",
                "--disable=image_generation",
                "--disable=browser_use",
                "--disable=computer_use",
                '--config=web_search="disabled"',
                "-",
            ),
            switched_off="shell, writes, network, web search, hooks, plug-ins, apps, the user's settings",
            passes=("OPENAI_API_KEY", "CODEX_API_KEY", "CODEX_HOME", "OPENAI_BASE_URL"),
            read=plain_output,
        ),
        Preset(
            name="gemini",
            argv=(
                "gemini",
                "--output-format=json",
                "--approval-mode=plan",
                f"--admin-policy={POLICY}",
                "--skip-trust",
                "--extensions=none",
                "--allowed-mcp-server-names=none",
                "--prompt=Answer what standard input asks.",
            ),
            switched_off="every tool by a policy that denies all, extensions, MCP servers, edits",
            passes=("GEMINI_API_KEY", "GOOGLE_API_KEY", "GOOGLE_CLOUD_PROJECT", "GOOGLE_GENAI_USE_VERTEXAI"),
            files={POLICY: '[[rule]]\ntoolName = "*"\ndecision = "deny"\npriority = 999\n'},
            read=_gemini_output,
        ),
    )
}


def _object(text: str) -> dict[str, object] | None:
    try:
        value = msgspec.json.decode(text.strip())
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None
    return value if isinstance(value, dict) else None


def _count(usage: object, name: str) -> int | None:
    value = usage.get(name) if isinstance(usage, dict) else None
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < MOST else None


def _cost(value: object) -> float | None:
    """What can't have been paid is not known: caps are kept by these figures."""
    known = isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < MOST
    return float(value) if known and isinstance(value, int | float) else None
