"""What is not in a packet, why, and how to get at it."""

import re
import shlex
from collections.abc import Iterable, Iterator, Sequence

from errata.model import LeftOut
from errata.review.budget import Wanted
from errata.review.clues import noteworthy
from errata.review.fitting import Fitted
from errata.review.material import Material
from errata.review.neighbours import LATER, PARTS, PARTS_OF, TURNS
from errata.review.places import CHECKS, shown_elsewhere
from errata.review.transcript import says_more

NAMED = 6
OVER = "too long"
_NUMBER = re.compile(r"(\d+)(?:#\d+)?$")


def told_of(material: Material, fitted: Fitted) -> Iterator[LeftOut]:
    cut = fitted.cut
    whole = f"errata show {shlex.quote(material.attempt.id)} --full"
    for place, missing, size in cut[:NAMED]:
        yield LeftOut(what=f"{place}: {missing:,} of {size:,} characters", why=f"{OVER}; {whole}")
    if len(cut) > NAMED:
        names = _listed([place for place, _, _ in cut[NAMED:]])
        yield LeftOut(what=f"parts of {names}", why=f"{OVER}; {whole}")
    silent = sum(noteworthy(check) and bool(check.explanation.strip()) for check in material.attempt.checks) - CHECKS
    if silent > 0:
        yield LeftOut(what=f"reasons of {silent} more failed checks", why=f"too many; {whole}")
    groups: dict[str, list[Wanted]] = {}
    for one in fitted.omitted:
        groups.setdefault(one.group or one.place, []).append(one)
    yield from _turns(material, groups.pop(TURNS, []))
    yield from _steps(material, frozenset(place.place for place in fitted.places), whole)
    groups.pop("steps of the transcript", None)
    parts = _parts(material)
    if groups.get(PARTS_OF) or parts:
        names = _listed([one.place for one in groups.pop(PARTS_OF, [])])
        more = f"{parts} more parts" if parts else ""
        yield LeftOut(what=" and ".join(one for one in (names, more) if one), why=f"{OVER}; {whole}")
    for name, members in groups.items():
        listed = _listed([one.place for one in members])
        yield LeftOut(what=listed if len(members) == 1 else f"{name}: {listed}", why=f"{OVER}; {whole}")


def ranges(numbers: Iterable[int]) -> str:
    """`0-12, 14, 20-23`."""
    spans: list[list[int]] = []
    for number in sorted(set(numbers)):
        if spans and number == spans[-1][1] + 1:
            spans[-1][1] = number
        else:
            spans.append([number, number])
    listed = [str(first) if first == last else f"{first}-{last}" for first, last in spans]
    more = f" and {len(listed) - NAMED} more spans" if len(listed) > NAMED else ""
    return ", ".join(listed[:NAMED]) + more


def _turns(material: Material, omitted: list[Wanted]) -> Iterator[LeftOut]:
    numbers = [int(found[1]) for one in omitted if (found := _NUMBER.search(one.place))]
    numbers += [turn.position for turn in material.after[LATER:] if turn.position is not None]
    if material.before and material.before[0].position:
        numbers += range(material.before[0].position)
    if numbers:
        turn = f"errata show {material.run.id[:8]}/{_NUMBER.sub('N', material.case_name)}"
        yield LeftOut(what=f"turns {ranges(numbers)} of the conversation", why=f"the others tell more; one: {turn}")


def _steps(material: Material, shown: frozenset[str], whole: str) -> Iterator[LeftOut]:
    if material.is_turn:
        return
    names = {name.partition("#")[0] for name in shown}
    told = shown_elsewhere(material)
    missing = [
        step.index for step in material.attempt.steps if f"steps/{step.index}" not in names and says_more(step, told)
    ]
    if missing and len(missing) < len(material.attempt.steps):
        yield LeftOut(what=f"steps {ranges(missing)} of the transcript", why=f"the others tell more; {whole}")
    elif missing:
        yield LeftOut(what=f"the transcript, {len(missing)} steps", why=f"{OVER}; {whole}")


def _parts(material: Material) -> int:
    sessions = {one.id for one in material.kin if one.superseded_by == material.attempt.id}
    return max(sum(one.parent in {material.attempt.id, *sessions} for one in material.kin) - PARTS, 0)


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return ", ".join(names[:NAMED]) + more
