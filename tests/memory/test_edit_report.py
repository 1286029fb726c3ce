"""A report on the disk is edited whole or not at all."""

import os
from concurrent.futures import ThreadPoolExecutor

import pytest

from errata.errors import NotFoundError, ReportError
from errata.memory.actions import edit_report
from errata.memory.actions_section import Edited, with_entry
from errata.memory.entries import entry_for
from errata.model import Action


@pytest.fixture
def report(tmp_path):
    path = tmp_path / "reports" / "one.md"
    path.parent.mkdir()
    path.write_bytes(b"## Actions taken\r\n\r\nNone")
    return path


def adding(number=1):
    action = Action(id="1", what=f"change {number}", path="lint.mjs", addresses=("000/002",), date="2026-03-04")
    return lambda data: with_entry(data, entry_for(action))


def test_the_edit_is_written(report):
    edited = edit_report(report, adding())

    assert report.read_bytes() == edited.data
    assert b"change 1" in edited.data


def test_nothing_but_the_report_is_left_behind(report):
    edit_report(report, adding())

    assert [path.name for path in report.parent.iterdir()] == ["one.md"]


def test_a_dry_run_writes_nothing(report):
    before = report.read_bytes()

    assert edit_report(report, adding(), dry_run=True).data != before
    assert report.read_bytes() == before


def test_the_mode_is_kept(report):
    report.chmod(0o640)
    edit_report(report, adding())

    assert report.stat().st_mode & 0o777 == 0o640


def test_what_changes_nothing_touches_nothing(report):
    edit_report(report, adding())
    before = report.stat()
    edit_report(report, adding())

    assert (report.stat().st_ino, report.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


def test_a_link_inside_the_folder_stays_a_link(report):
    link = report.with_name("latest.md")
    link.symlink_to(report.name)
    edit_report(link, adding(), folder=report.parent)

    assert link.is_symlink()
    assert b"change 1" in report.read_bytes()


def test_a_link_that_leads_out_of_the_folder_is_refused(report, tmp_path):
    outside = tmp_path / "config.md"
    outside.write_text("# mine\n")
    link = report.with_name("link.md")
    link.symlink_to(outside)

    with pytest.raises(ReportError, match="leads out of"):
        edit_report(link, adding(), folder=report.parent)
    assert outside.read_text() == "# mine\n"


def test_a_folder_that_is_a_link_is_followed_by_name_only(report, tmp_path):
    (tmp_path / "other").symlink_to(report.parent)
    edit_report(tmp_path / "other" / "one.md", adding())

    assert b"change 1" in report.read_bytes()


@pytest.mark.parametrize("name", ["eslint.config.mjs", "TASK.txt", "errata.toml", "report.md.bak"])
def test_only_markdown_is_edited(report, name):
    other = report.with_name(name)
    other.write_text("## Actions taken\n")

    with pytest.raises(ReportError, match="is not a markdown file"):
        edit_report(other, adding())
    assert other.read_text() == "## Actions taken\n"


def test_a_link_with_the_name_of_a_report_to_something_else_is_refused(report):
    code = report.with_name("code.py")
    code.write_text("x = 1\n")
    link = report.with_name("code.md")
    link.symlink_to(code)

    with pytest.raises(ReportError):
        edit_report(link, adding())


def test_a_report_that_is_not_there_is_told_so(report):
    with pytest.raises(NotFoundError):
        edit_report(report.with_name("two.md"), adding())


def test_a_link_to_itself_is_told_so(report):
    loop = report.with_name("loop.md")
    loop.symlink_to(loop)

    with pytest.raises(NotFoundError):
        edit_report(loop, adding())


def test_a_read_only_report_is_left_alone(report):
    report.chmod(0o444)

    with pytest.raises(ReportError, match="read-only"):
        edit_report(report, adding())


def test_a_file_that_is_no_text_is_left_alone(report):
    report.write_bytes(b"\xff\xfe#\x00 \x00")

    with pytest.raises(ReportError, match="is not a text"):
        edit_report(report, adding())


def test_what_somebody_saves_meanwhile_is_not_lost(report):
    """The editor is faster, once: the edit is made anew of what was saved."""
    saved = []

    def edit(data):
        if not saved:
            saved.append(report.write_bytes(b"# by hand\n\n## Actions taken\n\n- mine\n"))
        return adding()(data)

    edit_report(report, edit)

    assert b"- mine\n- 2026-03-04" in report.read_bytes()


def test_a_file_that_somebody_exchanges_meanwhile_is_not_lost(report):
    saved = []

    def edit(data):
        if not saved:
            saved.append(report.with_name("new.md"))
            saved[0].write_bytes(b"## Actions taken\n\n- mine\n")
            saved[0].replace(report)
        return adding()(data)

    edit_report(report, edit)

    assert b"- mine\n- 2026-03-04" in report.read_bytes()


def test_a_file_that_changes_all_the_time_is_given_up(report):
    def edit(data):
        report.write_bytes(data + b"x")
        return Edited(data + b"y", 1, "")

    with pytest.raises(ReportError, match="keeps changing"):
        edit_report(report, edit)
    assert b"y" not in report.read_bytes()


def test_an_edit_that_fails_leaves_the_report_as_it_was(report, monkeypatch):
    def full(_):
        raise OSError(28, "No space left on device")

    before = report.read_bytes()
    monkeypatch.setattr(os, "fsync", full)

    with pytest.raises(ReportError, match="No space left"):
        edit_report(report, adding())
    assert report.read_bytes() == before
    assert [path.name for path in report.parent.iterdir()] == ["one.md"]


def test_many_at_once_lose_nothing(report):
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda number: edit_report(report, adding(number)), range(40)))

    text = report.read_bytes()
    assert all(b"` change %d (" % number in text for number in range(40))
