"""Which files of a folder a mapping reads as one table."""

from pathlib import Path

import pytest

from errata.model import Attempt
from errata.sources.generic import FOLDER_MAP, MAP_SUFFIX, reader, tables, with_map

ROW = b'{"id": "%d", "ok": true}'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / ".results"
    names = ("b.json", "a.json", "A.json", "c.txt", "deep/a.json", "deep/er/[x].json", "deep-er/a.json", ".git/a.json",
             "deep/.b.json", f"a.json{MAP_SUFFIX}", f"deep/{FOLDER_MAP}", "d.json/in.json", "x\ny.json")  # fmt: skip
    for number, name in enumerate(names):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(ROW % number)
    (folder / "link.json").symlink_to("b.json")
    (folder / "gone.json").symlink_to("nowhere")
    (folder / "linked").symlink_to("deep")
    return folder


@pytest.mark.parametrize(
    "pattern",
    [
        "*.json",
        "**/*.json",
        "**/a.*",
        "a.json",
        "*",
        "**/*",
        "[ab].json",
        "**/[[]x].json",
        "*/*.json",
        "**/er/*.json",
        "d*/**/*.json",
        "**/?.json",
        "no.json",
    ],
)
def test_a_pattern_means_what_glob_takes_it_for(folder: Path, pattern: str):
    plain = (path for path in folder.glob(pattern) if path.is_file() and not path.is_symlink())
    visible = [path for path in plain if not any(part.startswith(".") for part in path.relative_to(folder).parts)]
    wanted = sorted(path for path in visible if not path.name.endswith((MAP_SUFFIX, FOLDER_MAP)))

    assert reader.matching_files(folder, pattern) == wanted


@pytest.mark.parametrize("size", [100, tables.SMALL - 1, tables.SMALL, tables.SMALL + 1])
def test_a_small_document_is_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: int):
    """Without a file object. A longer one is read again: only its beginning is needed to see what it is."""
    mapping = tmp_path / "map.toml"
    mapping.write_text('rows = "."\nfiles = "*.json"\n[case]\nname = "id"\n[attempt]\npassed = "ok"\n')
    start, end = b'{"ok": true, "id": "', b'"}'
    (tmp_path / "a.json").write_bytes(start + b"x" * (size - len(start) - len(end)) + end)
    opened: list[str] = []
    plain_open = Path.open

    def noted(self: Path, *args, **options):
        opened.append(self.name)
        return plain_open(self, *args, **options)

    monkeypatch.setattr(Path, "open", noted)
    (attempt,) = [item for item in with_map(mapping).read(tmp_path) if isinstance(item, Attempt)]

    assert attempt.ref.file == "a.json"
    assert opened.count("a.json") == (0 if size < tables.SMALL else 2)
