"""Zip archives from strangers."""

import io
import stat
import struct
import sys
import zipfile

import pytest

from errata.errors import SourceError
from errata.sources.shared import archives
from errata.sources.shared.archives import Caps, open_archive, zip_members

if sys.version_info >= (3, 14):
    import zipfile as newer_zipfile
else:
    from backports.zstd import zipfile as newer_zipfile

CAPS = Caps(member=1000, total=3000, members=4, ratio=float("inf"))


def an_archive(tmp_path, members, compression=zipfile.ZIP_DEFLATED):
    path = tmp_path / "answers.zip"
    with zipfile.ZipFile(path, "w", compression) as archive:
        for name, data in members:
            archive.writestr(name, data)
    return path


def refusal(path):
    with pytest.raises(SourceError) as result:
        list(zip_members(path))
    assert "answers.zip" in result.value.message
    assert "unpacked folder" in result.value.hint
    return result.value.message


def test_the_files_of_a_good_archive_are_read_in_order(tmp_path):
    path = an_archive(tmp_path, [("b/convex/schema.ts", b"export"), ("a.txt", b""), ("ü ☃.md", "☃".encode())])

    assert list(zip_members(path)) == [("b/convex/schema.ts", b"export"), ("a.txt", b""), ("ü ☃.md", "☃".encode())]


OUTSIDE = [
    "../x",
    "a/../../x",
    "/etc/passwd",
    "//host/x",
    "C:/x",
    "C:x",
    "..\\x",
    "a\\..\\..\\x",
    "\\\\host\\x",
    "C:\\x",
]


@pytest.mark.parametrize("name", OUTSIDE)
def test_a_name_that_leaves_the_archive_is_refused(tmp_path, name):
    assert "leaves the archive" in refusal(an_archive(tmp_path, [("good.txt", b"x"), (name, b"x")]))


def test_a_link_is_refused(tmp_path):
    link = zipfile.ZipInfo("link")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16

    assert "leaves the archive" in refusal(an_archive(tmp_path, [(link, b"/etc/passwd")]))


def test_nothing_is_read_of_an_archive_with_one_bad_name(tmp_path):
    path = an_archive(tmp_path, [("good.txt", b"x"), ("../bad", b"x")])

    with pytest.raises(SourceError):
        next(zip_members(path))


def test_what_grows_two_hundredfold_is_a_bomb(tmp_path):
    assert "too large" in refusal(an_archive(tmp_path, [("zeros", bytes(8 * 2**20))]))


def test_a_member_over_the_cap_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(archives, "MEMBER_CAP", 1000)

    assert "too large" in refusal(an_archive(tmp_path, [("a", b"x" * 1001)], zipfile.ZIP_STORED))


def test_members_that_are_too_large_together_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(archives, "TOTAL_CAP", 1000)

    assert "too large" in refusal(an_archive(tmp_path, [(f"{number}", b"x" * 300) for number in range(4)]))


def test_too_many_members_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(archives, "COUNT_CAP", 3)

    assert "holds 4 files; at most 3" in refusal(an_archive(tmp_path, [(f"{number}", b"") for number in range(4)]))


def claiming(path, size):
    """The same archive with another size of its one member in both headers."""
    data = bytearray(path.read_bytes())
    central = data.rindex(b"PK\x01\x02")
    struct.pack_into("<I", data, 22, size)
    struct.pack_into("<I", data, central + 24, size)
    path.write_bytes(data)
    return path


def test_a_member_that_claims_to_be_huge_is_refused_unread(tmp_path):
    path = claiming(an_archive(tmp_path, [("a", b"x" * 100)]), 2**31)

    assert "too large" in refusal(path)


def test_a_member_that_claims_to_be_small_does_not_unpack_large(tmp_path):
    path = claiming(an_archive(tmp_path, [("a", bytes(50 * 2**20))]), 10)

    with pytest.raises((SourceError, zipfile.BadZipFile)):
        list(zip_members(path))


@pytest.mark.parametrize("content", [b"", b"hello", b"PK\x03\x04", b"PK\x05\x06" + bytes(18)[:10]])
def test_what_is_no_archive_is_a_bad_one(tmp_path, content):
    path = tmp_path / "answers.zip"
    path.write_bytes(content)

    with pytest.raises(zipfile.BadZipFile):
        list(zip_members(path))


def damaged_copies():
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.txt", "".join(chr(97 + number * 7919 % 26) for number in range(3000)))
    whole = buffer.getvalue()
    yield from (whole[:at] for at in range(0, len(whole), 13))
    for at in range(len(whole)):
        yield whole[:at] + bytes([whole[at] ^ 0xFF]) + whole[at + 1 :]


def test_a_damaged_archive_is_a_bad_one_or_a_hostile_one_and_nothing_else(tmp_path):
    path = tmp_path / "answers.zip"
    escaped = set()

    for data in damaged_copies():
        path.write_bytes(data)
        try:
            list(zip_members(path))
        except (zipfile.BadZipFile, SourceError):
            pass
        except Exception as error:  # noqa: BLE001 the point of the test
            escaped.add(type(error).__name__)

    assert escaped == set()


def test_an_encrypted_member_is_told_in_words(tmp_path):
    path = an_archive(tmp_path, [("a", b"x" * 100)])
    data = bytearray(path.read_bytes())
    data[6] |= 1
    data[data.rindex(b"PK\x01\x02") + 8] |= 1
    path.write_bytes(data)

    with pytest.raises((SourceError, zipfile.BadZipFile)):
        list(zip_members(path))


def packed_with_zstandard(tmp_path, members):
    path = tmp_path / "answers.zip"
    with newer_zipfile.ZipFile(path, "w", newer_zipfile.ZIP_ZSTANDARD) as archive:
        for name, data in members:
            archive.writestr(name, data)
    return path


def test_a_bomb_of_zstandard_is_a_bomb(tmp_path):
    assert "too large" in refusal(packed_with_zstandard(tmp_path, [("zeros", bytes(8 * 2**20))]))


def test_an_open_archive_gives_members_by_name(tmp_path):
    with open_archive(
        an_archive(tmp_path, [("samples/1", b"x"), ("header", b"y"), ("samples/2", b"z")]), CAPS
    ) as archive:
        assert archive.names("samples/") == ["samples/1", "samples/2"]
        assert archive.read("header") == b"y"
        assert "other" not in archive


def test_a_member_that_is_too_large_is_refused_alone(tmp_path):
    with open_archive(an_archive(tmp_path, [("large", b"x" * 1001), ("small", b"x")]), CAPS) as archive:
        with pytest.raises(zipfile.BadZipFile, match="too large"):
            archive.read("large")
        assert archive.read("small") == b"x"


@pytest.mark.parametrize(
    "members", [[("../x", b"")], [(f"{n}", b"x" * 900) for n in range(4)], [(f"{n}", b"") for n in range(5)]]
)
def test_a_hostile_archive_is_refused_when_it_is_opened(tmp_path, members):
    with pytest.raises(SourceError), open_archive(an_archive(tmp_path, members), CAPS):
        pass


def test_a_member_of_an_open_archive_that_claims_to_be_small_is_not_unpacked(tmp_path):
    path = claiming(an_archive(tmp_path, [("a", bytes(50 * 2**20))]), 10)

    with open_archive(path, CAPS) as archive, pytest.raises(zipfile.BadZipFile):
        archive.read("a")
