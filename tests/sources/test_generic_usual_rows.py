"""Rows of a name, a verdict and an answer go a short way, which gives the records of the long one."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from errata.model.codec import pack, to_json
from errata.sources.generic import rows, with_map

MAPS = {
    "name and verdict": '[case]\nname = "id"\n[attempt]\npassed = "ok"\n',
    "with an answer": 'suite = "s"\n[case]\nname = "id"\n[attempt]\npassed = "ok"\noutput = "answer"\n',
    "with both": '[case]\nname = "id"\n[attempt]\npassed = "ok"\noutput = "more"\nanswer = "answer"\n',
    "with an answer only": '[case]\nname = "id"\n[attempt]\npassed = "ok"\nanswer = "answer"\n',
    "with one for both": '[case]\nname = "id"\n[attempt]\npassed = "ok"\noutput = "answer"\nanswer = "answer"\n',
    "with a question": '[case]\nname = "id"\ninput = "q"\n[attempt]\npassed = "ok"\noutput = "answer"\n',
    "with a category": '[case]\nname = "id"\ncategory = "kind"\n[attempt]\npassed = "ok"\n',
}
ROW = st.fixed_dictionaries(
    {"id": st.sampled_from(["a", "b#1", "c", "", None, 7])},
    optional={
        "ok": st.sampled_from([True, False, "yes", "error", 0.5, None]),
        "answer": st.sampled_from(["", "four", None, 4, ["x"]]),
        "q": st.sampled_from(["2 + 2", "", None, {"text": "?"}]),
        "kind": st.sampled_from(["sums", None]),
        "more": st.sampled_from(["text", "long " * 5_000, {"env": {"KEY": "v"}}, 2**70]),
        "@run": st.just(1),
        "@not_run": st.just(True),
    },
)


def items_of(folder: Path, mapping: str, lines: bytes) -> list[bytes]:
    (folder / "map.toml").write_text(mapping)
    (folder / "rows.jsonl").write_bytes(lines)
    return [pack(item) for item in with_map(folder / "map.toml").read(folder / "rows.jsonl")]


@pytest.mark.parametrize("mapping", MAPS.values(), ids=MAPS)
@given(data=st.lists(ROW, min_size=1, max_size=8))
def test_the_short_way_gives_the_same_records(tmp_path_factory, mapping, data):
    first = {"id": "first", "ok": True, "answer": "", "q": "", "kind": "", "more": ""}
    lines = b"".join(to_json(row) + b"\n" for row in ({**first}, *data) if 2**70 not in row.values())
    folder = tmp_path_factory.mktemp("usual")

    short = items_of(folder, mapping, lines)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rows, "usual_rows", lambda *_: None)
        long = items_of(folder, mapping, lines)

    assert short == long


@pytest.mark.parametrize(
    "more", ['score = "s"', 'error = "e"', 'index = "n"', 'threshold = 1\nscore = "s"', '[status_words]\nerror = [""]']
)
def test_a_mapping_that_asks_for_more_goes_the_long_way(tmp_path, more):
    """The short way would take these rows, which lack what is asked for, for complete ones."""
    lines = b'{"id": "a", "ok": true, "s": 0.5, "e": "timeout", "n": 3}\n' * 2
    mapping = f"{MAPS['name and verdict']}{more}\n"

    short = items_of(tmp_path, mapping, lines)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rows, "usual_rows", lambda *_: None)
        long = items_of(tmp_path, mapping, lines)

    assert short == long
