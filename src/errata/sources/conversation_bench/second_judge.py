"""A second judge's rows, found again by their place in the file, so that none is held."""

from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

from errata.model import SourceRef
from errata.sources.base import LINE_CAP, Row, decode, relative
from errata.sources.conversation_bench.turns import turn_of


class _Peek(msgspec.Struct):
    turn: Any = None


_peek = msgspec.json.Decoder(_Peek)


def rows_by_turn(path: Path, *, root: Path) -> Callable[[int, int], Row | None]:
    """A function from turn and index to the row, none where there is no such row."""
    places = _places(path)
    name = relative(path, root)

    def row(turn: int, index: int) -> Row | None:
        known = places.get(turn, ())
        if not 0 < index <= len(known):
            return None
        line, start = known[index - 1]
        try:
            with path.open("rb") as file:
                file.seek(start)
                data = decode(file.readline(LINE_CAP))
        except (OSError, ValueError):
            return None
        return Row(data, SourceRef(file=name, line=line)) if type(data) is dict else None

    return row


def _places(path: Path) -> dict[int, list[tuple[int, int]]]:
    """Turn → line and byte of each of its rows. Damaged lines are told when the file itself is converted."""
    places: dict[int, list[tuple[int, int]]] = defaultdict(list)
    number = start = 0
    try:
        with path.open("rb") as file:
            while line := file.readline(LINE_CAP):
                number += 1
                turn = _turn(line)
                if turn is not None:
                    places[turn].append((number, start))
                start += len(line)
    except OSError:
        pass
    return places


def _turn(line: bytes) -> int | None:
    try:
        return turn_of({"turn": _peek.decode(line).turn})
    except msgspec.DecodeError:
        pass
    except ValueError:
        return None
    try:
        return turn_of(decode(line))
    except (ValueError, LookupError, TypeError):
        return None
