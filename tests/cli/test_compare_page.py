"""The page of a comparison, to be read as a user reads it. `make golden` writes it anew."""

import re
from pathlib import Path

import pytest
from inline_snapshot import snapshot

from terminal import FIXTURES, done, import_fixtures

PAGE = Path(__file__).parents[2] / "docs" / "comparing.md"
COMPARED = ("1a2b3c4d", "5e6f7a8b", "9c0d1e2f", "3a4b5c6d")


@pytest.mark.req("J-24")
def test_four_conversations_two_of_one_model(library):
    assert done("compare", *COMPARED, "--store", library).out == snapshot("""\
harbour_bench · 30 turns · same suite in all 4 runs · judge judge-large-1 v7

run       model             strict = as_reported       clean
1a2b3c4d  voice-alpha #1    25/30 83.3 % [66.4, 92.7]  25/30 83.3 % [66.4, 92.7]
5e6f7a8b  voice-alpha #2    26/30 86.7 % [70.3, 94.7]  26/29 89.7 % [73.6, 96.4]
    left out of clean: 1 provider
9c0d1e2f  voice-beta        20/30 66.7 % [48.8, 80.8]  20/25 80.0 % [60.9, 91.1]
    left out of clean: 5 collateral
3a4b5c6d  acme/voice-gamma  22/30 73.3 % [55.6, 85.8]  22/28 78.6 % [60.5, 89.8]
    left out of clean: 1 provider, 1 unscored
In brackets: 95 % interval

0 of 6 pairs differ significantly (Holm). The closest to it:
voice-alpha #2 minus acme/voice-gamma: +11.1 points [-3.6, +27.1] over 27 turns (p = 1.00, exact
    McNemar): no significant difference. Only voice-alpha #2 fails: 0, only acme/voice-gamma: 3. If
    infrastructure and knock-on failures count: 1 and 4 (p = 1.00).

turn     voice-alpha #1  voice-alpha #2  voice-beta  acme/voice-gamma
turn-3   .               .               .           e
turn-5   F               .               .           .
turn-8   .               .               F           .
turn-11  F               F               F           F
turn-13  .               .               .           F
turn-14  F               F               .           F
turn-16  .               .               .           ?
turn-17  .               .               F           .
turn-19  .               e               .           .
turn-20  .               .               .           F
turn-22  F               F               F           F
turn-23  .               .               .           F
turn-24  .               .               F           .
turn-25  .               .               c           .
turn-26  F               .               c           .
turn-27  .               .               c           .
turn-28  .               .               c           .
turn-29  .               .               c           .

F fail · . pass · e empty response · c follows from turn-24 · ? not scored
(12 turns pass in all runs)

failed by all 4 runs   turn-11  Cancel both of them please.
                       turn-22  Ask Rosa to hold a life jacket for me.
failed by one run only voice-alpha #1    turn-5
                       voice-alpha #2    turn-19
                       voice-beta        turn-8, turn-17, turn-24, turn-25, turn-27, turn-28,
                                         turn-29
                       acme/voice-gamma  turn-3, turn-13, turn-20, turn-23
passed by one run only voice-beta  turn-14
only this model fails  voice-alpha       turn-5, turn-19
                       voice-beta        turn-8, turn-17, turn-24, turn-25, turn-27, turn-28,
                                         turn-29
                       acme/voice-gamma  turn-3, turn-13, turn-20, turn-23
only this never fails  voice-beta        turn-14
                       acme/voice-gamma  turn-26
                       (only knock-on in voice-beta: turn-26)
unstable               voice-alpha (2 runs)  turn-5, turn-19, turn-26
failed in every run    voice-alpha (2 runs)  turn-11, turn-14, turn-22

Suspect  2 suspect tasks by the counts alone · no model passed 2 of the 23 tasks with a result from
         all 3 models (about 0.1 expected by chance if all tasks were equally hard)
         The counts alone do not distinguish a hard task from a broken one.
         turn-11, turn-22: passed by 0 of 3 models (0 of 4 attempts); no evidence beyond the counts
           (for a task of average difficulty, so few passes have p = 0.0054)

turn-11 and turn-22 alone account for 8 of the 26 failed rows.

Ranking: no two of the 3 models differ significantly (clean, so without infrastructure failures;
pairwise tests, Holm)

No model deviates significantly in a category (6 tests, Benjamini-Hochberg). The closest is
acme/voice-gamma in tool_use, -33.1 points (p = 0.06, p = 0.37 after correction)

failed                 voice-alpha #1  voice-alpha #2  voice-beta  acme/voice-gamma  all
turns                               5               4          10                 7   26
turn_taking                         0               1           1                 1    3
tool_use_correct                    2               1           4                 3   10
instruction_following               1               1           7                 2   11
kb_grounding                        2               0           1                 1    4
ambiguity_handling                  1               1           1                 1    4
state_tracking                      1               1           2                 1    5

instead of an answer       voice-alpha #1  voice-alpha #2  voice-beta  acme/voice-gamma  all
MODEL_ENDED_SESSION                     0               0           1                 0    1
MODEL_ENDED_SESSION_EARLY               0               0           5                 0    5
EMPTY_RESPONSE                          0               1           0                 1    2

failed, by category   turns  voice-alpha #1  voice-alpha #2  voice-beta  acme/voice-gamma  all
multi_step_tool           3               1               1           2                 2    6
tool_use                  6               1               1           2                 2    6
ambiguous_entity          2               1               1           2                 1    5
cancellation_flow         1               1               1           1                 1    4
basic_qa                  8               1               1           1                 0    3
long_range_memory         4               1               0           2                 0    3
numerical_reasoning       3               0               0           0                 2    2
distractor_injection      1               0               0           1                 0    1
implicit_correction       1               0               0           1                 0    1
adversarial_trap          1               0               0           0                 0    0
cross_turn_reasoning      2               0               0           0                 0    0
negation_reasoning        1               0               0           0                 0    0
(5 failures are in several categories, counted in each)
No category is significantly harder (too few turns). Smallest p = 0.10 for cancellation_flow (1.00
after Holm correction). (Fisher's exact test over turns, 12 categories)

Next     errata report 1a2b3c4d 5e6f7a8b 9c0d1e2f 3a4b5c6d   write a report with the causes
""")


