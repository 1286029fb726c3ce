"""`errata --help` beside an empty click program with as many commands."""

import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from bench.measure import errata
from errata.cli.app import COMMANDS

ROUNDS = 15

EMPTY = """
import click

@click.group()
def app():
    '''An empty program.'''

{commands}
app()
"""
COMMAND = """
@app.command({name!r})
def _{number}():
    '''{help}'''
"""


def report() -> None:
    text = EMPTY.format(
        commands="".join(
            COMMAND.format(name=name, number=number, help=option)
            for number, (name, (_, option)) in enumerate(COMMANDS.items())
        )
    )
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "empty.py"
        program.write_text(text)
        empty, ours = _alternating([sys.executable, str(program), "--help"], errata("--help"))
    print(
        f"errata --help {1000 * ours:.0f} ms, empty click program {1000 * empty:.0f} ms: {ours / empty:.2f}× (aim: 1.5)"
    )


def _alternating(first: list[str], second: list[str]) -> tuple[float, float]:
    """The medians of two commands, run in turn so that a slow moment hits both."""
    times: tuple[list[float], list[float]] = ([], [])
    for _ in range(ROUNDS):
        for command, spent in zip((first, second), times, strict=True):
            started = time.perf_counter()
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
            spent.append(time.perf_counter() - started)
    return statistics.median(times[0]), statistics.median(times[1])
