"""The door of the program: exceptions become exit codes here and nowhere else.

0 done · 1 gate not met or run not fit · 2 the user can fix it · 3 our bug · 4 not comparable · 130 interrupted
"""

import errno
import gc
import io
import os
import stat
import sys
from pathlib import Path
from typing import Any, TextIO

import click

from errata.cli.app import app
from errata.cli.colour import use_colour
from errata.cli.fitting import WIDTH, fold
from errata.errors import ErrataError, NotComparableError, nearest
from errata.text.clean import one_line
from errata.text.crash_file import write_crash
from errata.text.outgoing import for_user

BUG, USER, NOT_COMPARABLE, INTERRUPTED = 3, 2, 4, 130
LONGEST_PATH = 300


class Pipe(io.FileIO):
    """Drops what is written after the reader of a pipe has left: a command still decides its exit code."""

    reader_left = False

    def write(self, data: Any, /) -> int:
        try:
            return super().write(data)
        except ConnectionError:
            Pipe.reader_left = True
            os.dup2(os.open(os.devnull, os.O_WRONLY), self.fileno())
            return memoryview(data).nbytes


def main(arguments: list[str] | None = None) -> None:
    # modules and records are many and hold hardly any cycles: to search them for garbage, while they are made and once
    # more at exit, takes up to a third of the time of a short command
    gc.set_threshold(200_000, 20, 100)
    sys.unraisablehook = _dropped
    code = run(arguments)
    gc.freeze()
    sys.exit(code)


def _dropped(what: "sys.UnraisableHookArgs") -> None:
    """Python drops an interrupt that comes in the midst of a callback, as at the end of each import: it comes again."""
    import signal  # here, as a command that nobody interrupts need not import it

    if what.exc_type is KeyboardInterrupt and hasattr(signal, "setitimer"):
        signal.signal(signal.SIGALRM, signal.default_int_handler)
        signal.setitimer(signal.ITIMER_REAL, 0.001)
    else:
        sys.__unraisablehook__(what)


def run(arguments: list[str] | None = None) -> int:
    """Run one command; its exit code."""
    sys.stdout, sys.stderr = _writable(sys.stdout), _writable(sys.stderr)
    try:
        code = app.main(args=arguments, prog_name="errata", standalone_mode=False)
        sys.stdout.flush()
        return code if isinstance(code, int) else 0
    except ErrataError as error:
        _say(error.message, error.hint)
        return NOT_COMPARABLE if isinstance(error, NotComparableError) else USER
    except click.ClickException as error:
        return _usage(error)
    except (KeyboardInterrupt, click.Abort):
        click.echo("interrupted", err=True)
        return INTERRUPTED
    except Exception as error:  # noqa: BLE001 one of the five places: the door of the program
        explained = _explained(error)
        if explained is not None:
            _say(explained.message, explained.hint)
            return USER
        path = write_crash(error, f"arguments: {sys.argv[1:]}")
        _say(f"errata has a bug: {type(error).__name__}: {error}", f"details are in `{path}`; nothing was lost")
        return BUG


_SURROUNDINGS = frozenset(
    {
        errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES, errno.EPERM, errno.EIO, errno.ENAMETOOLONG, errno.EMFILE,
        errno.ENFILE, errno.ELOOP, errno.ENOTDIR, errno.EISDIR, errno.EFBIG, errno.EPIPE,
    }
)  # fmt: skip
"""Failures of the machine, the disk or its permissions: not bugs of errata."""


def _explained(error: Exception) -> ErrataError | None:
    """An unexpected failure whose cause lies outside of the program: the disk, the working folder, a damaged store."""
    if isinstance(error, OSError):
        if not _has_working_folder():
            return ErrataError("The working folder does not exist any more", hint="change to another folder with `cd`")
        if error.errno in _SURROUNDINGS:
            named = f": `{one_line(str(error.filename), LONGEST_PATH)}`" if error.filename else ""
            return ErrataError(f"{error.strerror}{named}", hint="check the disk, the path and its permissions")
    if "errata.store.database" not in sys.modules:
        return None
    from errata.verbs.doctor import damage_of_store_in_use  # only a failure needs it

    return damage_of_store_in_use()


def _has_working_folder() -> bool:
    try:
        return Path.cwd().is_dir()
    except OSError:
        return False


def _writable(stream: TextIO | None) -> TextIO:
    """A terminal that can't show a character gets its escape, and a pipe that nobody reads any more ends no command."""
    if stream is None:  # closed by the caller
        return open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123 for as long as the program runs
    if not isinstance(stream, io.TextIOWrapper):
        return stream
    stream.reconfigure(errors="backslashreplace")
    raw = getattr(stream.buffer, "raw", stream.buffer)
    if type(raw) is not io.FileIO or stat.S_IFMT(os.fstat(raw.fileno()).st_mode) not in (stat.S_IFIFO, stat.S_IFSOCK):
        return stream
    stream.flush()
    pipe = io.BufferedWriter(Pipe(raw.fileno(), "wb", closefd=False))
    at_lines = stream.line_buffering or raw is stream.buffer
    return io.TextIOWrapper(pipe, stream.encoding, "backslashreplace", line_buffering=at_lines)


def _say(message: str, hint: str) -> None:
    """Folded at blanks only: a path or a command is there to be copied."""
    label = click.style("error:", fg="red", bold=True)
    text = _folded(message, "error: ")
    click.echo(text.replace("error:", label, 1), err=True, color=use_colour(sys.stderr))
    if hint:
        click.echo("\n" + _folded(hint, "hint: "), err=True)


def _folded(text: str, label: str) -> str:
    lines = fold(for_user(text), WIDTH - len(label), whole_words=True)
    return label + ("\n" + " " * len(label)).join(lines)


def _usage(error: click.ClickException) -> int:
    hints = []
    meant: list[str] | None = getattr(error, "possibilities", None)
    if meant and isinstance(error, click.NoSuchOption):
        meant = nearest(error.option_name, meant)  # click also suggests what has only a few letters in common
    if meant:
        hints.append(f"did you mean {' or '.join(f'`{name}`' for name in meant)}?")
    if isinstance(error, click.UsageError) and error.ctx is not None:
        listed = "commands" if isinstance(error.ctx.command, click.Group) else "arguments and options"
        hints.append(f"`{error.ctx.command_path} --help` lists the {listed}")
    message = error.message if meant and not isinstance(error, click.BadParameter) else error.format_message()
    _say(message.rstrip("."), "\n".join(hints))
    return USER
