"""`make sabotage`: removes the code that each requirement needs, and checks that one of its tests fails.

tests/requirements.toml names for every requirement and promise a function, a table or a template. Without it at least
one test that names the entry has to fail; where none does, the tests prove nothing.
"""

import argparse
import os
import subprocess
import sys
from collections.abc import Collection, Container, Iterable
from concurrent.futures import ThreadPoolExecutor

from requirements_table import OPEN, ROOT, marks, targets


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="only these requirements")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    chosen = parser.parse_args()
    functions = targets()
    if unknown := [name for name in chosen.names if name not in functions]:
        parser.error(f"tests/requirements.toml has no line for {', '.join(unknown)}")
    wanted = {name: target for name, target in functions.items() if not chosen.names or name in chosen.names}
    waiting = [name for name, target in wanted.items() if target.startswith(OPEN)]
    blunt = _blunt({name: target for name, target in wanted.items() if name not in waiting}, chosen.jobs)
    asked = len(wanted) - len(waiting)
    print(f"\n{asked - len(blunt)} of {asked} bite" + (f"; open: {', '.join(waiting)}" if waiting else ""))
    return 1 if blunt else 0


def _blunt(asked: dict[str, str], jobs: int) -> list[str]:
    """The requirements whose tests notice nothing, or fail as it is."""
    tests: dict[str, list[str]] = {name: [] for name in asked}
    for place, name in marks():
        if name in asked:
            tests[name].append(place)
    broken = failing_anyway({place for places in tests.values() for place in places}, jobs)
    blunt = []
    with ThreadPoolExecutor(jobs) as pool:
        verdicts = pool.map(lambda name: why_blunt(asked[name], tests[name], broken), asked)
        for name, verdict in zip(asked, verdicts, strict=True):
            print(f"{name}  {f'BLUNT: {verdict}' if verdict else 'bites'}  {asked[name]}", flush=True)
            blunt += [name] if verdict else []
    return blunt


def failing_anyway(tests: Collection[str], jobs: int) -> frozenset[str]:
    """A test that fails without any sabotage proves nothing."""
    output = tried(sorted(tests), f"-n{jobs}").stdout if tests else ""
    lines = [line.split() for line in output.splitlines() if line.startswith(("FAILED ", "ERROR "))]
    return frozenset(words[1].partition("[")[0] for words in lines)


def why_blunt(target: str, tests: list[str], broken: Container[str] = ()) -> str:
    """Empty where a test fails without the target; else why none does."""
    if not tests:
        return "no test names it"
    if failing := next((place for place in tests if place in broken), ""):
        return f"{failing} fails anyway"
    done = tried(tests, "-n0", "-x", target=target)
    if "SabotageTargetError" in done.stdout + done.stderr:
        return "there is no such target"
    if done.returncode == 1:
        return ""
    return f"{len(tests)} tests pass without it" if done.returncode == 0 else f"pytest ended with {done.returncode}"


def tried(tests: Iterable[str], *options: str, target: str = "") -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--no-header", *options, *tests]
    environment = os.environ | {"ERRATA_SABOTAGE": target}
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)


if __name__ == "__main__":
    sys.exit(main())
