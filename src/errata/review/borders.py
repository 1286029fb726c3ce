"""Where a quote may begin and end: never inside a word, a number or an operator, and not so that a negation is lost.

Words are those of Unicode. A script without spaces has no borders that can be seen: there a quote reaches from one
punctuation mark or space to the next. A quote need not be a whole clause, but has to be one if the clause denies
something outside the quote.
"""

import re
import unicodedata
from typing import Literal, NamedTuple

from errata.text.lazy_regex import lazy_regex


class Passage(NamedTuple):
    start: int
    end: int


Part = Literal["word", "number", "operator", "negation"]
REACH = 600
"""Characters before and after a quote that are searched for its clause."""
MOST_BORDERS = 40
AHEAD = 12
CARRIED = 24
"""Characters before a bracket, a colon or a line end that may deny what follows."""
NEAR = 8
LONGEST_TOKEN = 1_200
"""Characters; a quote has fewer."""
_INVISIBLE = "\u00ad\u200b\u2060\ufeff"
_JOINS = "'’ʼ＇‘-‐‑·"  # between two letters: contractions and compounds
_IN_NUMBERS = ".,:/'’٫٬⁄∕’·_"
_SIGNS = "+-−–±∓~≈<>≤≥=≠$€£¥₹₽₩#№^*×÷/⁻⁺"
_OPERATORS = "=<>!+*/%&|^~?@≠≤≥≈±×÷¬∧∨−-"
_PREFIXES = "!¬~"
_BINARY = lazy_regex(r"(?:[=<>]=?=?|!==?|&&|\|\||[*/%^+≠≤≥≈×÷−]|<<|>>|[-+*/%|&^]=)\Z")
_BULLETS = lazy_regex(r"\s*(?:[-*•]+|\(?\d{1,3}[.)])?\s*\Z")
_SPACES = " \t\u00a0\u202f\u2009"
_MARKS = "\"'“”‘’«»„`([{（「『*_"
_OF_NUMBER = lazy_regex(r"(?:out\s+of|of|von|sur|de|su|di|van|av|af|из|з|من|में\s+से|중|/|÷|bis|to|à|a|до|إلى)\s+\d")
_LINT_LINE = lazy_regex(
    r"[^\S\n]*\d+:\d+[^\S\n]+(?:error|warning|info|[✖✗×⚠ℹ])[^\S\n]+\S[^\n]*?[^\S\n]{2,}(?P<rule>(?:@?[\w-]+/)*[\w-]+)[^\S\n]*$",
    re.MULTILINE,
)
"""`3:10  error  'query' is defined but never used  no-unused-vars`, as ESLint and Stylelint print it."""
_GROUP = lazy_regex(r"\([^()\n]*\s[^()\n]*\)")
_OPENING = "([（「『"
_FOLLOWS = r"(?=[\s\"'“‘\[{(]|\Z)"
_BORDER = lazy_regex(
    r"(?P<line>\n+)|(?P<hard>[;{}]|\\n|\t|\||[.!?…]+[\"'”’)\]]*(?=\s|\Z)|[。！？；，、।؟۔؛،]"
    rf"|,{_FOLLOWS}|[—]|(?<=\s)[-–](?=\s+\D)"
    r"|(?<!anything)(?<!nothing)(?<!all)\s(?=(?:but|however|although|though|whereas|because)\s))"
    rf"|(?P<soft>:{_FOLLOWS}|[(\[（：「『])|(?P<closing>[)\]）」』])"
)


def cut_of(text: str, passage: Passage) -> Part | None:
    """What a quote of this passage takes apart or leaves out."""
    for at in passage:
        part = split_at(text, at)
        if part:
            return part
    clause = clause_around(text, passage)
    if _loses_number(text, passage, clause):
        return "number"
    if _loses_operand(text, passage, clause):
        return "operator"
    return "negation" if _loses_negation(text, passage, clause) else None


def whole(text: str, passage: Passage) -> Passage:
    """The passage, or as much more around it as it takes to be quoted."""
    passage = whole_tokens(text, passage)
    if cut_of(text, passage):
        passage = whole_tokens(text, clause_around(text, passage))
    while cut_of(text, passage) and passage != (wider := _lines_around(text, passage)):
        passage = wider
    return passage


def whole_tokens(text: str, passage: Passage) -> Passage:
    """A token that is longer than any quote stays cut."""
    start, end = passage
    while split_at(text, start) and passage.start - start < LONGEST_TOKEN:
        start -= 1
    while split_at(text, end) and end - passage.end < LONGEST_TOKEN:
        end += 1
    return Passage(start, end)


