"""Twelve pairs of runs whose results are numbers: the mean, the sign, the interval, the gate."""

import csv
import json
import re
from pathlib import Path
from random import Random
from statistics import fmean

import pytest

from terminal import FIXTURES, done, errata

NUMBERS = FIXTURES.parent / "numbers"
INSPECT = {
    "answers": (0.722917, 0.441042),
    "overlap": (0.876667, 0.594583),
    "rubric": (0.791667, 0.416667),
    "judged": (6.625, 6.416667),
    "tries": (0.627319, 0.491042),
}
OWN = {
    "plain.csv": (0.25, {}),
    "repeats.csv": (0.12, {"tries": 3}),
    "ten.csv": (2.5, {"scale": 10}),
    "equal.csv": (0.0, {"noise": 0.2}),
    "rows.jsonl": (0.3, {}),
    "errors.jsonl": (-0.2, {"field": "score"}),
}
"""By how much `good` is higher on average; fewer errors are better."""


def rows_of(apart, *, tries=1, scale=1, noise=0.05, field="f1"):
    chance = Random(apart)
    for case in range(40):
        middle = 0.5 * scale + chance.gauss(0, 0.08 * scale)
        for model, half in (("good", apart / 2), ("bad", -apart / 2)):
            for number in range(tries):
                value = round(middle + half + chance.gauss(0, noise * scale), 4)
                yield {"case": f"q{case}", "model": model, "run": number + 1, "category": "ab"[case % 2], field: value}


def write_own(name):
    apart, how = OWN[name]
    rows = list(rows_of(apart, **how))
    field = how.get("field", "f1")
    with Path(name).open("w", encoding="utf-8", newline="") as file:
        if name.endswith(".csv"):
            writer = csv.DictWriter(file, rows[0])
            writer.writeheader()
            writer.writerows(rows)
        else:
            file.writelines(f"{json.dumps(row)}\n" for row in rows)
    done("map", name)
    if field == "score":
        mapping = Path(f"{name}.map.toml")
        text = mapping.read_text(encoding="utf-8").replace("[attempt]\n", "[attempt]\nlower_is_better = true\n")
        mapping.write_text(text, encoding="utf-8")
    return tuple(fmean(row[field] for row in rows if row["model"] == model) for model in ("good", "bad"))


def pairs():
    for name, means in INSPECT.items():
        yield pytest.param(name, ("mockllm/alpha", "mockllm/beta"), means, None, id=f"inspect {name}")
    yield pytest.param("coverage", ("wide", "narrow"), None, None, id="promptfoo coverage")
    for name, (apart, _) in OWN.items():
        yield pytest.param(name, ("good", "bad"), None, apart, id=name)


@pytest.mark.req("N-03")
@pytest.mark.parametrize(("name", "models", "means", "apart"), list(pairs()))
def test_a_pair_of_numbers_has_its_means_its_sign_and_its_gate(at_home, name, models, means, apart):
    if name in OWN:
        means = write_own(name)
        done("import", name)
    elif name in INSPECT:
        done("import", *(str(NUMBERS / f"{name}-{one}.eval") for one in ("alpha", "beta")))
    else:
        means, models = coverage()
        done("import", *(str(NUMBERS / f"coverage-{one}.json") for one in ("wide", "narrow")))
    run_of = "run" if name == "coverage" else "model"
    by_model = {run[run_of]: run["run_id"] for run in map(json.loads, done("runs", "--json").out.splitlines())}
    better, worse = (by_model[model] for model in models)

    compared = json.loads(done("compare", better, worse, "--json").out)
    shares = compared["pairs"][0]["shares"]
    found = [column["scores"]["strict"]["mean"] for column in compared["columns"]]
    assert found == pytest.approx(means, abs=1e-6)
    assert shares["mean"] == pytest.approx(means[0] - means[1], abs=1e-6)
    truth = means[0] - means[1] if apart is None else apart
    assert shares["interval"][0] <= truth <= shares["interval"][1]

    is_told = name not in ("judged", "equal.csv")
    assert shares["differs"] == is_told
    assert errata("gate", worse, "--baseline", better).code == (1 if is_told else 0)
    assert errata("gate", better, "--baseline", worse).code == 0
    assert errata("gate", worse, "--baseline", better, "--max-drop", "0.9").code == (
        1 if name in ("rubric", "ten.csv") else 0
    )
    on_a_larger_scale = name in ("judged", "ten.csv")
    assert errata("gate", worse, "--baseline", better, "--max-drop", "5").code == (0 if on_a_larger_scale else 2)
    assert errata("gate", worse, "--max-drop", "0.1").code == 2
    shown = (
        done("compare", better, worse).out + done("score", better).out + errata("gate", worse, "--baseline", better).out
    )
    assert not re.search(r"\b0/\d|\b0 of \d", shown.replace("0 of 8 failures reviewed", ""))


def coverage():
    """The mean score and the id of each of promptfoo's two files."""
    files = [json.loads((NUMBERS / f"coverage-{name}.json").read_text(encoding="utf-8")) for name in ("wide", "narrow")]
    means = tuple(fmean(row["score"] for row in file["results"]["results"]) for file in files)
    return means, tuple(file["evalId"] for file in files)
