"""Every regular expression of `src/errata`, and the texts that each of them finds hardest."""

import ast
import re
import string
from collections.abc import Callable, Iterator
from functools import cache
from importlib import import_module
from pathlib import Path
from re import _constants as code  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any, NamedTuple

import errata
from errata.text.secret_rules import Shape, rules
from errata.triage.rulebook import built_in

ROOT = Path(errata.__file__).parent
IN_PLACE = {"match", "fullmatch"}
"""Methods that try one place, where the others try each."""
COMPILING = {"compile", "lazy_regex"}
POSITION_OF_FLAGS = {"compile": 1, "lazy_regex": 1, "split": 3, "sub": 4, "subn": 4}


class Pattern(NamedTuple):
    where: str
    text: str
    flags: int
    searches: bool


def patterns() -> Iterator[Pattern]:
    used = methods_by_name()
    for path, nodes in parsed().items():
        module = import_module(module_name(path))
        names = {
            id(node.value): target.id
            for node in nodes
            if isinstance(node, ast.Assign) and method_of(node.value) in COMPILING
            for target in node.targets
            if isinstance(target, ast.Name)
        }
        for call in nodes:
            method = method_of(call)
            if not method:
                continue
            assert isinstance(call, ast.Call)
            where = f"{path.relative_to(ROOT)}:{call.lineno}"
            name = names.get(id(call), "")
            methods = used.get((path if name[:1] == "_" else ROOT, name), set()) if name else {method}
            searches = not methods or not methods <= IN_PLACE
            for text in values_of(call.args[0], module):
                if isinstance(text, re.Pattern):
                    continue
                text = text.decode("latin-1") if isinstance(text, bytes) else text
                yield Pattern(where, text, flags_of(call, method, module), searches)
    for rule in built_in().rules.values():
        for text in filter(None, (rule.match, rule.unless)):
            yield Pattern(f"rule {rule.name}", text, re.IGNORECASE | re.MULTILINE, True)
    for order, shape in enumerate(rules()["shape"]):
        yield Pattern(f"secret {shape['kind']}", Shape(order, shape).pattern.pattern, 0, True)


@cache
def parsed() -> dict[Path, list[ast.AST]]:
    """The modules that make patterns, and those that name one of them."""
    texts = {
        path: path.read_text(encoding="utf-8")
        for path in sorted(ROOT.rglob("*.py"))
        if not {"examples", "migrations"} & {*path.parts} and path.name != "__main__.py"
    }
    made = re.findall(r"^([A-Z]\w*)\b[^=\n]*= (?:re\.compile|lazy_regex)\(", "\n".join(texts.values()), re.MULTILINE)
    concerned = re.compile(rf"\bre\.[a-z]|lazy_regex|\b(?:{'|'.join(made)})\b")
    return {path: [*ast.walk(ast.parse(text))] for path, text in texts.items() if concerned.search(text)}


def module_name(path: Path) -> str:
    return ".".join(("errata", *path.relative_to(ROOT).with_suffix("").parts)).removesuffix(".__init__")


def methods_by_name() -> dict[tuple[Path, str], set[str]]:
    """Module (of private names) and name of a constant → the methods that are called on it; "" if it is passed on."""
    used: dict[tuple[Path, str], set[str]] = {}
    for path, nodes in parsed().items():
        called = {id(node.value) for node in nodes if isinstance(node, ast.Attribute)}
        for node in nodes:
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
                used.setdefault((path if node.value.id[0] == "_" else ROOT, node.value.id), set()).add(node.attr)
            elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and id(node) not in called:
                used.setdefault((path if node.id[0] == "_" else ROOT, node.id), set()).add("")
    return used


def method_of(node: ast.AST) -> str:
    match node:
        case ast.Call(func=ast.Name(id="lazy_regex")):
            return "lazy_regex"
        case ast.Call(func=ast.Attribute(value=ast.Name(id="re"), attr=name)) if name != "escape":
            return name
    return ""


def values_of(node: ast.expr, module: Any) -> list[Any]:
    try:
        return [eval(compile(ast.Expression(node), "", "eval"), vars(module))]
    except NameError:
        return []


def flags_of(call: ast.Call, method: str, module: Any) -> int:
    position = POSITION_OF_FLAGS.get(method, 2)
    nodes = [word.value for word in call.keywords if word.arg == "flags"] + call.args[position : position + 1]
    return int((values_of(nodes[0], module) or [0])[0]) if nodes else 0


ALPHABET = " \n\t\r0aAzfx._-\"'()[]{}<>/\\:;,*#|=`+!?$%&@~é│✓0\u2019"


def hard_texts(pattern: Pattern) -> Iterator[tuple[str, str, str]]:
    """(before, unit, after): the unit is to be repeated."""
    try:
        tree = parser.parse(pattern.text, pattern.flags)
    except re.error:
        return
    ignores_case = bool(tree.state.flags & re.IGNORECASE)
    seen: set[tuple[str, str, str]] = set()
    for text in _units(tree, ignores_case):
        if text not in seen:
            seen.add(text)
            yield text


