"""docs/schemas: the shape of every `--json`, from the records that commands print.

`python scripts/json_docs.py` rewrites them; `--check` exits 1 where they are stale. `--page` writes docs/json.md, the
page of the documentation site that explains every field and shows real output; it is built, not kept.
"""

import argparse
import ast
import inspect
import json
import os
import re
import sys
import tempfile
import textwrap
from collections.abc import Iterable, Iterator
from contextlib import chdir
from functools import cache
from pathlib import Path
from types import UnionType
from typing import Any, get_args

import msgspec

from errata.model.output import all_shapes

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "json.md"
SCHEMAS = ROOT / "docs" / "schemas"
DIALECT = "https://json-schema.org/draft/2020-12/schema"
SOMETIMES = ("extra", "ref")
"""Fields of records that are left out where they are empty."""
LONGEST, FIELDS = 60, 6

INTRO = """\
# JSON

Built by `make docs` from the records that commands print, and from their real output.

Every command takes `--json`. It prints one object, or one a line for lists. Messages and progress go to stderr.

- Values are numbers, ids, words of a fixed set, and texts of logs, verdicts and users. A program does not need to
  parse a sentence. Where a finding has a `text` for people, its `name` and `numbers` hold the same facts.
- Every field is present. A value that is not known is `null`, never 0. Only `extra` and `ref` of a record are left out
  where they are empty, and fields that are marked *optional*.
- Text from logs is cleaned of control characters, and secrets are replaced by `[redacted:…]`.
- Fields may be added in a later version. Ignore those that you do not know.

Each shape has a JSON Schema (2020-12) in [schemas](schemas). In the examples, a list is cut to its first element, a
long text to its beginning, and an inner object with many fields to the first ones, marked by `…`.
"""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="only say what is stale")
    parser.add_argument("--page", action="store_true", help="write docs/json.md")
    chosen = parser.parse_args()
    if chosen.page:
        PAGE.write_text(page(all_schemas(), examples()), encoding="utf-8")
        return 0
    wanted = dict(generated())
    gone = [path for path in SCHEMAS.glob("*.json") if path not in wanted]
    stale = [path for path, text in wanted.items() if not path.exists() or path.read_text(encoding="utf-8") != text]
    for path in [*stale, *gone]:
        if chosen.check:
            print(f"{path.relative_to(ROOT)} is stale: run `python scripts/json_docs.py`")
        elif path in gone:
            path.unlink()
        else:
            path.write_text(wanted[path], encoding="utf-8")
    return 1 if chosen.check and (stale or gone) else 0


def generated() -> Iterator[tuple[Path, str]]:
    """Each schema file, and what should be in it."""
    for line, schema in all_schemas().items():
        yield schema_file(line), json.dumps(schema, indent=1, ensure_ascii=False) + "\n"


def all_schemas() -> dict[str, dict[str, Any]]:
    return {line: schema_of(shape, title=f"errata {line} --json") for line, shape in all_shapes().items()}


def schema_file(line: str) -> Path:
    """`failures --suspicious` → failures-suspicious.json."""
    return SCHEMAS / f"{re.sub('[^a-z]+', '-', line.lower()).strip('-')}.json"


def schema_of(shape: Any, *, title: str = "") -> dict[str, Any]:
    """The schema of what is printed: every field is required but those that may be left out."""
    members = get_args(shape) if isinstance(shape, UnionType) else (shape,)
    schemas, definitions = msgspec.json.schema_components(members, ref_template="#/$defs/{name}")
    for kind in kinds_in(members):
        _complete(definitions[_name_of(kind, definitions)], kind)
    whole = schemas[0] if len(schemas) == 1 else {"anyOf": list(schemas)}
    return {"$schema": DIALECT, "title": title, **whole, "$defs": dict(sorted(definitions.items()))}


def _name_of(kind: type, definitions: dict[str, Any]) -> str:
    """Of two records with one name, msgspec calls each by its module, too."""
    return (
        kind.__name__ if kind.__name__ in definitions else re.sub(r"[^\w.]", "_", f"{kind.__module__}.{kind.__name__}")
    )


