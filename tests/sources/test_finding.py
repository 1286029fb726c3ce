"""Which source reads a path: the table, outside packages, ambiguity, descent, and what to say when there is none."""

import os
import subprocess
import sys
from itertools import islice
from pathlib import Path
from types import SimpleNamespace

import pytest

from errata import sources
from errata.errors import AmbiguousFormatError, SourceError, UnknownFormatError
from errata.model import Run, Unreadable
from errata.sources import BUILT_IN, DESCENT_CAP, RecognisedPath, find, harness_of, read, source_named
from errata.sources.base import Match
from errata.testing import a_run


@pytest.fixture
def tmp_path(tmp_path):
    """Two folders down: hints look at the folders above, and those of other tests may well be runs."""
    deep = tmp_path / "some" / "folder"
    deep.mkdir(parents=True)
    return deep


def a_source(name, *, marker=".one", sure=True, read=None, explain=None):
    """A source that claims files by the end of their names, so that a test can lay them out."""

    def recognise(path):
        if path.is_file() and path.name.endswith(marker):
            return Match.sure(f"{marker} file") if sure else Match.maybe(f"{marker} file")
        return None

    made = SimpleNamespace(NAME=name, TITLE=name, recognise=recognise, read=read or (lambda _: iter(())))
    if explain:
        made.explain = explain
    return made


@pytest.fixture
def only(monkeypatch):
    """Let these sources be all there are."""

    def use(*chosen):
        monkeypatch.setattr(sources, "all_sources", lambda: {one.NAME: one for one in chosen})

    return use


def put(folder, *names):
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x")


def found_in(path, **options):
    return [(one.path.relative_to(path).as_posix(), one.source.NAME) for one in find(path, **options)]


# --- the table ---


def test_an_unknown_name_lists_those_that_are_known():
    with pytest.raises(SourceError, match="`nonsense`") as result:
        source_named("nonsense")

    assert all(name in result.value.hint for name in BUILT_IN)


# --- light packages ---

LIGHT = tuple(module.rpartition(".")[2] for module in BUILT_IN.values())

ASK_ALL = """
import sys
from pathlib import Path
from errata.sources import all_sources
for source in all_sources().values():
    source.recognise(Path(sys.argv[1]))
print(*(name for name in sys.modules if name.startswith("errata.")))
"""

IMPORT = """
import sys
for name in sys.argv[1].split():
    __import__(name)
print(*(name for name in sys.modules if name.startswith("errata.")))
"""


def modules_after(program, argument):
    done = subprocess.run([sys.executable, "-c", program, argument], capture_output=True, text=True, check=True)
    return done.stdout.split()


def test_recognising_a_path_imports_no_reader(tmp_path):
    path = tmp_path / "some.json"
    path.write_text('{"a": 1}')

    prefixes = tuple(f"errata.sources.{name}." for name in LIGHT)

    asked = [name for name in modules_after(ASK_ALL, path) if name.startswith("errata.sources")]
    assert not [name for name in asked if name.startswith(prefixes)]
    assert len(asked) <= 40


def test_the_packages_of_the_sources_import_only_what_recognising_needs():
    packages = [f"errata.sources.{name}" for name in LIGHT]
    allowed = ("errata.errors", "errata.text", "errata.model", "errata.sources.base", "errata.sources.json_values")
    search = ("errata.sources.folder_search", "errata.sources.overlapping_files")
    search += ("errata.sources.paths", "errata.sources.line_shares")
    own = {"errata.sources", *search, "errata.sources.base", *packages}

    modules = modules_after(IMPORT, " ".join(packages))

    assert not [module for module in modules if module not in own and not module.startswith(allowed)]


# --- harnesses ---


@pytest.mark.parametrize("name", [name for name, module in BUILT_IN.items() if module.endswith(LIGHT)])
def test_the_harness_of_a_source_has_its_name(name):
    assert harness_of(name).name == source_named(name).NAME == name


def test_a_harness_has_its_own_words():
    result = {
        name: (harness_of(name).title, harness_of(name).unit) for name in ("harbor", "inspect-ai", "convex-evals")
    }

    assert result == {
        "harbor": ("Harbor", "trial"),
        "inspect-ai": ("Inspect", "sample"),
        "convex-evals": ("convex-evals", "eval"),
    }


# --- one path ---


