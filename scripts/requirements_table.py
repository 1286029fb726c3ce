"""Which requirement is proven by which test: `make requirements`. `--check` fails where a mark names no requirement."""

import argparse
import ast
import sys
import tomllib
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="only say what is wrong with the marks")
    checking = parser.parse_args().check
    required = tomllib.loads((ROOT / "docs" / "requirements.toml").read_text(encoding="utf-8"))
    proven: dict[str, list[str]] = defaultdict(list)
    for place, marked in marks():
        proven[marked].append(place)
    unknown = sorted(proven.keys() - required.keys())
    for name in unknown:
        print(f"{proven[name][0]} names `{name}`, which is no requirement")
    if checking:
        return 1 if unknown else 0
    for name, text in required.items():
        print(f"{name}  {text}")
        for place in proven.get(name, ["-- not proven yet"]):
            print(f"        {place}")
    print(f"\n{sum(name in proven for name in required)} of {len(required)} requirements are named by a test")
    return 1 if unknown else 0


def marks() -> Iterator[tuple[str, str]]:
    """Test and requirement, for every `@pytest.mark.req(…)`."""
    for path in sorted((ROOT / "tests").rglob("test_*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef):
                for decorator in node.decorator_list:
                    if isinstance(decorator, ast.Call) and ast.unparse(decorator.func) == "pytest.mark.req":
                        for argument in decorator.args:
                            yield f"{path.relative_to(ROOT)}::{node.name}", str(ast.literal_eval(argument))


if __name__ == "__main__":
    sys.exit(main())
