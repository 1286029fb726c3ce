"""One name, many spellings."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from errata.memory.spelling import CaseSpellings, model_name, same_model, same_run

KEYS = ("suite/000-a/001-basic", "suite/001-b/001-basic", "suite/001-b/002-rate_limit", "suite/turn-24")


@pytest.mark.trap(21)
@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("google/gemini-3.1-pro-preview", "gemini-3-1-pro-preview"),
        ("google/gemini-3.1-pro-preview", "Google/Gemini 3.1 Pro Preview"),
        ("acme/nimbus-2-coder", "nimbus_2_coder"),
        ("acme/nimbus-2-coder:free", "acme/nimbus-2-coder"),
        ("acme/nimbus-2-coder (openrouter)", "NIMBUS-2-CODER"),
        ("openrouter/acme/nimbus-2", "acme/nimbus-2"),
        ("unknown/nimbus-2", "acme/nimbus-2"),
        ("`acme/nimbus-2`", "**acme/nimbus-2**"),
        ("acme/nimbus-2 (via OpenRouter)", "nimbus-2"),
        ("nimbus-2 [azure openai]", "nimbus-2"),
        ("nimbus-2 (Together AI) (high)", "nimbus-2 (high)"),
        ("nimbus-2 (high)", "nimbus-2-high"),
    ],
)
def test_these_are_one_model(one, other):
    assert same_model(one, other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("acme/nimbus-2", "acme/nimbus-2-coder"),
        ("acme/nimbus-2", "zeta/nimbus-2"),
        ("llama-3.1-8b", "llama-3-18b"),
        ("acme/nimbus:thinking", "acme/nimbus"),
        ("", ""),
    ],
)
def test_these_are_not(one, other):
    assert not same_model(one, other)


@pytest.mark.req("B-25")
@pytest.mark.parametrize(
    "remark",
    ["Old", "New", "high", "low", "thinking", "no thinking", "2024-05", "20241022", "beta", "preview", "FC", "64k"],
)
def test_a_remark_that_does_not_name_who_serves_the_model_makes_another_model(remark):
    assert not same_model(f"acme/nimbus-2 ({remark})", "acme/nimbus-2")
    assert not same_model(f"acme/nimbus-2 ({remark})", "acme/nimbus-2 (other)")
    assert not same_model(f"nimbus-2 [{remark}] (openrouter)", "nimbus-2 (openrouter)")
    assert same_model(f"acme/nimbus-2 ({remark})", f"Nimbus-2 ({remark.upper()})")


def test_a_remark_that_names_the_runs_own_provider_makes_no_other_model():
    assert same_model("nimbus-2 (our-gateway)", "nimbus-2", providers=("our-gateway",))
    assert not same_model("nimbus-2 (our-gateway)", "nimbus-2")


@pytest.mark.req("N-11")
@pytest.mark.parametrize(
    ("slug", "shown"),
    [
        ("google/gemini-3-pro-preview", "Gemini 3 Pro"),
        ("anthropic/claude-sonnet-4.6", "Claude 4.6 Sonnet"),
        ("anthropic/claude-sonnet-4-6", "Anthropic: Claude Sonnet 4.6"),
        ("openai/gpt-5.2-codex", "OpenAI GPT5.2-Codex"),
        ("gpt-5.2-codex", "GPT-5.2 Codex"),
        ("claude-opus-4-6", "anthropic"),
        ("arcee-ai/trinity-large-preview:free", "Arcee AI: Trinity Large Preview (free)"),
    ],
)
def test_a_display_name_in_brackets_makes_no_other_model(slug, shown):
    for brackets in ("{} ({})", "{} [{}]", "`{}` ({}, openrouter)".replace(", ", ") (")):
        assert same_model(brackets.format(slug, shown), slug)
        assert same_model(brackets.format(slug, shown), slug.rpartition("/")[2].partition(":")[0])
        assert not same_model(brackets.format(slug, f"{shown} mini"), slug)
    assert same_model(f"{shown} ({slug})", slug) or " " not in shown


def test_a_folder_of_the_provider_is_no_other_vendor():
    assert same_model("openrouter/nimbus-2", "acme/nimbus-2", providers=("openrouter",))


@given(st.from_regex(r"[a-z]{1,8}/[a-z]{2,8}(-[0-9]{1,2}(\.[0-9])?){0,2}(-[a-z]{2,6})?", fullmatch=True))
def test_dots_underscores_and_capitals_make_no_other_model(name):
    for spelt in (
        name.upper(),
        name.replace(".", "-"),
        name.replace("-", "_"),
        name.rpartition("/")[2],
        f"{name}:free",
    ):
        assert same_model(name, spelt)


def test_the_parts_of_a_name():
    assert model_name("acme/Nimbus-2.1:free (openrouter)") == ("acme", "nimbus-2-1")


@pytest.mark.trap(21)
@pytest.mark.parametrize("length", [6, 8, 9, 20, 32])
def test_a_run_is_known_by_the_beginning_of_its_id(length):
    name = "jn71a14as7ze07wvy8d987zfbehhrrw1"

    assert same_run(name[:length], name)


@pytest.mark.parametrize("written", ["", "jn7", "jn71a", "jn71a14b", "a14as7ze"])
def test_too_little_or_something_else_names_no_run(written):
    assert not same_run(written, "jn71a14as7ze07wvy8d987zfbehhrrw1")


@pytest.mark.parametrize(
    ("written", "key"),
    [
        ("000-a/001-basic", KEYS[0]),
        ("suite/000-a/001-basic", KEYS[0]),
        ("evals/001-b/002-rate_limit", KEYS[2]),
        ("002-rate_limit", KEYS[2]),
        ("002-Rate-Limit", KEYS[2]),
        ("turn 24", KEYS[3]),
        ("Turn-24", KEYS[3]),
    ],
)
def test_a_case_is_found_by_its_name_or_the_end_of_it(written, key):
    assert CaseSpellings(KEYS, suite="suite").find(written) == (key,)


def test_a_name_that_fits_several_cases_gives_all_of_them():
    assert CaseSpellings(KEYS, suite="suite").find("001-basic") == KEYS[:2]


def test_the_number_in_front_of_a_name_may_be_left_out_but_not_be_another():
    names = CaseSpellings(KEYS, suite="suite")

    assert names.find("rate_limit") == names.find("001-b/rate_limit") == (KEYS[2],)
    assert names.find("basic") == KEYS[:2]
    assert names.find("003-rate_limit") == ()


@pytest.mark.parametrize("written", ["", "01-basic", "003-x", "/"])
def test_what_is_no_name_of_a_case_finds_none(written):
    assert CaseSpellings(KEYS, suite="suite").find(written) == ()


def test_a_whole_name_wins_over_the_end_of_another():
    assert CaseSpellings(["s/x", "s/a/x"], suite="s").find("x") == ("s/x",)


def test_two_names_that_differ_only_in_spelling_are_told_apart_by_it():
    names = CaseSpellings(["s/a_b", "s/a-b"], suite="s")

    assert (names.find("a_b"), names.find("a-b"), names.find("A b")) == (("s/a_b",), ("s/a-b",), ("s/a_b", "s/a-b"))


@given(st.lists(st.from_regex(r"[a-z0-9_]{1,6}(/[a-z0-9_]{1,6}){0,2}", fullmatch=True), unique=True, min_size=1))
def test_every_case_is_found_by_its_own_name(names):
    known = CaseSpellings([f"suite/{name}" for name in names], suite="suite")

    assert all(known.find(name) == (f"suite/{name}",) for name in names)
