"""How large the project may be: budgets.toml, checked by `make check`.

Counted are bytes of text under src/errata (examples apart) in all and by package, of the Python files under tests, and
modules. A total may stand up to 3 % above its budget while an issue is under way, and not at its end (`--end`).
`--write` lowers the figures of packages to what they are; a new package takes its bytes from a named one, by hand.
"""

import argparse
import sys
import tomllib
from collections import Counter
from itertools import pairwise
from pathlib import Path

ROOT = Path(__file__).parent.parent
FILE = ROOT / "budgets.toml"
PACKAGE = ROOT / "src" / "errata"
TEXT = {".py", ".toml", ".js", ".css", ".html", ".md"}
MARGIN = 1.03


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--end", action="store_true", help="an issue ends: no total may stand above its budget")
    parser.add_argument("--write", action="store_true", help="lower the budgets of packages to their sizes")
    chosen = parser.parse_args()
    text = FILE.read_text(encoding="utf-8")
    budgets, packages = tomllib.loads(text), package_sizes()
    totals = {"src": sum(packages.values()), "tests": tests_size(), "modules": len([*PACKAGE.rglob("*.py")])}
    if chosen.write:
        lowered = lower(budgets["packages"], packages)
        FILE.write_text(text.partition("[packages]\n")[0] + "[packages]\n" + lowered, encoding="utf-8")
        return 0
    problems = rising(budgets["issues"])
    for name, size in totals.items():
        allowed = budgets["issues"][-1][name]
        share = f"{name}: {size:,} of {allowed:,}"
        if size > allowed * (1 if chosen.end else MARGIN):
            problems.append(f"{share}: too much")
        elif size > allowed:
            print(f"{share}: above its budget, which is allowed only until the issue ends")
    problems += [
        f"src/errata/{name}: {size:,} of {budgets['packages'].get(name, 0):,}: too much"
        for name, size in packages.items()
        if size > budgets["packages"].get(name, 0) * MARGIN
    ]
    print(*problems, sep="\n", end="\n" if problems else "")
    return 1 if problems else 0


def package_sizes() -> dict[str, int]:
    """Package → bytes of its texts; what lies beside the packages counts as `errata`."""
    sizes: Counter[str] = Counter()
    for path in PACKAGE.rglob("*"):
        inside = path.relative_to(PACKAGE).parts
        if path.suffix in TEXT and inside[0] != "examples":
            sizes[inside[0] if len(inside) > 1 else "errata"] += path.stat().st_size
    return dict(sorted(sizes.items()))


def tests_size() -> int:
    return sum(path.stat().st_size for path in (ROOT / "tests").rglob("*.py"))


def rising(issues: list[dict[str, int]]) -> list[str]:
    """No total may rise from an issue to the next."""
    return [
        f"budgets.toml: {name} rises after issue {before['issue']}"
        for before, after in pairwise(issues)
        for name in ("src", "tests", "modules")
        if after[name] > before[name]
    ]


def lower(budgets: dict[str, int], sizes: dict[str, int]) -> str:
    return "".join(f"{name} = {min(size, budgets.get(name, size)):_}\n" for name, size in sizes.items())


if __name__ == "__main__":
    sys.exit(main())
