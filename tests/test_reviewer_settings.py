"""Reviewers in the settings: who they are, how they are reached; what makes no sense is refused."""

from pathlib import Path

import pytest

from errata.errors import SettingsError
from errata.settings import load_settings
from errata.settings.files import settings_that_need_trust

MODEL = 'kind = "llm"\nmodel = "openai:gpt-5"\n'


def reviewers(tmp_path, text):
    path = tmp_path / "config" / "errata" / "config.toml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    environ = {"XDG_CONFIG_HOME": str(tmp_path / "config")}
    return load_settings(environ=environ, cwd=tmp_path).reviewers


def refused(tmp_path, lines):
    with pytest.raises(SettingsError) as result:
        reviewers(tmp_path, f"[reviewers.one]\n{lines}")
    return result.value


def test_the_example_of_the_document_can_be_used(tmp_path):
    document = (Path(__file__).parent.parent / "docs" / "configuration.md").read_text(encoding="utf-8")
    example = document.split("`config.toml`:\n\n```toml\n")[1].split("```")[0]

    found = reviewers(tmp_path, example)

    assert list(found) == ["careful", "house", "linter"]
    assert (found["careful"].model, found["careful"].per_minute) == ("openai:gpt-5", 60)
    assert (found["house"].key_name, found["house"].price_in) == ("HOUSE_KEY", 0.4)
    assert found["linter"].passes == ("HOUSE_KEY",)


def test_files_of_a_command_lie_beside_the_file_that_names_them(tmp_path):
    script = tmp_path / "config" / "errata" / "review.py"
    script.parent.mkdir(parents=True)
    script.write_text("")

    found = reviewers(tmp_path, '[reviewers.one]\nkind = "command"\ncommand = ["python3", "review.py", "--x"]')

    assert found["one"].command == ("python3", str(script), "--x")


def test_a_program_is_looked_for_in_the_path_alone(tmp_path):
    program = tmp_path / "config" / "errata" / "python3"
    program.parent.mkdir(parents=True)
    program.write_text("")

    found = reviewers(tmp_path, '[reviewers.one]\nkind = "command"\ncommand = ["python3"]')

    assert found["one"].command == ("python3",)


@pytest.mark.parametrize(
    ("lines", "says"),
    [
        ("", "kind"),
        ('kind = "oracle"', "oracle"),
        ('kind = "llm"', "has no `model`"),
        ('kind = "command"', "has no `command`"),
        ('kind = "command"\ncommand = "rm"', "command"),
        (MODEL + 'command = ["x"]', "`command`, which does not apply to a reviewer of kind `llm`"),
        (MODEL + "temprature = 1", "an unknown setting `temprature`"),
        (MODEL + "temperature = -1", "`temperature`"),
        (MODEL + "price_in = -1", "`price_in`"),
        (MODEL + "price_in = nan", "`price_in`"),
        (MODEL + "per_minute = 0", "`per_minute`"),
        (MODEL + 'key_name = "sk-abc-123"', "environment variable"),
        (MODEL + 'base_url = "example.com"', "is not a valid address"),
        (MODEL + 'base_url = "file:///etc/passwd"', "is not a valid address"),
        (MODEL + 'base_url = "https://user:pass@example.com"', "is not a valid address"),
        (MODEL + 'base_url = "http://example.com/v1"\nkey_name = "KEY"', "unencrypted"),
    ],
)
def test_what_makes_no_sense_is_refused(tmp_path, lines, says):
    assert says in refused(tmp_path, lines).message


def test_a_key_may_go_to_this_machine_unencrypted(tmp_path):
    found = reviewers(tmp_path, f'[reviewers.one]\n{MODEL}base_url = "http://127.0.0.1:8080/v1"\nkey_name = "KEY"')

    assert found["one"].base_url == "http://127.0.0.1:8080/v1"


def test_a_key_that_was_written_down_is_not_repeated(tmp_path):
    result = refused(tmp_path, MODEL + 'key_name = "sk-abc-123"')

    assert "sk-abc" not in result.message + result.hint


def test_a_name_that_no_command_line_could_name_is_refused(tmp_path):
    with pytest.raises(SettingsError, match="an invalid name"):
        reviewers(tmp_path, f'[reviewers."a b"]\n{MODEL}')


def test_what_trust_would_allow_is_listed_by_its_full_name():
    table = {"timeouts": "drop", "reviewers": {"a": {"kind": "command", "command": ["x"]}}, "deep": {"base_url": "u"}}

    assert settings_that_need_trust(table) == [
        ("reviewers.a.kind", "command"),
        ("reviewers.a.command", ["x"]),
        ("deep.base_url", "u"),
    ]
