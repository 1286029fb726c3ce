"""Any program as reviewer: it reads the prompt on its standard input and prints a verdict."""

import asyncio
import os
import signal
import subprocess
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

import msgspec

from errata.errors import SettingsError
from errata.model import Packet, Reviewer
from errata.review.protocols import Prompt, RetryLaterError, ReviewerAnswer, ReviewerStoppedError, ReviewFailedError
from errata.review.reviewers.presets import PRESETS, Preset, plain_output
from errata.text.outgoing import line_for_user

MOST_OUTPUT = 1_000_000
"""Bytes; a verdict has a few thousand."""
KEPT_ERRORS = 65_536
"""Bytes at the end of its standard error."""
POLL = 0.02
GRACE = 1.0
"""Seconds for output that is still on its way when the program has ended, and for a killed program to be gone."""
ALWAYS_PASSED = ("PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "SYSTEMROOT")
CAN_DO_MORE = ("claude", "codex", "gemini", "aider", "opencode", "cursor-agent", "amp", "goose", "qwen", "copilot")
"""Programs that are known to have tools. Called without the flags of their preset they need `--allow-tools`."""

Process = subprocess.Popen[bytes]


def command_for(argv: tuple[str, ...], *, passes: tuple[str, ...] = (), allow_tools: bool = False) -> Preset:
    """A preset by its name, or the user's own program; an agent with its tools on is refused."""
    if not argv:
        raise SettingsError("A command reviewer needs a program", hint=f"a preset ({', '.join(PRESETS)}) or a program")
    if len(argv) == 1 and argv[0] in PRESETS:
        preset = PRESETS[argv[0]]
        return msgspec.structs.replace(preset, passes=(*preset.passes, *passes))
    program = Path(argv[0]).name
    if program in CAN_DO_MORE and not allow_tools:
        raise SettingsError(
            f"`{program}` can run commands, and the logs it would read are untrusted",
            hint=f"use the preset (`--command {program}`) where there is one: {', '.join(PRESETS)};\n"
            "or pass `--allow-tools` if its tools are switched off or it runs in a sandbox",
        )
    return Preset(name=program, argv=argv, switched_off="", passes=passes, read=plain_output)


class CommandReviewer:
    def __init__(self, preset: Preset, identity: Reviewer, environment: Mapping[str, str] = os.environ) -> None:
        self._preset = preset
        self.identity = identity
        names = (*ALWAYS_PASSED, *preset.passes)
        self._environment = {name: environment[name] for name in names if name in environment}

    async def ask(self, prompt: Prompt, packet: Packet) -> ReviewerAnswer:  # noqa: ARG002 the prompt holds the packet
        with tempfile.TemporaryDirectory(prefix="errata-review-", ignore_cleanup_errors=True) as folder:
            for name, text in self._preset.files.items():
                Path(folder, name).write_text(text, encoding="utf-8")
            process = self._start(folder)
            try:
                output, errors = await _talk(process, prompt.text.encode("utf-8", "replace"))
            finally:
                await _end(process)
        if process.returncode:
            why = f"`{self._preset.name}` ended with code {process.returncode}: {_last_line(errors or output)}"
            raise RetryLaterError(why, in_doubt=True)  # whom it asked before that, and for how much, it does not say
        text, usage = self._preset.read(output.decode("utf-8", "replace"))
        return ReviewerAnswer(text, usage)

    def _start(self, folder: str) -> Process:
        pipe = subprocess.PIPE
        try:
            # a group of its own, so that what the program started ends with it
            return subprocess.Popen(
                self._preset.argv, stdin=pipe, stdout=pipe, stderr=pipe, cwd=folder, env=self._environment,
                start_new_session=True,
            )  # fmt: skip
        except (OSError, ValueError) as error:
            why = error.strerror if isinstance(error, OSError) else error
            raise ReviewerStoppedError(f"`{self._preset.argv[0]}` can't be started: {why}") from error


async def _talk(process: Process, given: bytes) -> tuple[bytes, bytes]:
    """Its output and the end of its errors. Once it has ended, nobody waits for a child that holds a pipe open."""
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stderr is not None
    output, errors = _Output(MOST_OUTPUT), _Errors(KEPT_ERRORS)
    loop = asyncio.get_running_loop()
    reading, _ = await loop.connect_read_pipe(lambda: output, process.stdout)
    reading_errors, _ = await loop.connect_read_pipe(lambda: errors, process.stderr)
    writing, _ = await loop.connect_write_pipe(asyncio.BaseProtocol, process.stdin)
    writing.write(given)
    writing.write_eof()
    try:
        while process.poll() is None and not output.too_much:
            await asyncio.sleep(POLL)
        last = loop.time() + GRACE
        while not (output.ended and errors.ended) and not output.too_much and loop.time() < last:
            await asyncio.sleep(POLL)
    finally:
        if not writing.is_closing() or writing.get_write_buffer_size():
            writing.abort()
        for transport in (reading, reading_errors):
            transport.close()
        await asyncio.sleep(0)  # transports close their pipes in the next turn of the loop
    if output.too_much:
        raise ReviewFailedError(f"the program printed more than {MOST_OUTPUT:,} bytes", in_doubt=True)
    return bytes(output.content), bytes(errors.content)


class _Output(asyncio.Protocol):
    """What arrives at a pipe, up to a limit."""

    def __init__(self, most: int) -> None:
        self.content = bytearray()
        self.ended = self.too_much = False
        self._most = most

    def data_received(self, data: bytes) -> None:
        if not self.too_much:
            self.content += data
            self.too_much = len(self.content) > self._most

    def eof_received(self) -> None:
        self.ended = True

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002
        self.ended = True


class _Errors(_Output):
    """Only the end of it is kept."""

    def data_received(self, data: bytes) -> None:
        self.content += data
        del self.content[: -self._most]


async def _end(process: Process) -> None:
    """Nothing of it is left behind: neither the rest of its group nor its pipes. A daemon in a session of its own is
    not in the group and goes on, without a pipe to errata."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    for pipe in (process.stdin, process.stdout, process.stderr):
        with suppress(OSError):
            if pipe is not None:
                pipe.close()
    for _ in range(round(GRACE / POLL)):
        if process.poll() is not None:
            return
        await asyncio.sleep(POLL)


def _last_line(errors: bytes) -> str:
    lines = errors.decode("utf-8", "replace").splitlines()
    message = next((line for line in reversed(lines) if any(letter.isalpha() for letter in line)), "no error output")
    return line_for_user(message, 200)
