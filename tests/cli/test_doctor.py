"""`errata doctor` and `--repair`: what is damaged, what was rebuilt, and what it would take."""

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from errata.store import sqlite
from errata.store.index_file import VERSION
from report_pages import working_in
from terminal import FIXTURES, Said, done, errata

RUN_B = FIXTURES / "convex_evals" / "run_b" / "data" / "run-b"
STORE = Path(".errata") / "errata.db"


def change(*statements: str) -> None:
    with closing(sqlite3.connect(STORE)) as database, database:
        for statement in statements:
            database.execute(statement)


def content() -> list[object]:
    """What users see of the run, apart from the damage."""
    done("export", "latest", "--to", "csv", "-o", "tables", "--force")
    tables = [path.read_bytes() for path in sorted(Path("tables").rglob("*.csv"))]
    return [*(done(command, "latest", "--json").rows for command in ("failures", "show", "score")), *tables]


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[object]]:
    """A folder with a log and the store that it was imported into, and what users see of the run."""
    folder = tmp_path_factory.mktemp("sound")
    with working_in(folder):
        shutil.copytree(RUN_B, "run-b")
        done("import", "run-b")
        done("triage", "latest")
        seen = content()
        shutil.rmtree("tables")
    return folder, seen


@pytest.fixture
def store_of_sound(sound: tuple[Path, list[object]]) -> None:
    """That store as the one of the working folder; the log stays where it was imported from."""
    shutil.copytree(sound[0] / ".errata", ".errata")


@pytest.fixture
def logs() -> Path:
    """A log to be changed, imported into the store of the working folder."""
    shutil.copytree(RUN_B, "run-b")
    done("import", "run-b")
    done("triage", "latest")
    return Path("run-b")


DAMAGE = {
    "a block": "UPDATE blocks SET data = zeroblob(1000)",
    "a lost block": "DELETE FROM blocks",
    "a file": "UPDATE blobs SET data = zeroblob(50) WHERE rowid % 2",
    "lost files": "DELETE FROM blobs",
    "lost attempts": "DELETE FROM attempts WHERE seq > 4",
    "columns of attempts": "UPDATE attempts SET outcome = 'pass', case_key = case_key || 'x'",
    "checks": "DELETE FROM checks",
    "cases": "UPDATE cases SET record = zeroblob(20)",
    "the run": "UPDATE runs SET record = zeroblob(20)",
    "its counts": "UPDATE runs SET counts = '{}'",
    "its name": "UPDATE runs SET name = 'another', suite = 'other'",
    "owners": "UPDATE attributions SET record = zeroblob(20)",
}


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE)
@pytest.mark.usefixtures("store_of_sound")
def test_what_the_logs_have_is_repaired(sound, damage):
    change(damage)
    assert errata("doctor").code == 1

    repaired = done("doctor", "--repair", "--json").row

    assert repaired["problems"] == []
    assert any(one["repaired"] for one in repaired["repairs"])
    assert content() == sound[1]
    assert done("doctor").out.endswith("no problems found\n")


def verdict_rows() -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(STORE)) as database:
        return sorted(database.execute("SELECT * FROM verdicts").fetchall())


@pytest.mark.usefixtures("store_of_sound")
def test_a_repair_never_changes_verdicts():
    (failure, *_) = done("failures", "latest", "--json").rows
    Path("labels.jsonl").write_text(f'{{"attempt_id": "{failure["attempt_id"]}", "label": "MODEL_FAULT"}}\n')
    errata("review", "import", "labels.jsonl", "--reviewer", "ada")
    change("INSERT INTO verdicts VALUES ('v', 'r', 'r:c#1', 'w', 'person', 'l', 'model', 0, '', x'80')")
    before = verdict_rows()
    change(DAMAGE["a block"], DAMAGE["owners"])

    repaired = errata("doctor", "--repair", "--json")

    assert repaired.code == 1
    assert verdict_rows() == before
    assert {one["table"] for one in repaired.row["problems"]} == {"verdicts"}
    assert [one["repaired"] for one in repaired.row["repairs"] if one["table"] == "verdicts"] == [False]


def refused_repair() -> Said:
    change(DAMAGE["a block"])
    result = errata("doctor", "--repair")
    assert result.code == 1
    assert "can't fix" in result.out
    return result


def test_without_the_logs_the_page_names_what_it_would_take(logs):
    shutil.rmtree(logs)

    page = " ".join(refused_repair().out.split())

    assert "its logs are not at" in page
    assert "put them back there, or restore a backup" in page


def test_changed_logs_are_not_taken_for_the_imported_ones(logs):
    path = logs / "getRunDetails.envelope.json"
    path.write_text(path.read_text().replace("003-mutations", "003-mutation", 1))

    page = " ".join(refused_repair().out.split())

    assert "have changed since the import" in page


@pytest.mark.usefixtures("store_of_sound")
def test_the_page_names_the_damaged_attempts_and_how_many_more():
    change("UPDATE attempts SET outcome = 'none'")

    page = " ".join(errata("doctor").out.split())

    assert "has lost rows (attempts; " in page
    assert page.count("002-http_greeting#1") == 1
    assert "more with --json" in page
    assert "`errata doctor --repair`" in page


@pytest.mark.usefixtures("store_of_sound")
def test_a_damaged_search_index_is_removed():
    index = STORE.with_name("errata.index.db")
    with closing(sqlite3.connect(index)) as database:
        database.execute("CREATE TABLE runs (x)")
        database.execute(f"PRAGMA user_version = {VERSION}")
    index.write_bytes(index.read_bytes()[:3000] + b"\xa5" * 1096)

    assert "the search index is damaged" in errata("doctor").out
    done("doctor", "--repair")

    assert not index.exists()


@pytest.mark.usefixtures("store_of_sound")
def test_a_read_only_store_is_checked_but_not_repaired(monkeypatch):
    change(DAMAGE["a block"])
    monkeypatch.setattr(sqlite, "is_writable", lambda _: False)

    assert errata("doctor").code == 1
    assert "it is read-only" in errata("doctor", "--repair").talk