def _units(tree: Any, ignores_case: bool) -> Iterator[tuple[str, str, str]]:
    whole = sample(tree)
    for unit in (" ", "\n", "\n ", ".", "a", "A", '"', "a ", "- ", "a\n"):
        yield "", unit, "\0"
    if whole:
        yield "", whole, "\0"
        yield "", whole[:-1] or whole, "\0"
        yield "", whole + " ", "\0"
        yield "", whole + "\n", "\0"
    for before, body in repeats(tree, ""):
        units = [*characters(body), sample(body, 1)]
        for unit in dict.fromkeys(units):
            if unit:
                yield before, unit, "\0"
                yield "", unit, "\0"
        if before:
            yield "", before, "\0"
            yield "", before + "\n", "\0"
            yield "", before + " ", "\0"
            for unit in units[:2]:
                yield "", before + unit, "\0"


def repeats(tree: Any, before: str) -> Iterator[tuple[str, Any]]:
    """Each long repetition, with a text that leads to it."""
    for op, value in tree:
        if op in (code.MAX_REPEAT, code.MIN_REPEAT, code.POSSESSIVE_REPEAT):
            _, most, body = value
            if most > 50:
                yield before, body
            yield from repeats(body, before)
        elif op is code.SUBPATTERN:
            yield from repeats(value[3], before)
        elif op is code.ATOMIC_GROUP:
            yield from repeats(value, before)
        elif op is code.BRANCH:
            for branch in value[1]:
                yield from repeats(branch, before)
        elif op in (code.ASSERT, code.ASSERT_NOT):
            yield from repeats(value[1], before)
        before += sample([(op, value)])


def sample(tree: Any, least: int = 0) -> str:
    """A text that the tree matches, more or less."""
    text = ""
    for op, value in tree:
        if op is code.LITERAL:
            text += chr(value)
        elif op in (code.NOT_LITERAL, code.IN, code.ANY):
            text += next(iter(characters([(op, value)])), "")
        elif op is code.BRANCH:
            text += sample(value[1][0])
        elif op is code.SUBPATTERN:
            text += sample(value[3])
        elif op is code.ATOMIC_GROUP:
            text += sample(value)
        elif op in (code.MAX_REPEAT, code.MIN_REPEAT, code.POSSESSIVE_REPEAT):
            low, _, body = value
            text += sample(body) * min(max(low, least), 100)
    return text


def characters(tree: Any) -> list[str]:
    """Signs of the alphabet that the tree's classes and literals accept, one of each kind."""
    found: list[str] = []
    for op, value in tree:
        if op is code.LITERAL:
            found.append(chr(value))
        elif op is code.NOT_LITERAL:
            found += [sign for sign in "a \n" if ord(sign) != value]
        elif op is code.ANY:
            found += ["a", " "]
        elif op is code.IN:
            fitting = [sign for sign in (*ALPHABET, *own(value)) if accepts(value, sign)]
            found += [next(filter(kind, fitting), "") for kind in KINDS]
        elif op is code.SUBPATTERN:
            found += characters(value[3])
        elif op is code.ATOMIC_GROUP:
            found += characters(value)
        elif op is code.BRANCH:
            found += [sign for branch in value[1] for sign in characters(branch)[:2]]
        elif op in (code.MAX_REPEAT, code.MIN_REPEAT, code.POSSESSIVE_REPEAT):
            found += characters(value[2])
    return [sign for sign in dict.fromkeys(found) if sign][:8]


KINDS: tuple[Callable[[str], object], ...] = (
    str.isalnum,
    lambda sign: sign == " ",
    lambda sign: sign == "\n",
    lambda sign: sign in string.punctuation,
    str,
)


def own(items: Any) -> Iterator[str]:
    for op, value in items:
        if op is code.LITERAL:
            yield chr(value)
        elif op is code.RANGE:
            yield chr(value[0])


CATEGORIES = {
    code.CATEGORY_SPACE: str.isspace,
    code.CATEGORY_DIGIT: str.isdigit,
    code.CATEGORY_WORD: lambda sign: sign.isalnum() or sign == "_",
    code.CATEGORY_NOT_SPACE: lambda sign: not sign.isspace(),
    code.CATEGORY_NOT_DIGIT: lambda sign: not sign.isdigit(),
    code.CATEGORY_NOT_WORD: lambda sign: not (sign.isalnum() or sign == "_"),
}


def accepts(items: Any, sign: str) -> bool:
    is_in, negated = False, False
    for op, value in items:
        if op is code.NEGATE:
            negated = True
        elif op is code.LITERAL:
            is_in |= ord(sign) == value
        elif op is code.RANGE:
            is_in |= value[0] <= ord(sign) <= value[1]
        elif op is code.CATEGORY:
            is_in |= CATEGORIES[value](sign)
    return is_in != negated
