"""Check names and prose: no identifier that hides what it holds, no phrase that reads as translated.

    python scripts/lint_words.py               everything
    python scripts/lint_words.py src/errata/cli docs/store.md     only these files and folders

Exits 1 where something has to be renamed or rewritten. Of tests, only names of variables are checked: names of tests
are sentences, and their texts quote logs.

A line that has to keep a phrase, because it quotes a log or another tool, ends with `# words: quoted`.
"""

import argparse
import ast
import io
import re
import sys
import tokenize
import tomllib
from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parent.parent
CODE = ("src/errata", "scripts", "bench", "soak")
TESTS = "tests"
TEXTS = ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "AGENTS.md", "SECURITY.md", "docs")
NOT_OURS = ("src/errata/examples/", "docs/lab/", "scripts/lint_words.py", "tests/fixtures/")
QUOTED = "# words: quoted"

EMPTY_NAMES = {"one", "found", "told", "said"}
"""Fit for a comprehension of one line, too little for a variable that lives longer."""
EMPTY_IN_TESTS = {"told", "said"}
"""The same for variables of tests."""
PARTICIPLES = {
    *("acted", "asked", "done", "drawn", "found", "given", "gone", "held", "kept", "known", "left", "lost", "made"),
    *("meant", "named", "recorded", "refused", "said", "scored", "seen", "shown", "stated", "taken", "told"),
    *("wanted", "written", "measured", "repeated"),
}
"""No name of a function, class or module."""
METAPHORS = {"shelf", "shelved", "desk", "heir", "heirs", "slip", "slips", "seam", "seams", "told", "said"}
"""In no part of any name."""

IDIOMS = ("longer", "more", "other", "better", "worse", "different", "surprise", "wider", "earlier", "later", "one")
"""Words after "is no" that a native speaker would use."""
PHRASES = {
    r"of which|in which": "use a plain clause, or two sentences",
    r"so many": "give the number, or `N`",
    r"as it were|by now": "leave it out",
    r"anew": "`again`, or a verb: rewrite, rebuild",
    r"tells|told|says|said|stands|stood": "`shows`, `lists`, `reports`, `states`, `is`",
    r"(?:say|says|saying|said) nothing (?:about|of)": "`infrastructure failure`",
    r"nothing says why": "`no error text`",
    r"hangs? together": "`correlated`",
    r"to be (?:said|looked at|read|told)": "name what the reader should do",
    r"mend(?:s|ed)?": "`fix`",
    r"has to answer for|have to answer for": "`is the model's`",
    r"would you like me to|these are my findings": "a tool does not chat",
    r"is told of|are told of": "`is reported`",
    r"kept from being": "`blocked`",
    r"in short go to": "`a summary is printed`",
    r"also (?:if|where|when|after|those)": "`even if`, `including`, `too`",
    r"whole or not at all": "`completely or not at all`",
    r"hangs? on": "`depends on`, `is keyed by`",
    r"(?:times|cases) in ten": "`in about 40 % of cases`",
    r"(?:skipped|left out|counted|refused|kept|listed),? and named": "`… and listed`",
    r"p = 0\.00?\b": "`p < 0.001`",
    rf"(?<!there )(?:is|are|was|were) no (?!{'|'.join(IDIOMS)})\w+": "`is not a …`, `are not …`",
}
_PHRASE = re.compile("|".join(rf"(?P<p{at}>\b(?:{phrase})\b)" for at, phrase in enumerate(PHRASES)), re.IGNORECASE)
_ADVICE = tuple(PHRASES.values())
_WORDS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_PROSE_KEYS = {
    *("action", "description", "hint", "meaning", "means", "note", "rule", "says", "summary", "text", "title", "why"),
}


