"""Resources: `errata://packet/ATTEMPT` and `errata://transcript/ATTEMPT`, page by page; and the prompts."""

from collections.abc import Iterator
from itertools import islice
from typing import Any, NamedTuple
from urllib.parse import quote, unquote

from errata.errors import NotFoundError
from errata.mcp.outgoing import NOTE, outgoing, outgoing_text
from errata.mcp.paging import page_of, read_cursor
from errata.mcp.tools import Call, packet_of, steps_of
from errata.model.codec import json_text
from errata.model.filters import Filters
from errata.skills import Skill, skill_named
from errata.verbs.analyze import list_failures
from errata.verbs.store import all_runs

SCHEME = "errata://"
TEMPLATES = {
    "packet": "What a reviewer needs to see about one failure: facts, texts, question.",
    "transcript": "The steps of an attempt: messages, tool calls and results.",
}
LISTED = 50


class ListedResource(NamedTuple):
    uri: str
    name: str
    description: str


def uri_of(kind: str, attempt: str, cursor: str = "") -> str:
    """An attempt's id has slashes and number signs."""
    return f"{SCHEME}{kind}/{quote(attempt, safe='')}{f'?cursor={cursor}' if cursor else ''}"


def template_of(kind: str) -> str:
    return f"{SCHEME}{kind}/{{attempt}}{{?cursor}}"


def read_resource(uri: str, call: Call) -> str:
    """A page as JSON; `next` is the address of the next one."""
    kind, _, rest = uri.removeprefix(SCHEME).partition("/")
    if not uri.startswith(SCHEME) or kind not in TEMPLATES or not rest:
        known = ", ".join(template_of(one) for one in TEMPLATES)
        raise NotFoundError(f"`{uri}` is not an address of this server", hint=f"there are: {known}")
    given, _, cursor = rest.partition("?cursor=")
    attempt = unquote(given)
    start = read_cursor(cursor, kind, attempt)
    if kind == "packet":
        page = page_of([packet_of(call, attempt)], start, prepare=outgoing)
    else:
        page = page_of(steps_of(call, attempt), start, prepare=outgoing)
    following = uri_of(kind, attempt, page.next.encoded()) if page.next else None
    answer: dict[str, Any] = {"note": NOTE, "items": page.items, "next": following}
    return json_text(answer)


def listed_resources(call: Call, cursor: str) -> tuple[list[ListedResource], str]:
    """The packets of all failures, those of the newest run first; and where the next page begins."""
    start = read_cursor(cursor, "resources").at
    page = list(islice(_packets(call), start, start + LISTED + 1))
    more = read_cursor("", "resources")
    following = type(more)(of=more.of, at=start + LISTED).encoded() if len(page) > LISTED else ""
    return page[:LISTED], following


def _packets(call: Call) -> Iterator[ListedResource]:
    for stored in all_runs(call.store):
        if stored.counts.failures:
            for failure in list_failures(stored.run.id, call.store, Filters()):
                attempt = failure.attempt.id
                name = outgoing_text(f"{stored.run.native_id}/{failure.case_name}")
                if outgoing_text(attempt) == attempt:  # an address can't be redacted
                    yield ListedResource(uri_of("packet", attempt), name, outgoing_text(failure.reason)[:200])


# --- the prompts: the skills, with the tools that take the place of their commands


COMMANDS = {
    "errata runs": "runs",
    "errata analyze": "analyze",
    "errata failures": "failures",
    "errata show": "show",
    "errata check": "check",
    "errata sessions": "sessions",
    "errata rerun": "rerun",
    "errata review next": "next_packet",
    "errata review submit": "submit_verdict",
    "errata review release": "release",
    "errata review status": "review_status",
    "errata compare": "compare",
    "errata buckets list": "buckets",
    "errata buckets show": "buckets",
    "errata score": "score",
    "errata report": "report",
    "errata action add": "action",
    "errata action list": "actions",
}
"""Command → the tool that does the same."""
ARGUMENT = "input"


def prompt_text(skill: Skill, given: str) -> str:
    tools = "\n".join(f"- `{command}`: `{tool}`" for command, tool in COMMANDS.items())
    about = f"\nThe input is: {given}\n" if given else ""
    return (
        "The instructions below name commands of errata. Where this server has a tool, call the tool instead:\n\n"
        f"{tools}\n\n"
        "Where an answer has a `cursor`, call the tool again with it until it is null. Commands that are not listed "
        f"need a shell; leave them out if you have none.\n{about}\n{skill.instructions}"
    )


def prompt_named(name: str, given: str) -> tuple[Skill, str]:
    skill = skill_named(name)
    return skill, prompt_text(skill, given)
