"""Every way in which a request fails, told as one of three: not now, not this, not at all."""

from collections.abc import Iterator

import httpx2
from pydantic_ai import exceptions as errors

from errata.llm.gate import RedirectedError, UnusableError
from errata.llm.spec import AskError, NoAccessError, NotNowError, RefusedError
from errata.text.clean import one_line
from errata.text.redact import redact

WIDTH = 300
_READ = 4 * WIDTH
"""Characters of what a provider says that are looked at."""
_FOR_GOOD = (errors.ModelAuthenticationError, errors.ModelNotFoundError, errors.ModelQuotaExceededError)
_PERHAPS_DONE = (408, 504, 524)
"""Somebody on the way lost patience; whether the model did not, nobody knows."""
_NEVER_SENT = ("pool", "connect")


def told_as(error: Exception) -> AskError:
    if redirected := _among_causes(error, RedirectedError):
        return NoAccessError(f"{redirected}; if that is meant, name the new address")
    if unusable := _among_causes(error, UnusableError):
        return NotNowError(str(unusable), in_doubt=True)
    if isinstance(error, _FOR_GOOD):
        return NoAccessError(_told(error))
    if isinstance(error, errors.UserError):
        return NoAccessError(_short(str(error)))
    if isinstance(error, errors.ModelRequestRejectedError):
        return RefusedError(_told(error))
    if isinstance(error, errors.ModelHTTPError):
        return NotNowError(_told(error), error.retry_after, in_doubt=error.status_code in _PERHAPS_DONE)
    sent = not (isinstance(error, errors.ModelConnectionError) and error.phase in _NEVER_SENT)
    if isinstance(error, errors.ModelConnectionError | httpx2.HTTPError | OSError):
        return NotNowError(_short(_deepest(error)), in_doubt=sent)
    # half an answer, one of another shape, or no JSON at all: the same request may well go through
    return NotNowError(_short(f"the answer can't be read: {error}"), in_doubt=True)


def _told(error: errors.ModelAPIError) -> str:
    """What the provider says, without the library's words around it."""
    body = error.body
    said = body.get("message") if isinstance(body, dict) else body
    status = f"HTTP {error.status_code}: " if isinstance(error, errors.ModelHTTPError) else ""
    return _short(f"{status}{said or error.message}")


def _short(text: str) -> str:
    """One line that may be stored and shown: a provider may repeat the key that it refuses."""
    if len(text) > _READ:  # half a word may be half a key
        text = text[:_READ].rpartition(" ")[0]
    return one_line(redact(text), WIDTH)


def _deepest(error: Exception) -> str:
    """Libraries wrap one another and say `Connection error.`; what really happened stands at the bottom."""
    *_, cause = (one for one in _causes(error) if isinstance(one, Exception))
    return f"{type(cause).__name__}: {cause}".removesuffix(": ")


def _among_causes(error: BaseException, kind: type[Exception]) -> BaseException | None:
    return next((one for one in _causes(error) if isinstance(one, kind)), None)


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__
