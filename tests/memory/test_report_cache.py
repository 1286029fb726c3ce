"""What was read out of reports is report_cache, as long as nothing has changed."""

import pytest

from errata.memory import report_files as report_cache
from errata.memory.report_files import FEWEST, ReportCache
from errata.model.prior_report import PriorFailure, PriorReport


def a_report(name):
    return PriorReport(path=name, digest="d", failures=(PriorFailure(case="a/b", label="KNOWN_GAP"),), gaps=("a/b",))


def unreadable():
    raise AssertionError("read again")


@pytest.fixture
def filled(tmp_path):
    cache = ReportCache(tmp_path / "errata.db.reports")
    for number in range(FEWEST):
        cache.get(str(number), lambda number=number: a_report(str(number)))
    cache.save()
    return tmp_path / "errata.db.reports"


def test_a_text_is_read_once(filled):
    assert ReportCache(filled).get("1", unreadable) == a_report("1")


def test_within_one_process_nothing_has_to_be_written_for_that(tmp_path):
    cache = ReportCache(tmp_path / "x.reports")
    cache.get("1", lambda: a_report("1"))
    cache.save()

    assert cache.get("1", unreadable) == a_report("1")
    assert list(tmp_path.iterdir()) == []


def test_only_its_owner_may_look_into_the_file(filled):
    assert filled.stat().st_mode & 0o077 == 0


def test_what_other_code_has_read_is_not_taken_over(filled, monkeypatch):
    monkeypatch.setattr(report_cache, "_parser_version", lambda: "another")

    assert ReportCache(filled).get("1", lambda: a_report("new")).path == "new"


@pytest.mark.parametrize("content", [b"", b"\xff\xff", b"\x81\xa4code\xc0"])
def test_a_damaged_file_is_as_good_as_none(filled, content):
    filled.write_bytes(content)

    assert ReportCache(filled).get("1", lambda: a_report("new")).path == "new"


def test_a_folder_that_is_gone_keeps_nothing_and_nobody_minds(tmp_path):
    cache = ReportCache(tmp_path / "gone" / "x.reports")
    for number in range(FEWEST):
        cache.get(str(number), lambda number=number: a_report(str(number)))

    cache.save()

    assert not (tmp_path / "gone").exists()
