"""`errata map`: nested runs, texts inside objects, and the list of columns that the draft leaves out."""

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest

from errata.model import Run
from errata.sources.generic.draft import draft_mapping
from errata.sources.generic.mapping import load
from errata.sources.generic.reader import MappedSource
from terminal import done


def drafted(folder: Path, content: Any, name: str = "log.json"):
    path = folder / name
    path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return draft_mapping(path)


def results(*passed: int) -> list[dict[str, Any]]:
    return [{"task": f"t{at}", "trial": at % 2, "passed": bool(value)} for at, value in enumerate(passed)]


def ablation(**fields: Any) -> dict[str, Any]:
    configs = [(model, prompt) for model in ("m1", "m2") for prompt in ("plain", "strict")]
    return {
        "runs": [
            {
                **{name: f"{value}-{at}" for name, value in fields.items()},
                "config": {"model": model, "system_prompt": prompt, "temperature": 0},
                "summary": {"accuracy": 0.5, "n": 4},
                "results": results(1, 0, 1, 0),
            }
            for at, (model, prompt) in enumerate(configs)
        ]
    }


@pytest.mark.parametrize("name", ["run_id", "id", "runId", "name"])
def test_the_id_of_a_nested_run_and_its_settings_are_drafted(tmp_path: Path, name: str):
    draft = tomllib.loads(drafted(tmp_path, ablation(**{name: "r"})).text)

    assert draft["run"]["id"] == {"column": f"^{name}"}
    assert draft["run"]["variant"] == {"system_prompt": {"column": "^config.system_prompt"}}
    assert draft["run"]["headline"] == {"column": "^summary.accuracy"}


def test_nested_runs_without_an_id_are_imported_one_by_one(tmp_path: Path):
    draft = drafted(tmp_path, ablation())
    mapping = tmp_path / "m.toml"
    mapping.write_text(draft.text, encoding="utf-8")

    runs = {item.id for item in MappedSource(load(mapping)).read(tmp_path / "log.json") if isinstance(item, Run)}

    assert len(runs) == 4


def test_the_text_inside_an_object_is_the_output(tmp_path: Path):
    rows = [
        {"id": f"c{at}", "generation": {"text": f"Answer {at} is long.", "finish": "stop"}, "passed": at % 2 == 0}
        for at in range(6)
    ]
    draft = drafted(tmp_path, "".join(json.dumps(row) + "\n" for row in rows), "log.jsonl")

    assert tomllib.loads(draft.text)["attempt"]["output"] == "generation.text"


@pytest.mark.parametrize("name", ["log.csv", "log.jsonl", "log.json"])
def test_columns_that_are_left_out_are_listed(tmp_path: Path, name: str):
    rows = [{"id": f"c{at}", "passed": at % 2, "zzz": f"w{at}", "meta": {"qqq": f"v{at}"}} for at in range(4)]
    table = "id,passed,zzz\n" + "".join(f"c{at},{at % 2},w{at}\n" for at in range(4))
    lines = "".join(json.dumps(row) + "\n" for row in rows)
    draft = drafted(tmp_path, {".csv": table, ".jsonl": lines}.get(Path(name).suffix, rows), name)

    left = {"zzz"} if name == "log.csv" else {"zzz", "meta.qqq"}
    assert set(draft.unmapped) == left
    assert all(one in draft.text.partition("# not mapped")[2] for one in left)


def test_fields_around_the_rows_are_listed(tmp_path: Path):
    draft = drafted(tmp_path, {**ablation(run_id="r"), "created": "2025-10-07"})

    assert {"^summary.n", "^config.temperature", "$.created"} <= set(draft.unmapped)
    assert "# not mapped, around the rows:" in draft.text


def test_every_column_is_called_recognised_only_if_it_was(at_home: Path):
    (at_home / "all.csv").write_text("task_id,model,passed\na,m,true\nb,m,false\n", encoding="utf-8")
    (at_home / "some.csv").write_text("task_id,model,passed,zzz\na,m,true,x\nb,m,false,y\n", encoding="utf-8")

    assert "Every column was recognised" in done("map", "--dry-run", "all.csv").out
    shown = done("map", "--dry-run", "some.csv").out
    assert "Every column was recognised" not in shown
    assert "Not mapped: zzz" in shown


def test_a_number_for_each_row_is_no_rival_of_the_case(tmp_path: Path):
    rows = "".join(f"{2 * at + of},t{at},m{of},{at % 2}\n" for at in range(4) for of in range(2))
    draft = drafted(tmp_path, f"Nr,task,model,passed\n{rows}", "log.csv")

    assert not any("`Nr`" in doubt.alternatives for doubt in draft.doubts)
