"""A language model as reviewer."""

from collections.abc import Callable

from errata.llm.spec import Asks, NoAccessError, NotNowError, RefusedError
from errata.llm.tools import Tool
from errata.model import Packet, Reviewer
from errata.review.protocols import Answer, Prompt, RetryLaterError, ReviewerStoppedError, ReviewFailedError

ToolsFor = Callable[[Packet], tuple[Tool, ...]]


class ModelReviewer:
    def __init__(self, asking: Asks, identity: Reviewer, tools: ToolsFor | None = None) -> None:
        self._asking = asking
        self.identity = identity
        self._tools = tools

    async def ask(self, prompt: Prompt, packet: Packet) -> Answer:
        tools = self._tools(packet) if self._tools else ()
        try:
            said = await self._asking.ask(prompt.text, prompt.schema, tools)
        except NotNowError as error:
            raise RetryLaterError(error.why, error.after, usage=error.usage, in_doubt=error.in_doubt) from error
        except RefusedError as error:
            raise ReviewFailedError(str(error), usage=error.usage) from error
        except NoAccessError as error:
            raise ReviewerStoppedError(str(error), usage=error.usage) from error
        return Answer(said.text, said.usage)
