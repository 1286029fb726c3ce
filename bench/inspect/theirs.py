"""One reading of a log by inspect-ai itself, timed without the import of inspect-ai. Runs where inspect-ai is.

`python -m bench.inspect.theirs read_eval_log LOG` prints seconds; `messages LOG ID…` prints messages as JSON.
"""

import json
import sys
import time
from functools import partial
from typing import Any

from inspect_ai.analysis import messages_df, samples_df
from inspect_ai.log import read_eval_log

READERS: dict[str, Any] = {
    "read_eval_log": read_eval_log,
    "samples_df": partial(samples_df, quiet=True),
    "messages_df": partial(messages_df, quiet=True),
}


def main() -> None:
    what, log, *ids = sys.argv[1:]
    if what == "messages":
        print(json.dumps(messages(log, set(ids))))
        return
    started = time.perf_counter()
    result = READERS[what](log)
    print(time.perf_counter() - started)
    assert result is not None


def messages(log: str, ids: set[str]) -> dict[str, Any]:
    """Sample → its messages with the attachments put back, in the words that errata uses for them."""
    read = read_eval_log(log, resolve_attachments=True)
    return {str(one.id): [_message(message) for message in one.messages] for one in read.samples if str(one.id) in ids}


def _message(message: Any) -> dict[str, Any]:
    calls = [[call.function, call.arguments] for call in getattr(message, "tool_calls", None) or []]
    return {"role": message.role, "text": message.text, "calls": calls}


if __name__ == "__main__":
    main()
