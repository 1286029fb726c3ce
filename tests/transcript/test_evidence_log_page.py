"""docs/evidence-log.md explains every kind of observation and no other."""

import re
from pathlib import Path
from typing import get_args

from errata.model.words import ObservationKind
from errata.transcript.evidence_log import RANKING

EARLIER = {
    "contradicts_result", "speaks_for_another", "data_assumed", "unchecked_confirmation", "call_returned_nothing",
    "ended_early",
}  # fmt: skip
"""No longer observed; packets that were written before may hold them."""
PAGE = Path(__file__).parents[2] / "docs" / "evidence-log.md"


def test_the_page_explains_every_kind_of_observation_and_no_other():
    explained = re.findall(r"^\| `(\w+)` \|", PAGE.read_text(encoding="utf-8"), re.MULTILINE)

    assert sorted(explained) == sorted({*get_args(ObservationKind)} - EARLIER)


def test_every_kind_has_its_place_in_the_ranking():
    assert sorted(RANKING) == sorted({*get_args(ObservationKind)} - EARLIER)