def is_word(char: str) -> bool:
    """A letter, a mark on one, a digit or an underscore of any script."""
    return char.isalnum() or char in ("_", "\u200c", "\u200d") or (not char.isascii() and _is_mark(char))


def _is_mark(char: str) -> bool:
    return unicodedata.category(char[:1] or " ")[0] == "M"


def split_at(text: str, at: int) -> Part | None:
    """What a border at this position would cut in two."""
    if not 0 < at < len(text):
        return None
    left, right = text[max(0, at - NEAR) : at].rstrip(_INVISIBLE), text[at : at + NEAR].lstrip(_INVISIBLE)
    if not left or not right:
        return None
    earlier, before, after, later = left[-2:-1], left[-1], right[0], right[1:2]
    if earlier == "\\" and before in "nrt":  # a line break inside a JSON string
        return None
    if is_word(before) and is_word(after):
        return "number" if before.isdecimal() or after.isdecimal() else "word"
    if _splits_number(earlier, before, after, later):
        return "number"
    if before in _JOINS and is_word(after) and earlier and is_word(earlier):
        return "word"
    if is_word(before) and after in _JOINS and later and is_word(later):
        return "word"
    return "operator" if _splits_operator(earlier, before, after) else None


def _splits_number(earlier: str, before: str, after: str, later: str) -> bool:
    if after.isdecimal():
        return before in _SIGNS or before == "." or (before in _IN_NUMBERS and earlier.isdecimal())
    if before.isdecimal():
        return (after in _IN_NUMBERS + _SIGNS and later.isdecimal()) or after in "%‰٪°⁻⁺"
    return before in "-−+±" and after in "$€£¥₹.∞" and bool(later)


def _splits_operator(earlier: str, before: str, after: str) -> bool:
    if before in _OPERATORS and after in _OPERATORS:
        return True
    if before in _PREFIXES:
        return is_word(after) or after in "([{" or (after in "\"'" and earlier in "(=&|!")
    if before == "-" and not (earlier and is_word(earlier)):
        return is_word(after) or after in "($"
    return False


def clause_around(text: str, passage: Passage) -> Passage:
    """From the border before the passage to the one after it."""
    return Passage(_clause_start(text, passage.start), _clause_end(text, passage.end))


def is_clause(text: str, passage: Passage, sides: tuple[bool, bool]) -> bool:
    """Whether its clause begins with it, and ends with it, as far as that is asked."""
    clause = clause_around(text, passage)
    before, after = text[clause.start : passage.start], text[passage.end : clause.end]
    return not (sides[0] and before.strip(_SPACES + _MARKS)) and not (
        sides[1] and after.strip(_SPACES + _MARKS + ".!?。")
    )


def _clause_start(text: str, start: int) -> int:
    window = max(0, start - REACH)
    # a border is one by what follows it, so the search goes on a little behind the start
    borders = [one for one in _BORDER.finditer(text, window, start + AHEAD) if one.end() <= start]
    closed = 0  # brackets before it are closed: what they hold belongs to the clause as a whole
    for border in reversed(borders[-MOST_BORDERS:]):
        if border["closing"] and not _is_tag(text, border.end()):
            closed += 1
            continue
        if closed and not border["line"]:
            closed -= border[0] in _OPENING
            continue
        if not _carries_negation(text, window, border, start):
            return border.end() + _blanks(text, border.end(), start)
    return window + _blanks(text, window, start)


def _carries_negation(text: str, window: int, border: re.Match[str], start: int) -> bool:
    """Whether the clause goes on over this border: `not (…)`, `!(…)`, `not: …`, a line that ends in `not`."""
    if border["hard"]:
        return False
    if border["line"] and not (text[start].islower() and not text[border.end() : start].strip()):
        return False
    before = text[max(window, border.start() - CARRIED) : border.start()]
    return bool(ENDS_IN_NEGATION.search(before)) or (bool(border["soft"]) and before.endswith(tuple(_PREFIXES)))


def _is_tag(text: str, end: int) -> bool:
    """`[error] ` at the beginning of a line."""
    line = text.rfind("\n", 0, end) + 1
    return text[end - 1] == "]" and "[" in text[line:end] and not NEGATION.search(text, line, end)


def _blanks(text: str, start: int, end: int) -> int:
    return len(text[start:end]) - len(text[start:end].lstrip())


def _clause_end(text: str, end: int) -> int:
    for border in _BORDER.finditer(text, end - 1, end + REACH):
        return max(border.start(), end)
    return min(len(text), end + REACH)


