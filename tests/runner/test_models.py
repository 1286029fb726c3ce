"""The models file: what it takes, and how a mistake in it is explained."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from errata.errors import NotFoundError, SettingsError
from errata.runner.models import eval_command, inspect_model, load_models
from errata.runner.run import preflight

FILE = """
[models.nimbus-2]
provider = "acme"
model = "nimbus-2-coder"
base_url = "https://api.acme.example/v1"
api = "responses"
key_name = "ACME_KEY"
schedule = "weekly"
[models.nimbus-2.settings]
temperature = 0
max_tokens = 512

[models.gpt-5]
provider = "openai"

[suites.arithmetic]
task = "arithmetic.py"
epochs = 2
args = { hard = true }
"""


def written(folder: Path, text: str = FILE) -> Path:
    path = folder / "models.toml"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.req("A-13")
def test_models_and_suites_stand_in_one_file(tmp_path):
    file = load_models(written(tmp_path))

    assert [(one.name, inspect_model(one), one.schedule) for one in file.models] == [
        ("nimbus-2", "openai-api/acme/nimbus-2-coder", "weekly"),
        ("gpt-5", "openai/gpt-5", ""),
    ]
    assert file.suite("arithmetic").task == "arithmetic.py"
    assert file.suite("inspect_evals/gsm8k").task == "inspect_evals/gsm8k"


@pytest.mark.req("A-13")
def test_the_command_takes_everything_from_the_definition_and_never_a_key(tmp_path):
    file = load_models(written(tmp_path))
    model, suite = file.models[0], file.suite("arithmetic")

    command = eval_command(model, suite, program="inspect", logs=Path("logs"))

    assert command.argv == (
        "inspect", "eval", "arithmetic.py", "--model=openai-api/acme/nimbus-2-coder", "-M", "responses_api=true",
        "--max-tokens=512", "--temperature=0", "-T", "hard=true", "--epochs=2",
        "--log-dir=logs", "--log-format=eval", "--no-fail-on-error", "--display=plain",
    )  # fmt: skip
    assert command.env == {"ACME_BASE_URL": "https://api.acme.example/v1"}
    assert (command.key_name, command.key_variable) == ("ACME_KEY", "ACME_API_KEY")


@pytest.mark.req("A-15")
def test_a_smoke_run_is_short_and_gives_up_soon(tmp_path):
    file = load_models(written(tmp_path))

    argv = eval_command(
        file.models[0], file.suite("arithmetic"), program="inspect", logs=Path("logs"), limit=2, is_smoke=True
    ).argv

    assert {"--limit=2", "--max-retries=1", "--timeout=120"} <= set(argv)
    assert not any(word.startswith("--epochs") for word in argv)


@pytest.mark.req("A-14")
def test_models_are_chosen_by_name_or_schedule(tmp_path):
    file = load_models(written(tmp_path))

    assert [one.name for one in file.chosen([])] == ["nimbus-2", "gpt-5"]
    assert [one.name for one in file.chosen([], schedule="weekly")] == ["nimbus-2"]
    assert [one.name for one in file.chosen(["gpt-5"])] == ["gpt-5"]
    with pytest.raises(NotFoundError, match="no model `nimbus`"):
        file.chosen(["nimbus"])
    with pytest.raises(NotFoundError, match="daily"):
        file.chosen([], schedule="daily")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("[models.a]\nprovider = 'openai'\ntemprature = 1", "unknown setting `temprature`"),
        ("[models.a]\nprovider = 'openai'\n[models.a.settings]\ntempature = 1", "unknown setting `tempature`"),
        ("[models.a]\nmodel = 'x'", "can't be used"),
        ("[models.a]\nprovider = 'Open AI'", "can't be the provider"),
        ("[models.a]\nprovider = 'openai'\nkey_name = 'K'", "`key_name` without `base_url`"),
        ("[models.a]\nprovider = 'anthropic'\napi = 'responses'", "`api` without `base_url`"),
        ("[models.a]\nprovider = 'p'\nbase_url = 'http://far.example/v1'\nkey_name = 'K'", "unencrypted"),
        ("[models.a]\nprovider = 'p'\nbase_url = 'not an address'", "not a valid address"),
        ("[suites.a]\ntask = '--model=x'", "can't be the task"),
        ("[suites.a]\ntask = 'a.py'\nlimit = 0", "`limit` of"),
        ("[suite.a]\ntask = 'a.py'", "unknown setting `suite`"),
        ("models = [", "not valid TOML"),
    ],
)
def test_a_mistake_is_named_with_what_would_be_right(tmp_path, text, problem):
    with pytest.raises(SettingsError, match=problem) as error:
        load_models(written(tmp_path, text))

    assert error.value.hint


@given(st.text(max_size=30), st.text(max_size=30))
def test_no_value_becomes_an_option_of_its_own(tmp_path_factory, task, model):
    """Whatever a file holds: refused, or one word that is the task or follows `--model=`."""
    import tomllib

    quoted = [text.replace("\\", "\\\\").replace('"', '\\"') for text in (task, model)]
    text = f'[models.m]\nprovider = "p"\nmodel = "{quoted[1]}"\n[suites.s]\ntask = "{quoted[0]}"\n'
    path = written(tmp_path_factory.mktemp("models"), text)
    try:
        tomllib.loads(path.read_text(encoding="utf-8"))
        file = load_models(path)
    except (SettingsError, tomllib.TOMLDecodeError):
        return

    argv = eval_command(file.models[0], file.suite("s"), program="inspect", logs=Path("logs")).argv

    assert argv[:2] == ("inspect", "eval")
    assert not argv[2].startswith("-")
    assert argv[3].startswith("--model=p/")


def test_a_missing_key_is_found_before_anything_is_sent(tmp_path):
    nimbus, gpt = load_models(written(tmp_path)).models

    assert preflight(nimbus, {}).problem == "key_missing"
    assert preflight(nimbus, {"ACME_KEY": "x"}).ok
    assert preflight(gpt, {}).key_variable == "OPENAI_API_KEY"
