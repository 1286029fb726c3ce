"""Which reviewer is meant: flags and settings → somebody who can be asked, under a name that verdicts carry."""

from collections.abc import Mapping

from errata.errors import SettingsError
from errata.review.choose_model import chosen_model
from errata.review.choose_program import chosen_program, words_of
from errata.review.chosen import Chosen, Wish
from errata.review.reviewers.presets import PRESETS
from errata.settings.reviewers import ReviewerSettings, refuse_address
from errata.text.nearest import did_you_mean

WAYS = (
    f"`--model provider:name`, `--base-url URL --model NAME`, `--command` with a preset ({', '.join(PRESETS)}) "
    "or a program, or `--reviewer NAME` from your settings\n`errata review next RUN` hands packets out without any"
)
HOW = "`[reviewers.NAME]` in your settings: docs/configuration.md"


def choose(wish: Wish, known: Mapping[str, ReviewerSettings]) -> Chosen:
    ways = (wish.reviewer, wish.command, wish.model or wish.base_url)
    if sum(map(bool, ways)) != 1:
        raise SettingsError(
            f"{'Several reviewers are' if any(ways) else 'No reviewer is'} named", hint=f"one of {WAYS}"
        )
    if wish.reviewer:
        settings = _known(wish.reviewer, known)
    elif wish.command:
        settings = ReviewerSettings(kind="command", command=words_of(wish.command))
    else:
        _refuse_half_a_model(wish)
        settings = ReviewerSettings(kind="llm", model=wish.model, base_url=wish.base_url)
    chosen = chosen_model if settings.kind == "llm" else chosen_program
    return chosen(wish.reviewer, settings, wish)


def _known(name: str, known: Mapping[str, ReviewerSettings]) -> ReviewerSettings:
    if name not in known:
        listed = f"known are: {', '.join(known)}" if known else f"there are none yet; {HOW}"
        hints = [hint for hint in (did_you_mean(name, known), listed) if hint]
        raise SettingsError(f"No reviewer `{name}` is in your settings", hint="\n".join(hints))
    return known[name]


def _refuse_half_a_model(wish: Wish) -> None:
    if not wish.model:
        raise SettingsError("`--base-url` needs a `--model`", hint="the name that the server knows the model by")
    if wish.base_url:
        refuse_address(wish.base_url, "`--base-url`")
    elif ":" not in wish.model:
        hint = "`--model provider:name`, such as `openai:gpt-5`, or `--base-url URL` for a server of your own"
        raise SettingsError(f"`{wish.model}` names no provider", hint=hint)