def _loses_number(text: str, passage: Passage, clause: Passage) -> bool:
    """A number at the beginning of a quote may be half of a fraction, a range or a limit; at the end it has a unit."""
    before = text[clause.start : passage.start].rstrip(_SPACES + _MARKS)
    if text[passage.start].isdecimal() and not _BULLETS.match(before):
        return True
    if _OF_NUMBER.match(text, passage.start) and re.search(r"\d\S{0,3}\s*\Z", before):
        return True
    after = text[passage.end : passage.end + REACH].lstrip(_SPACES)[:1]
    is_unit = bool(text[passage.end : clause.end].strip(_SPACES)) and is_word(after)
    return text[passage.end - 1].isdecimal() and bool(after) and (is_unit or after in _SIGNS + "%‰٪°/")


def _loses_operand(text: str, passage: Passage, clause: Passage) -> bool:
    """`= 5` of `x = 5`, `x ==` of `x == 5`."""
    words = text[passage.start : passage.end].split()
    before, after = text[clause.start : passage.start].rstrip(_SPACES), text[passage.end : clause.end].strip(_SPACES)
    if words and _BINARY.match(words[0]) and before and (is_word(before[-1]) or before[-1] in ")]"):
        return True
    return (
        bool(words) and bool(_BINARY.match(words[-1])) and bool(after) and (is_word(after[0]) or after[0] in "([\"'-")
    )


def _loses_negation(text: str, passage: Passage, clause: Passage) -> bool:
    end = passage.end - (text[passage.end - 1] in ":=：")
    if DENIED.match(text, end) or LIMITED.search(text[clause.start : passage.start]):
        return True
    groups = _groups(text, clause, passage)
    for negation in NEGATION.finditer(text, clause.start, clause.end):
        start, end = negation.span()
        is_inside = passage.start <= start and end <= passage.end
        if not is_inside and not any(first < start and end < last for first, last in groups):
            return True
    return False


def _groups(text: str, clause: Passage, passage: Passage) -> list[Passage]:
    """What brackets hold beside the passage is a clause of its own, such as the condition before a statement.

    So is the name of the lint rule at the end of a line: `no-unused-vars` denies nothing.
    """
    groups = [Passage(*group.span()) for group in _GROUP.finditer(text, clause.start, clause.end)]
    lint = _LINT_LINE.match(text, text.rfind("\n", 0, passage.start) + 1)
    if lint is not None:
        groups.append(Passage(lint.start("rule") - 1, lint.end("rule") + 1))
    return [group for group in groups if group.end <= passage.start or group.start >= passage.end]


def _lines_around(text: str, passage: Passage) -> Passage:
    """The whole lines; if it has them already, the line before, too."""
    start, end = text.rfind("\n", 0, passage.start) + 1, text.find("\n", passage.end)
    lines = Passage(start + _blanks(text, start, passage.start), len(text) if end < 0 else end)
    if lines == passage and start > 0:
        return Passage(text.rfind("\n", 0, start - 1) + 1, passage.end)
    return lines


# --- words that deny the rest of their clause, before or after it, and values that deny the name before them
# A quote that leaves one of them out means the opposite of the log. The list is longer than strictly needed: a word
# too many only means that a reviewer is asked for the whole clause.


