"""A batch whose names and texts are hostile, from its log to what arrives at the issue tracker."""

import csv
import json
import subprocess

import pytest
from standing_in import calls, filing, put_in_place, state

from errata.render.markdown import GAP
from report_pages import DAY, working_in
from terminal import done

NAMES = (
    "plain",
    "`touch pwned`",
    "$(touch pwned)",
    "${HOME}",
    "'; touch pwned; '",
    '" && touch pwned #',
    "<script>alert(1)</script>",
    "[x](javascript:alert(1)) ![y](https://evil.example/p.png)",
    "@everyone closes #1, fixes GH-2",
    "line\nbreak\ttab",
    "../../../etc/passwd",
    "-rf --title=evil",
    "\x1b[31mred \u202egnp.exe",
    "EOF",
    "% %s %n \\\\ \\0",
    "!! history",
    "*",
    "x" * 300,
)
MAPPING = (
    '[run]\nmodel = { column = "model" }\n[case]\nname = "id"\ninput = "prompt"\n'
    '[attempt]\noutput = "answer"\npassed = "ok"\nerror = "exception"\n'
)


@pytest.fixture(scope="module")
def filed(tmp_path_factory):
    """Everything filed, from another folder; where the files lie and where the stand-in keeps its state."""
    with working_in(tmp_path_factory.mktemp("a folder $(touch pwned)")) as folder:
        rows = [
            {"model": "m", "id": name, "prompt": name, "answer": name, "ok": False, "exception": name} for name in NAMES
        ]
        (folder / "log.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
        (folder / "log.jsonl.map.toml").write_text(MAPPING)
        done("issues", "log.jsonl", "-o", "analysis", "--date", DAY)
        home = put_in_place(folder)
        result = filing(folder / "analysis", home, cwd=folder)
        assert result.returncode == 0, result.stderr
        return folder, home, result


@pytest.mark.req("S-38", "S-29")
@pytest.mark.trap(22)
def test_nothing_of_a_log_is_run(filed):
    folder, _, _ = filed

    assert not list(folder.rglob("pwned"))
    assert not list(folder.parent.glob("pwned"))


@pytest.mark.trap(22)
def test_every_test_is_filed_once_under_its_name(filed):
    _, home, _ = filed
    titles = [one["title"] for one in state(home)["issues"]][1:]

    assert len(titles) == len(NAMES)
    shown = {title.replace(GAP, "").removeprefix("[E2E] ").rpartition(" - ")[0] for title in titles}
    for name in ("$(touch pwned)", "`touch pwned`", "${HOME}", "'; touch pwned; '", "-rf --title=evil", "EOF", "*"):
        assert name in shown
    assert "line break tab" in shown


def test_titles_are_one_line_without_hidden_characters(filed):
    _, home, _ = filed

    for one in state(home)["issues"]:
        assert one["title"].isprintable() or GAP in one["title"]
        assert not set(one["title"]) & set("\n\r\t\x1b\u202e")


def test_nobody_is_called_and_no_issue_is_named_by_a_log(filed):
    _, home, _ = filed
    sent = [text for one in state(home)["issues"] for text in (one["title"], one["body"])]
    sent += [one["body"] for one in state(home)["comments"]]

    called = [text for text in sent if "@everyone" in text.replace("`@everyone", "")]
    assert not [text for text in called if "@everyone" in _outside_code(text)]
    assert not [text for text in sent if "#1," in _outside_code(text) or "GH-2" in _outside_code(text)]


def _outside_code(text):
    """Code calls nobody."""
    kept, fenced = [], False
    for line in text.split("\n"):
        fenced ^= line.startswith("```")
        kept += [] if fenced else [line]
    return "".join(part for at, part in enumerate("\n".join(kept).split("`")) if at % 2 == 0)


def test_every_body_comes_from_a_file(filed):
    _, home, _ = filed

    for call in calls(home):
        if call[:2] == ["issue", "create"]:
            assert "--body-file" in call
            assert "--body" not in call


def test_file_names_are_safe_and_below_the_folder(filed):
    folder, _, _ = filed
    names = [path.relative_to(folder / "analysis").as_posix() for path in (folder / "analysis").rglob("*.md")]

    assert len(names) == 5 + 2 * len(NAMES)
    assert all(set(name) <= set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-/") for name in names)


@pytest.mark.req("S-31")
def test_a_dry_run_shows_the_same_titles(filed):
    folder, home, _ = filed
    (folder / "analysis" / "filed.tsv").rename(folder / "filed.tsv")
    result = filing(folder / "analysis", home, "--dry-run")
    (folder / "filed.tsv").rename(folder / "analysis" / "filed.tsv")

    for one in state(home)["issues"]:
        assert one["title"] in result.stdout


def test_the_manifest_has_four_fields_a_line(filed):
    folder, _, _ = filed
    with (folder / "analysis" / "issues" / "manifest.tsv").open(newline="") as file:
        rows = list(csv.reader(file, delimiter="\t"))

    assert {len(row) for row in rows} == {4}


def test_the_script_is_the_same_for_every_batch(filed):
    folder, _, _ = filed

    assert subprocess.run(["bash", "-n", folder / "analysis" / "file_issues.sh"], check=False).returncode == 0
    assert "pwned" not in (folder / "analysis" / "file_issues.sh").read_text()
