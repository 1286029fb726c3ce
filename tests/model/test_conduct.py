"""What the subject did, counted from the steps of any source."""

import pytest

from errata.model import Actor, Conduct, Step, ToolCall, ToolError, ToolResult, Usage
from errata.model.conduct import conduct_of


def said(*turns, role="assistant"):
    return [Step(index=0, actor=Actor(role=role), text=text) for text in turns]


def called(*commands, name="Bash", key="command"):
    return [
        Step(
            index=0,
            actor=Actor(role="assistant"),
            kind="tool_call",
            tool_calls=(ToolCall(name=name, arguments={key: one}),),
        )
        for one in commands
    ]


def counted(*groups, known=None):
    steps = [step for group in groups for step in group]
    numbered = [
        Step(**{name: getattr(step, name) for name in step.__struct_fields__} | {"index": at})
        for at, step in enumerate(steps)
    ]
    return conduct_of(numbered, known)


def test_a_log_without_steps_of_the_subject_has_no_conduct():
    assert conduct_of(()) is None
    assert counted(said("do it", role="user")) is None


def test_turns_and_calls_are_counted_a_text_and_its_calls_as_one_turn():
    conduct = counted(
        said("task", role="user"), said("I look"), called("ls"), said("I read"), called("cat a"), said("done")
    )

    assert (conduct.turns, conduct.calls) == (3, 2)
    assert conduct == Conduct(turns=3, calls=2)


@pytest.mark.parametrize("command", ["", " ", ":", ": ls -la /app", ",", "]}", ">", "..."])
def test_commands_that_do_nothing_are_empty_calls(command):
    conduct = counted(called("ls", command))

    assert (conduct.empty_calls.count, conduct.empty_calls.step) == (1, 1)
    assert conduct.mangled_calls is None


@pytest.mark.parametrize("command", [":ls -la", ",cat x", ">x", "]}ls", ";pwd", "=python a.py"])
def test_commands_that_begin_with_stray_characters_are_mangled(command):
    conduct = counted(called("ls", command))

    assert (conduct.mangled_calls.count, conduct.mangled_calls.step) == (1, 1)
    assert (conduct.mangled_calls.stated, conduct.mangled_calls.quote) == ("Bash", command)


@pytest.mark.parametrize(
    "command",
    ["./run.sh", "/usr/bin/ls", "~/x", "$HOME/x", "(cd a; ls)", "[ -f x ]", "{ ls; }", "# note\nls", '"$X" y',
     ": > file", ': "${DIR:=/tmp}"', ": && ls", "! grep x", "\\cp a b", "@echo", "-la", "`which ls`", "é", "!!"],
)  # fmt: skip
def test_commands_of_a_shell_that_begin_with_other_than_letters_are_fine(command):
    conduct = counted(called("ls", command))

    assert conduct.empty_calls is conduct.mangled_calls is None


def test_waiting_keys_and_vim_commands_are_fine():
    conduct = counted(called("", "\n", ":wq\n", "\x1b", key="keystrokes", name="send_keys"))

    assert conduct.empty_calls is None
    assert conduct.mangled_calls is None


def test_a_call_without_arguments_is_empty_only_where_the_tool_takes_some():
    bare = [
        Step(index=0, actor=Actor(role="assistant"), tool_calls=(ToolCall(name=name, arguments={}),))
        for name in ("Bash", "finish", "lookup")
    ]

    assert counted(bare).empty_calls.count == 1
    assert counted(bare, called("x", name="lookup", key="what")).empty_calls.count == 2


def test_errors_of_tools_are_counted_exit_codes_are_not():
    calls = (
        ToolCall(name="a", arguments={"x": 1}, result=ToolResult(text="no such tool", is_error=True)),
        ToolCall(name="b", arguments={"x": 1}, error=ToolError(type="timeout", message="too slow")),
        ToolCall(name="c", arguments={"x": 1}, result=ToolResult(text="1 failed", exit_code=1)),
    )
    conduct = conduct_of([Step(index=4, actor=Actor(role="assistant"), tool_calls=calls)])

    assert (conduct.failed_calls.count, conduct.failed_calls.quote) == (2, "no such tool")


