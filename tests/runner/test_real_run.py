"""`errata run` for real: Inspect AI, a small model on loopback, an empty folder, one command. `make run-for-real`."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from soak.real_model import model_file

from terminal import FIXTURES, errata

ROOT = Path(__file__).parents[2]
TASK = FIXTURES.parent / "runner" / "arithmetic.py"

pytestmark = pytest.mark.skipif(
    "ERRATA_INSPECT" not in os.environ or model_file() is None,
    reason="needs Inspect AI and a model: `make run-for-real`",
)


@pytest.fixture(scope="module")
def url():
    command = [sys.executable, "-m", "soak.real_model"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT) as process:
        yield process.stdout.readline().strip()
        process.stdin.close()


def test_one_command_leads_from_an_empty_folder_to_a_report(url, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    shutil.copy(TASK, "arithmetic.py")
    Path("models.toml").write_text(
        f'[models.smollm2]\nprovider = "local"\nbase_url = "{url}"\nsettings = {{ temperature = 0, max_tokens = 24 }}\n'
        '[suites.arithmetic]\ntask = "arithmetic.py"\n',
        encoding="utf-8",
    )

    row = errata("run", "arithmetic", "--limit", "3", "--json").row

    assert (row["invalid"], row["cases"], row["smoke"]["invalid"]) == (None, 3, None)
    assert row["smoke"]["tokens"] > 0
    assert len(list(Path("logs").glob("*.eval"))) == 1
    assert row["failures"] == 0 or Path(row["report"]).is_file()
