"""Which rules can match a text at all: plain substrings are looked for before any regular expression runs."""

from errata.text.lazy_regex import lazy_regex

SHORTEST = 3
_CLASSES = "bBdDsSwWAZ"
_PLAIN = lazy_regex(r"[^\\\[\]{}().^$|?*+]+(?![?*+{])")
"""Characters that stand for themselves, without the last one where it is repeated."""
_FLAGS = lazy_regex(r"-?[aimsx]{1,5}(?=:)")


def needed(pattern: str) -> tuple[str, ...]:
    """Lower-case texts, one of them in every match of the pattern; empty where no such texts are known."""
    return tuple(dict.fromkeys(_Reading(pattern).alternatives()))


class _Reading:
    """A pattern read from left to right, once; brackets are read by the same rule as the whole."""

    def __init__(self, pattern: str) -> None:
        self._pattern = pattern
        self._at = 0

    def alternatives(self) -> list[str]:
        """Up to the closing bracket or the end; empty where one alternative has no stretch that is long enough."""
        choices = [self._best_of_one()]
        while self._take("|"):
            choices.append(self._best_of_one())
        return [one for best in choices for one in best] if all(choices) else []

    def _best_of_one(self) -> list[str]:
        """What one alternative must hold: the stretch, or the choice of stretches, whose shortest is longest."""
        candidates: list[list[str]] = []
        run = ""
        while self._at < len(self._pattern) and self._pattern[self._at] not in "|)":
            if stretch := _PLAIN.match(self._pattern, self._at):
                run += stretch[0].lower()
                self._at = stretch.end()
                continue
            plain, choice = self._item()
            least = self._least_count()
            if plain and least == 1:
                run += plain
                continue
            candidates.append([run + plain if least else run])
            run = ""
            if choice and least:
                candidates.append(choice)
        candidates.append([run])
        best = max(candidates, key=lambda choice: min(map(len, choice)))
        return best if min(map(len, best)) >= SHORTEST else []

    def _item(self) -> tuple[str, list[str]]:
        """The next plain character, or what a bracket must hold; neither where it can be anything."""
        letter = self._pattern[self._at]
        self._at += 1
        if letter == "\\":
            letter = self._pattern[self._at]
            self._at += 1
            return ("", []) if letter in _CLASSES or letter.isdigit() else (letter.lower(), [])
        if letter == "[":
            self._skip_set()
            return "", []
        if letter == "(":
            return "", self._group()
        return ("", []) if letter in ".^$" else (letter.lower(), [])

    def _group(self) -> list[str]:
        asks = self._take("?")
        if asks and (flags := _FLAGS.match(self._pattern, self._at)):
            self._at = flags.end()
        known = not asks or self._take(":")  # of looks ahead and behind nothing is known
        if asks and not known:
            while self._at < len(self._pattern) and self._pattern[self._at] in "<=!P":
                self._at += 1
        choices = self.alternatives()
        self._take(")")
        return choices if known else []

    def _least_count(self) -> int:
        """How often the item before must be there at least: once, once and perhaps more (2), or not at all."""
        if self._at >= len(self._pattern) or self._pattern[self._at] not in "?*+{":
            return 1
        sign = self._pattern[self._at]
        if sign == "{":
            self._at = self._pattern.index("}", self._at)
        self._at += 1
        self._take("?")
        return 2 if sign == "+" else 0

    def _skip_set(self) -> None:
        self._take("^")
        self._take("]")
        while self._pattern[self._at] != "]":
            self._at += 2 if self._pattern[self._at] == "\\" else 1
        self._at += 1

    def _take(self, letter: str) -> bool:
        taken = self._pattern.startswith(letter, self._at)
        self._at += taken
        return taken
