"""Any program as reviewer: it reads the prompt on its standard input and prints a verdict."""

import asyncio
import os
import signal
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
ALWAYS_PASSED = ("PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "SYSTEMROOT")
CAN_DO_MORE = ("claude", "codex", "gemini", "aider", "opencode", "cursor-agent", "amp", "goose", "qwen", "copilot")
"""Programs that are known to have tools. Called without the flags of their preset they need `--allow-tools`."""


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
        with tempfile.TemporaryDirectory(prefix="errata-review-") as folder:
            for name, text in self._preset.files.items():
                Path(folder, name).write_text(text, encoding="utf-8")
            process = await self._start(folder)
            try:
                output, errors = await _talk(process, prompt.text.encode("utf-8", "replace"))
                code = await process.wait()
            finally:
                await _end(process)
        if code:
            why = f"`{self._preset.name}` ended with code {code}: {_last_line(errors or output)}"
            raise RetryLaterError(why, in_doubt=True)  # whom it asked before that, and for how much, it does not say
        text, usage = self._preset.read(output.decode("utf-8", "replace"))
        return ReviewerAnswer(text, usage)

    async def _start(self, folder: str) -> asyncio.subprocess.Process:
        pipe = asyncio.subprocess.PIPE
        try:
            # a group of its own, so that what the program started ends with it
            return await asyncio.create_subprocess_exec(
                *self._preset.argv, stdin=pipe, stdout=pipe, stderr=pipe, cwd=folder, env=self._environment,
                start_new_session=True,
            )  # fmt: skip
        except OSError as error:
            raise ReviewerStoppedError(f"`{self._preset.argv[0]}` can't be started: {error.strerror}") from error


async def _talk(process: asyncio.subprocess.Process, given: bytes) -> tuple[bytes, bytes]:
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stderr is not None
    feeding = asyncio.create_task(_feed(process.stdin, given))
    try:
        output, errors = await asyncio.gather(_read(process.stdout), _read(process.stderr))
    finally:
        feeding.cancel()
        with suppress(asyncio.CancelledError):
            await feeding
    return output, errors


async def _feed(pipe: asyncio.StreamWriter, given: bytes) -> None:
    with suppress(BrokenPipeError, ConnectionResetError):  # a program need not read to the end
        pipe.write(given)
        await pipe.drain()
        pipe.close()


async def _read(pipe: asyncio.StreamReader) -> bytes:
    content = bytearray()
    while chunk := await pipe.read(65_536):
        content += chunk
        if len(content) > MOST_OUTPUT:
            raise ReviewFailedError(f"the program printed more than {MOST_OUTPUT:,} bytes", in_doubt=True)
    return bytes(content)


async def _end(process: asyncio.subprocess.Process) -> None:
    """Nothing of it is left behind: not what it started, not its pipes."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    for pipe in (process.stdout, process.stderr):
        while pipe is not None and await pipe.read(65_536):
            pass
    await process.wait()
    if process.stdin is not None:
        process.stdin.close()  # a program that never read leaves a full buffer behind
        with suppress(BrokenPipeError, ConnectionResetError):
            await asyncio.shield(process.stdin.wait_closed())


def _last_line(errors: bytes) -> str:
    """The last that has words in it."""
    lines = errors.decode("utf-8", "replace").splitlines()
    message = next((line for line in reversed(lines) if any(letter.isalpha() for letter in line)), "no error output")
    return line_for_user(message, 200)
