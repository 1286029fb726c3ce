"""Which requirement is proven by which test, and whether that test passes: `make requirements`.

`--check` only lists marks without a requirement, and requirements without a line in tests/requirements.toml;
`--list` runs nothing.
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
from collections.abc import Collection, Container, Iterator, Mapping
from pathlib import Path

ROOT = Path(__file__).parent.parent
TARGETS = ROOT / "tests" / "requirements.toml"
"""The code that each requirement needs, as `make sabotage` removes it; or why there is none yet."""
OPEN = "open:"
LATER = re.compile(r"[BE]-\d\d")
"""What the three projects added later (E) and what new users found (B): adopted, but not required by the mission."""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="only say what is wrong with the marks")
    parser.add_argument("--list", action="store_true", help="do not run the tests")
    chosen = parser.parse_args()
    required = tomllib.loads((ROOT / "docs" / "requirements.toml").read_text(encoding="utf-8"))
    proven: dict[str, list[str]] = defaultdict(list)
    for place, marked in marks():
        proven[marked].append(place)
    unknown = sorted(name for name in proven.keys() - required.keys() if not LATER.fullmatch(name))
    wrong = [f"{proven[name][0]} names `{name}`, which is not a requirement" for name in unknown]
    wrong += untold(required, proven, targets())
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


def targets() -> dict[str, str]:
    return tomllib.loads(TARGETS.read_text(encoding="utf-8"))


def untold(required: Collection[str], proven: Container[str], needs: Mapping[str, str]) -> Iterator[str]:
    """Every requirement names the code it needs, and every entry has a test."""
    file = TARGETS.relative_to(ROOT)
    for name in required:
        if name not in needs:
            yield f"{file} has no line for `{name}`: what it needs, or `{OPEN} …` and why nothing yet"
        elif not needs[name].startswith(OPEN) and name not in proven:
            yield f"{file} has an entry for `{name}`, but no test names it"
        elif not needs[name].removeprefix(OPEN).strip():
            yield f"{file} does not say why `{name}` is open"
    yield from (f"{file} has a line for `{name}`, which is not a requirement" for name in needs if name not in required)


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
