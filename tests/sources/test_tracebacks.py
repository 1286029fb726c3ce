"""Frames of tracebacks: the harness's and the subject's are told from those of libraries."""

from errata.sources.shared.exceptions import frames_of, own_frame

CAUSED = """Traceback (most recent call last):
  File "/home/user/first.py", line 1, in begin
ValueError: no

The above exception was the direct cause of the following exception:

Traceback (most recent call last):
  | File "/home/user/second.py", line 2, in <module>
  |   File "C:\\venv\\Lib\\site-packages\\harbor\\trial\\trial.py", line 3, in run
  File "/usr/lib/python3.11/asyncio/runners.py", line 4, in run
  File "/opt/venv/lib/python3.11/site-packages/httpx/_client.py", line 5, in send
RuntimeError: late
"""


def test_only_the_exception_that_came_out_last_is_looked_at():
    assert [frame.line for frame in frames_of(CAUSED)] == ["2", "3", "4", "5"]


def test_the_own_frame_is_the_innermost_of_no_library():
    assert own_frame(frames_of(CAUSED)).location() == "/home/user/second.py:2 in <module>"


def test_the_packages_of_a_harness_are_no_library():
    assert own_frame(frames_of(CAUSED), ("harbor",)).location() == "harbor/trial/trial.py:3 in run"


def test_what_holds_no_traceback_has_no_frame():
    assert own_frame(frames_of("exit code 1")) is None