class Problem(NamedTuple):
    path: Path
    line: int
    text: str

    def __str__(self) -> str:
        return f"{self.path.relative_to(ROOT)}:{self.line}: {self.text}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("paths", nargs="*", type=Path, metavar="PATH")
    parser.add_argument("--names", action="store_true", help="only identifiers")
    parser.add_argument("--prose", action="store_true", help="only texts")
    asked = parser.parse_args()
    both = asked.names == asked.prose
    problems: list[Problem] = []
    classes: dict[str, list[Problem]] = defaultdict(list)
    only = [path.resolve() for path in asked.paths]
    for path in checked_files():
        wanted = not only or any(path.is_relative_to(parent) for parent in only)
        if path.suffix == ".py":
            source = path.read_text("utf-8")
            if path.is_relative_to(ROOT / TESTS):
                if wanted and (both or asked.names):
                    problems += variables_in_test(path, source)
                continue
            tree = ast.parse(source)
            if path.is_relative_to(ROOT / "src"):
                for name, line in classes_in(tree):
                    classes[name].append(Problem(path, line, f"another class is called `{name}`, too"))
            if wanted and (both or asked.names):
                problems += names_in(path, tree)
            if wanted and (both or asked.prose):
                problems += prose_in_code(path, source, tree)
        elif wanted and (both or asked.prose):
            problems += prose_in_rules(path) if path.suffix == ".toml" else prose_in_text(path)
    if both or asked.names:
        problems += [
            problem
            for places in classes.values()
            if len(places) > 1
            for problem in places
            if not only or any(problem.path.is_relative_to(parent) for parent in only)
        ]
    for problem in sorted(problems):
        print(problem)
    if problems:
        print(f"{len(problems)} names or phrases to change", file=sys.stderr)
    return 1 if problems else 0


def checked_files() -> Iterator[Path]:
    for folder in CODE:
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix in (".py", ".toml") and not is_exempt(path):
                yield path
    yield from (path for path in sorted((ROOT / TESTS).rglob("*.py")) if not is_exempt(path))
    for name in TEXTS:
        for path in [ROOT / name] if name.endswith(".md") else sorted((ROOT / name).rglob("*.md")):
            if path.is_file() and not is_exempt(path):
                yield path


def is_exempt(path: Path) -> bool:
    return path.relative_to(ROOT).as_posix().startswith(NOT_OURS)


# --- names -----------------------------------------------------------------------------------------------------------


@lru_cache(maxsize=1)
def nodes_of(tree: ast.Module) -> tuple[ast.AST, ...]:
    """Every node; walking takes longer than what is looked for."""
    return tuple(ast.walk(tree))


def classes_in(tree: ast.Module) -> Iterator[tuple[str, int]]:
    for node in nodes_of(tree):
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            yield node.name, node.lineno


def names_in(path: Path, tree: ast.Module) -> Iterator[Problem]:
    # a module of the command line has the name of its command
    if path.stem in PARTICIPLES and path.parent.name not in ("cli", "verbs"):
        yield Problem(path, 1, f"a module called `{path.stem}`: name what it holds")
    short_lived = set(nodes_of_short_comprehensions(tree))
    for node in nodes_of(tree):
        name = name_of(node)
        if not name:
            continue
        line: int = node.lineno  # type: ignore[attr-defined]
        bare = name.strip("_").lower()
        is_definition = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) and not is_property(
            node
        )
        if bare in EMPTY_NAMES and id(node) not in short_lived:
            yield Problem(path, line, f"`{name}`: name what it holds")
        elif is_definition and bare in PARTICIPLES:
            yield Problem(path, line, f"`{name}` is a past participle: a verb for a function, a noun for a record")
        elif bare not in EMPTY_NAMES and (words := METAPHORS.intersection(map(str.lower, _WORDS.findall(name)))):
            yield Problem(path, line, f"`{name}`: not `{min(words)}`")


