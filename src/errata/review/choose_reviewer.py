"""Which reviewer is meant: flags and settings → a model or program that can be asked, and its name."""

import shlex
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import urlsplit

from errata.errors import SettingsError, did_you_mean, extra_hint
from errata.llm.batch_spec import AsksInBatches, at_batch_price, open_batches
from errata.llm.spec import ModelSpec
from errata.model import Reviewer
from errata.model.identity import fingerprint
from errata.model.record import Struct
from errata.review.protocols import AsksForVerdicts, Price
from errata.review.reviewers.command import CommandReviewer, command_for
from errata.review.reviewers.llm import NEEDED, ToolsFor, opened_model, price_of
from errata.review.reviewers.presets import PRESETS
from errata.review.spending import Limits
from errata.settings.reviewers import ReviewerSettings, located, refuse_address

MILLION = 1_000_000
LARGEST_SCRIPT = 1_000_000
SHOWN = 3
_INTERPRETERS = ("python", "node", "deno", "bun", "ruby", "perl", "bash", "sh", "uv", "npx", "env")
WAYS = (
    f"`--model provider:name`, `--base-url URL --model NAME`, `--command` with a preset ({', '.join(PRESETS)}) "
    "or a program, or `--reviewer NAME` from your settings\n"
    "`errata review next RUN` gives you the failures to review yourself"
)
HOW = "`[reviewers.NAME]` in your settings: docs/configuration.md"


class ReviewerFlags(Struct):
    """What the flags say about the reviewer."""

    reviewer: str = ""
    model: str = ""
    base_url: str = ""
    command: str = ""
    with_tools: bool = False
    allow_tools: bool = False
    batch: bool = False


class ChosenReviewer(Struct):
    identity: Reviewer
    goes_to: str
    """Who gets what is sent: a host or a program."""
    open: Callable[[Limits, ToolsFor | None], AbstractAsyncContextManager[AsksForVerdicts]]
    price: Price
    reads_more: bool = False
    """Whether it may use tools to read what a packet leaves out."""
    per_minute: int | None = None
    tokens_per_minute: int | None = None
    open_batches: Callable[[float], AsksInBatches] | None = None
    """With a timeout in seconds; none where nothing can be asked in a batch."""


def no_price(_tokens_in: int, _tokens_out: int) -> float | None:
    return None


def own_price(settings: ReviewerSettings) -> Price | None:
    """As the user's settings tell it; half a price is none."""
    given, taken = settings.price_in, settings.price_out
    if given is None or taken is None:
        return None
    return lambda tokens_in, tokens_out: (tokens_in * given + tokens_out * taken) / MILLION


def choose_model(name: str, settings: ReviewerSettings, wish: ReviewerFlags) -> ChosenReviewer:
    _refuse_without_extra()
    spec = ModelSpec(
        name=settings.model,
        base_url=settings.base_url,
        key_name=settings.key_name,
        temperature=settings.temperature,
        price_in=settings.price_in,
        price_out=settings.price_out,
    )
    if wish.batch:
        _refuse_batch_with_tools(wish)
        spec = at_batch_price(spec)
    identity = Reviewer(
        kind="llm", name=name or spec.name, version=_model_version(spec, name, wish), caller=f"model:{spec.name}"
    )
    host = urlsplit(spec.base_url).netloc if spec.base_url else spec.name.partition(":")[0]
    return ChosenReviewer(
        identity=identity,
        goes_to=f"`{host}`, model `{spec.name}`",
        open=lambda limits, tools: opened_model(spec, identity, limits, tools),
        price=price_of(spec),
        reads_more=wish.with_tools,
        per_minute=settings.per_minute,
        tokens_per_minute=settings.tokens_per_minute,
        open_batches=lambda timeout: open_batches(spec, timeout=timeout),
    )


def _refuse_batch_with_tools(wish: ReviewerFlags) -> None:
    if wish.with_tools:
        hint = "leave one of them out: a batch cannot answer tool calls"
        raise SettingsError("`--batch` and `--with-tools` can't be combined", hint=hint)


def _refuse_without_extra() -> None:
    missing = next((one for one in NEEDED if find_spec(one) is None), "")
    if missing:
        message = f"Asking a model needs the package `{missing}`, which is not installed"
        raise SettingsError(message, hint=extra_hint("llm"))


def _model_version(spec: ModelSpec, name: str, wish: ReviewerFlags) -> str:
    """What changes an answer beside the name: what the old one answered is not taken for the new one's."""
    parts = [spec.name if name else "", urlsplit(spec.base_url).netloc]
    parts += [f"t={spec.temperature:g}" if spec.temperature is not None else "", "tools" if wish.with_tools else ""]
    return "+".join(part for part in parts if part)


