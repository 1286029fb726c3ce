"""Every rule of `secrets.toml` takes out its examples, in every disguise, and leaves what it must."""

import json
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from soak.secret_strings import CARRIERS, examples, leaks, made_secrets, make, secret_kinds

from errata.text.outgoing import for_others, for_user
from errata.text.redact import redact, redact_tree
from errata.text.secret_rules import rules, shapes

RULES = [*examples()["shape"], *examples()["name"]]
EXAMPLES = [(rule.get("kind") or rule["name"], text) for rule in RULES for text in rule["test"]]
KEPT = [text for rule in RULES for text in rule.get("keep", ())]


def test_at_least_a_hundred_kinds_of_secrets_are_known():
    assert len(secret_kinds()) >= 100


def test_each_shape_has_examples():
    assert [rule["kind"] for rule in examples()["shape"]] == [shape["kind"] for shape in rules()["shape"]]
    assert all(rule["test"] for rule in RULES)


@pytest.mark.req("B-87")
@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.get("kind") or rule["name"])
def test_each_rule_takes_out_its_examples(rule):
    for pattern in rule["test"]:
        secret = make("", pattern, random.Random(3))
        shown = redact(secret.text)

        assert secret.pieces
        assert not leaks(secret, shown)
        assert f"[redacted:{rule.get('kind', 'named')}]" in shown or "kind" not in rule


@pytest.mark.parametrize("text", KEPT)
def test_what_only_resembles_a_secret_stays(text):
    assert redact(text) == text


@given(st.sampled_from(EXAMPLES), st.sampled_from(sorted(CARRIERS)), st.integers(0, 10_000))
def test_no_disguise_carries_a_secret_out(example, carrier, seed):
    secret = make(*example, random.Random(seed))
    carried = CARRIERS[carrier](secret.text)

    assert not leaks(secret, for_user(carried))
    assert not leaks(secret, for_others(carried))
    assert not leaks(secret, str(redact_tree({"note": [carried, {carried: 1}]})))


def _two_in_json(first: str, second: str) -> str:
    return json.dumps({"command": first, "env": {"NOTE": second}}, separators=(",", ":"))


ADJACENT = {
    "JSON without blanks": _two_in_json,
    "JSON in JSON without blanks": lambda first, second: json.dumps(_two_in_json(first, second)),
    "a list": lambda first, second: repr([first, second]),
    "tags": lambda first, second: f"<a>{first}</a><b>{second}</b>",
    "quotes": lambda first, second: f"'{first}'+'{second}'",
    "backticks": lambda first, second: f"`{first}`,`{second}`",
    "brackets": lambda first, second: f"({first})({second})",
    **{sign: lambda first, second, sign=sign: f"{first}{sign}{second}" for sign in (",", ";", "|", "||", " ", "\n")},
}


@pytest.mark.parametrize("between", ADJACENT)
def test_a_secret_right_behind_another_one_is_taken_out_too(between):
    for rule, pattern in EXAMPLES:
        first, second = (make(rule, pattern, random.Random(seed)) for seed in (1, 2))
        shown = redact(ADJACENT[between](first.text, second.text))

        assert not leaks(first, shown), shown
        assert not leaks(second, shown), shown


@given(st.sampled_from(EXAMPLES), st.sampled_from(sorted(CARRIERS)))
def test_what_was_redacted_stays_as_it_is(example, carrier):
    once = redact(CARRIERS[carrier](make(*example, random.Random(5)).text))

    assert redact(once) == once


def test_every_mark_is_searched_for():
    known = shapes()
    groups = (*known.after_separator.values(), *known.words.values(), *known.literal_by_sign.values(), known.any_case)

    assert {mark for group in groups for mark, _ in group} == {
        mark for rule in rules()["shape"] for mark in rule["marks"]
    }


@pytest.mark.parametrize(
    "tree",
    [
        {"name": "API_KEY", "value": "s3cr3t-value"},
        [["x-api-key", "s3cr3t-value"]],
        ["tool", "--token", "s3cr3t-value"],
        {"env": {"SECRET_KEY": "s3cr3t-value"}},
    ],
)
def test_a_value_is_known_by_the_name_beside_it(tree):
    assert "s3cr3t-value" not in str(redact_tree(tree))


def test_a_word_of_a_model_is_no_secret_because_its_field_is_called_token():
    assert redact_tree({"token": " quantum", "logprob": -0.5}) == {"token": " quantum", "logprob": -0.5}


def test_two_keys_that_become_one_stay_two():
    first, second = (secret.text for secret in list(made_secrets())[:2])

    assert len(redact_tree({first: 1, second: 2})) == 2