def test_the_longest_run_of_one_call_is_found():
    conduct = counted(called("a", "b", "b", "b", "c", "b", "b"))

    assert (conduct.repeated_call.count, conduct.repeated_call.step) == (3, 1)
    assert conduct.repeated_call.stated == "Bash: b"


@pytest.mark.parametrize(
    "text",
    [
        'I look.\n```json\n{"command": "ls", "description": "look"}\n```',
        'I look.\n\njson\n{"file_path": "/app/a"}\n',
        '{"name": "Bash", "arguments": {"command": "ls"}}',
        '{"tool": "bash", "parameters": {"command": "ls"}}',
        '<tool_call>{"x": 1}</tool_call>',
        "<function=bash><parameter=command>ls</parameter></function>",
        '<invoke name="Bash">',
        "<｜tool▁call▁begin｜>function<｜tool▁sep｜>Read",
        "<|tool_call_begin|>functions.bash:0",
        '[TOOL_CALLS][{"name": "x"}]',
    ],
)
def test_a_call_that_is_written_as_text_is_found_in_the_last_message(text):
    conduct = counted(said("task", role="user"), said(text))

    assert (conduct.calls_as_text.count, conduct.calls_as_text.step, conduct.ends_in_text_call) == (1, 1, True)


@pytest.mark.parametrize(
    "text",
    [
        "Done: `ls` shows it.",
        'The result is\n```json\n{"total": 3, "name": "Ann"}\n```',
        '{"name": "Ann", "input": "3"}, as in the table',
        "```bash\nls -la\n```",
        "use `<function>` tags",
        "if a < b | c > d",
    ],
)
def test_json_and_code_in_an_answer_are_no_calls(text):
    conduct = counted(said("task", role="user"), said(text))

    assert conduct.calls_as_text is None
    assert not conduct.ends_in_text_call


def test_a_call_as_text_that_was_answered_is_the_agents_way_to_call():
    text = '{"name": "bash", "arguments": {"command": "ls"}}'

    assert counted(said(text), said("a.txt", role="environment")).calls_as_text is None
    assert counted(said(text), said("a.txt", role="user")).calls_as_text is None
    # where there are real calls, a user's message is no result
    assert counted(called("ls"), said(text), said("go on", role="user"), said("done")).calls_as_text.count == 1


def test_tokens_of_a_chat_template_in_a_message_are_noted():
    assert counted(said("ok<|im_end|>", "fine")).control_tokens.quote == "<|im_end|>"
    assert counted(said("a <b> and a | b", "[1, 2]")).control_tokens is None


def test_an_empty_last_answer_is_noted_where_there_was_work():
    assert counted(called("ls"), said("")).ended_empty.step == 1
    assert counted(called("ls"), said("(no content)")).ended_empty.quote == "(no content)"
    assert counted(called("ls"), said("done")).ended_empty is None
    assert counted(called("ls")).ended_empty is None
    assert counted(said("")).ended_empty is None
    spent = Step(index=0, actor=Actor(role="assistant"), usage=Usage(output=40))
    assert conduct_of([spent]).ended_empty is not None


@pytest.mark.parametrize(
    ("came", "expected"),
    [
        ({"reasoning": "Let me check whether it was downloaded."}, True),
        ({"usage": Usage(output=96)}, True),
        ({"usage": Usage(output=0)}, False),
        ({"reasoning": " \n", "usage": Usage(input=40)}, False),
        ({}, False),
        ({"text": "done", "reasoning": "It is done."}, False),
    ],
)
def test_a_last_answer_without_text_or_calls_ends_in_thought_where_reasoning_or_tokens_came(came, expected):
    call = Step(
        index=0, actor=Actor(role="assistant"), tool_calls=(ToolCall(name="Bash", arguments={"command": "ls"}),)
    )

    assert conduct_of([call, Step(index=1, actor=Actor(role="assistant"), **came)]).ended_in_thought is expected


def test_the_last_answer_is_the_subjects_own_not_a_subagents():
    steps = [*called("look"), *said("found it")]
    below = Step(index=2, actor=Actor(role="assistant"), parent=0, text="")

    assert conduct_of([*steps, below]).ended_empty is None


def test_what_the_source_knows_is_kept():
    assert counted(said("hi"), known=Conduct(tools_offered=16)).tools_offered == 16
    assert conduct_of((), Conduct(tools_offered=16)) == Conduct(tools_offered=16)