def _complete(definition: dict[str, Any], kind: type) -> None:
    fields = msgspec.structs.fields(kind)
    optional = {one.encode_name for one in fields if one.default is msgspec.UNSET or one.encode_name in SOMETIMES}
    meanings = meanings_of(kind)
    for field in fields:
        described = definition["properties"][field.encode_name]
        described.pop("default", None)
        if field.name in meanings:
            described["description"] = meanings[field.name]
    definition["required"] = [one.encode_name for one in fields if one.encode_name not in optional]
    definition.pop("title", None)
    if kind.__doc__ is None:
        definition.pop("description", None)


def kinds_in(shapes: Any) -> list[type]:
    """The records that shapes are made of, each once, outer ones first."""
    structs: dict[type, None] = {}
    waiting = list(shapes)
    while waiting:
        kind = waiting.pop(0)
        if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
            if kind not in structs:
                structs[kind] = None
                waiting += [field.type for field in msgspec.structs.fields(kind)]
        else:
            waiting += get_args(kind)
    return list(structs)


@cache
def meanings_of(kind: type) -> dict[str, str]:
    """Field → the text below it, also of the classes that it inherits from."""
    meanings: dict[str, str] = {}
    for base in reversed(kind.__mro__):
        if issubclass(base, msgspec.Struct) and base.__module__.startswith("errata."):
            (tree,) = ast.parse(textwrap.dedent(inspect.getsource(base))).body
            assert isinstance(tree, ast.ClassDef)
            meanings |= dict(_below_fields(tree))
    return meanings


def _below_fields(tree: ast.ClassDef) -> Iterator[tuple[str, str]]:
    for field, below in zip(tree.body, tree.body[1:], strict=False):
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name) and isinstance(below, ast.Expr):
            text = below.value.value if isinstance(below.value, ast.Constant) else None
            if isinstance(text, str):
                yield field.target.id, " ".join(text.split())


def page(schemas: dict[str, dict[str, Any]], shown: dict[str, Any]) -> str:
    """All commands, then the records that they share, each once."""
    parts, records = [INTRO], Records()
    for line, schema in schemas.items():
        names = records.add(schema, line)
        parts.append(f"## errata {line}\n")
        for at, shape in enumerate(schema.get("anyOf", [schema])):
            definition = schema["$defs"][_target(shape)]
            parts += ["or\n"] if at else []
            parts.append(f"{definition.get('description', 'One object.')}\n")
            parts.append(_table(definition, names))
        if line in shown:
            parts.append(f"```json\n{_lines(shown[line])}\n```\n")
        parts.append(f"[JSON Schema](schemas/{schema_file(line).name})\n")
    parts.append("## Records\n")
    for title, (definition, names) in sorted(records.by_title.items()):
        parts.append(f"### {title}\n")
        parts += [f"{definition['description']}\n"] if "description" in definition else []
        parts.append(_table(definition, names))
    return "\n".join(parts)


Names = dict[str, str]
"""Record as a schema calls it → its title on the page."""


class Records:
    """The inner records of all shapes. Two that have one name get titles of their own."""

    def __init__(self) -> None:
        self.by_title: dict[str, tuple[dict[str, Any], Names]] = {}

    def add(self, schema: dict[str, Any], line: str) -> Names:
        definitions: dict[str, dict[str, Any]] = schema["$defs"]
        inner = {target for one in definitions.values() for target in _targets(one)}
        names: Names = {}
        for name in sorted(inner):
            title = name.rpartition(".")[2]
            known = self.by_title.get(title)
            is_other = known is not None and known[0] != definitions[name]
            names[name] = f"{title} of {line.split()[0]}" if is_other else title
            self.by_title.setdefault(names[name], (definitions[name], names))
        return names


