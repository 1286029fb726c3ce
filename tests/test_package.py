"""The package can be released: it declares what it imports, and runs from its wheel alone."""

import ast
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from email.parser import BytesParser
from functools import cache
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

import errata

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "errata"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
LATER_PYTHON = {"compression"}
"""Modules of a standard library that is newer than the one of the tests."""
NOT_OURS = {"writeback/edit_log.py"}
"""Scripts that run in the environment of a harness."""
WHERE_EXTRAS_ARE_USED = {
    "llm": {"llm"},
    "mcp": {"mcp"},
    "server": {"server"},
    "export": {"parquet", "pandas", "polars"},
    "sources": {"parquet"},
    "text": {"rules"},
    "store": {"postgres"},
    "fetch": {"remote"},
    "cluster": {"ray"},
}
"""Subpackage → the extras whose modules it may import."""


STARTED = {"inspect-ai", "openai"}
"""Of the extra `inspect`: `errata run` starts the program, and Inspect imports the client of OpenAI's protocol."""


def normal(name):
    return re.sub(r"[-_.]+", "-", name).lower()


def required(lines):
    return {normal(re.match(r"[\w.-]+", line)[0]) for line in lines}


CORE = required(PROJECT["dependencies"])
EXTRAS = {extra: required(lines) for extra, lines in PROJECT["optional-dependencies"].items()}


@cache
def imports():
    """(module of errata, distribution) of third-party imports, also of those by name; of each core one at least one."""
    known = packages_distributions()
    found, unquestioned = set(), set(OWN)
    for path in SOURCE.rglob("*.py"):
        name, text = path.relative_to(SOURCE).as_posix(), path.read_text(encoding="utf-8")
        if name in NOT_OURS or name.startswith("examples/") or not may_import_others(text, unquestioned):
            continue
        for name in imported_by(ast.parse(text)):
            top = name.partition(".")[0]
            if top not in OWN:
                distribution = normal(known.get(top, [top])[0])
                found.add((path.relative_to(SOURCE), distribution))
                if distribution in CORE:  # every module may import it
                    unquestioned.add(top)
    return found


OWN = {"errata", *sys.stdlib_module_names, *LATER_PYTHON}
BY_NAME = ("import_module", "_library")


def may_import_others(text, unquestioned):
    """Whether a line looks like such an import. Parsing every module takes seconds; few of them import others."""
    lines = re.findall(r"^[ \t]*(?:from|import)[ \t]+(\w+)(.*)", text, re.MULTILINE)
    return any(top not in unquestioned or "," in rest.partition(" import ")[0] for top, rest in lines) or any(
        word in text for word in BY_NAME
    )


def imported_by(tree):
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield node.module
        elif isinstance(node, ast.Call) and getattr(node.func, "id", "") in BY_NAME:
            yield from (one.value for one in node.args[:1] if isinstance(one, ast.Constant))


def test_every_import_is_declared():
    undeclared = [
        f"{path}: {distribution}"
        for path, distribution in imports()
        if distribution not in CORE
        and not any(distribution in EXTRAS[extra] for extra in WHERE_EXTRAS_ARE_USED.get(path.parts[0], ()))
    ]

    assert undeclared == []


def test_everything_declared_is_imported():
    used = {distribution for _, distribution in imports()} | STARTED

    assert {*CORE, *(name for names in EXTRAS.values() for name in names)} - used == set()


def test_every_dependency_has_a_lower_bound():
    lines = [*PROJECT["dependencies"], *(line for lines in PROJECT["optional-dependencies"].values() for line in lines)]

    assert [line for line in lines if ">=" not in line] == []


def test_make_lowest_tests_every_lower_bound_in_an_environment_of_its_own():
    rules = (ROOT / "Makefile").read_text(encoding="utf-8")
    recipe = re.search(r"^lowest:[^\n]*\n((?:\t[^\n]*\n)+)", rules, re.MULTILINE)[1]

    assert "--resolution lowest-direct" in recipe
    assert "--all-extras" in recipe
    assert "$(BIN)/" not in recipe
    smoke = re.search(r"^SMOKE := ((?:.*\\\n)*.*)", rules, re.MULTILINE)[1].replace("\\", " ").split()
    assert smoke
    assert [path for path in smoke if not (ROOT / path).exists()] == []


