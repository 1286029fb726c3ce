"""Every enum word of a plan has a sentence."""

from typing import get_args

import pytest
from wishes import failed

from errata.model.output.act import AlsoWhy, FillIn, RerunNoteName, WhyNoCommand
from errata.rerun.plan import ALSO_WHY, FILL_IN, ByHand, PlanNote, note_text, why_by_hand


@pytest.mark.parametrize("why", get_args(WhyNoCommand))
def test_every_reason_for_no_command_has_a_sentence(why):
    sentence = why_by_hand(ByHand(failed("one"), why, "thing"))

    assert " " in sentence and "{" not in sentence


@pytest.mark.parametrize("name", get_args(RerunNoteName))
def test_every_note_has_a_sentence(name):
    sentence = note_text(PlanNote(name, ("first", "second")))

    assert " " in sentence and "{" not in sentence


def test_every_other_reason_has_a_sentence():
    assert (set(ALSO_WHY), set(FILL_IN)) == (set(get_args(AlsoWhy)), set(get_args(FillIn)))