def test_a_path_that_one_source_recognises(only, tmp_path):
    only(a_source("one"), a_source("two", marker=".two"))
    put(tmp_path, "a.two")

    assert found_in(tmp_path) == [("a.two", "two")]


def test_a_path_that_is_not_there_is_told(tmp_path):
    with pytest.raises(SourceError, match="No such file or folder") as result:
        find(tmp_path / "none")

    assert "check the path" in result.value.hint


@pytest.mark.parametrize("name", ["x" * 5000, "a\0b"], ids=["too long", "with a NUL"])
def test_a_path_that_can_not_be_there_is_told(tmp_path, name):
    with pytest.raises(SourceError, match="No such file or folder"):
        find(tmp_path / name)


def test_two_sources_that_are_sure_are_an_ambiguity_with_both_reasons(only, tmp_path):
    only(a_source("one"), a_source("other"))
    put(tmp_path, "a.one")

    with pytest.raises(AmbiguousFormatError) as result:
        find(tmp_path / "a.one")

    assert "`one` (.one file), `other` (.one file)" in result.value.message
    assert "--source" in result.value.hint


def test_two_sources_that_only_guess_are_an_ambiguity_too(only, tmp_path):
    only(a_source("one", sure=False), a_source("other", sure=False))
    put(tmp_path, "a.one")

    with pytest.raises(AmbiguousFormatError):
        find(tmp_path / "a.one")


def test_a_sure_source_wins_over_a_guess(only, tmp_path):
    only(a_source("guess", sure=False), a_source("sure"))
    put(tmp_path, "a.one")

    assert found_in(tmp_path) == [("a.one", "sure")]


def test_a_named_source_settles_an_ambiguity(only, tmp_path):
    only(a_source("one"), a_source("other"))
    put(tmp_path, "a.one")

    assert found_in(tmp_path, source="other") == [("a.one", "other")]


def test_a_named_source_that_does_not_recognise_the_path_is_told(only, tmp_path):
    only(a_source("one"), a_source("two", marker=".two"))
    put(tmp_path, "a.one")

    with pytest.raises(UnknownFormatError, match="Source `two` does not recognise"):
        find(tmp_path / "a.one", source="two")


# --- descent ---


def test_runs_below_a_folder_are_found_in_order(only, tmp_path):
    only(a_source("one"))
    put(tmp_path, "b/x.one", "a/y.one", "a/b/c/z.one", "a/notes.txt")

    assert [path for path, _ in found_in(tmp_path)] == ["a/b/c/z.one", "a/y.one", "b/x.one"]


def test_nothing_is_looked_for_below_what_is_recognised(only, tmp_path):
    folder = a_source("folder")
    folder.recognise = lambda path: Match.sure("marker") if (path / "marker").is_file() else None
    only(folder, a_source("one"))
    put(tmp_path, "run/marker", "run/inner.one", "run/sub/marker")

    assert found_in(tmp_path) == [("run", "folder")]


def asked_about(source, asked):
    recognise = source.recognise

    def note(path):
        asked.append(path.name)
        return recognise(path)

    source.recognise = note
    return source


def test_the_source_of_the_file_before_is_asked_first_and_alone_if_it_is_sure(only, tmp_path):
    asked = []
    only(a_source("first"), asked_about(a_source("second", marker=".two"), asked))
    put(tmp_path, "a.one", "b.one", "c.one", "d/e.one", "f.two")

    assert [name for name, _ in found_in(tmp_path)] == ["a.one", "b.one", "c.one", "d/e.one", "f.two"]
    assert [name for name in asked if "." in name] == ["a.one", "e.one", "f.two"]


def test_hidden_files_and_folders_are_passed_over(only, tmp_path):
    only(a_source("one"))
    put(tmp_path, ".git/a.one", ".b.one", "c.one")

    assert found_in(tmp_path) == [("c.one", "one")]


def test_the_descent_has_a_bottom(only, tmp_path):
    only(a_source("one"))
    deepest = Path(*["d"] * (DESCENT_CAP - 1))
    put(tmp_path, deepest / "a.one", deepest / "d" / "b.one")

    assert [path for path, _ in found_in(tmp_path)] == [(deepest / "a.one").as_posix()]


def test_a_link_to_a_folder_above_is_no_endless_descent(only, tmp_path):
    only(a_source("one"))
    put(tmp_path, "a/x.one")
    (tmp_path / "a" / "loop").symlink_to(tmp_path)

    assert found_in(tmp_path) == [("a/x.one", "one")]