_WORDS = (
    # English
    r"not|no|never|nothing|none|nobody|nowhere|neither|nor|cannot|without|hardly|barely|scarcely|rarely|seldom|zero|"
    r"false|untrue|incorrect|instead of|rather than|far from|anything but|lacks?|lacking|w/o|n/a|non|"
    r"would|might|doubt\w*|unlikely|impossible|supposed to|pretend\w* (?:to|that)|claim\w* (?:to|that)|"
    r"(?:fail|failed|fails|failing|unable|refus\w+|declin\w+|forgot|forgets?|wrong|too \w+|about|almost|nearly) to|"
    # German
    r"nicht|nichts|nie|niemals|niemand\w{0,2}|nirgends|kein\w*|ohne|weder|kaum|nein|falsch|angeblich|würden?|"
    # French, Italian, Portuguese
    r"ne|pas|jamais|aucune?s?|rien|ni|sans|nulle?|guère|faux|não|nem|sem|nunca|nenhum\w?|mai|nessun\w?|senza|"
    # Spanish
    r"nada|nadie|ning[uú]n\w{0,2}|tampoco|jamás|sin|falso|"
    # Dutch, Swedish, Danish, Norwegian, Polish, Czech, Turkish, Indonesian, Vietnamese
    r"niet|geen|nooit|zonder|inte|aldrig|ingen|inget|utan|ikke|uden|uten|nigdy|bez|není|nikdy|değil|yok|hiç|"
    r"tidak|bukan|belum|tanpa|không|chưa|"
    # Russian, Ukrainian, Bulgarian
    r"не|нет|нету|ни|без|никогда|никто|никем|никого|ничего|ничто|нигде|нельзя|никак\w{0,3}|якобы|ложь|ложно|неверно|ні|немає|"
    # Arabic, Persian, Hebrew
    r"و?(?:لا|لم|لن|ليس|ليست|لست|ليسوا|غير|بدون|دون|ما|عدم|بلا|أبدا|أبدًا|كلا|نیست|نه|بی)|ולא|לא|אין|בלי|"
    # Hindi, Urdu, Bengali, Marathi
    r"नहीं|नही|न|ना|मत|बिना|गैर|نہیں|না|নেই|নয়|नाही|नको|"
    # Korean
    r"안|못|않\w*|못\w+|아니\w*|아닙\w*|없\w*|말고|말아\w*"
)
# in scripts without spaces: anywhere in a run of letters
_SYLLABLES = (
    r"不|没|沒|未|无|無|非|否|别|別|勿|莫|"
    r"ない|なかっ|なく|ません|ませぬ|ず(?=[にと、。\s]|\Z)|ぬ(?=[、。\s]|\Z)|"
    r"ไม่|មិន|ບໍ່|မ"
)
_CONTRACTION = r"\w+n['’ʼ＇]t"
_NEGATING_OPERATORS = r"!==?|!~|≠|<>|=/=|~=|\bis not\b|\bnot in\b|¬|∉|≁|≢"
_VALUES = (
    "false|no|none|null|nil|nan|undefined|n/a|never|off|zero|wrong|failed|"
    "non|nein|нет|ложь|否|无|なし|아니요|없음|لا|नहीं"
)
_LIMITS = (
    r"half|some|most|part|parts|few|fewer|less|more|several|many|one|none|all but|at least|at most|up to|almost|nearly|"
    r"about|around|only|just|under|over|below|above|roughly|"
    r"weniger|mehr|fast|etwa|rund|höchstens|mindestens|nur|einige|die Hälfte|moins|plus|presque|environ|seulement|"
    r"la moitié|quelques|menos|más|casi|unos|solo|sólo|la mitad|algunas?|algunos|"
    r"менее|более|почти|около|только|половина|"
    r"أقل|أكثر|حوالي|نصف|فقط|بعض|लगभग|केवल|आधे|कुछ|약|거의|절반|일부"
)
NEGATION = lazy_regex(
    rf"(?<![\w'’])(?:{_CONTRACTION}|{_WORDS})(?![\w\u0900-\u0903\u093a-\u094f])"
    rf"|(?<![\w'’])n['’](?=\w)|{_SYLLABLES}|{_NEGATING_OPERATORS}",
    re.IGNORECASE,
)
ENDS_IN_NEGATION = lazy_regex(
    rf"(?:(?<![\w'’])(?:{_CONTRACTION}|{_WORDS})|{_NEGATING_OPERATORS})[^\S\n]*\Z", re.IGNORECASE
)
"""Right before a bracket, a colon or the end of a line."""
_DENIAL = rf"(?:{_VALUES}|not)(?!\w)"
DENIED = lazy_regex(
    rf"[\"'”’»)\]]{{0,3}}[^\S\n]*(?:"
    rf"(?:(?:is|are|was|were|ist|war|est|es|era)\s+(?:\w+ly\s+)?|[:=：]{{1,3}}[^\S\n]*|[-=]>\s*|→\s*)[\"'“‘(\[]?(?:{_DENIAL}|[-+]?\d)"
    rf"|[(\[（][^\S\n]*{_DENIAL})",
    re.IGNORECASE,
)
"""Right after a passage: `all_passed": false`, `errors: none`, `failed tests: 0`, `all passed (not really)`."""
LIMITED = lazy_regex(
    rf"(?:(?<!\w)(?:{_LIMITS})|(?<![\w.,:/-])0\s*%?)(?:\s+(?:of|than|as|von|der|als|de|du|des|que|к|чем|من|से|의))?"
    rf"(?:\s+(?:the|all|these|those|our|its|den|alle[nr]?|les|los|las))?\s*\Z",
    re.IGNORECASE,
)
"""Right before a passage: `fewer than`, `half of the`, `almost`."""
