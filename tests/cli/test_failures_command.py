"""`errata failures`: rows with their reasons, filters that know what there is, passes that deserve a second look."""

import pytest

from terminal import done, errata


def rows(library, run, *options):
    return done("failures", run, "--json", *options, "--store", library).rows


def test_every_row_of_which_show_has_a_quote_has_a_reason(library):
    for run in ("jn709tmj", "jn7mqywb", "9c0d1e2f", "batch-gen2"):
        for row in rows(library, run):
            quoted = done("show", row["attempt_id"], "--json", "--store", library).row["explanation"]["because"][1]

            assert bool(row["reason"]) == bool(quoted), row["case"]


@pytest.mark.parametrize(
    ("option", "typed", "hint"),
    [
        ("--failed-check", "esslint", "did you mean `eslint`?"),
        ("--category", "queries", "did you mean `002-queries`?"),
        ("--case", "batchinsert", "did you mean `003-mutations/005-batch_insert`?"),
    ],
)
def test_a_filter_that_names_nothing_is_a_slip(library, option, typed, hint):
    result = errata("failures", "jn7mqywb", option, typed, "--store", library)

    assert result.code == 2
    assert f"is named `{typed}`" in result.err
    assert f"hint: {hint}\n" in result.err


@pytest.mark.parametrize(("option", "what"), [("--bucket", "bucket"), ("--category", "category")])
def test_that_nothing_of_the_kind_is_known_makes_it_no_answer(tmp_path, option, what):
    (tmp_path / "rows.jsonl").write_text('{"id": "a", "passed": false}\n')
    (tmp_path / "map.toml").write_text('suite = "s"\n[case]\nname = "id"\n[attempt]\npassed = "passed"\n')
    done("import", "rows.jsonl", "--map", "map.toml")

    result = errata("failures", "latest", option, "nope")

    assert result.code == 2
    assert f"No {what} is named `nope`" in result.err


@pytest.mark.parametrize("filters", [["--failed-check", "filesystem"], ["--case", "000-greeting_query"]])
def test_a_filter_that_fits_no_failure_is_an_answer(library, filters):
    result = done("failures", "jn7mqywb", *filters, "--store", library)

    assert result.out.splitlines()[1:] == ["No failure matches the filters: 9 failures in 25 attempts, none listed"]


def test_a_check_that_only_one_of_two_runs_knows_is_no_slip(library):
    result = errata("failures", "jn7mqywb", "9c0d1e2f", "--failed-check", "eslint", "--json", "--store", library)

    assert result.code == 0
    assert {row["run"][:8] for row in result.rows} == {"jn7mqywb"}


def test_passes_that_deserve_a_second_look_are_a_list_of_their_own(library):
    page = done("failures", "9c0d1e2f", "--suspicious", "--store", library).out

    assert "recites_reference" in page
    assert page.splitlines()[1].endswith(" of 20 passes look suspicious; scores count them as passed")
    assert page.endswith("conf = confidence in the suspicion: certain, likely or weak\n")


def test_suspicious_passes_are_passes(library):
    found = rows(library, "9c0d1e2f", "--suspicious", "--case", "turn-2", "--limit", "2")

    assert len(found) == 2
    assert all(row["outcome"] == "pass" and row["suspicion"] and row["where"] for row in found)


def test_a_pass_has_no_owner_to_filter_by(library):
    result = errata("failures", "9c0d1e2f", "--suspicious", "--owner", "model", "--store", library)

    assert result.code == 2
    assert "`--suspicious` lists passes" in result.err
