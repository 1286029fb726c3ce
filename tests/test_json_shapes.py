"""Every `--json` has a published shape, and what the commands print fits it."""

import importlib.util
import json
import re
from pathlib import Path

import click
import pytest
from jsonschema import Draft202012Validator

from errata.cli.app import app
from errata.model.output import all_shapes
from json_examples import all_examples

ROOT = Path(__file__).parent.parent


def load(name):
    spec = importlib.util.spec_from_file_location(name, ROOT / "scripts" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


json_docs = load("json_docs")
SHAPES = all_shapes()


def leaves(group, before=""):
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if isinstance(command, click.Group):
            yield from leaves(command, f"{before}{name} ")
        else:
            yield f"{before}{name}", command


def commands_with_json():
    return {name for name, one in leaves(app) if any("--json" in param.opts for param in one.params)}


def command_of(line):
    """`review next (nothing waiting)` and `failures --suspicious` are shapes of `review next` and `failures`."""
    return re.split(r" -| \(|,", line)[0]


def published(line):
    """The schema as it is published, but without room for a field that it does not name."""
    schema = json.loads(json_docs.schema_file(line).read_text(encoding="utf-8"))
    for definition in schema["$defs"].values():
        if "properties" in definition:
            definition["additionalProperties"] = False
    return Draft202012Validator(schema)


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """Where the commands run."""
    return tmp_path_factory.mktemp("json")


@pytest.fixture(scope="module")
def printed(home):
    """Command line → everything that it printed."""
    found = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(home)
        patch.setenv("XDG_CONFIG_HOME", str(home / "config"))
        patch.setenv("XDG_STATE_HOME", str(home / "state"))
        for name in ("ERRATA_STORE", "ERRATA_AUTHOR"):
            patch.delenv(name, raising=False)
        for line, rows in all_examples():
            found.setdefault(line, []).extend(rows)
    return found


@pytest.mark.req("B-84")
def test_every_command_with_json_has_a_shape():
    missing = commands_with_json() - {command_of(line) for line in SHAPES}

    assert not missing


def test_every_shape_is_of_a_command():
    assert {command_of(line) for line in SHAPES} <= commands_with_json()


def test_every_shape_is_printed_by_a_real_command(printed):
    assert SHAPES.keys() <= {line for line, rows in printed.items() if rows}


def test_every_schema_is_a_schema():
    parts = {}
    for line in SHAPES:
        schema = json.loads(json_docs.schema_file(line).read_text(encoding="utf-8"))
        for part in (*schema.pop("$defs").values(), schema):
            parts[json.dumps(part, sort_keys=True)] = part  # shapes share most of their definitions
    Draft202012Validator.check_schema({"$defs": dict(zip(map(str, range(len(parts))), parts.values(), strict=True))})


@pytest.mark.parametrize("line", SHAPES)
def test_what_is_printed_fits_the_published_schema(line, printed):
    schema = published(line)
    wrong = [error for row in printed[line] for error in schema.iter_errors(row)]

    assert not wrong, [f"{error.json_path}: {error.message}"[:300] for error in wrong[:5]]


@pytest.mark.parametrize("line", SHAPES)
def test_published_schemas_are_up_to_date(line):
    fresh = json_docs.schema_of(SHAPES[line], title=f"errata {line} --json")

    assert json.loads(json_docs.schema_file(line).read_text(encoding="utf-8")) == fresh, "python scripts/json_docs.py"


def test_every_schema_file_is_of_a_shape():
    assert {path.name for path in json_docs.SCHEMAS.glob("*.json")} == {
        json_docs.schema_file(line).name for line in SHAPES
    }


def test_the_page_has_every_command_with_real_output(printed, home):
    page = json_docs.page(json_docs.all_schemas(), json_docs.shortened(printed.items(), home))

    assert all(f"## errata {line}\n" in page for line in SHAPES)
    assert page.count("```json\n{") == len(SHAPES)
    assert str(home) not in page
