"""A program as reviewer: what it gets, what it may not do, and how it ends."""

import asyncio
import gc
import os
import sys
import time

import pytest

from errata.errors import SettingsError
from errata.model import Packet, Question, Reviewer
from errata.review.protocols import NoAnswerError, Prompt, RetryLaterError, ReviewerStoppedError, ReviewFailedError
from errata.review.reviewers.command import MOST_OUTPUT, CommandReviewer, command_for
from errata.review.reviewers.presets import PRESETS

PROMPT = Prompt(before="Read this.\n", data="x" * 300_000, after="\nAnswer.", marker="m", schema={}, hash="h")
PACKET = Packet(
    id="p",
    run={},
    case_key="c",
    attempt=1,
    attempt_id="r:c",
    facts={},
    question=Question(taxonomy="t", labels=(), rule=""),
)


def ask(code, *, environment=None, passes=()):
    preset = command_for((sys.executable, "-c", code), passes=passes)
    reviewer = CommandReviewer(preset, Reviewer(kind="command", name="p"), environment or dict(os.environ))
    return asyncio.run(reviewer.ask(PROMPT, PACKET)).text


def test_the_program_reads_the_prompt_and_its_output_is_the_answer():
    assert ask("import sys; print(len(sys.stdin.read()))").strip() == str(len(PROMPT.text))


def test_a_program_that_does_not_read_to_the_end_is_no_trouble():
    assert ask("print('done')") == "done\n"


def test_no_pipe_is_left_open_by_a_program_that_reads_nothing_and_is_already_gone():
    for _ in range(5):
        ask("import os; os.close(0); print('done', flush=True)")
    gc.collect()  # an open pipe is a ResourceWarning, which fails a test


def test_only_named_variables_are_passed():
    environment = {"PATH": os.environ["PATH"], "SECRET_TOKEN": "hush", "MY_KEY": "given"}
    code = "import os; print(os.environ.get('SECRET_TOKEN'), os.environ.get('MY_KEY'))"

    assert ask(code, environment=environment, passes=("MY_KEY",)) == "None given\n"


def test_it_works_in_an_empty_folder():
    assert ask("import os; print(os.listdir('.'))") == "[]\n"


def test_a_failing_program_is_told_with_its_last_line():
    with pytest.raises(RetryLaterError, match="ended with code 3: no quota"):
        ask("import sys; print('no quota', file=sys.stderr); sys.exit(3)")


def test_what_it_says_when_it_fails_is_redacted():
    with pytest.raises(RetryLaterError, match="redacted"):
        ask("import sys; sys.exit('bad key sk-ant-abcdefghijklmnop1234')")


def test_a_flood_of_output_is_cut_off():
    with pytest.raises(ReviewFailedError, match="more than"):
        ask(f"print('x' * {MOST_OUTPUT * 3})")


def test_a_missing_program_stops_the_reviewer():
    preset = command_for(("errata-no-such-program",))

    with pytest.raises(ReviewerStoppedError, match="can't be started"):
        asyncio.run(CommandReviewer(preset, Reviewer(kind="command", name="p")).ask(PROMPT, PACKET))


def test_what_the_program_started_ends_with_it(tmp_path):
    alive = tmp_path / "alive"
    child = f"import time\nwhile True:\n    open({str(alive)!r}, 'a').write('.'); time.sleep(0.05)"
    code = f"import subprocess, sys, time; subprocess.Popen([sys.executable, '-c', {child!r}]); time.sleep(60)"
    preset = command_for((sys.executable, "-c", code))

    async def go():
        async with asyncio.timeout(2):
            await CommandReviewer(preset, Reviewer(kind="command", name="p")).ask(PROMPT, PACKET)

    with pytest.raises(TimeoutError):
        asyncio.run(go())
    time.sleep(0.3)
    size = alive.stat().st_size
    time.sleep(0.3)
    assert alive.stat().st_size == size


DAEMON = """
import os, sys, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        {does}
    os._exit(0)
print("answered", flush=True)
"""
"""A program that leaves a child in a session of its own, with all pipes open."""


@pytest.mark.req("B-91")
@pytest.mark.parametrize(
    "does",
    ["time.sleep(8)", "[(os.write(1, b'.'), os.write(2, b'.'), time.sleep(0.01)) for _ in range(400)]"],
    ids=["sleeps", "writes on"],
)
def test_nobody_waits_for_a_daemon_that_holds_the_pipes_open(does):
    started = time.monotonic()

    assert ask(DAEMON.format(does=does)).startswith("answered\n")
    assert time.monotonic() - started < 4


def test_a_flood_of_errors_is_no_failure_and_only_its_end_is_kept():
    assert ask("import sys; sys.stderr.write('y' * 5_000_000); print('done')") == "done\n"
    with pytest.raises(RetryLaterError, match="ended with code 3: no quota"):
        ask("import sys; sys.stderr.write('y' * 5_000_000 + '\\nno quota\\n'); sys.exit(3)")


