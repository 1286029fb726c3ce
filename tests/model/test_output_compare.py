"""The shapes of `--json` for scores and comparisons can be given as a JSON Schema."""

import msgspec
import pytest

from errata.model.output import compare, score

SHAPES = compare.SHAPES | score.SHAPES


@pytest.mark.parametrize("command", SHAPES)
def test_every_shape_has_a_schema(command):
    assert msgspec.json.schema(SHAPES[command])["$ref"]
