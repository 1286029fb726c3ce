"""`.aider.chat.history.md` as steps: what was asked stands behind `####`, what aider printed behind `>`."""

from errata.model import Actor, SourceRef, Step
from errata.model.words import ActorRole

_MARKS: tuple[tuple[str, ActorRole], ...] = (("####", "user"), (">", "environment"))
_STARTED = "# aider chat started at"


def steps_of(text: str, ref: SourceRef) -> tuple[Step, ...]:
    said: list[tuple[ActorRole, list[str], int]] = []
    for number, line in enumerate(text.splitlines(), start=1):
        # an empty line belongs to whoever spoke before it
        role, words = _spoken(line) if line.strip() or not said else (said[-1][0], "")
        if not said or said[-1][0] != role:
            said.append((role, [], number))
        said[-1][1].append(words)
    told = [(role, "\n".join(lines).strip(), number) for role, lines, number in said]
    kept = [one for one in told if one[1]]
    return tuple(
        Step(
            index=index,
            actor=Actor(role=role, name="aider" if role == "environment" else ""),
            kind="log" if role == "environment" else "message",
            text=words,
            ref=SourceRef(file=ref.file, line=number),
        )
        for index, (role, words, number) in enumerate(kept)
    )


def _spoken(line: str) -> tuple[ActorRole, str]:
    if line.startswith(_STARTED):
        return "environment", line
    for mark, role in _MARKS:
        if line.startswith(f"{mark} ") or line == mark:
            return role, line.removeprefix(mark).removeprefix(" ")
    return "assistant", line