def test_a_damaged_run_against_a_whole_one(library):
    assert "\n".join(done("compare", "9c0d1e2f", "0b1c2d3e", "--store", library).out.splitlines()[:37]) == snapshot("""\
harbour_bench · 30 turns · same suite in both runs · judge judge-large-1 v7
gaps     27 of 30 turns have a result in both runs (`--common` scores only these)
NOT FIT  0b1c2d3e voice-beta (mode rehydrated): 2 of 30 planned turns are not in the log: turn-7,
         turn-18; turn-12 has 2 rows with different verdicts: 1 pass, 1 fail; openai_summary.json
         has turns_scored 30; the log has 29 rows (28 turns)

run       model                   strict                     as_reported   clean
9c0d1e2f  voice-beta              20/30 66.7 % [48.8, 80.8]  20/30 66.7 %  20/25 80.0 % [60.9, 91.1]
    left out of clean: 5 collateral
0b1c2d3e                          24/30 80.0 % [62.7, 90.5]  –             24/27 88.9 % [71.9, 96.1]
    model voice-beta (mode rehydrated)
    NOT FIT · left out of clean: 2 missing, 1 contradictory
In brackets: 95 % interval

voice-beta minus voice-beta (mode rehydrated): -9.1 points [-26.3, +7.1] over 22 turns (p = 0.50,
exact McNemar): no significant difference. Only voice-beta fails: 2, only voice-beta (mode
rehydrated): 0. If infrastructure and knock-on failures count: 7 and 0 (p = 0.02).
voice-beta (mode rehydrated) is NOT FIT: a difference from it is not reliable.

turn     voice-beta  voice-beta (mode rehydrated)
turn-7   .           -
turn-8   F           F
turn-11  F           F
turn-12  .           !
turn-17  F           .
turn-18  .           -
turn-22  F           F
turn-24  F           .
turn-25  c           .
turn-26  c           .
turn-27  c           .
turn-28  c           .
turn-29  c           .

F fail · . pass · c follows from turn-24 · - missing or unfinished · ! rows contradict each other
(17 turns pass in both runs)
""")


