"""The command line of Inspect AI for one model and one suite, and its execution as a process of its own."""

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from errata.errors import SettingsError, extra_hint
from errata.runner.models import ModelDefinition, Setting, SuiteDefinition

STDERR = 2
NO_KEY = "none"
"""For a server that asks for no key; Inspect insists on one."""

SMOKE_SETTINGS: dict[str, Setting] = {"max_retries": 1, "timeout": 120}
"""Inspect retries for ever by default; a smoke run should soon show that a model can't be reached."""


class InspectCommand(NamedTuple):
    argv: tuple[str, ...]
    env: dict[str, str]
    """Variables that the definition adds. Keys are read from the environment when the command runs."""
    key_name: str = ""
    """The variable to copy the key from, and below the one to copy it to."""
    key_variable: str = ""


def find_inspect(environ: Mapping[str, str] = os.environ) -> str:
    """The program, beside this Python first: that is where the extra `inspect` puts it."""
    named = environ.get("ERRATA_INSPECT", "")
    beside = Path(sys.executable).with_name("inspect")
    program = named or (str(beside) if beside.is_file() else shutil.which("inspect") or "")
    if not program or not Path(program).is_file():
        hint = f"{extra_hint('inspect')}, or set ERRATA_INSPECT to the program"
        raise SettingsError("Running a suite needs Inspect AI, which is not installed", hint=hint)
    return program


def eval_command(
    model: ModelDefinition,
    suite: SuiteDefinition,
    *,
    program: str,
    logs: Path,
    limit: int | None = None,
    is_smoke: bool = False,
) -> InspectCommand:
    """Errors of single samples do not end the run: they are what errata explains afterwards."""
    words = [program, "eval", suite.task, f"--model={inspect_model(model)}"]
    if model.base_url:
        words += ["-M", f"responses_api={'true' if model.api == 'responses' else 'false'}"]
    elif model.api == "responses":
        words += ["-M", "responses_api=true"]
    settings = (SMOKE_SETTINGS if is_smoke else {}) | model.settings
    words += [f"--{name.replace('_', '-')}={_text(value)}" for name, value in sorted(settings.items())]
    for name, value in suite.args.items():
        words += ["-T", f"{name}={_text(value)}"]
    at_most = min((one for one in (limit, suite.limit) if one is not None), default=None)
    if at_most is not None:
        words.append(f"--limit={at_most}")
    if suite.epochs is not None and not is_smoke:
        words.append(f"--epochs={suite.epochs}")
    words += [f"--log-dir={logs}", "--log-format=eval", "--no-fail-on-error", "--display=plain"]
    if not model.base_url:
        return InspectCommand(tuple(words), {})
    service = model.provider.upper().replace("-", "_")
    address = {f"{service}_BASE_URL": model.base_url}
    return InspectCommand(tuple(words), address, model.key_name, f"{service}_API_KEY")


def inspect_model(model: ModelDefinition) -> str:
    """As Inspect and its logs name it."""
    return f"{'openai-api/' if model.base_url else ''}{model.provider}/{model.model}"


def _text(value: Setting) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def run_inspect(command: InspectCommand, *, cwd: Path | None = None, environ: Mapping[str, str] = os.environ) -> int:
    """Run it; what it prints goes to stderr, since stdout is for results. Returns its exit code."""
    env = dict(environ) | command.env
    if command.key_variable:
        env[command.key_variable] = environ.get(command.key_name, "") if command.key_name else NO_KEY
    process = subprocess.Popen(command.argv, cwd=cwd, env=env, stdin=subprocess.DEVNULL, stdout=STDERR)
    try:
        return process.wait()
    except KeyboardInterrupt:  # the terminal has sent it to Inspect, too, which finishes its log
        process.send_signal(signal.SIGINT)
        process.wait()
        raise
