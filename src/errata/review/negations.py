"""Words that deny the rest of their clause, before or after it, and values that deny the name before them.

A quote that leaves one of them out means the opposite of the log. The list is longer than strictly needed: a word too
many only means that a reviewer is asked for the whole clause.
"""

import re

from errata.text.lazy_regex import lazy_regex

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
_OPERATORS = r"!==?|!~|≠|<>|=/=|~=|\bis not\b|\bnot in\b|¬|∉|≁|≢"
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
    rf"|(?<![\w'’])n['’](?=\w)|{_SYLLABLES}|{_OPERATORS}",
    re.IGNORECASE,
)
ENDS_IN_NEGATION = lazy_regex(rf"(?:(?<![\w'’])(?:{_CONTRACTION}|{_WORDS})|{_OPERATORS})[^\S\n]*\Z", re.IGNORECASE)
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
