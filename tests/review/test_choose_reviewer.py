"""Which reviewer is meant, and under which name its verdicts go: what would answer otherwise is called otherwise."""

import pytest

from errata.errors import SettingsError
from errata.model.verdict import word_for
from errata.review.choose_reviewer import ReviewerFlags, choose
from errata.settings.reviewers import ReviewerSettings

KNOWN = {
    "careful": ReviewerSettings(kind="llm", model="openai:gpt-5", temperature=0.0),
    "house": ReviewerSettings(
        kind="llm", model="qwen", base_url="https://models.example.com/v1", price_in=1.0, price_out=2.0, per_minute=5
    ),
    "linter": ReviewerSettings(kind="command", command=("cat", "--strict"), price_in=1.0),
    "agent": ReviewerSettings(kind="command", command=("codex",)),
}


@pytest.mark.parametrize(
    ("wish", "word"),
    [
        (ReviewerFlags(model="openai:gpt-5"), "llm:openai:gpt-5"),
        (ReviewerFlags(model="openai:gpt-5", with_tools=True), "llm:openai:gpt-5@tools"),
        (ReviewerFlags(model="small", base_url="http://127.0.0.1:8080/v1"), "llm:small@127.0.0.1:8080"),
        (ReviewerFlags(reviewer="careful"), "llm:careful@openai:gpt-5+t=0"),
        (ReviewerFlags(reviewer="house"), "llm:house@qwen+models.example.com"),
        (ReviewerFlags(command="claude"), "command:claude"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_reviewer_is_called_by_what_changes_its_answers(wish, word):
    assert word_for(choose(wish, KNOWN).identity) == word


def test_a_program_with_other_words_is_another_version():
    one, other = (choose(ReviewerFlags(command=f"cat --level {level}"), {}).identity for level in (1, 2))

    assert (one.name, other.name) == ("cat", "cat")
    assert one.version != other.version


def test_a_script_is_called_by_its_own_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text("")

    assert choose(ReviewerFlags(command="python3 -u mine.py --x"), {}).identity.name == "mine.py"


def test_the_users_own_price_is_used():
    assert choose(ReviewerFlags(reviewer="house"), KNOWN).price(1_000_000, 1_000_000) == pytest.approx(3.0)


def test_half_a_price_is_none():
    assert choose(ReviewerFlags(reviewer="linter"), KNOWN).price(1_000_000, 1_000_000) is None


def test_a_listed_model_has_the_price_of_the_list():
    assert (choose(ReviewerFlags(model="openai:gpt-4o"), {}).price(1_000_000, 0) or 0) > 0


@pytest.mark.parametrize(
    "wish", [ReviewerFlags(model="m", base_url="http://localhost:1/v1"), ReviewerFlags(command="claude")], ids=str
)
def test_a_server_or_program_of_ones_own_has_no_price_unless_one_is_told(wish):
    assert choose(wish, {}).price(1_000_000, 1_000_000) is None


def test_what_the_settings_say_of_speed_is_kept():
    assert choose(ReviewerFlags(reviewer="house"), KNOWN).per_minute == 5


def test_it_is_said_where_packets_go():
    assert choose(ReviewerFlags(reviewer="house"), KNOWN).goes_to == "`models.example.com`, model `qwen`"
    assert "without all tools" in choose(ReviewerFlags(command="claude"), KNOWN).goes_to


def test_a_preset_of_the_settings_is_one_too():
    assert choose(ReviewerFlags(reviewer="agent"), KNOWN).identity.name == "agent"


def test_an_agent_whose_tools_are_on_is_started_only_where_that_is_said():
    with pytest.raises(SettingsError, match="can run commands"):
        choose(ReviewerFlags(command="aider --yes"), {})

    assert choose(ReviewerFlags(command="aider --yes", allow_tools=True), {}).identity.name == "aider"


def test_a_missing_extra_is_said_before_anything_is_done(monkeypatch):
    monkeypatch.setattr("errata.review.choose_reviewer.find_spec", lambda _: None)

    with pytest.raises(SettingsError) as result:
        choose(ReviewerFlags(model="openai:gpt-5"), {})

    assert "pip install '.[llm]'" in result.value.hint
