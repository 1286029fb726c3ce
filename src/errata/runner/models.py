"""The models file: every model and suite that `errata run` knows, in one place."""

import os
import re
import shutil
import signal
import subprocess
import sys
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeVar

import msgspec

from errata.errors import NotFoundError, SettingsError, did_you_mean, extra_hint
from errata.model.record import Struct
from errata.settings.reviewers import refuse_address
from errata.text.lazy_regex import lazy_regex

FILE = "models.toml"
SCHEDULES = ("daily", "weekly", "monthly")
EXAMPLE = """[models.nimbus-2]
provider = "openai"
model = "nimbus-2-coder"

[suites.arithmetic]
task = "arithmetic.py\""""
_NAME = lazy_regex(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_PROVIDER = lazy_regex(r"[a-z][a-z0-9-]{0,31}")
_MODEL = lazy_regex(r"[A-Za-z0-9][\w./:@+-]{0,199}")
_TASK = lazy_regex(r"[\w./][\w./@ -]{0,299}")
_VARIABLE = lazy_regex(r"[A-Za-z_][A-Za-z0-9_]{0,127}")

Setting = int | float | str | bool
SETTINGS = frozenset(
    (
        "attempt_timeout", "effort", "frequency_penalty", "max_connections", "max_retries", "max_tokens",
        "presence_penalty", "reasoning_effort", "reasoning_tokens", "seed", "stop_seqs", "system_message",
        "temperature", "timeout", "top_k", "top_p",
    )
)  # fmt: skip
"""Options of `inspect eval` of the same name."""


class ModelDefinition(Struct, forbid_unknown_fields=True):
    """Never holds a key: `key_name` is the environment variable that does."""

    name: str = ""
    provider: str
    """A provider of Inspect; with `base_url`, any name for the server."""
    model: str = ""
    """The provider's name for it; default: the name of the definition."""
    base_url: str = ""
    """Of a server that speaks OpenAI's protocol."""
    api: Literal["chat", "responses"] = "chat"
    key_name: str = ""
    schedule: Literal["", "daily", "weekly", "monthly"] = ""
    settings: dict[str, Setting] = {}


class SuiteDefinition(Struct, forbid_unknown_fields=True):
    name: str = ""
    task: str
    """A file with an Inspect task, `FILE@TASK`, or a registered name such as `inspect_evals/gsm8k`."""
    args: dict[str, Setting] = {}
    epochs: int | None = None
    limit: int | None = None


Definition = TypeVar("Definition", ModelDefinition, SuiteDefinition)


class ModelsFile(Struct):
    path: Path
    models: tuple[ModelDefinition, ...] = ()
    suites: tuple[SuiteDefinition, ...] = ()

    def chosen(self, names: Iterable[str], *, schedule: str = "") -> list[ModelDefinition]:
        wanted = list(names)
        known = {model.name: model for model in self.models}
        for name in wanted:
            if name not in known:
                raise _unknown("model", name, known, self.path)
        if wanted:
            return [known[name] for name in dict.fromkeys(wanted)]
        due = [model for model in self.models if not schedule or model.schedule == schedule]
        if not due:
            what = f'a model with `schedule = "{schedule}"`' if schedule else "a model"
            raise NotFoundError(
                f"`{self.path}` does not define {what}", hint=f"a definition looks like this:\n{EXAMPLE}"
            )
        return due

    def suite(self, name: str) -> SuiteDefinition:
        """A suite of the file, or a task that Inspect finds by this name. A file below here wins over neither."""
        known = {suite.name: suite for suite in self.suites}
        if name in known:
            return known[name]
        if "/" in name or name.partition("@")[0].endswith(".py"):
            return checked_suite(SuiteDefinition(name=name, task=name), f"`{name}`")
        raise _unknown("suite", name, known, self.path)


def _unknown(kind: str, name: str, known: Mapping[str, object], path: Path) -> NotFoundError:
    hint = did_you_mean(name, known) or (
        f"it has: {', '.join(known)}" if known else f"a definition looks like this:\n{EXAMPLE}"
    )
    return NotFoundError(f"`{path}` has no {kind} `{name}`", hint=hint)


def load_models(path: Path) -> ModelsFile:
    """Read a models file. Every problem is an error that names the table and shows what would be right."""
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except FileNotFoundError:
        hint = f"write one, or name another with --models FILE:\n{EXAMPLE}"
        raise SettingsError(f"There is no models file `{path}`", hint=hint) from None
    except OSError as error:
        raise SettingsError(f"`{path}` can't be read: {error.strerror}", hint="fix its permissions") from error
    except (UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError) as error:
        raise SettingsError(f"`{path}` is not valid TOML: {error}", hint=f"for example:\n{EXAMPLE}") from error
    for key, value in table.items():
        if key not in ("models", "suites") or not isinstance(value, dict):
            meant = did_you_mean(key, ("models", "suites")) or "it takes the tables `[models.NAME]` and `[suites.NAME]`"
            raise SettingsError(f"`{path}` has an unknown setting `{key}`", hint=meant)
    models = [_model(path, name, one) for name, one in table.get("models", {}).items()]
    suites = [_suite(path, name, one) for name, one in table.get("suites", {}).items()]
    return ModelsFile(path=path, models=tuple(models), suites=tuple(suites))


def _model(path: Path, name: str, table: Any) -> ModelDefinition:
    where = f"`models.{name}` in `{path}`"
    made = msgspec.structs.replace(_converted(table, ModelDefinition, name, where), name=name)
    made = msgspec.structs.replace(made, model=made.model or name)
    _refuse(made.provider, _PROVIDER, f"the provider of {where}", "use a name such as `openai` or `anthropic`")
    _refuse(made.model, _MODEL, f"the model of {where}", "use the provider's name for it")
    if made.key_name:
        hint = "use the name of an environment variable, never the key itself"
        _refuse(made.key_name, _VARIABLE, f"`key_name` of {where}", hint)
    if made.base_url:
        refuse_address(made.base_url, f"`base_url` of {where}", key_name=made.key_name)
    elif "api" in table and made.provider != "openai":
        raise SettingsError(f"{where} has `api` without `base_url`", hint="`api` is for servers with OpenAI's protocol")
    elif made.key_name:
        hint = f"Inspect takes the key of `{made.provider}` from that provider's own variable; remove `key_name`"
        raise SettingsError(f"{where} has `key_name` without `base_url`", hint=hint)
    for setting in made.settings:
        if setting not in SETTINGS:
            hint = did_you_mean(setting, SETTINGS) or f"use one of: {', '.join(sorted(SETTINGS))}"
            raise SettingsError(f"{where} has an unknown setting `{setting}`", hint=hint)
    return made


def _suite(path: Path, name: str, table: Any) -> SuiteDefinition:
    where = f"`suites.{name}` in `{path}`"
    suite = msgspec.structs.replace(_converted(table, SuiteDefinition, name, where), name=name)
    return checked_suite(suite, where)


def checked_suite(suite: SuiteDefinition, where: str) -> SuiteDefinition:
    _refuse(suite.task, _TASK, f"the task of {where}", "use a file, FILE@TASK, or a registered name")
    for argument in suite.args:
        _refuse(argument, _VARIABLE, f"an argument of {where}", "use the name of a parameter of the task")
    for key in ("epochs", "limit"):
        value = getattr(suite, key)
        if value is not None and value < 1:
            raise SettingsError(f"`{key}` of {where} is {value}", hint="use 1 or more")
    return suite


def _converted(table: Any, kind: type[Definition], name: str, where: str) -> Definition:
    _refuse(name, _NAME, f"the name of {where}", "use letters, digits, `.`, `_` and `-`")
    if isinstance(table, dict):
        known = [field.name for field in msgspec.structs.fields(kind) if field.name != "name"]
        for key in table:
            if key not in known:
                hint = did_you_mean(key, known) or f"use one of: {', '.join(known)}"
                raise SettingsError(f"{where} has an unknown setting `{key}`", hint=hint)
    try:
        return msgspec.convert(table, kind)
    except msgspec.ValidationError as error:
        raise SettingsError(f"{where} can't be used: {error}", hint=f"for example:\n{EXAMPLE}") from error


def _refuse(value: str, pattern: re.Pattern[str], what: str, hint: str) -> None:
    if not pattern.fullmatch(value):
        raise SettingsError(f"`{value}` can't be {what}", hint=hint)


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
