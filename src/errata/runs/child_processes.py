"""Processes of Python that work for this one: they get an order, answer as they go, and never outlive it."""

import gc
import os
import select
import signal
import sys
import threading
import traceback
from collections.abc import Callable
from contextlib import suppress
from types import TracebackType
from typing import IO, Self

if sys.platform == "linux":
    import fcntl


def can_fork() -> bool:
    """A copy of this process has only the thread that made it, so nothing else may be under way."""
    return sys.platform == "linux" and threading.active_count() == 1


class ForkedProcess:
    """A copy of this process that does some work and ends: it need not import anything again.

    `stdin` leads to the work, `stdout` comes from it. The work takes its ends of both.
    """

    def __init__(self, work: Callable[[IO[bytes], IO[bytes]], None], pipe_size: int) -> None:
        (request, to_work), (from_work, answer) = os.pipe(), os.pipe()
        _enlarge(answer, pipe_size)
        # an interrupt in between would end the copy as if it were this process, or leave it without anybody to end it
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            self.pid = os.fork()
            if self.pid == 0:
                _work_and_exit(work, (request, answer), (to_work, from_work))
            os.close(request)
            os.close(answer)
            self.stdin, self.stdout = os.fdopen(to_work, "wb"), os.fdopen(from_work, "rb")
            self._is_over = False
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)

    def kill(self) -> None:
        if not self._is_over:
            os.kill(self.pid, signal.SIGKILL)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with suppress(BrokenPipeError):
            self.stdin.close()
        self.stdout.close()
        if not self._is_over:
            os.waitpid(self.pid, 0)
            self._is_over = True


def _enlarge(pipe: int, size: int) -> None:
    if sys.platform == "linux":
        with suppress(OSError):
            fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, size)


def _work_and_exit(work: Callable[[IO[bytes], IO[bytes]], None], own: tuple[int, int], others: tuple[int, int]) -> None:
    """Never returns: what the copied process had begun is not this one's to end."""
    status = 1
    try:
        os.setpgid(0, 0)  # a group of its own: Ctrl-C is for the process that was copied
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
        for end in others:
            os.close(end)
        work(os.fdopen(own[0], "rb"), os.fdopen(own[1], "wb"))
        status = 0
    finally:
        if status:
            traceback.print_exc()
        os._exit(status)


def end_with_listener(answer: IO[bytes]) -> None:
    """In the other process: when nobody can hear an answer any more, at once, even while a file is waited for."""
    if hasattr(select, "poll"):
        threading.Thread(target=_end_unheard, args=(answer.fileno(),), daemon=True).start()


def _end_unheard(answer: int) -> None:
    poll = select.poll()
    poll.register(answer, 0)  # which leaves only the other end's closing
    poll.poll()
    os._exit(1)


def collect_seldom() -> None:
    """Records hold no cycles; looking for some among those of a batch would take a tenth of the time."""
    gc.freeze()
    gc.set_threshold(50_000, 20, 100)