def _targets(value: Any) -> Iterator[str]:
    """The records that a part of a schema refers to."""
    if isinstance(value, dict):
        if "$ref" in value:
            yield _target(value)
        for item in value.values():
            yield from _targets(item)
    elif isinstance(value, list):
        for item in value:
            yield from _targets(item)


def _target(field: dict[str, Any]) -> str:
    return str(field["$ref"]).rpartition("/")[2]


def _lines(value: dict[str, Any]) -> str:
    """A field a line; what is inside of one stays on its line."""
    fields = (f"  {json.dumps(key)}: {json.dumps(item, ensure_ascii=False)}" for key, item in value.items())
    return "{\n" + ",\n".join(fields) + "\n}"


def _table(definition: dict[str, Any], names: Names) -> str:
    rows = ["| field | type | meaning |\n|---|---|---|\n"]
    for name, field in definition.get("properties", {}).items():
        optional = "" if name in definition["required"] else "*optional* "
        rows.append(f"| `{name}` | {optional}{type_in_words(field, names)} | {_cell(field.get('description', ''))} |\n")
    return "".join(rows)


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def type_in_words(field: dict[str, Any], names: Names) -> str:
    if "$ref" in field:
        title = names[_target(field)]
        return f"[{title}](#{title.lower().replace(' ', '-')})"
    if "anyOf" in field:
        return " or ".join(type_in_words(one, names) for one in field["anyOf"])
    if "enum" in field:
        return ", ".join(f"`{one}`" for one in field["enum"])
    if field.get("type") == "array":
        if "prefixItems" in field:
            return f"[{', '.join(type_in_words(one, names) for one in field['prefixItems'])}]"
        return f"list of {type_in_words(field.get('items') or {}, names)}"
    if field.get("type") == "object":
        inside = field.get("additionalProperties")
        return f"object: name → {type_in_words(inside, names)}" if isinstance(inside, dict) and inside else "object"
    return str(field.get("type", "any value"))


def examples() -> dict[str, Any]:
    """Command line → the first object that it prints, made short, without paths of this machine."""
    sys.path.insert(0, str(ROOT / "tests"))
    from json_examples import all_examples  # noqa: PLC0415 of the tests

    with tempfile.TemporaryDirectory(prefix="errata-docs-") as folder, chdir(folder):
        os.environ.update(XDG_CONFIG_HOME=f"{folder}/config", XDG_STATE_HOME=f"{folder}/state")
        os.environ.pop("ERRATA_STORE", None)
        return shortened(all_examples(), Path(folder))


def shortened(printed: Iterable[tuple[str, list[Any]]], folder: Path) -> dict[str, Any]:
    """Of what commands printed in a folder, the first object of each."""
    samples: dict[str, Any] = {}
    for line, rows in printed:
        samples.setdefault(line, _short(_settled(rows[0], str(folder.resolve()))))
    return samples


def _settled(value: Any, folder: str) -> Any:
    if isinstance(value, dict):
        return {key: _settled(item, folder) for key, item in value.items()}
    if isinstance(value, list):
        return [_settled(item, folder) for item in value]
    if not isinstance(value, str):
        return value
    for here, there in (
        (folder, "/home/ada/project"),
        (str(ROOT / "tests/fixtures/sources"), "/home/ada/logs"),
        (sys.executable, "python"),
        (str(ROOT / "tests/fixtures"), "/home/ada"),
        (str(ROOT), "/home/ada/errata"),
    ):
        value = value.replace(here, there)
    return value


def _short(value: Any, depth: int = 0) -> Any:
    if isinstance(value, dict):
        kept = list(value.items())
        if depth and len(kept) > FIELDS:
            return {key: _short(item, depth + 1) for key, item in kept[: FIELDS - 2]} | {"…": "…"}
        return {key: _short(item, depth + 1) for key, item in kept}
    if isinstance(value, list):
        return [_short(item, depth + 1) for item in value[:1]]
    if isinstance(value, str) and len(value) > LONGEST:
        return f"{value[:LONGEST]}…"
    return value


if __name__ == "__main__":
    sys.exit(main())