FIND = """
import sys
from pathlib import Path
from errata import sources
from errata.errors import UnknownFormatError
try:
    sources.find(Path(sys.argv[1]))
except UnknownFormatError:
    sys.exit(7)
"""


def test_a_pipe_in_a_folder_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    os.mkfifo(tmp_path / "pipe.jsonl")

    done = subprocess.run([sys.executable, "-c", FIND, tmp_path], timeout=60, check=False)

    assert done.returncode == 7


def test_an_endless_device_in_a_folder_is_not_read_to_its_end(tmp_path):
    (tmp_path / "zero.json").symlink_to("/dev/zero")

    done = subprocess.run([sys.executable, "-c", FIND, tmp_path], timeout=60, check=False)

    assert done.returncode == 7


# --- nothing found ---


def test_an_unknown_format_says_how_to_go_on(tmp_path):
    put(tmp_path, "notes.md")

    with pytest.raises(UnknownFormatError, match=r"No source recognises `.*`") as result:
        find(tmp_path)

    assert "errata sources" in result.value.hint
    assert "--map" in result.value.hint


# --- reading ---


def found(reader):
    return RecognisedPath(Path("run.one"), a_source("one", read=reader), Match.sure("test"))


def test_whatever_a_source_trips_over_is_one_unreadable_after_the_rest():
    def reader(path):
        yield a_run()
        raise IndexError("list index out of range")

    run, last = read(found(reader))

    assert isinstance(run, Run)
    assert isinstance(last, Unreadable)
    assert (last.source, last.where, last.why) == ("one", "run.one", "IndexError: list index out of range")


@pytest.mark.parametrize("error", [SourceError("a bomb"), MemoryError(), KeyboardInterrupt()], ids=repr)
def test_what_is_no_fault_of_a_row_is_not_hidden(error):
    def reader(path):
        yield a_run()
        raise error

    with pytest.raises(type(error)):
        list(read(found(reader)))


def test_a_source_is_read_only_as_far_as_it_is_asked():
    seen = []

    def reader(path):
        for number in range(1000):
            seen.append(number)
            yield a_run(native_id=str(number))

    assert len(list(islice(read(found(reader)), 3))) == 3
    assert len(seen) == 3


# --- outside packages ---

OUTSIDE = '''
"""A source of another package."""
NAME = "{name}"
TITLE = "an outside format"
def recognise(path): return None
def read(path): return iter(())
'''

HARNESSES = """
from errata.sources import harness_of
print(harness_of("scorecard").title, harness_of("scorecard").unit)
"""

LIST = """
from errata.sources import all_sources
for name, source in all_sources().items():
    print(f"{name}={source.TITLE}")
"""


def an_outside_package(folder, name):
    (folder / "outside_source.py").write_text(OUTSIDE.format(name=name))
    info = folder / "outside-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: outside\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[errata.sources]\n{name} = outside_source\n")
    return {**os.environ, "PYTHONPATH": os.pathsep.join([str(folder), *filter(None, [os.environ.get("PYTHONPATH")])])}


def listed(environment):
    done = subprocess.run([sys.executable, "-c", LIST], env=environment, capture_output=True, text=True, check=True)
    return dict(line.split("=", 1) for line in done.stdout.splitlines())


def test_a_source_of_another_package_is_found_by_its_entry_point(tmp_path):
    names = listed(an_outside_package(tmp_path, "scorecard"))

    assert list(names) == [*BUILT_IN, "scorecard"]


def test_a_source_of_another_package_does_not_replace_a_built_in_one(tmp_path):
    names = listed(an_outside_package(tmp_path, "scylla"))

    assert names["scylla"] != "an outside format"


def test_a_source_of_another_package_may_say_what_its_harness_is_called(tmp_path):
    environment = an_outside_package(tmp_path, "scorecard")

    def titled():
        command = [sys.executable, "-c", HARNESSES]
        return subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout.split()

    plain = titled()
    with (tmp_path / "outside_source.py").open("a") as file:
        file.write("from errata.model import Harness\n")
        file.write("HARNESS = Harness(name=NAME, title='Scorecard', unit='question')\n")

    assert plain == ["scorecard"]
    assert titled() == ["Scorecard", "question"]
