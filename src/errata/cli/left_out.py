"""What a score leaves out, and what it counts although it is not the model's alone, each with a line of evidence."""

from collections.abc import Callable, Sequence

from errata.cli.fitting import WIDTH, columns, cut, fold
from errata.cli.output import put, wash
from errata.compare.scores import Group, Score
from errata.compare.trials import Trial
from errata.runs.scores import Proof, Scores
from errata.text.clean import one_line

QUOTE = 150
FEW = 3
LEAST = 18

_ENDED = {
    "completed": "completed",
    "limit": "reached a limit",
    "error": "ended in an error",
    "cancelled": "cancelled",
}

Name = Callable[[Trial], str]


def put_left_out(scores: Scores, score: Score, name: Name) -> None:
    groups = (*score.groups, *score.beside)
    width = max([LEAST, *(columns(_label(group)) for group in groups)])
    if score.groups:
        put(f"\nLeft out of {score.policy} ({sum(score.left_out.values()):,})")
        _put_groups(score.groups, width, scores, name)
    if score.beside:
        put(f"\nCounted in {score.policy}, not the model alone ({sum(group.count for group in score.beside):,})")
        _put_groups(score.beside, width, scores, name)
        passed, total = score.without_beside
        put(f"  Without them: {f'{passed:,}/{total:,}   {100 * passed / total:.1f} %' if total else 'nothing is left'}")


def _put_groups(groups: Sequence[Group], width: int, scores: Scores, name: Name) -> None:
    for group in groups:
        head = f"  {_label(group):<{width}} {group.count:>4,}   "
        room = WIDTH - columns(head)
        lines = [line for part in _parts(group, scores.proof_of(group), name) for line in fold(wash(part), room)]
        if len(group.members) > 1 or not lines:
            lines.append(_names(group, name, room))
        for at, line in enumerate(lines):
            put((head if at == 0 else " " * columns(head)) + line)


def _label(group: Group) -> str:
    return one_line(group.signal or group.why)


def _parts(group: Group, proof: Proof | None, name: Name) -> list[str]:
    """The evidence, and how the attempts ended where they did not all end alike."""
    parts = []
    if proof is not None:
        quote = f'"{one_line(proof.quote, QUOTE)}"'
        only = f" ({name(group.members[0])})" if len(group.members) == 1 else ""
        parts.append((f"{proof.where} {quote}" if _is_file(proof.where) else quote) + only)
    kinds: dict[str, list[Trial]] = {}
    for one in group.members:
        kinds.setdefault("timed out" if one.timed_out else _ENDED.get(one.execution, one.execution), []).append(one)
    if len(kinds) > 1:
        first, *others = sorted(kinds.items(), key=lambda pair: -len(pair[1]))
        told = [f"{len(first[1])} {first[0]}", *(_kind(word, those, name) for word, those in others)]
        parts.append(", ".join(told))
    return parts


def _kind(word: str, those: Sequence[Trial], name: Name) -> str:
    named = f" ({', '.join(map(name, those))})" if len(those) <= FEW else ""
    return f"{len(those)} {'also ' if those[0].execution == 'limit' else ''}{word}{named}"


def _is_file(where: str) -> bool:
    """A file of the log, not a field of the record that errata made of it."""
    return "[" not in where and ("/" in where or "." in where)


def _names(group: Group, name: Name, room: int) -> str:
    if not group.members:
        return "the log does not name them"
    unnamed = f" and {group.unnamed:,} without a name" if group.unnamed else ""
    return some_of([name(one) for one in group.members], room - len(unnamed)) + unnamed


def some_of(names: Sequence[str], room: int) -> str:
    """As many names as fit a line, and how many more there are."""
    washed = [wash(one_line(name)) for name in names]
    shown = ""
    for at, one in enumerate(washed, 1):
        longer = f"{shown}, {one}" if shown else one
        more = f" and {len(washed) - at:,} more" if at < len(washed) else ""
        if columns(longer + more) > room:
            rest = f" and {len(washed) - at + 1:,} more"
            return shown + rest if shown else cut(one, room - len(more)) + more
        shown = longer
    return shown