@pytest.mark.parametrize("target", ["lock", "lowest"])
def test_a_target_that_needs_uv_names_it_where_it_is_not_installed(target, tmp_path):
    for tool in ("make", "sh", "bash", "mkdir", "test", "touch"):
        if path := shutil.which(tool):
            (tmp_path / tool).symlink_to(path)
    command = ["make", "--old-file=.venv/.ready", "needs-uv", target]
    ended = subprocess.run(command, cwd=ROOT, env={"PATH": str(tmp_path)}, capture_output=True, text=True, check=False)

    assert ended.returncode != 0
    assert ended.stderr.startswith("this target needs uv: https://")


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """The wheel and the sdist."""
    folder = tmp_path_factory.mktemp("dist")
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-d", folder], cwd=ROOT, check=True, capture_output=True
    )
    return folder


@pytest.fixture(scope="module")
def wheel(built):
    (path,) = built.glob("*.whl")
    return path


def test_the_wheel_holds_every_file_of_the_package_and_nothing_else(wheel):
    with zipfile.ZipFile(wheel) as archive:
        names = {name for name in archive.namelist() if ".dist-info/" not in name}

    files = (path for path in SOURCE.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    assert names == {f"errata/{path.relative_to(SOURCE).as_posix()}" for path in files}
    assert {"errata/py.typed", "errata/render/page.css"} <= names


def test_the_wheel_describes_the_project(wheel):
    with zipfile.ZipFile(wheel) as archive:
        (name,) = [name for name in archive.namelist() if name.endswith(".dist-info/METADATA")]
        metadata = BytesParser().parsebytes(archive.read(name))

    assert metadata["Version"] == errata.__version__
    assert metadata["License-Expression"] == "Apache-2.0"
    assert metadata["Requires-Python"] == ">=3.11"
    assert set(metadata.get_all("Provides-Extra")) == set(EXTRAS)
    assert "Typing :: Typed" in metadata.get_all("Classifier")
    assert metadata.get_payload().startswith("# ")


def test_the_sdist_can_be_tested_and_built(built):
    (path,) = built.glob("*.tar.gz")
    with tarfile.open(path) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}

    assert {
        "pyproject.toml",
        "README.md",
        "LICENSE",
        "Makefile",
        ".ci/run",
        "tests/conftest.py",
        "src/errata/py.typed",
    } <= names
    assert [name for name in names if name.startswith((".venv", ".errata", "build/"))] == []


def test_errata_demo_runs_from_the_wheel_in_an_empty_environment_and_folder(wheel, tmp_path):
    environment, folder = tmp_path / "environment", tmp_path / "empty"
    folder.mkdir()
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", environment], check=True)
    # what errata needs comes from the environment of the tests, errata itself only from the wheel
    (packages,) = environment.glob("lib/python*/site-packages")
    dependencies = [path for path in sys.path if Path(path).name == "site-packages"]
    (packages / "dependencies.pth").write_text("\n".join(dependencies))
    python = environment / "bin" / "python"
    pip = (sys.executable, "-m", "pip", "--python", python, "install", "--quiet", "--no-index", "--no-compile")
    own = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "ERRATA", "VIRTUAL"))}
    own |= {"HOME": str(tmp_path), "PIP_CONFIG_FILE": os.devnull}
    subprocess.run([*pip, "--no-deps", "--ignore-installed", wheel], env=own, check=True, capture_output=True)

    where = [python, "-c", "import errata; print(errata.__file__)"]
    imported = subprocess.run(where, cwd=folder, env=own, check=True, capture_output=True, text=True).stdout
    demo = subprocess.run([environment / "bin" / "errata", "demo"], cwd=folder, env=own, capture_output=True, text=True)

    assert Path(imported.strip()).is_relative_to(environment)
    assert demo.returncode == 0, demo.stderr
    assert "acme/nimbus-2-coder" in demo.stdout
    assert list(folder.iterdir()) == []
