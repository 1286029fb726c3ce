"""The prompts: the skills, with the tools that take the place of their commands."""

from errata.skills import Skill, skill_named

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
