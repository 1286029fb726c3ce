"""The agent's side of a run: `agent/result.json`, whose stdout has the answer of the Claude CLI as JSON text."""

import re
from pathlib import Path
from typing import Any, NamedTuple

from errata.model import ErrorInfo, Limit, Output, SourceRef, Usage
from errata.sources.base import decode, text_file
from errata.sources.base import number_or_none as number
from errata.sources.shared.documents import TEXT_CAP, Documents
from errata.sources.shared.values import integer, mapping, non_empty, reported_cost, sequence, text
from errata.text.lazy_regex import lazy_regex
from errata.text.redact import redact

_LIMITS = {"error_max_turns": "max_turns", "error_max_budget_usd": "max_budget"}
_VERSION = lazy_regex(r"^\*\*Claude Code Version\*\*: (.+)$", re.M)


class Agent(NamedTuple):
    """The data in the agent's folder."""

    result: dict[str, Any]
    cli: dict[str, Any]
    """The CLI's own answer; empty if stdout holds none."""
    output_file: str | None
    ref: SourceRef
    version: str
    timing: dict[str, Any]
    commands: dict[str, Any]
    further: dict[str, str]
    """Parts of stdout and stderr that are neither in the answer nor in the log files."""

    @property
    def is_error(self) -> bool:
        return self.cli.get("is_error") is True

    @property
    def output(self) -> Output:
        """An error message in place of an answer is not an answer."""
        answer = self.cli.get("result")
        if self.is_error:
            return Output()
        if isinstance(answer, str):
            return Output(text=text(answer))
        return Output(text=self.output_file)

    @property
    def limit(self) -> Limit | None:
        kind = _LIMITS.get(text(self.cli.get("subtype")))
        return Limit(type=kind, reason=text(self.cli.get("result"))) if kind else None

    @property
    def errors(self) -> tuple[ErrorInfo, ...]:
        """Only the structured `is_error` text is the provider's; the task itself may mention rate limits, too."""
        if not self.is_error:
            return ()
        message = redact(text(self.cli.get("result"))) or redact(text(self.result.get("stderr")))[:2000]
        status = self.cli.get("api_error_status")
        return (
            ErrorInfo(
                type=text(self.cli.get("subtype")) or "error",
                derived=() if text(self.cli.get("subtype")) else ("type",),
                message=message,
                code="" if status is None else str(status)[:40],
                phase="subject",
                ref=self.ref,
            ),
        )

    @property
    def extra(self) -> dict[str, Any]:
        cli_fields = {name: value for name, value in self.cli.items() if name not in ("result", "type")}
        return non_empty(
            cli=cli_fields,
            agent_version=self.version,
            agent_exit_code=integer(self.result.get("exit_code")),
            command_log=self.commands,
            further_output=self.further,
        )


def read_agent(run_folder: Path, documents: Documents) -> Agent:
    folder = run_folder / "agent"
    result = documents.get(folder / "result.json")
    output_file = text_file(folder / "output.txt", cap=TEXT_CAP)
    cli = _cli_answer(result.get("stdout")) or _cli_answer(output_file)
    version = _VERSION.search(text_file(folder / "MODEL.md", cap=TEXT_CAP) or "")
    return Agent(
        result=result,
        cli=cli,
        output_file=output_file,
        ref=documents.ref(folder / "result.json"),
        version=version[1] if version else "",
        timing=documents.get(folder / "timing.json"),
        commands=_commands(documents.get(folder / "command_log.json")),
        further=_further(result, folder, has_answer=bool(cli)),
    )


def usage_of(stats: dict[str, Any], *, cost: Any, requests: Any = None, total: Any = None) -> Usage:
    """Scylla counts cached tokens separately from fresh ones."""
    known_cost, fresh = number(cost), integer(stats.get("input_tokens"))
    return Usage(
        input=fresh,
        output=integer(stats.get("output_tokens")),
        cache_write=integer(stats.get("cache_creation_tokens")),
        cache_read=integer(stats.get("cache_read_tokens")),
        total=integer(total),
        requests=integer(requests),
        **reported_cost(known_cost),
        includes_cache=None if fresh is None else False,
    )


def spent_nothing(usage: Usage) -> bool:
    counts = (usage.input, usage.output, usage.cache_read, usage.cache_write)
    return any(count is not None for count in counts) and not any(counts)


def broke_down(exit_code: int | None, usage: Usage) -> bool:
    """The harness's signs that no agent worked: it could not start, or its first request failed."""
    if not spent_nothing(usage):
        return False
    return exit_code == -1 or (exit_code == 1 and not usage.cost and (usage.requests or 0) <= 1)


def _cli_answer(stdout: Any) -> dict[str, Any]:
    """The last line that is the CLI's JSON; empty for any other text."""
    lines = text(stdout).strip().splitlines()
    for line in reversed(lines[-20:]):
        if line.startswith("{"):
            try:
                answer = mapping(decode(line.encode()))
            except (ValueError, RecursionError):
                continue
            if "is_error" in answer or answer.get("type") == "result":
                return answer
    return {}


def _further(result: dict[str, Any], folder: Path, *, has_answer: bool) -> dict[str, str]:
    outputs = {}
    for name in ("stdout", "stderr"):
        output = text(result.get(name))
        lines = [line for line in output.splitlines() if not (has_answer and line.startswith("{"))]
        if any(lines) and output != text_file(folder / f"{name}.log", cap=TEXT_CAP):
            outputs[name] = redact("\n".join(lines))[:TEXT_CAP]
    return outputs


def _commands(log: dict[str, Any]) -> dict[str, Any]:
    """Commands with only the names of their environment variables, not the values."""
    commands = [_command(mapping(entry)) for entry in sequence(log.get("commands"))[:100]]
    others = {name: value for name, value in log.items() if name != "commands"}
    return non_empty(**others) | non_empty(commands=commands)


def _command(entry: dict[str, Any]) -> dict[str, Any]:
    arguments = [redact(text(argument)) for argument in sequence(entry.get("command"))][:100]
    return non_empty(
        command=[argument[:500] for argument in arguments],
        timestamp=text(entry.get("timestamp")),
        exit_code=integer(entry.get("exit_code")),
        duration_seconds=number(entry.get("duration_seconds")),
        stdout_file=text(entry.get("stdout_file")),
        stderr_file=text(entry.get("stderr_file")),
        env_names=sorted(text(name) for name in mapping(entry.get("env_vars"))),
    )
