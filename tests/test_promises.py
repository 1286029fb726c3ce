"""Words that promise something are traced to the check that carries them: docs/promises.md."""

import ast
import importlib
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "src" / "errata"
PAGE = (ROOT / "docs" / "promises.md").read_text(encoding="utf-8")
PROMISES = [
    [cell.strip() for cell in line.strip("|").split(" | ")]
    for line in PAGE.partition("## Where")[0].splitlines()
    if line.startswith("| `")
]
WORDS = [row[0].strip("` ") for row in PROMISES]
PRINTED = {
    word: set(re.findall(r"`([\w/]+\.py)`", modules))
    for word, modules in re.findall(r"^- `([\w ]+)`: (.*)$", PAGE.partition("## Where")[2], re.MULTILINE)
}


def texts(tree):
    """The texts of a module that may be printed: no docstrings, and no name of a field."""
    nodes = list(ast.walk(tree))
    described = {
        id(node.body[at].value)
        for node in nodes
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        for at in range(len(node.body))
        if isinstance(node.body[at], ast.Expr)
    }
    for node in nodes:
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in described:
            yield node.value


@cache
def texts_by_module():
    """Parsed once for all words, where one of them may be; the words of a promise may be on two lines."""
    names = {path.relative_to(PACKAGE).as_posix(): path for path in PACKAGE.rglob("*.py")}
    sources = {name: path.read_text("utf-8") for name, path in names.items() if not name.startswith("sources/")}
    first = "|".join({word.split()[0] for word in WORDS})
    wanted = re.compile(rf"(?:(?<![\w-])|\\[a-z])(?:{first})(?![\w-])", re.IGNORECASE)
    return {name: list(texts(ast.parse(source))) for name, source in sources.items() if wanted.search(source)}


def modules_that_say(word):
    wanted = re.compile(rf"(?<![\w-]){word}(?![\w-])", re.IGNORECASE)
    return {name for name, printed in texts_by_module().items() if any(map(wanted.search, printed))}


@pytest.mark.parametrize("word", WORDS)
def test_every_place_that_prints_a_promise_is_listed(word):
    assert modules_that_say(word) == PRINTED[word]


@pytest.mark.parametrize("row", PROMISES, ids=WORDS)
def test_what_carries_a_promise_and_its_test_exist(row):
    carrier, test = row[2].strip("` "), row[3].strip("` |")
    module, _, name = carrier.partition(":")
    found = importlib.import_module(module)
    for part in name.split("."):
        found = getattr(found, part)
    file, _, function = test.partition("::")

    assert function in names_in(file)


@cache
def names_in(file):
    return {node.name for node in ast.walk(ast.parse((ROOT / file).read_text("utf-8"))) if hasattr(node, "name")}
