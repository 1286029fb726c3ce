"""Classify every failure of a request: try later, rejected, or no access."""

from collections.abc import Iterator

import httpx2
from pydantic_ai import exceptions as errors

from errata.llm.gate import RedirectedError, UnusableError
from errata.llm.spec import AskError, NoAccessError, NotNowError, RefusedError
from errata.text.outgoing import line_for_user

WIDTH = 300
_READ = 4 * WIDTH
"""Characters of a provider's message that are read."""
_FOR_GOOD = (errors.ModelAuthenticationError, errors.ModelNotFoundError, errors.ModelQuotaExceededError)
_PERHAPS_DONE = (408, 504, 524)
"""A timeout on the way: the model may have finished the work."""
_NEVER_SENT = ("pool", "connect")


def ask_error(error: Exception) -> AskError:
    if redirected := _among_causes(error, RedirectedError):
        return NoAccessError(f"{redirected}; if that is intended, configure the new address")
    if unusable := _among_causes(error, UnusableError):
        return NotNowError(str(unusable), in_doubt=True)
    if isinstance(error, _FOR_GOOD):
        return NoAccessError(_provider_message(error))
    if isinstance(error, errors.UserError):
        return NoAccessError(short(str(error)))
    if isinstance(error, errors.ModelRequestRejectedError):
        return RefusedError(_provider_message(error))
    if isinstance(error, errors.ModelHTTPError):
        return NotNowError(_provider_message(error), error.retry_after, in_doubt=error.status_code in _PERHAPS_DONE)
    sent = not (isinstance(error, errors.ModelConnectionError) and error.phase in _NEVER_SENT)
    if isinstance(error, errors.ModelConnectionError | httpx2.HTTPError | OSError):
        return NotNowError(short(_deepest(error)), in_doubt=sent)
    # a truncated or malformed answer: the same request may succeed next time
    return NotNowError(short(f"the answer can't be read: {error}"), in_doubt=True)


def _provider_message(error: errors.ModelAPIError) -> str:
    """The provider's message without the library's wrapping."""
    body = error.body
    message = body.get("message") if isinstance(body, dict) else body
    status = f"HTTP {error.status_code}: " if isinstance(error, errors.ModelHTTPError) else ""
    return short(f"{status}{message or error.message}")


def short(text: str) -> str:
    """One line that is safe to store and show: a provider may repeat the key that it rejects."""
    if len(text) > _READ:  # half a word may be half a key
        text = text[:_READ].rpartition(" ")[0]
    return line_for_user(text, WIDTH)


def _deepest(error: Exception) -> str:
    """The innermost cause: libraries wrap errors in one another and report `Connection error.`"""
    *_, cause = (one for one in _causes(error) if isinstance(one, Exception))
    return f"{type(cause).__name__}: {cause}".removesuffix(": ")


def _among_causes(error: BaseException, kind: type[Exception]) -> BaseException | None:
    return next((one for one in _causes(error) if isinstance(one, kind)), None)


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__