def variables_in_test(path: Path, source: str) -> Iterator[Problem]:
    if not any(name in source for name in EMPTY_IN_TESTS):
        return  # parsing takes longer than all else
    functions = (node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.FunctionDef))
    for node in {id(node): node for function in functions for node in ast.walk(function)}.values():
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node.id in EMPTY_IN_TESTS:
            yield Problem(path, node.lineno, f"`{node.id}`: name what it holds")


def is_property(node: ast.AST) -> bool:
    """`trial.measured` reads as a question."""
    names = (getattr(decorator, "id", "") for decorator in getattr(node, "decorator_list", ()))
    return any(name in ("property", "cached_property") for name in names)


def name_of(node: ast.AST) -> str:
    """The name that a node gives to something."""
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
        return node.id
    if isinstance(node, ast.arg):
        return node.arg
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return node.name
    return ""


_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.Lambda)


def nodes_of_short_comprehensions(tree: ast.Module) -> Iterator[int]:
    for node in nodes_of(tree):
        if isinstance(node, _COMPREHENSIONS) and node.lineno == node.end_lineno:
            yield from map(id, ast.walk(node))


# --- prose -----------------------------------------------------------------------------------------------------------


def prose_in_code(path: Path, source: str, tree: ast.Module) -> Iterator[Problem]:
    lines = source.splitlines()
    for line, end, text in texts_in(tree):
        if is_prose(text) and QUOTED not in lines[end - 1]:
            yield from phrases(path, line, text)
    if not any("#" in line and _PHRASE.search(line, line.index("#")) for line in lines):
        return  # no comment can have one; tokenizing takes longer than all else
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT and QUOTED not in token.string:
            yield from phrases(path, token.start[0], token.string)


def texts_in(tree: ast.Module) -> Iterator[tuple[int, int, str]]:
    """First line, last line and text of every string; of an f-string the whole, with `…` for its values."""
    parts: set[int] = set()
    for node in nodes_of(tree):
        if isinstance(node, ast.JoinedStr):
            parts.update(id(part) for part in node.values)
            text = "".join(str(part.value) if isinstance(part, ast.Constant) else "…" for part in node.values)
            yield node.lineno, node.end_lineno or node.lineno, text
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in parts:
            yield node.lineno, node.end_lineno or node.lineno, node.value


def is_prose(text: str) -> bool:
    """Words with spaces between them; patterns and SQL are not."""
    return " " in text.strip() and not re.search(r"\\[bdswB]|\(\?|\[\^|\bSELECT\b", text)


def prose_in_rules(path: Path) -> Iterator[Problem]:
    """Rules as data: only what people read, not the patterns that match logs."""
    text = path.read_text("utf-8")
    prose = set(texts_below(tomllib.loads(text)))
    for number, line in enumerate(text.splitlines(), 1):
        if QUOTED not in line and (line.lstrip().startswith("#") or any(part in prose for part in quoted_in(line))):
            yield from phrases(path, number, line)


def quoted_in(line: str) -> list[str]:
    return re.findall(r"\"([^\"]*)\"", line)


def texts_below(value: Any, key: str = "") -> Iterator[str]:
    if isinstance(value, dict):
        for name, item in value.items():
            yield from texts_below(item, name)
    elif isinstance(value, list):
        for item in value:
            yield from texts_below(item, key)
    elif isinstance(value, str) and key in _PROSE_KEYS:
        yield value


def prose_in_text(path: Path) -> Iterator[Problem]:
    """Markdown without its code: output shown in a block is checked where it is written."""
    in_code = False
    for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
        if line.lstrip().startswith("```"):
            in_code = not in_code
        elif not in_code:
            yield from phrases(path, number, re.sub(r"`[^`]*`", "``", line))


def phrases(path: Path, line: int, text: str) -> Iterable[Problem]:
    for match in _PHRASE.finditer(text):
        advice = _ADVICE[int((match.lastgroup or "p0")[1:])]
        yield Problem(path, line + text[: match.start()].count("\n"), f"“{match[0]}”: {advice}")


if __name__ == "__main__":
    sys.exit(main())
