"""Logs of any size, made from a seed: judged turns, chat transcripts, small rows."""

import json
import random
from pathlib import Path

WORDS = [
    "the",
    "harbour",
    "opens",
    "at",
    "nine",
    "and",
    "the",
    "ferry",
    "to",
    "the",
    "island",
    "leaves",
    "every",
    "hour",
    "from",
    "pier",
    "four",
    "unless",
    "the",
    "wind",
    "is",
    "strong",
    "please",
    "book",
    "two",
    "seats",
    "for",
    "saturday",
    "morning",
    "under",
    "my",
    "name",
    "and",
    "cancel",
    "the",
    "earlier",
    "one",
    "if",
    "that",
    "is",
    "still",
    "possible",
]

DIMENSIONS = (
    "turn_taking",
    "tool_use_correct",
    "instruction_following",
    "kb_grounding",
    "ambiguity_handling",
    "state_tracking",
)


def judged_run(folder: Path, size: int, seed: int = 1) -> Path:
    """A conversation-bench run folder with one judged file of about `size` bytes."""
    folder.mkdir(parents=True)
    chance = random.Random(seed)
    turns = written = 0
    with (folder / "openai_judged.jsonl").open("w", encoding="utf-8") as file:
        while written < size:
            written += file.write(json.dumps(_turn(turns, chance)) + "\n")
            turns += 1
    runtime = {"model_name": "voice-bench", "turns": turns, "note": "load_bench"}
    (folder / "runtime.json").write_text(json.dumps(runtime))
    return folder


def transcripts(folder: Path, size: int, seed: int = 2) -> Path:
    """JSON lines of about 20 kB, each an attempt with twenty chat messages, and their mapping.

    The text repeats itself as an agent's transcript does (stock phrases, tool output quoted again): zstd packs it
    about as real transcripts, 4 to 10 times.
    """
    folder.mkdir(parents=True)
    chance = random.Random(seed)
    phrases = [_text(chance, chance.randint(6, 16)) for _ in range(300)]
    path, number, written = folder / "attempts.jsonl", 0, 0
    with path.open("w", encoding="utf-8") as file:
        while written < size:
            row = {"id": f"task-{number}", "passed": number % 3 > 0, "answer": _text(chance, 30)}
            written += file.write(json.dumps(row | {"messages": _messages(phrases, chance)}) + "\n")
            number += 1
    (folder / "map.toml").write_text(
        'suite = "chat"\n[run]\nmodel = "bench"\n[case]\nname = "id"\n'
        '[attempt]\npassed = "passed"\noutput = "answer"\nmessages = "messages"\n'
    )
    return path


def small_rows(folder: Path, rows: int) -> Path:
    """JSON lines of about 90 bytes each, and their mapping."""
    folder.mkdir(parents=True)
    path = folder / "attempts.jsonl"
    with path.open("w", encoding="utf-8") as file:
        for number in range(rows):
            answer = (number * 7919) % 1000
            file.write(
                f'{{"id": "q-{number}", "answer": "{answer}", "gold": "{number % 1000}", "ok": {_bool(answer % 4)}}}\n'
            )
    (folder / "map.toml").write_text(
        'suite = "small"\n[run]\nmodel = "bench"\n[case]\nname = "id"\n[attempt]\npassed = "ok"\noutput = "answer"\n'
    )
    return path


def _turn(number: int, chance: random.Random) -> dict[str, object]:
    fails = chance.random() < 0.2
    scores = dict.fromkeys(DIMENSIONS[:4], True) | {DIMENSIONS[4]: None, DIMENSIONS[5]: number % 2 == 0 or None}
    if fails:
        scores[DIMENSIONS[chance.randrange(4)]] = False
    called = number % 4 == 0
    return {
        "ts": f"2026-03-01T{number // 3600 % 24:02}:{number // 60 % 60:02}:{number % 60:02}.000Z",
        "turn": number,
        "model_name": "voice-bench",
        "user_text": _text(chance, 12),
        "assistant_text": _text(chance, 20),
        "tool_calls": [{"name": "book", "args": {"name": "Lena", "slot": "Fri 11:00"}}] if called else [],
        "tool_results": [{"name": "book", "response": {"status": "success", "booking": "B-1"}}] if called else [],
        "tokens": {
            "prompt_tokens": 900 + number % 100,
            "completion_tokens": 30,
            "total_tokens": 930 + number % 100,
            "cache_read_input_tokens": 0,
            "cache_creation_input_tokens": 0,
        },
        "ttfb_ms": 300 + number % 200,
        "latency_ms": 2000 + number % 900,
        "reconnection_count": 0,
        "scores": scores,
        "judge_reasoning": _text(chance, 14) if fails else "All applicable checks hold.",
    }


def _messages(phrases: list[str], chance: random.Random) -> list[dict[str, str]]:
    replies: list[str] = []
    for at in range(20):
        quoted = chance.choice(replies)[:400] if at > 2 else ""
        fresh = ". ".join([_text(chance, 25), *chance.choices(phrases, k=9 if quoted else 15)])
        replies.append(f"{fresh}\n> {quoted}" if quoted else fresh)
    return [{"role": "user" if at % 2 == 0 else "assistant", "content": text} for at, text in enumerate(replies)]


def _text(chance: random.Random, words: int) -> str:
    return " ".join(chance.choices(WORDS, k=words))


def _bool(value: int) -> str:
    return "true" if value else "false"
