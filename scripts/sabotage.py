"""`make sabotage`: takes out what each requirement needs, and tells whether one of its tests notices.

tests/requirements.toml names for every requirement a function, a table or a template. Without it at least one test that
names the requirement has to fail; where none does, the tests prove nothing.
"""

import argparse
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

from requirements_table import OPEN, ROOT, marks, targets


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="only these requirements")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    chosen = parser.parse_args()
    told = targets()
    if unknown := [name for name in chosen.names if name not in told]:
        parser.error(f"tests/requirements.toml has no line for {', '.join(unknown)}")
    tests: dict[str, list[str]] = {}
    for place, name in marks():
        tests.setdefault(name, []).append(place)
    wanted = {name: target for name, target in told.items() if not chosen.names or name in chosen.names}
    asked = {name: target for name, target in wanted.items() if not target.startswith(OPEN)}
    blunt = []
    with ThreadPoolExecutor(chosen.jobs) as pool:
        verdicts = pool.map(lambda name: why_blunt(asked[name], tests.get(name, [])), asked)
        for name, verdict in zip(asked, verdicts, strict=True):
            print(f"{name}  {f'BLUNT: {verdict}' if verdict else 'bites'}  {asked[name]}", flush=True)
            blunt += [name] if verdict else []
    waiting = [name for name, target in wanted.items() if target.startswith(OPEN)]
    print(f"\n{len(asked) - len(blunt)} of {len(asked)} bite" + (f"; open: {', '.join(waiting)}" if waiting else ""))
    return 1 if blunt else 0


def why_blunt(target: str, tests: list[str]) -> str:
    """Empty where a test fails without the target; else why none does."""
    if not tests:
        return "no test names it"
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-n0", "-p", "no:cacheprovider", "--no-header", *tests]
    environment = os.environ | {"ERRATA_SABOTAGE": target}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    if "SabotageTargetError" in done.stdout + done.stderr:
        return "there is no such target"
    if done.returncode == 1:
        return ""
    return f"{len(tests)} tests pass without it" if done.returncode == 0 else f"pytest ended with {done.returncode}"


if __name__ == "__main__":
    sys.exit(main())