def words_of(command: str) -> tuple[str, ...]:
    """As a shell would take it apart; no shell is started."""
    try:
        return located(tuple(shlex.split(command)), Path.cwd())
    except ValueError as error:
        hint = 'quote it as one word: `--command "prog --flag"`'
        raise SettingsError(f"`--command` can't be read: {error}", hint=hint) from error


def choose_program(name: str, settings: ReviewerSettings, wish: ReviewerFlags) -> ChosenReviewer:
    if wish.with_tools:
        raise SettingsError("`--with-tools` is for models", hint="a program gets the packet on its standard input")
    if wish.batch:
        raise SettingsError("`--batch` is for models", hint="a program is asked at once: leave out `--batch`")
    preset = command_for(settings.command, passes=settings.passes, allow_tools=wish.allow_tools)
    is_preset = preset.name in PRESETS and preset.argv == PRESETS[preset.name].argv
    version = "" if is_preset and not name else _program_version(preset.argv)
    # under a name of the settings, the words of the command are who it is
    caller = _called(settings.command) + (f"@{_program_version(preset.argv)}" if name else "")
    identity = Reviewer(
        kind="command", name=name or _called(settings.command), version=version, caller=f"command:{caller}"
    )

    @asynccontextmanager
    async def opened(_limits: Limits, _tools: ToolsFor | None) -> AsyncIterator[AsksForVerdicts]:
        yield CommandReviewer(preset, identity)

    more = " …" if len(preset.argv) > SHOWN else ""
    off = f", without {preset.switched_off}" if preset.switched_off else ""
    return ChosenReviewer(
        identity=identity,
        goes_to=f"the program `{shlex.join(preset.argv[:SHOWN])}{more}`{off}",
        open=opened,
        price=own_price(settings) or no_price,
        per_minute=settings.per_minute,
        tokens_per_minute=settings.tokens_per_minute,
    )


def _called(argv: tuple[str, ...]) -> str:
    """By its own name; a script by the script's, not by that of what runs it."""
    program = Path(argv[0]).name
    if not program.startswith(_INTERPRETERS):
        return program
    return next((Path(word).name for word in argv[1:] if Path(word).is_absolute()), program)


def _program_version(argv: tuple[str, ...]) -> str:
    """Other words or another script are another version: what the old one answered is not taken for the new one's."""
    files = [path for path in map(Path, argv) if path.is_absolute() and path.is_file()]
    contents = [path.read_bytes().hex() for path in files if path.stat().st_size <= LARGEST_SCRIPT]
    return fingerprint([word for word in argv if Path(word) not in files], contents, size=4)


def choose(wish: ReviewerFlags, known: Mapping[str, ReviewerSettings]) -> ChosenReviewer:
    ways = (wish.reviewer, wish.command, wish.model or wish.base_url)
    if sum(map(bool, ways)) != 1:
        raise SettingsError(
            f"{'Several reviewers are' if any(ways) else 'No reviewer is'} named", hint=f"one of {WAYS}"
        )
    if wish.reviewer:
        settings = _configured(wish.reviewer, known)
    elif wish.command:
        settings = ReviewerSettings(kind="command", command=words_of(wish.command))
    else:
        _refuse_half_a_model(wish)
        settings = ReviewerSettings(kind="llm", model=wish.model, base_url=wish.base_url)
    chosen = choose_model if settings.kind == "llm" else choose_program
    return chosen(wish.reviewer, settings, wish)


def _configured(name: str, known: Mapping[str, ReviewerSettings]) -> ReviewerSettings:
    if name not in known:
        listed = f"known are: {', '.join(known)}" if known else f"there are none yet; {HOW}"
        hints = [hint for hint in (did_you_mean(name, known), listed) if hint]
        raise SettingsError(f"No reviewer `{name}` is in your settings", hint="\n".join(hints))
    return known[name]


def _refuse_half_a_model(wish: ReviewerFlags) -> None:
    if not wish.model:
        raise SettingsError("`--base-url` needs a `--model`", hint="the name that the server knows the model by")
    if wish.base_url:
        refuse_address(wish.base_url, "`--base-url`")
    elif ":" not in wish.model:
        hint = "`--model provider:name`, such as `openai:gpt-5`, or `--base-url URL` for a server of your own"
        raise SettingsError(f"`{wish.model}` does not name a provider", hint=hint)
