"""What a provider answers, over real HTTP, and what becomes of it."""

import asyncio
from types import SimpleNamespace

import pytest
from loopback import SCHEMA, ask
from pydantic_ai.exceptions import ModelHTTPError
from pydantic_ai.messages import ModelResponse
from pydantic_ai.models.function import FunctionModel
from pydantic_ai.profiles import ModelProfile
from pydantic_ai.usage import RequestUsage
from soak.plans import MIX, in_turn
from soak.provider import Provider
from soak.wire import WAYS

from errata.llm.asking import MOST_BYTES, MOST_ROUNDS, Asking, as_the_library_has_it, ask_error, form_for, in_words
from errata.llm.spec import ModelAnswer, ModelSpec, NoAccessError, NotNowError, RefusedError, Tool

TURNED_AWAY = ("rate_limited", "internal_error", "bad_gateway", "unavailable")
HOLDING = ("rate_limited_seconds", "rate_limited_milliseconds", "rate_limited_date", "rate_limited_for_a_day")
LOST = (
    *("hang", "half_closed", "closed_at_once", "truncated", "other_shape", "no_choices", "nothing", "not_http"),
    *("html", "wrong_encoding", "bomb", "flood"),
)
CLOSED = ("redirect", "bad_key", "no_such_model", "no_quota")


def test_an_answer_comes_with_what_it_cost():
    result, _ = ask("holds", text="Which label is it?", price_in=1.0, price_out=2.0)

    assert result == ModelAnswer("hello", result.usage)
    assert (result.usage.input, result.usage.output, result.usage.cost) == (4, 1, pytest.approx(6e-6))


def labels_asked_for(form=None):
    """What the provider could read out of the schema that came with the request."""

    async def once():
        async with Provider(in_turn("holds")) as provider:
            asking = Asking(ModelSpec(name="m", base_url=provider.url), timeout=1, parallel=1)
            asking._form = form or asking._form
            await asking.ask("Which?", SCHEMA | {"properties": {"label": {"type": "string", "enum": ["a", "b"]}}})
            await asking.close()
            return provider.seen[0].asked.labels

    return asyncio.run(once())


def test_the_answer_is_asked_for_in_the_form_of_the_schema():
    assert labels_asked_for() == ("a", "b")


def test_the_library_puts_it_in_the_same_form():
    assert labels_asked_for(as_the_library_has_it) == ("a", "b")


def test_a_model_that_knows_no_schemas_is_asked_without_one():
    assert labels_asked_for(in_words) == ()


@pytest.mark.parametrize(("knows", "form"), [(True, as_the_library_has_it), (False, in_words)])
def test_the_form_goes_by_what_the_model_can_do(knows, form):
    model = FunctionModel(lambda *_: None, profile=ModelProfile(supports_json_schema_output=knows))

    assert form_for(model) is form


@pytest.mark.parametrize("kind", TURNED_AWAY)
def test_who_is_turned_away_may_come_again_and_owes_nothing(kind):
    error, _ = ask(kind)

    assert isinstance(error, NotNowError)
    assert (error.after, error.in_doubt) == (None, False)


@pytest.mark.parametrize(("kind", "after"), list(zip(HOLDING, (1.0, 0.12, 2.0, 86_400.0), strict=True)))
def test_the_time_that_a_provider_names_is_told(kind, after):
    error, _ = ask(kind)

    assert isinstance(error, NotNowError)
    assert after - 1.5 < error.after <= after


@pytest.mark.parametrize("kind", LOST)
def test_an_answer_that_was_lost_may_have_to_be_paid(kind):
    error, _ = ask(kind)

    assert isinstance(error, NotNowError)
    assert (error.after, error.in_doubt) == (None, True)


@pytest.mark.parametrize("kind", CLOSED)
def test_where_nothing_will_be_served_nothing_more_is_asked(kind):
    error, _ = ask(kind)

    assert isinstance(error, NoAccessError)


@pytest.mark.parametrize("kind", ["too_long", "filtered"])
def test_one_request_may_be_refused(kind):
    error, _ = ask(kind)

    assert isinstance(error, RefusedError)


