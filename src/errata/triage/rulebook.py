"""Rules as data: TOML files that say where to look, what to match, what it means and who has to act.

Plain words of a pattern are looked for before the regular expression runs.
"""

import re
import tomllib
from collections.abc import Iterable, Iterator
from functools import cache, cached_property, lru_cache
from hashlib import blake2b
from pathlib import Path
from typing import Any, Literal

import msgspec

from errata.errors import SettingsError
from errata.model import Signal
from errata.model.words import Confidence, Owner, Phase
from errata.settings.paths import bytes_of
from errata.text.clean import one_line
from errata.text.lazy_regex import lazy_regex
from errata.text.mask import steady
from errata.text.redact import redact
from errata.text.user_patterns import CompiledPattern, PatternMatch, compile_user_pattern
from errata.triage.places import TextPlace

FOLDER = Path(__file__).parent / "rules"
QUOTE = 240
DEFAULT_WHERE = ("error",)


class RuleFix(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What repairs a known fault, so that it needs no model to explain it: a change of code, or something to do."""

    cause: str
    """How it comes about."""
    action: str = ""
    """What to do where no change of code is known."""
    before: str = ""
    after: str = ""
    path: str = ""


class Rule(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    name: str
    means: str
    """In a sentence: what has happened where this matches."""
    owner: Owner
    strength: Confidence
    restates: tuple[str, ...] = ()
    """Fields of the harness that the rule only repeats, such as `errors[].type`. It is certain there, else likely."""
    specific: bool = False
    """Decides before other rules of its strength: it names what happened, they only where."""
    match: str = ""
    words: tuple[str, ...] = ()
    """Exception classes and error codes as their clients spell them: matched whole, in upper and lower case as here."""
    statuses: tuple[int, ...] = ()
    """HTTP statuses, where a text begins with one or calls it so: a bare number is nothing."""
    exits: tuple[int, ...] = ()
    """Exit codes of programs, where a text calls them so."""
    unless: str = ""
    where: tuple[str, ...] = DEFAULT_WHERE
    phases: tuple[Phase, ...] = ()
    """Only errors of these phases; empty for all."""
    sources: tuple[str, ...] = ()
    """Only the runs of these sources; empty for all."""
    also: tuple[Owner, ...] = ()
    breaks: Literal["", "measurement"] = ""
    fix: RuleFix | None = None

    @property
    def pattern(self) -> str:
        """What it matches: its typed facts, and the words of its `match`."""
        return "|".join(filter(None, (*_typed(self), self.match)))


def _typed(rule: Rule) -> Iterator[str]:
    if rule.words:
        yield rf"\b(?-i:{'|'.join(map(re.escape, rule.words))})\b"
    if rule.statuses:
        codes = "|".join(map(str, rule.statuses))
        named = r"\b(?:status(?:[_ ]?code)?|error|code|https?)\W{1,4}|\bhttp/\d(?:\.\d)? |[(\[]"
        yield rf"(?:{named})(?:{codes})\b|^(?:{codes})(?:$|\W{{1,4}}(?-i:[A-Z{{\[]))"
    if rule.exits:
        codes = "|".join(str(code) for code in rule.exits)
        yield rf"\b(?:exit(?:ed)?(?: with)?(?:[_ ]?(?:code|status))?|return[_ ]?code|status|rc)\W{{1,3}}(?:{codes})\b"


class Matched(msgspec.Struct, frozen=True):
    rule: Rule
    signal: Signal


class Rulebook:
    """Compiled rules. Texts that are equal but for long numbers are matched once: a thousand equal crashes cost one."""

    def __init__(self, rules: Iterable[Rule], added: Iterable[Rule] = ()) -> None:
        """`added` are rules of users; one replaces the built-in rule of its name."""
        of_users = {rule.name: rule for rule in added}
        self.rules = {rule.name: rule for rule in rules} | of_users
        encoded = msgspec.json.encode(list(self.rules.values()), order="deterministic")
        self.version = blake2b(encoded + "".join(of_users).encode(), digest_size=4).hexdigest()
        self._compiled = [_Compiled(rule, of_user=name in of_users) for name, rule in self.rules.items()]
        self._by_name = {compiled.rule.name: compiled for compiled in self._compiled}
        self._for = cache(self._that_look_at)
        self._search = lru_cache(maxsize=20_000)(self._find)

    def signals(self, places: Iterable[TextPlace], source: str) -> Iterator[Matched]:
        for place in places:
            text = place.text
            for rule, start, end in self._search(place.kind, place.phase, steady(text)):
                if rule.sources and source not in rule.sources:
                    continue
                quote, where = _line_of(text, start, end, of_status=place.kind == "status"), _where(place, start)
                signal = Signal(
                    name=rule.name,
                    rule=rule.name,
                    rules_version=self.version,
                    where=where,
                    quote=quote,
                    strength=strength_at(rule, where),
                    ref=place.ref,
                )
                yield Matched(rule, signal)

    def pattern_of(self, rule: Rule) -> CompiledPattern:
        return self._by_name[rule.name].match

    def _that_look_at(self, kind: str, phase: Phase | None) -> "list[_Compiled]":
        return [
            compiled
            for compiled in self._compiled
            if kind in compiled.rule.where
            and (not compiled.rule.phases or phase is None or phase in compiled.rule.phases)
        ]

    def _find(self, kind: str, phase: Phase | None, text: str) -> tuple[tuple[Rule, int, int], ...]:
        hits, lowered = [], text.lower()
        for compiled in self._for(kind, phase):
            if compiled.needed and not any(stretch in lowered for stretch in compiled.needed):
                continue
            match = _first_match(compiled.match, text, kind)
            if match and not (compiled.unless and compiled.unless.search(text)):
                hits.append((compiled.rule, match.start(), match.end()))
        return tuple(hits)


# the code under test in a tool's output: literals in type errors (`Type '"ETIMEDOUT"' is not …`), and in that
# of a step also complaints of a linter, excerpts of code, and errors that the code threw itself
_DIAGNOSTIC = lazy_regex(r"error TS\d+: ")
_QUOTES = lazy_regex(r"(?<!\w)'|'(?!\w)")
_OF_THE_CODE = lazy_regex(
    r"\s*+(?:\S+:)?\d+:\d+:?\s++(?:error|warning)\s|\s*+(?:>\s*+)?(?:\d++\s*+)?[│|]"
    r"|.*\bUncaught (?:\w*(?:Error|Exception)\b|\()|JavaScript execution ran out of memory"
)


# the number of a line is not a status: `at async runEval (/ci/runner/index.ts:402:24)`
_FRAME = lazy_regex(r"\s+at .{1,400}:\d+:\d+\)?$")


def _first_match(pattern: CompiledPattern, text: str, kind: str) -> PatternMatch | None:
    """The first one that is neither part of the code under test, which a tool quotes, nor of a stack."""
    if kind not in ("check", "error") or ("\n" not in text and kind == "error" and " TS" not in text):
        return pattern.search(text)
    has_types = _DIAGNOSTIC.search(text) is not None
    for match in pattern.finditer(text):
        begin, end = text.rfind("\n", 0, match.start()) + 1, text.find("\n", match.start())
        line = text[begin : end if end >= 0 else len(text)]
        is_literal = has_types and len(_QUOTES.findall(text[begin : match.start()])) % 2 == 1
        is_of_the_code = kind == "check" and _OF_THE_CODE.match(line) is not None
        if not is_literal and not is_of_the_code and _FRAME.match(line) is None:
            return match
    return None


class _Compiled:
    """Compiled when it is first tried: most runs need few of the rules, and many commands none."""

    def __init__(self, rule: Rule, *, of_user: bool = False) -> None:
        self.rule = rule
        self._of_user = of_user

    @cached_property
    def needed(self) -> tuple[str, ...]:
        """Patterns of users are in another syntax, and always tried."""
        return () if self._of_user else needed(self.rule.pattern)

    @cached_property
    def match(self) -> CompiledPattern:
        return self._pattern(self.rule.pattern)

    @cached_property
    def unless(self) -> CompiledPattern | None:
        return self._pattern(self.rule.unless) if self.rule.unless else None

    def _pattern(self, pattern: str) -> CompiledPattern:
        if self._of_user:
            return compile_user_pattern(pattern, f"Rule `{self.rule.name}`")
        return re.compile(pattern, re.IGNORECASE | re.MULTILINE)


@cache
def built_in() -> Rulebook:
    return Rulebook(rule for path in sorted(FOLDER.glob("*.toml")) for rule in read_rules(path))


_OF_FUNCTIONS = frozenset(
    ("cascade", "disk_still_full", "ended_by_another", "ended_session", "follower", "verifier_never_ran")
)


def names_the_cause(name: str) -> bool:
    """Whether a signal names what happened, so that a log may be corrected on its word; others only point somewhere."""
    rule = built_in().rules.get(name)
    return name in _OF_FUNCTIONS if rule is None else rule.specific or rule.strength == "certain"


def with_added(paths: Iterable[Path]) -> Rulebook:
    """The built-in rules and those of the files; a later rule replaces an earlier one of its name."""
    added = [rule for path in paths for rule in read_rules(path)]
    for rule in added:
        for pattern in filter(None, (rule.pattern, rule.unless)):
            compile_user_pattern(pattern, f"Rule `{rule.name}`")
    return Rulebook(built_in().rules.values(), added)


def read_rules(path: Path) -> list[Rule]:
    """The rules of one file; `SettingsError` names the rule and the field that is wrong."""
    try:
        content: dict[str, Any] = tomllib.loads(bytes_of(path).decode("utf-8"))
        return msgspec.convert(content.get("rule", []), list[Rule], strict=False)
    except (OSError, ValueError, RecursionError) as error:  # TOML, Unicode and msgspec raise kinds of ValueError
        raise SettingsError(f"Rules of `{path.name}` can't be used: {error}", hint="docs/attribution.md") from error


def strength_at(rule: Rule, where: str) -> Confidence:
    """A rule that repeats fields of the harness is certain only there; one without has labelled examples."""
    if rule.strength == "certain" and rule.restates and _INDEX.sub("[]", where) not in rule.restates:
        return "likely"
    return rule.strength


_INDEX = lazy_regex(r"\[\d+\]")


def _where(place: TextPlace, start: int) -> str:
    if place.kind == "log":
        return f"{place.where}:{place.line_at(start)}"
    return place.where


def _line_of(text: str, start: int, end: int, *, of_status: bool = False) -> str:
    """The line that matched, or the part of it around the match where it is long; a status may be put together."""
    mark = ", " if of_status else "\n"
    left, right = text.rfind(mark, 0, start), text.find(mark, end)
    left = left + len(mark) if left >= 0 else 0
    line = text[left : right if right >= 0 else len(text)]
    if len(line) > QUOTE:
        begin = max(0, start - left - QUOTE // 2)
        line = redact(line)  # whole: half a secret looks like none
        begin = min(begin, max(0, len(line) - QUOTE))
        word = line.rfind(" ", 0, begin) + 1
        begin = word if begin - word <= QUOTE // 4 else begin  # not inside of a word
        line = line[begin : begin + QUOTE]
    return one_line(line, QUOTE)


_LASTING = frozenset(
    (
        *("missing_tool", "package_missing", "disk_full", "out_of_memory", "system_limit"),
        *("provider_model_missing", "provider_endpoint_missing", "provider_auth", "provider_quota"),
    )
)
"""Rules whose words name a fault that stays."""
_ABSENT = (
    r"command not found|: not found\s*$|\bENOENT\b|[Nn]o module named|ModuleNotFoundError"
    r"|cannot open shared object file|[Bb]ad interpreter|[Ee]xec format error|externally-managed-environment"
    r"|Could not find a version that satisfies|No solution found when resolving|Executable doesn't exist"
    r"|No such file or directory|file or directory not found|can't open file"
)
_FORBIDDEN = r"(?i:no space left on device)|ENOSPC|[Pp]ermission denied|EACCES|EPERM|[Rr]ead-only file system"
_REJECTED = (
    r"\b401\b|\b403\b|(?i:unauthori[sz]ed|invalid api[_ ]key|credit balance|insufficient (?:credits|balance|quota))"
    r"|model_not_found|(?i:no endpoints found)"
)
_OF_LASTING = lazy_regex(f"{_ABSENT}|{_FORBIDDEN}|{_REJECTED}", re.MULTILINE)


def is_lasting(decided_by: str, reason: str) -> bool:
    """By the rule that decided, else by the words of the log that it goes by."""
    return decided_by in _LASTING or _OF_LASTING.search(reason) is not None


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