@pytest.mark.parametrize("field", ["--common", "--by-model", "--category", "--all", "--csv"])
def test_the_document_knows_every_option(field):
    assert f"`{field}" in PAGE.read_text(encoding="utf-8")


def test_the_document_knows_every_field_of_the_json(library):
    text = PAGE.read_text(encoding="utf-8").partition("## JSON")[2]
    row = done("compare", *COMPARED, "--json", "--store", library).row
    fields = {
        *row,
        *row["runs"][0],
        *row["matrix"][0],
        *row["pairs"][0],
        *row["pairs"][0]["all"],
        *row["categories"][0],
    }

    assert {field for field in fields if f"`{field}`" not in text} == set()


ROWS = """\
id,model,question,gold,correct
q1,m1,2 + 2?,4,yes
q2,m1,Capital of France?,Paris,no
q3,m1,Boiling point of water?,100 C,no
q1,m2,2 + 2?,4,yes
q2,m2,Capital of France?,Lyon,yes
q3,m2,Boiling point of water?,100 C,no
"""
MAP = """\
suite = "quiz"
[run]
model = { column = "model" }
[case]
name = "id"
input = "question"
expected = "gold"
[attempt]
passed = "correct"
"""


@pytest.mark.parametrize(
    ("rows", "sentence"),
    [
        (ROWS, "the runs agree on all 2 cases compared; 1 case left out: edited."),
        (ROWS.replace("Lyon,yes", "Paris,no"), "No difference: the runs agree on all 3 cases compared."),
        (
            ROWS + "q3,m2,Boiling point of water?,100 C,yes\n",
            "No conclusion: only 1 of 3 cases could be compared (the runs agree on it); "
            "2 cases left out: 1 edited, 1 mixed or not scored.",
        ),
    ],
)
def test_agreement_is_only_stated_for_the_cases_that_were_compared(rows, sentence):
    Path("rows.csv").write_text(rows)
    Path("map.toml").write_text(MAP)
    done("import", "rows.csv", "--map", "map.toml")

    assert sentence in " ".join(done("compare", "m1", "m2").out.split())


def test_runs_do_not_agree_on_cases_that_one_of_them_could_not_measure():
    import_fixtures(FIXTURES / "promptfoo/export/data/results.json")
    runs = [row["run_id"] for row in done("runs", "--json").rows if row["variant"] == {"prompt": "verbose"}]

    page = " ".join(done("compare", *runs).out.split())

    few = "No conclusion: only 1 of 3 cases could be compared (the runs agree on it); 2 cases left out: infrastructure"
    assert few in page
    assert (
        "failed by both runs – failed / not measured fails equals, threshold partial (not measured in bad-prov" in page
    )


def test_a_difference_names_which_run_is_subtracted_in_the_order_given():
    import_fixtures(FIXTURES / "conversation_bench/comparison/data")
    first, second = [row["run_id"] for row in done("runs", "--json").rows][:2]

    def difference(*runs):
        page = " ".join(done("compare", *runs).out.split())
        return re.search(r"(\S+) minus (\S+): ([+-][\d.]+) points", page).groups()

    one, other, value = difference(first, second)
    again, back, opposite = difference(second, first)

    assert (one, other) == (back, again)
    assert float(value) == -float(opposite)


def test_runs_whose_model_nobody_knows_are_not_called_models():
    Path("map.toml").write_text('suite = "s"\n[case]\nname = "case"\n[attempt]\npassed = "correct"\n')
    for name, letters in {"a": "yn", "b": "ny", "c": "nn"}.items():
        rows = "".join(f"q{at},{'yes' if letter == 'y' else 'no'}\n" for at, letter in enumerate(letters))
        Path(f"{name}.csv").write_text(f"case,correct\n{rows}")
    done("import", "a.csv", "b.csv", "c.csv", "--map", "map.toml")
    runs = [row["run_id"] for row in done("runs", "--json").rows]

    page = done("compare", *runs).out
    done("report", *runs, "-o", "report.md")

    assert " models" not in page
    assert "Failed by all 3 subjects" in Path("report.md").read_text()
