"""Bounds for one process: memory, and the time that one input may take."""

import resource
import signal
from collections.abc import Iterator
from contextlib import contextmanager

ADDRESS_SPACE = 3 * 2**30
"""Bytes. Half of it is libraries that are only mapped."""


def limit_memory() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE, resource.getrlimit(resource.RLIMIT_AS)[1]))


def peak_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


class TooSlowError(BaseException):
    """Not an `Exception`: a reader must not take it for a damaged row."""


@contextmanager
def at_most(seconds: float) -> Iterator[None]:
    """Seconds of processor time, so that a busy machine fails nobody; ten times as many of waiting."""

    def stop(*_: object) -> None:
        raise TooSlowError(f"it took more than {seconds} s of processor time, or ten times as long in all")

    timers = {signal.SIGPROF: (signal.ITIMER_PROF, seconds), signal.SIGALRM: (signal.ITIMER_REAL, 10 * seconds)}
    before = {number: signal.signal(number, stop) for number in timers}
    for timer, limit in timers.values():
        signal.setitimer(timer, limit)
    try:
        yield
    finally:
        for number, (timer, _) in timers.items():
            signal.setitimer(timer, 0)
            signal.signal(number, before[number])