def test_every_way_on_the_wire_is_among_these():
    tried = {*TURNED_AWAY, *HOLDING, *LOST, *CLOSED, "too_long", "slow_drip", "wrong_type"}

    assert set(WAYS) == tried
    assert set(MIX) >= tried - {*CLOSED, "too_long", "rate_limited_for_a_day"}


def test_what_a_filter_stopped_is_owed_all_the_same():
    error, _ = ask("filtered", text="Which label is it?")

    assert error.usage.input == 4


def test_the_right_answer_under_a_wrong_name_is_taken():
    assert ask("wrong_type")[0].text == "hello"


def test_a_server_that_is_not_there_costs_nothing():
    error, _ = ask("holds", base_url="http://127.0.0.1:9/v1")

    assert isinstance(error, NotNowError)
    assert not error.in_doubt


# who drips is broken off by whoever asks: see the hostile provider
@pytest.mark.parametrize("kind", [*(kind for kind in WAYS if kind != "slow_drip"), "holds", "filtered"])
def test_one_question_is_one_request(kind):
    assert len(ask(kind)[1].seen) == 1


def test_a_redirect_is_not_followed_to_another_host():
    error, provider = ask("redirect")

    assert "it redirects to `http://127.0.0.1:" in str(error)
    assert provider.strayed == 0


def test_a_flood_is_cut_off():
    assert f"more than {MOST_BYTES:,} bytes" in str(ask("flood")[0])


@pytest.mark.parametrize("kind", ["no_usage", "absurd_usage"])
@pytest.mark.filterwarnings("ignore::pydantic_ai.exceptions.UsageExtractionFailedWarning")
def test_tokens_that_nobody_told_or_that_can_not_be_are_unknown_not_zero(kind):
    result, _ = ask(kind, price_in=1.0, price_out=1.0)

    assert (result.usage.input, result.usage.tokens, result.usage.cost) == (None, None, None)


def reading(used):
    return Tool("read", "reads a place", {"type": "object", "properties": {}}, lambda given: used.append(given) or "it")


def test_tools_are_used_until_there_is_an_answer():
    used = []

    result, provider = ask("reads_first", tools=(reading(used),))

    assert used == [{"place": "output"}]
    assert (result.text, result.usage.requests, len(provider.seen)) == ("hello", 2, 2)


def test_a_model_that_only_ever_reads_is_stopped_and_what_it_cost_is_told():
    error, provider = ask("reads_for_ever", tools=(reading([]),))

    assert isinstance(error, RefusedError)
    assert len(provider.seen) == error.usage.requests == MOST_ROUNDS


def test_a_tool_that_does_not_exist_is_answered_in_words():
    result, provider = ask(
        "reads_first", tools=(Tool("other", "", {"type": "object", "properties": {}}, lambda _: ""),)
    )

    assert result.text == "hello"
    assert len(provider.seen) == 2


@pytest.mark.parametrize("usage", [RequestUsage(input_tokens=9), RequestUsage(output_tokens=9), RequestUsage()])
def test_half_of_what_was_used_has_no_price(usage):
    spec = ModelSpec(name="m", base_url="http://x", price_in=1.0, price_out=1.0)
    found = Asking._usage(SimpleNamespace(_spec=spec), ModelResponse(parts=[], usage=usage))

    assert (found.cost, found.cost_source) == (None, "unknown")


@pytest.mark.parametrize(("status", "in_doubt"), [(429, False), (503, False), (504, True), (408, True), (500, False)])
def test_who_lost_patience_on_the_way_does_not_know_whether_it_was_done(status, in_doubt):
    error = ask_error(ModelHTTPError(status, "m", {"message": "gone"}))

    assert isinstance(error, NotNowError)
    assert error.in_doubt is in_doubt


def test_a_key_at_the_end_of_what_is_looked_at_is_not_told_in_half():
    for length in range(1_160, 1_240):
        result = ask_error(
            ModelHTTPError(500, "m", {"message": f"eyJ{'a' * length}.eyJ{'b' * 9}.{'c' * 9} sk-{'K1' * 20}"})
        )
        assert "K1K1K1K1" not in result.why
