"""Failures and packets of one bucket: a provisional cluster is read member by member."""

import pytest

from terminal import FIXTURES, done, errata, import_fixtures

COMPARED = FIXTURES / "conversation_bench" / "comparison" / "data" / "compare_20260301"


@pytest.fixture
def buckets():
    import_fixtures(COMPARED)
    return {row["slug"]: row for row in done("buckets", "list", "--json").rows if row.get("slug")}


@pytest.mark.req("J-12", "J-31")
def test_the_members_of_a_bucket_are_handed_out_to_be_read(buckets):
    slug = next(slug for slug in buckets if "partial" in slug)

    handed = done("review", "next", "3a4b5c6d", "--bucket", slug, "--format", "json", "--reviewer", "ada").row
    assert handed["packet"]["case_key"] in ("harbour_bench/turn-11", "harbour_bench/turn-20")


def test_failures_can_be_listed_by_bucket(buckets):
    slug = next(slug for slug in buckets if "partial" in slug)
    rows = done("failures", "3a4b5c6d", "--bucket", slug, "--json").rows

    assert [row["case"] for row in rows] == ["turn-11", "turn-20"]
    assert {row["bucket"]["slug"] for row in rows} == {slug}


def test_a_bucket_that_is_not_there_is_told(buckets):
    result = errata("review", "next", "3a4b5c6d", "--bucket", "nonsense")

    assert result.code == 2
    assert "No bucket is named `nonsense`" in result.talk
