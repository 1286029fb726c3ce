"""The names that an attribute has had: GenAI conventions, newest first, then OpenInference and OpenLLMetry."""

from errata.sources.shared.spans import SpanKind

PROVIDER = ("gen_ai.provider.name", "gen_ai.system", "llm.provider", "llm.system")
REQUESTED = ("gen_ai.request.model", "llm.model_name", "llm.request.model", "embedding.model_name")
ANSWERING = ("gen_ai.response.model", "llm.response.model")
AGENT = ("gen_ai.agent.name", "agent.name", "graph.node.name")
AGENT_VERSION = ("gen_ai.agent.version",)
STOPPED = ("gen_ai.response.finish_reasons", "llm.finish_reason", "llm.response.finish_reason")
INPUT = ("input.value", "traceloop.entity.input", "langfuse.trace.input", "langfuse.observation.input")
OUTPUT = ("output.value", "traceloop.entity.output", "langfuse.trace.output", "langfuse.observation.output")

TOOL_NAME = ("gen_ai.tool.name", "tool.name", "tool_call.function.name")
TOOL_CALL = ("gen_ai.tool.call.id", "tool_call.id", "tool.id")
ARGUMENTS = ("gen_ai.tool.call.arguments", "tool_call.function.arguments", "tool.parameters")
RESULT = ("gen_ai.tool.call.result", "gen_ai.tool.message")

TOKENS = {
    "input": (
        "gen_ai.usage.input_tokens",
        "gen_ai.usage.prompt_tokens",
        "llm.token_count.prompt",
        "llm.usage.prompt_tokens",
    ),
    "output": (
        "gen_ai.usage.output_tokens",
        "gen_ai.usage.completion_tokens",
        "llm.token_count.completion",
        "llm.usage.completion_tokens",
    ),
    "total": ("gen_ai.usage.total_tokens", "llm.token_count.total", "llm.usage.total_tokens"),
    "cache_read": (
        "gen_ai.usage.cache_read.input_tokens",
        "gen_ai.usage.cache_read_input_tokens",
        "llm.token_count.prompt_details.cache_read",
    ),
    "cache_write": (
        "gen_ai.usage.cache_write.input_tokens",
        "gen_ai.usage.cache_creation.input_tokens",
        "gen_ai.usage.cache_creation_input_tokens",
        "llm.token_count.prompt_details.cache_write",
    ),
    "reasoning": (
        "gen_ai.usage.reasoning.output_tokens",
        "gen_ai.usage.reasoning_tokens",
        "llm.token_count.completion_details.reasoning",
    ),
}
COST = ("llm.cost.total", "gen_ai.usage.cost")
SPENT = frozenset((*COST, *(name for spelled in TOKENS.values() for name in spelled)))

KIND = ("openinference.span.kind", "gen_ai.operation.name", "traceloop.span.kind", "llm.request.type")
KINDS: dict[str, SpanKind] = {
    "chat": "model",
    "completion": "model",
    "text_completion": "model",
    "generate_content": "model",
    "execute_tool": "tool",
    "retrieval": "tool",
    "invoke_agent": "agent",
    "create_agent": "agent",
    "invoke_workflow": "agent",
    "llm": "model",
    "tool": "tool",
    "retriever": "tool",
    "reranker": "tool",
    "agent": "agent",
    "evaluator": "judge",
}

CASE = ("test.case.name", "langfuse.experiment.item.id", "langfuse.dataset.item.id", "case.id", "case_id")
"""The case that a trace is an attempt at, if its producer names it."""
CASE_METADATA = ("case_id", "case", "example_id", "test_case_id", "dataset_item_id", "sample_id", "item_id")
"""The same, in OpenInference's `metadata`."""
SUITE = ("test.suite.name", "openinference.project.name", "service.name")
RESULT_STATUS = "test.case.result.status"
