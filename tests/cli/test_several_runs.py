"""Several runs or paths at once: what is wrong with one of them hides nothing of the others."""

from errata.store.database import open_store
from errata.verbs import store as stores
from terminal import FIXTURES, done, errata

RUN_A = FIXTURES / "convex_evals" / "run_a" / "data" / "run-a"
RUN_D = FIXTURES / "convex_evals" / "run_d" / "data" / "run-d"


def test_the_failures_of_good_runs_are_shown_although_one_name_is_wrong(library):
    result = errata("failures", "9c0d1e2f", "nothing", "1a2b3c4d", "--limit", 1, "--json", "--store", library)

    assert result.code == 2
    assert [row["case"] for row in result.rows] == ["turn-8", "turn-5"]
    assert result.err.startswith("error: No run matches `nothing`\n")


def test_a_wrong_path_among_good_ones_changes_nothing_and_says_so():
    result = errata("analyze", RUN_A, "nowhere", RUN_D)

    assert result.code == 2
    assert result.out == ""
    assert "No such file or folder: `nowhere`" in result.err
    assert "nothing was imported; the other 2 paths can be read, once the rest is left out" in result.talk
    assert done("runs", "--json").out == ""


def test_each_of_several_runs_has_a_title(library):
    page = done("failures", "9c0d1e2f", "1a2b3c4d", "--store", library).out

    assert page.startswith("Run 9c0d1e2f · voice-beta")
    assert "\n\nRun 1a2b3c4d · voice-alpha" in page


def test_the_store_is_opened_once_however_many_runs_it_holds(library, monkeypatch):
    opened = []
    monkeypatch.setattr(stores, "open_store", lambda path, **how: opened.append(path) or open_store(path, **how))

    assert len(done("runs", "--json", "--store", library).rows) > 2
    assert opened == [library]


def test_the_list_of_runs_names_the_one_that_latest_means(library):
    (shown,) = done("show", "latest", "--json", "--store", library).rows
    notes = done("runs", "--store", library).err
    (named,) = (line.split()[2].rstrip(",") for line in notes.splitlines() if line.startswith("`latest` = "))

    assert done("show", named, "--json", "--store", library).rows == [shown]
