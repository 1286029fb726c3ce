"""How lm-evaluation-harness names things."""

import re

NAME = "lm-eval"

NO_FILTER = "none"
NO_MATCH = "[invalid]"
"""What a filter writes for an answer that it did not find."""

SAMPLES_FILE = re.compile(r"samples_(?P<task>.+?)(?:_(?P<time>\d{4}-\d\d-\d\dT[\d.:-]+\d))?\.jsonl?")


def task_of_file(name: str) -> str:
    """Rows do not name their task; only their file does."""
    named = SAMPLES_FILE.fullmatch(name)
    return named["task"] if named else name.rpartition(".")[0] or name