@pytest.mark.parametrize(
    "code",
    [
        "import os, time; os.close(1); os.close(2); time.sleep(60)",
        "import os, time; os.close(0); time.sleep(60)",
        "import signal, time; [signal.signal(one, signal.SIG_IGN) for one in (1, 2, 13, 15)]; time.sleep(60)",
        "import os, time; os.fork(); os.fork(); time.sleep(60)",
        "import sys, time\nwhile True: sys.stderr.write('x' * 65_536)",
    ],
    ids=["closes its output", "closes its input", "ignores signals", "forks", "floods errors"],
)
def test_a_program_that_does_not_end_ends_with_its_time(code):
    reviewer = CommandReviewer(command_for((sys.executable, "-c", code)), Reviewer(kind="command", name="p"))

    async def go():
        async with asyncio.timeout(0.5):
            await reviewer.ask(PROMPT, PACKET)

    started = time.monotonic()
    with pytest.raises(TimeoutError):
        asyncio.run(go())
    assert time.monotonic() - started < 3


@pytest.mark.parametrize("program", ["claude", "/usr/local/bin/codex", "aider"])
def test_an_agent_with_its_tools_on_is_refused(program):
    with pytest.raises(SettingsError, match="logs it would read are untrusted"):
        command_for((program, "--print"))


def test_an_agent_is_started_with_its_tools_when_the_user_says_so():
    assert command_for(("aider", "--yes"), allow_tools=True).argv == ("aider", "--yes")


@pytest.mark.parametrize("preset", PRESETS.values(), ids=lambda preset: preset.name)
def test_each_preset_names_what_it_switches_off_and_what_it_passes(preset):
    assert preset.switched_off
    assert preset.passes
    assert not any("dangerous" in part or "yolo" in part for part in preset.argv)


def test_claude_codes_answer_comes_with_its_cost():
    text, usage = PRESETS["claude"].read('{"result": "{}", "total_cost_usd": 0.25, "usage": {"input_tokens": 7}}')

    assert (text, usage.cost, usage.input, usage.cost_source) == ("{}", 0.25, 7, "reported")


def test_gemini_clis_answer_is_taken_out_of_its_object():
    text, usage = PRESETS["gemini"].read('{"response": "{}", "stats": {"models": {"m": {"tokens": {"total": 9}}}}}')

    assert (text, usage.total) == ("{}", 9)


@pytest.mark.parametrize("name", ["claude", "gemini"])
def test_output_of_another_form_is_the_answer_as_it_stands(name):
    assert PRESETS[name].read("not json")[0] == "not json"


@pytest.mark.parametrize("cost", ["-5", "true", '"1"', "null", "1e300", "[]"])
def test_what_can_not_have_been_paid_is_unknown(cost):
    _, usage = PRESETS["claude"].read(f'{{"result": "{{}}", "total_cost_usd": {cost}}}')

    assert (usage.cost, usage.cost_source) == (None, "unknown")


@pytest.mark.parametrize("tokens", ["-7", "true", "1.5", '"9"', str(2**60)])
def test_tokens_that_can_not_be_are_unknown(tokens):
    _, claude = PRESETS["claude"].read(f'{{"result": "{{}}", "usage": {{"input_tokens": {tokens}}}}}')
    _, gemini = PRESETS["gemini"].read(
        f'{{"response": "{{}}", "stats": {{"models": {{"m": {{"tokens": {{"total": {tokens}}}}}}}}}}}'
    )

    assert (claude.tokens, gemini.tokens) == (None, None)


def test_claude_codes_cached_tokens_count_towards_a_cap():
    spent = (
        '{"input_tokens": 7, "output_tokens": 20, "cache_read_input_tokens": 9000, "cache_creation_input_tokens": 800}'
    )

    _, usage = PRESETS["claude"].read(f'{{"result": "{{}}", "usage": {spent}}}')

    assert usage.tokens == 9_827


@pytest.mark.parametrize("name", ["claude", "gemini"])
@pytest.mark.parametrize(
    "output",
    ['{"result": null, "response": null}', '{"result": {}, "response": [], "usage": [], "stats": {"models": []}}',
     '{"result": "x", "response": "x", "usage": 3, "stats": {"models": {"m": 3}}}',
     '{"result": "x", "response": "x", "stats": {"models": {"m": {"tokens": 3}}}}', "[]", "null", "{" * 5_000],
)  # fmt: skip
def test_output_of_any_shape_is_an_answer_of_some_kind(name, output):
    text, usage = PRESETS[name].read(output)

    assert isinstance(text, str) and text != "None"
    assert usage.tokens is None


@pytest.mark.parametrize(
    "code", ["import sys; sys.exit(3)", f"print('x' * {MOST_OUTPUT * 3})"], ids=["fails", "floods"]
)
def test_a_program_that_was_started_may_have_to_be_paid_whatever_became_of_it(code):
    with pytest.raises(NoAnswerError) as raised:
        ask(code)

    assert raised.value.in_doubt
