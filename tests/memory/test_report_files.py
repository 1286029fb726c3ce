"""Where reports are looked for, and what lies there that can't be read."""

import os
import re

import pytest

from errata.errors import NotFoundError
from errata.memory import report_files
from errata.memory.report_files import find_reports, folders_for

REPORT = "# A report\n\nRun: jn7abcdef\n"


def report_at(path, text=REPORT):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def folders(tmp_path, origin, cwd="here"):
    (tmp_path / cwd).mkdir(parents=True, exist_ok=True)
    found = folders_for([tmp_path / origin], cwd=tmp_path / cwd)
    return [folder.relative_to(tmp_path).as_posix() for folder in found]


@pytest.mark.req("C-03")
def test_reports_lie_in_the_working_folder_and_beside_the_run(tmp_path):
    report_at(tmp_path / "here/reports/a.md")
    report_at(tmp_path / "data/reports/b.md")

    assert folders(tmp_path, "data/run-b") == ["here/reports", "data/reports"]


def test_above_the_run_reports_are_looked_for_up_to_the_root_of_its_repository(tmp_path):
    (tmp_path / "repo/.git").mkdir(parents=True)
    for place in ("repo", "repo/results", "repo/results/week", "."):
        report_at(tmp_path / place / "reports/a.md")

    assert folders(tmp_path, "repo/results/week/run-b") == [
        "repo/results/week/reports",
        "repo/results/reports",
        "repo/reports",
    ]


def test_the_root_of_a_worktree_is_a_root_too(tmp_path):
    report_at(tmp_path / "repo/.git", "gitdir: elsewhere\n")
    report_at(tmp_path / "repo/reports/a.md")

    assert folders(tmp_path, "repo/results/run-b") == ["repo/reports"]


def test_without_a_repository_nothing_above_the_run_is_looked_at(tmp_path):
    report_at(tmp_path / "data/reports/a.md")

    assert folders(tmp_path, "data/deep/run-b") == []


def test_a_folder_that_is_named_is_the_only_one(tmp_path):
    report_at(tmp_path / "reports/a.md")
    named = report_at(tmp_path / "mine/b.md").parent

    assert folders_for([tmp_path / "run"], cwd=tmp_path, named=named) == (named,)


def test_a_named_folder_that_is_not_there_is_told(tmp_path):
    with pytest.raises(NotFoundError, match="No such folder"):
        folders_for([], cwd=tmp_path, named=tmp_path / "nowhere")


def test_a_folder_of_reports_that_is_a_link_out_of_its_place_is_not_followed(tmp_path):
    report_at(tmp_path / "secret/a.md")
    (tmp_path / "repo").mkdir()
    (tmp_path / "repo/reports").symlink_to(tmp_path / "secret")

    assert folders(tmp_path, "repo/run-b") == []


@pytest.mark.req("C-03", "A-04")
def test_every_report_below_a_folder_is_found_the_newest_name_first(tmp_path):
    for number, name in enumerate(
        (
            "acme/nimbus/jn7aaaaa_2026-01-02.md",
            "nimbus_jn7bbbbb_2026-03-04.md",
            "notes/undated.md",
            "x/y/z/deep.markdown",
        )
    ):
        report_at(tmp_path / name, f"{REPORT}{number}")

    assert [file.path.relative_to(tmp_path).as_posix() for file in find_reports([tmp_path]).files] == [
        "nimbus_jn7bbbbb_2026-03-04.md",
        "acme/nimbus/jn7aaaaa_2026-01-02.md",
        "notes/undated.md",
        "x/y/z/deep.markdown",
    ]


def test_a_report_is_called_by_its_place_from_the_folder_on(tmp_path):
    report_at(tmp_path / "reports/acme/a.md")

    assert [file.name for file in find_reports([tmp_path / "reports"]).files] == ["reports/acme/a.md"]


def test_the_same_text_twice_is_one_report(tmp_path):
    report_at(tmp_path / "one/reports/a.md")
    report_at(tmp_path / "two/reports/a.md")

    assert len(find_reports([tmp_path / "one/reports", tmp_path / "two/reports"]).files) == 1


def test_other_files_and_hidden_folders_are_passed_over(tmp_path):
    for name in ("a.txt", "b.json", ".git/c.md", ".d.md"):
        report_at(tmp_path / name)

    assert find_reports([tmp_path]).files == find_reports([tmp_path]).skipped == ()


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"# A\0B", "binary"),
        (b"# A \xff\xfe B", "no UTF-8 at byte 4"),
        (b"x" * (report_files.LARGEST + 1), "larger than 1 MB"),
        (b"a\n" * (report_files.MOST_LINES + 1), "more than 20,000 lines"),
        ("# Ä".encode("utf-16"), "binary|no UTF-8"),
    ],
)
def test_what_is_no_readable_text_is_skipped_with_a_reason(tmp_path, content, why):
    (tmp_path / "a.md").write_bytes(content)
    report_at(tmp_path / "b.md")

    shelf = find_reports([tmp_path])

    assert [file.path.name for file in shelf.files] == ["b.md"]
    (skipped,) = shelf.skipped
    assert re.search(why, skipped.why)


def test_a_byte_order_mark_is_no_part_of_the_text(tmp_path):
    (tmp_path / "a.md").write_bytes(b"\xef\xbb\xbf# A")

    assert find_reports([tmp_path]).files[0].text == "# A"


@pytest.mark.parametrize("target", ["outside.md", "../outside.md", "a.md"])
def test_a_link_out_of_the_folder_or_to_itself_is_skipped(tmp_path, target):
    report_at(tmp_path / "outside.md")
    (tmp_path / "reports").mkdir()
    (tmp_path / "reports/a.md").symlink_to(tmp_path / target if target == "outside.md" else target)

    shelf = find_reports([tmp_path / "reports"])

    assert (len(shelf.files), len(shelf.skipped)) == (0, 1)


def test_a_link_inside_of_the_folder_is_followed(tmp_path):
    report_at(tmp_path / "reports/old/a.md")
    (tmp_path / "reports/b.md").symlink_to("old/a.md")

    assert len(find_reports([tmp_path / "reports"]).files) == 1


def test_a_pipe_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "a.md")

    assert [one.why for one in find_reports([tmp_path]).skipped] == ["no regular file"]


def test_of_very_many_reports_the_newest_are_read_and_it_is_said(tmp_path, monkeypatch):
    monkeypatch.setattr(report_files, "MOST_FILES", 2)
    for day in (1, 2, 3):
        report_at(tmp_path / f"m_jn7aaaa{day}_2026-01-0{day}.md", f"{REPORT}{day}")

    shelf = find_reports([tmp_path])

    assert [file.path.name for file in shelf.files] == ["m_jn7aaaa3_2026-01-03.md", "m_jn7aaaa2_2026-01-02.md"]
    assert "more than 2 reports" in shelf.skipped[0].why
