"""A row that can't be read is data: one item is noted, the rest is imported, and `check` tells of it."""

import shutil
from pathlib import Path

import pytest

from terminal import FIXTURES, Said, done, errata

COMPARISON = FIXTURES / "conversation_bench" / "comparison" / "data" / "compare_20260301"
JUDGED = COMPARISON / "runs" / "harbour_bench" / "20260301T100000_voice-alpha_1a2b3c4d"


def import_with(tmp_path: Path, change) -> Said:
    """The run with the row of turn 3 changed."""
    copy = Path(shutil.copytree(JUDGED, tmp_path / JUDGED.name))
    lines = (copy / "openai_judged.jsonl").read_bytes().splitlines(keepends=True)
    (copy / "openai_judged.jsonl").write_bytes(b"".join(change(lines)))
    return done("import", copy)


CHANGES = {
    "half a last line": (lambda lines: [*lines[:-1], lines[-1][:40]], 30, "truncated"),
    "a wrong encoding": (lambda lines: [*lines[:3], "é".encode("latin-1") + lines[3], *lines[4:]], 4, "not UTF-8"),
    "not an object": (lambda lines: [*lines[:3], b"[1, 2]\n", *lines[4:]], 4, ""),
    "no JSON at all": (lambda lines: [*lines[:3], b"Traceback:\n", *lines[4:]], 4, "malformed"),
}


@pytest.mark.parametrize(("change", "line", "why"), CHANGES.values(), ids=CHANGES)
def test_a_bad_row_is_a_finding_with_its_place(tmp_path, change, line, why):
    import_with(tmp_path, change)

    (finding,) = [one for one in errata("check", "latest", "--json").row["findings"] if one["name"] == "unreadable"]

    assert finding["severity"] == "warning"
    assert finding["numbers"] == {"items": 1}
    assert (finding["evidence"][0]["ref"]["file"], finding["evidence"][0]["ref"]["line"]) == (
        "openai_judged.jsonl",
        line,
    )
    assert why in finding["evidence"][0]["stated"]


def test_many_bad_rows_are_counted_and_a_few_are_quoted(tmp_path):
    result = import_with(tmp_path, lambda lines: [b"{\n" for _ in lines[:12]] + lines[12:])

    assert "note: 12 items of" in result.err
    assert result.err.count("openai_judged.jsonl:") == 5
    assert "`errata check RUN` lists the others" in result.err


def test_the_listing_notes_what_could_not_be_read(tmp_path):
    import_with(tmp_path, CHANGES["half a last line"][0])

    assert "1 unreadable" in done("runs").out.splitlines()[-1]


def test_every_file_of_a_run_may_be_missing_its_end(tmp_path):
    """Each file in turn is cut in half: whatever becomes of it, the command ends in words."""
    copy = Path(shutil.copytree(JUDGED, tmp_path / JUDGED.name))
    for path in sorted(copy.iterdir()):
        whole = path.read_bytes()
        path.write_bytes(whole[: len(whole) // 2])

        assert errata("import", copy, "--store", tmp_path / f"{path.name}.db").code == 0

        path.write_bytes(whole)


@pytest.mark.parametrize("damage", [b"\\ud800", b"\xff", b"\xed\xa0\x80"], ids=["surrogate", "byte", "raw surrogate"])
def test_a_damaged_character_is_a_finding_with_its_place_and_its_row_counts(tmp_path, damage):
    def spoil(lines):
        before, field, after = lines[3].partition(b'"assistant_text": "')
        assert field
        return [*lines[:3], before + field + damage + after, *lines[4:]]

    result = import_with(tmp_path, spoil)

    assert "could not be read" not in result.err
    counts = done("runs", "--json").row["counts"]
    assert (counts["unreadable"], counts["counted"], counts["executions"].get("missing", 0)) == (0, 30, 0)
    found = {one["name"]: one for one in errata("check", "latest", "--json").row["findings"]}
    assert "unreadable" not in found
    assert found["damaged_values"]["numbers"] == {"items": 1}
    assert found["damaged_values"]["evidence"][0]["ref"]["line"] == 4
