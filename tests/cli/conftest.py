"""Every command starts in an empty folder, with nobody's settings; one store holds all samples, for reading."""

import shutil
import tempfile
from pathlib import Path

import pytest

from terminal import FIXTURES, done

SAMPLES = (
    "convex_evals/run_a",
    "convex_evals/run_b",
    "convex_evals/run_c",
    "convex_evals/run_d",
    "conversation_bench/comparison",
    "conversation_bench/damaged",
    "conversation_bench/unjudged",
    "scylla/large/batch-gen1",
    "scylla/batch-gen2",
    "scylla/batch-cascade",
    "generic/jsonl",
)


@pytest.fixture(autouse=True)
def at_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("ERRATA_STORE", "ERRATA_AUTHOR", "NO_COLOR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "scratch"))
    (tmp_path / "scratch").mkdir()
    return tmp_path


@pytest.fixture(scope="session")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with every sample; to be read, not changed."""
    store = tmp_path_factory.mktemp("library") / "errata.db"
    done("import", *(FIXTURES / sample / "data" for sample in SAMPLES), "--store", store)
    return store


@pytest.fixture(scope="session")
def two_runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with the convex runs A and B, of one model and a week apart; to be copied."""
    store = tmp_path_factory.mktemp("two-runs") / "errata.db"
    done("import", *(FIXTURES / "convex_evals" / name / "data" for name in ("run_a", "run_b")), "--store", store)
    return store


@pytest.fixture
def own_two_runs(two_runs: Path, at_home: Path) -> Path:
    """The same as the store of the working folder, to be changed."""
    (at_home / ".errata").mkdir()
    return Path(shutil.copy(two_runs, at_home / ".errata" / "errata.db"))
