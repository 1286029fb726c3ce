"""A log as inspect-ai itself writes it: an agent with a tool on a model that costs nothing. Runs where inspect-ai is.

Each sample has 20 messages: a system and a user message, nine calls of a tool with their results. Results and answers
differ from sample to sample, and are long enough to be kept as attachments in the events.
"""

import random
import sys
from collections.abc import Iterator
from pathlib import Path

from inspect_ai import Task, eval
from inspect_ai.dataset import Sample
from inspect_ai.model import ChatMessageSystem, ModelOutput, ModelUsage, execute_tools, get_model
from inspect_ai.scorer import includes
from inspect_ai.solver import Generate, Solver, TaskState, solver
from inspect_ai.tool import Tool, tool

from bench.inspect import MESSAGES

CALLS = MESSAGES // 2 - 1
WORDS = ("tide", "harbour", "lock", "buoy", "chart", "depth", "pilot", "ebb", "flood", "mooring", "signal", "berth")


def make(folder: Path, samples: int, calls: int = CALLS, target: str = "tide1") -> None:
    dataset = [
        Sample(id=f"case-{at:05}", input=prose(f"input {at}", 60), target=target, metadata={"n": at})
        for at in range(samples)
    ]
    task = Task(dataset=dataset, solver=agent(calls), scorer=includes(), name="harbour")
    model = get_model("mockllm/model", custom_outputs=outputs())
    (log,) = eval(task, model=model, display="none", log_dir=str(folder), log_format="eval", max_samples=20)
    assert log.status == "success", log.error


def prose(seed: str, words: int) -> str:
    chance = random.Random(seed)
    return " ".join(f"{chance.choice(WORDS)}{chance.randrange(1000)}" for _ in range(words))


@solver
def agent(calls: int) -> Solver:
    tools = [look()]

    async def solve(state: TaskState, _generate: Generate) -> TaskState:
        state.messages.insert(0, ChatMessageSystem(content=prose("system", 80)))
        for _ in range(calls):
            state.output = await get_model().generate(state.messages, tools=tools)
            state.messages.append(state.output.message)
            results, _ = await execute_tools(state.messages, tools)
            state.messages.extend(results)
        return state

    return solve


@tool
def look() -> Tool:
    async def execute(place: str) -> str:
        """Look up a place.

        Args:
            place: Which one.
        """
        return prose(place, 150)

    return execute


def outputs() -> Iterator[ModelOutput]:
    number = 0
    while True:
        number += 1
        arguments = {"place": f"place {number}: {prose(f'place {number}', 12)}"}
        output = ModelOutput.for_tool_call("mockllm", "look", arguments, content=prose(f"answer {number}", 40))
        output.usage = ModelUsage(input_tokens=900, output_tokens=60, total_tokens=960)
        yield output


if __name__ == "__main__":
    folder, samples, *rest = sys.argv[1:]
    make(Path(folder), int(samples), *map(int, rest[:1]), *rest[1:])
