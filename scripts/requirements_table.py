"""Which requirement is proven by which test, and whether that test passes: `make requirements`.

tests/requirements.toml is the register. `--check` only lists marks that it does not know, and entries that no test
names; `--list` runs nothing.
"""

import argparse
import ast
import re
import subprocess
import sys
import tempfile
import tomllib
import xml.etree.ElementTree as ET
from collections import defaultdict
from collections.abc import Container, Iterator, Mapping
from pathlib import Path

ROOT = Path(__file__).parent.parent
REGISTER = ROOT / "tests" / "requirements.toml"
"""What is required, and the code that it needs, as `make sabotage` removes it; or why there is none yet."""
OPEN = "open:"
LATER = re.compile(r"[BENORUX]-\d\d")
"""What the three projects added later (E) and what users found (the rest): adopted, but not required by the mission."""
FINDINGS = tuple(f"B-{number:02d}" for number in range(1, 98))
"""Findings that have to keep a test."""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="only say what is wrong with the marks")
    parser.add_argument("--list", action="store_true", help="do not run the tests")
    chosen = parser.parse_args()
    required = texts()
    proven: dict[str, list[str]] = defaultdict(list)
    for place, marked in marks():
        proven[marked].append(place)
    needs = targets()
    unknown = sorted(name for name in proven.keys() - needs.keys() if not LATER.fullmatch(name))
    wrong = [f"{proven[name][0]} names `{name}`, which is not a requirement" for name in unknown]
    wrong += [
        *unproven(proven, needs),
        *(f"no test names the finding `{name}`" for name in FINDINGS if name not in proven),
    ]
    for problem in wrong:
        print(problem)
    if chosen.check:
        return 1 if wrong else 0
    failed = set() if chosen.list else failing()
    for name, text in required.items():
        print(f"{name}  {text}")
        for place in proven.get(name, ()):
            print(f"        {'FAIL  ' if place in failed else ''}{place}")
        if name not in proven:
            print("        -- open")
    good = [name for name in required if name in proven and not failed & set(proven[name])]
    left = [name for name in required if name not in proven]
    print(f"\n{len(good)} of {len(required)} requirements are proven; open: {', '.join(left) or 'none'}")
    return 1 if wrong or failed else 0


def register() -> dict[str, dict[str, str]]:
    return tomllib.loads(REGISTER.read_text(encoding="utf-8"))


def texts() -> dict[str, str]:
    """Requirement → its text."""
    return {name: entry["text"] for name, entry in register().items() if name != "promises"}


def targets() -> dict[str, str]:
    """Requirement, or word that is a promise → the code that it needs."""
    entries = register()
    promises = entries.pop("promises")
    return {name: entry["needs"] for name, entry in entries.items()} | promises


def unproven(proven: Container[str], needs: Mapping[str, str]) -> Iterator[str]:
    """Every entry names the code it needs and has a test, or states why not."""
    for name, need in needs.items():
        if not need.startswith(OPEN) and name not in proven:
            yield f"no test names `{name}`"
        elif not need.removeprefix(OPEN).strip():
            yield f"{REGISTER.name} does not say why `{name}` is open"


def failing() -> set[str]:
    """The tests that name a requirement and fail."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "junit.xml"
        command = [sys.executable, "-m", "pytest", "-q", "-n", "auto", "-m", "req", f"--junitxml={report}"]
        subprocess.run(command, cwd=ROOT, stdout=subprocess.DEVNULL, check=False)
        cases = ET.parse(report).getroot().iter("testcase")
        bad = [case for case in cases if case.find("failure") is not None or case.find("error") is not None]
    return {
        f"{case.get('classname', '').replace('.', '/')}.py::{case.get('name', '').partition('[')[0]}" for case in bad
    }


_MARK = "pytest.mark.req"


def marks() -> Iterator[tuple[str, str]]:
    """Test and requirement, for every `@pytest.mark.req(…)`."""
    for path in sorted((ROOT / "tests").rglob("test_*.py")):
        text = path.read_text(encoding="utf-8")
        for node in ast.walk(ast.parse(text)) if _MARK in text else ():
            if isinstance(node, ast.FunctionDef):
                for decorator in node.decorator_list:
                    if isinstance(decorator, ast.Call) and ast.unparse(decorator.func) == _MARK:
                        for argument in decorator.args:
                            yield f"{path.relative_to(ROOT)}::{node.name}", str(ast.literal_eval(argument))


if __name__ == "__main__":
    sys.exit(main())
