"""`--json` of reports, reruns and writebacks has the shapes of the model, and none of errata's own sentences."""

import re

import msgspec
import pytest

from errata.model.output import act, report
from report_pages import BATCH, COMPARISON, EARLIER, RUN_B, UNJUDGED
from terminal import done

SHAPES = report.SHAPES | act.SHAPES
COMMANDS = {
    "report --profile run": ("report", RUN_B, "--reports", EARLIER),
    "report --profile comparison": ("report", "--comparison-dir", COMPARISON, "-o", "results"),
    "report --profile batch": ("report", BATCH, "-o", "analysis"),
    "report (transcripts)": ("report", UNJUDGED),
    "issues": ("issues", RUN_B),
    "rerun": ("rerun", RUN_B),
}
OWN_WORDS = re.compile(
    r"nobody has read|nothing about the model|to answer for|No rule points|beyond chance|not reviewed|significant"
)
KEY = re.compile(r'"\w+":')


@pytest.mark.parametrize("command", SHAPES)
def test_every_shape_has_a_schema(command):
    assert msgspec.json.schema(SHAPES[command])["$ref"]


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_prints_its_shape_and_no_sentence_of_its_own(command, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = done(*COMMANDS[command], "--json")

    found = msgspec.convert(result.row, SHAPES[command])
    assert msgspec.to_builtins(found).keys() == result.row.keys()
    assert not OWN_WORDS.search(KEY.sub("", result.out))
