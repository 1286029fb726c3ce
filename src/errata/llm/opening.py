"""The way in: asking models needs the extra `llm`, and who lacks it, or a key, is told so before anything is done."""

from errata.errors import SettingsError
from errata.llm.spec import Asks, ModelSpec, NoAccessError


def open_model(spec: ModelSpec, *, timeout: float, parallel: int) -> Asks:
    try:
        # pydantic-ai takes a second to import, and most commands ask nobody
        from errata.llm.asking import Asking  # noqa: PLC0415
    except ImportError as error:
        raise SettingsError(
            f"A model can't be asked: `{error.name}` is not installed",
            hint="install it with `pip install 'errata[llm]'`",
        ) from error
    try:
        return Asking(spec, timeout=timeout, parallel=parallel)
    except NoAccessError as error:
        raise SettingsError(f"The model `{spec.name}` can't be asked: {error}", hint=_HINT) from error


_HINT = (
    "a model is named `provider:model`, such as `openai:gpt-5`; a server of your own needs its address.\n"
    "Keys are taken from the environment variable that the provider or the configuration names"
)
