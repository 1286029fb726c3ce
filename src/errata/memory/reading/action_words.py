"""Whether a text reports that something was done: "we relaxed the rule", `[x]`, "(planned)", "not yet", "none"."""

from typing import Literal

from errata.memory.reading.dates import without_date
from errata.memory.reading.rates import NUMBER
from errata.text.lazy_regex import lazy_regex

State = Literal["done", "open", "unknown"]

_OPEN = "|".join(
    (
        r"planned|plan|to[- ]?do|tbd|tbc|pending|deferred|postponed|rejected|declined|discarded|skipped|optional|idea",
        r"won['’]?t (?:fix|do)|proposed|proposal|recommended|recommendation|suggested|suggestion|open|blocked|wip",
        r"in progress|under (?:review|discussion)|waiting|awaiting\b.*|later|next|next (?:step|sprint|week)|future",
        r"not (?:yet )?(?:done|applied|implemented|started|taken|made|merged|needed|acted on|fixed|accepted)\b.*",
        r"not yet|no|no action(?: (?:taken|needed|required|yet))?|none|reverted|rolled back|abandoned|cancell?ed",
        r"backlog|n/?a|on hold|ongoing|maybe|undone",
    )
)
_DONE = (
    r"done|applied|implemented|completed?|finished|merged|landed|shipped|fixed|resolved|deployed|taken|made|closed|yes"
    r"|accepted"
)
_DATE = r"(?:[\s,;:@-]*(?:on|at|in|since|by)?\s*[\w ,./-]*\d{2,4}[\w ,./-]*)?"
_OPEN_ALONE = lazy_regex(rf"(?i)\W*(?:{_OPEN})\W*")
_DONE_ALONE = lazy_regex(rf"(?i)\W*(?:{_DONE}){_DATE}\W*")
_OPEN_MARK = lazy_regex(r"^\s*(?:\[ \]|[⏳🔜⬜❌🚧⏸🕒🟡📋☐✗✘❎]\ufe0f?|[-–—]\s*$)")
_DONE_MARK = lazy_regex(r"^\s*(?:\[[xX]\]|[✅✔☑🟢]\ufe0f?)")
_OPEN_FRONT = lazy_regex(
    rf"(?i)^\W*(?:{_OPEN}|not\s+[a-z]+(?:\s+[a-z]+)?)\s*(?:\([^()]*\)\s*|(?:for|in|by|until|on|next|after)\b[^:.;–—]{{0,30}})?(?:[*_]*[:：]|\s[–—-]\s)"
)
_DONE_FRONT = lazy_regex(rf"(?i)^\W*(?:{_DONE})\s*(?:\([^()]*\)\s*|{_DATE})?(?:[:：]|\s[–—-]\s)")
_OPEN_BEHIND = lazy_regex(rf"(?i)(?:\(|\[|\s[–—-]+\s)\s*(?:still\s+|but\s+)?(?:{_OPEN})\s*[)\].]*\s*$")
_OPEN_CLAUSE = lazy_regex(
    r"(?i):\s+(?:still\s+)?(?:planned|proposed|suggested|recommended|rejected|declined|deferred|postponed|abandoned|skipped"
    r"|not (?:yet )?(?:done|applied|implemented|made|started))\b[^;:]*$"
)
"""`Longer pauses: proposed, not implemented.`"""
_DONE_BEHIND = lazy_regex(rf"(?i)(?:\(|\[|\s[–—-]+\s|:\s)\s*(?:{_DONE}){_DATE}\s*[)\].]*\s*$")
_GONE = lazy_regex(r"(?i)\b(?:is|are) (?:gone|off|out|in place|disabled|allowed)\b|\bsince\s+(?:the\s+)?\d")
_OPEN_AT_FRONT = lazy_regex(rf"(?i)^\W*(?:still\s+)?(?:{_OPEN})(?=\W|$)")
_DONE_AT_FRONT = lazy_regex(rf"(?i)^\W*(?:{_DONE})(?=\s*(?:$|[.,;:)*]|(?:on|in|by|at|since|with|as|today)\b|[(\d]))")
_IS = r"\b(?:is|are|was|were|remains?|stays?|still)\s+(?:only\s+|still\s+)?"
_HAS_NOT = r"\b(?:has|have|had|is|are|was|were)(?:\s+not|n['’]t)\s+(?:yet\s+|been\s+)*"
_OPEN_INSIDE = lazy_regex(
    "(?i)"
    + "|".join(
        (
            _IS
            + r"(?:planned|pending|deferred|postponed|rejected|declined|blocked|recommended|proposed|outstanding)\b",
            _HAS_NOT
            + r"(?:done|applied|implemented|made|written|started|touched|changed|acted|merged|fixed|taken|carried)",
            r"\bnot\s+(?:yet|done|been|adopted|accepted|pursued)\b|\bwill\s+(?:be|not|have|need|add|change|update|fix|make|follow|do)\b",
            r"\bto be (?:done|decided|discussed|written)\b|\bwould (?:like|be|still|need)\b|\bplans? to\b",
            r"\b(?:we|i|one)\s+(?:should|could|might|may|want|plan|intend|hope|propose|recommend|suggest)\b",
            r"\bshould (?:also |still |probably )?(?:be|help|get|have|go|make)\b|\bneeds? (?:to|a|an|more|another)\b",
            r"\bput (?:off|aside)\b|\bdecided (?:against|not)\b|\bleft (?:it |them |as|alone|un)|\bnothing\b",
            r"\bno (?:code |config |configuration |further |other |task |eval )*(?:changes?|actions?|fix(?:es)?)\b",
        )
    )
)
_UNCHANGED = lazy_regex(rf"(?i){_IS}(?:unchanged|untouched|as (?:it|they) (?:is|was|are|were))\b")
_NONE = lazy_regex(
    r"(?i)^[\s*_.!()|–—-]*(?:(?:keine|nichts|ninguna?|aucune?|nessuna?|nenhuma?)\b"
    r"|none\b(?!\s+of)|nothing\b|n/?a\b|not applicable|tbd\b|to be (?:done|decided|filled)"
    r"|no\s+(?:\w+\s+){0,3}?(?:actions?|changes?|fix(?:es)?|edits?|modifications?)\b"
    r"|(?:has|have|had)?\s*not (?:yet )?(?:acted|been))"
)
_IRREGULAR = (
    r"rewrote|rewritten|wrote|written|made|set|cut|split|put(?! (?:off|aside))|gave|given|took|brought|built|rebuilt"
    r"|sent|told|taught|let|hid|threw|went|ran"
)
_NOT_CHANGES = (
    "needed failed passed expected used called looked reviewed analysed analyzed discussed noticed checked considered "
    "decided agreed investigated confirmed verified planned deferred rejected skipped postponed proposed recommended "
    "suggested based listed named mentioned required supposed affected observed seemed appeared wanted asked tried "
    "helped involved related undocumented unused indeed need seed speed embed shared nested typed classified expired "
    "received returned measured described stated resulted caused happened"
)
"""Words that end like a change and are none."""
_VERB = rf"(?!(?:[a-z]+-)?(?:{'|'.join(_NOT_CHANGES.split())})\b)(?:[a-z]{{2,}}(?:-[a-z]+)?ed|{_IRREGULAR})"
_BY_SOMEBODY = lazy_regex(
    rf"\b(?:I|[Ww]e|[Tt]hey|[Ss]he|[Hh]e|[A-Z][a-z]+)\s+(?:have\s+|has\s+|also\s+|then\s+|already\s+|just\s+)*{_VERB}\b"
)
_PASSIVE = lazy_regex(
    rf"(?i)\b(?:was|were|has been|have been|got|is now|are now|been)\s+(?:also\s+|then\s+|now\s+)?{_VERB}\b"
    r"|\bnow\s+(?:also\s+|only\s+|no longer\s+)?[a-z]{2,}s\b|\bno longer\s+[a-z]{2,}s\b|\b(?:is|are) now\b"
    r"|\bnow (?:is|are)\b"
    r"|^\W*[\w./`-]+(?:\s+\w+){0,4}\s+[a-z]{2,}s\b.*\bsince\s+(?:commit|version|PR|#|v?\d|this|to-?day|yester)"
)
_AT_FRONT = lazy_regex(rf"(?i)^[^\w`]*(?:(?:also|then|and|finally|first|second|next|afterwards)[\s,]+)?{_VERB}\b")
_NOW_AT_FRONT = lazy_regex(r"(?i)^\W*(?:the\s+)?[`\w./@-]+`?(?:\s+\w+){0,2}\s+now\b")
_SUBJECT = lazy_regex(r"^`?[\w@.-]+(?:/[\w@.-]+)+`?:\s+|^`?\d{2,4}-\w+`?:\s+")
"""The file or case that an entry is about, in front of it."""
_NOT_YET = lazy_regex(
    r"(?i)\bnot (?:yet|been)\b|\bstill (?:open|to do|pending)\b|\bis (?:still )?(?:planned|pending)\b"
)
_AFTER_JOINT = lazy_regex(rf"(?i)(?:[:,;]|\s[–—-]|\band|\balso)\s+{_VERB}\b")
_ONLY_LOOKED = lazy_regex(
    r"(?i)^\W*(?:(?:i|we)\s+)?(?:reviewed|discussed|looked|checked|analy[sz]ed|noted|confirmed|verified|investigated"
    r"|considered|agreed|decided|watched|monitored|reported)\b"
)
_ORDERS = (
    "add allow accept adjust ask bump change check clarify consider create cut delete disable document drop enable "
    "exclude extend fix ignore implement improve investigate keep limit loosen make mark move name pin raise relax "
    "remove rename replace rerun re-run retire retry revert review reword rewrite say set simplify skip specify split "
    "state switch teach tell tighten try turn update upgrade use widen write"
)
_IMPERATIVE = lazy_regex(rf"(?i)^\W*(?:{'|'.join(_ORDERS.split())})\b")


def says_nothing_was_done(text: str) -> bool:
    """`None`, "No changes were made", "Nothing yet", also behind a day."""
    return _NONE.match(without_date(text).lstrip(" :*_–—-")) is not None


def state_of(text: str) -> State:
    """What marks, words in front or behind, or a status cell say."""
    if _OPEN_MARK.match(text) or _OPEN_ALONE.fullmatch(text) or _OPEN_FRONT.match(text):
        return "open"
    if _OPEN_BEHIND.search(text) or _OPEN_CLAUSE.search(text):
        return "open"
    if _DONE_MARK.match(text) or _DONE_ALONE.fullmatch(text) or _DONE_FRONT.match(text) or _DONE_BEHIND.search(text):
        return "done"
    return "unknown"


def state_of_sentence(text: str) -> State:
    """The state that a sentence gives to the one before it: `Applied on 19 June`, `Not applied, …`."""
    if _OPEN_AT_FRONT.match(text):
        return "open"
    return "done" if _DONE_AT_FRONT.match(text) else "unknown"


def state_of_cell(text: str) -> State:
    """`Done 2026-06-02 (TASK.txt)`"""
    state = state_of(text)
    return state if state != "unknown" else state_of_sentence(text)


def is_checked(text: str) -> bool:
    """`[x] …`"""
    return _DONE_MARK.match(text) is not None


def is_change(text: str) -> bool:
    """Whether a sentence reports a change."""
    if says_nothing_was_done(text) or state_of(text) == "open":
        return False
    if state_of(text) == "done" or _begins_with_a_change(text):
        return True
    if _OPEN_INSIDE.search(text):
        return False
    forms = (_BY_SOMEBODY, _PASSIVE, _AFTER_JOINT, _GONE)
    return any(form.search(text) for form in forms) and not _ONLY_LOOKED.match(text)


def _begins_with_a_change(text: str) -> bool:
    """`Added …`, `eslint.config.mjs now …`: what follows may say "should" about anything."""
    bare = _SUBJECT.sub("", without_date(without_marks(text)).lstrip(" :–—-"))
    return not _NOT_YET.search(bare) and (_AT_FRONT.match(bare) or _NOW_AT_FRONT.match(bare)) is not None


_ARTEFACT = (
    r"(?:assertions?|graders?|tests?|tasks?|rules?|config(?:uration)?|guidelines?|prompts?|time-?outs?|limits?|thresholds?"
    r"|runners?|harness|sandbox|images?|rubrics?|scorers?|wording|descriptions?|instructions?|evals?|checks?|seeds?|fixtures?)"
)
_FILE_OR_RULE = (
    r"[\w@./-]*\w\.(?:[cm]?[jt]sx?|json|txt|md|py|toml|ya?ml)\b|(?:@[\w-]+/)?(?:no|prefer|require)(?:-[a-z]+)+"
)
_CHANGEABLE = lazy_regex(rf"(?i)\b{_ARTEFACT}\b|{_FILE_OR_RULE}")
_BY_THE_AUTHOR = lazy_regex(
    r"\b(?:I|[Ww]e)(?:['’]ve)?\s+(?:have\s+|also\s+|then\s+|already\s+|just\s+|since\s+|now\s+|therefore\s+|so\s+)*"
    rf"(?!(?:went|ran|took|let|sent|told|gave|looked|tested|compared|counted|graded|label+ed|opened|pulled|repeated)\b){_VERB}\b"
)
_RELATIVE = lazy_regex(
    r"(?i)\b(?:that|which|since|after|when|because)\s+$|^\W*(?:\w+:\W+)?(?:the|our|these|those|all)\s+(?:[\w-]+\s+){1,2}$"
)
"""`the rules that we tightened`: a change that explains something."""
_DID_SO = lazy_regex(r"\b(?:I|[Ww]e)\b[^.;]*\band did so\b")
_PRONOUN = lazy_regex(r"(?i)\s+(?:it|this|that|them|these)\b")
_CHANGED_NOW = lazy_regex(
    rf"(?i)^\W*(?:the\s+|our\s+|its\s+)?(?:[\w-]+\s+)?(?:{_ARTEFACT}|{_FILE_OR_RULE})`?(?:\s+\w+){{0,3}}?\s+now\s+"
    r"(?!pass|fail|complain|report|flag|reject|break|crash|object|stop)[a-z]{2,}s\b"
)


_OF_THE_EVALUATION = lazy_regex(
    r"(?i)(?<![\w/])(?:evals?|runner|graders?|harness)/[\w./-]+\.\w+|\bTASK\.(?:txt|md)\b|\bgrader\.test\b|\beslint\.config\b"
)
"""Files that a model does not write."""


_ANNOUNCES = lazy_regex(
    rf"(?i)\b(?:made|applied|did)\s+(?:{NUMBER}|several|some|the following|these)\s+(?:\w+\s+)?"
    r"(?:changes?|fixes|edits|things)\b"
)


def announces_changes(text: str) -> bool:
    """`I made two changes`: the changes themselves follow."""
    return _ANNOUNCES.search(text) is not None


def changes_evaluation(text: str) -> bool:
    """Whether a sentence among actions names a file of the evaluation, and neither denies nor plans anything."""
    is_open = state_of(text) == "open" or _OPEN_INSIDE.search(text) or _UNCHANGED.search(text) or _NOT_YET.search(text)
    return _OF_THE_EVALUATION.search(text) is not None and not is_open and not says_nothing_was_done(text)


def is_own_change(text: str, before: str = "") -> bool:
    """Whether a sentence anywhere in a report states that its author changed something of the evaluation.

    `before` is the sentence in front of it, which may name what it calls "it".
    """
    if state_of(text) == "open" or _NOT_YET.search(text):
        return False
    done = _DONE_FRONT.match(text)
    if _DID_SO.search(text) or (done and is_change(text[done.end() :])):
        return True
    by_author = _BY_THE_AUTHOR.search(text)
    if (
        by_author
        and not _RELATIVE.search(text, 0, by_author.start())
        and not _ONLY_LOOKED.match(text[by_author.start() :])
    ):
        is_named = _CHANGEABLE.search(text, by_author.end()) is not None
        if is_named or (_PRONOUN.match(text, by_author.end()) and _CHANGEABLE.search(before)):
            return True
    if _AT_FRONT.match(text) and not _ONLY_LOOKED.match(text) and _OF_THE_EVALUATION.search(text):
        return True
    return _CHANGED_NOW.match(text) is not None


def is_entry_of_a_list(text: str, *, is_log: bool) -> bool:
    """Whether an entry below a heading for actions is one. `is_log`: its entries were taken by its own words."""
    if says_nothing_was_done(text) or state_of(text) == "open":
        return False
    if state_of(text) == "done" or is_change(text):
        return True
    if _OPEN_INSIDE.search(text) or _ONLY_LOOKED.match(text) or _UNCHANGED.search(text):
        return False
    return is_log or not _IMPERATIVE.match(text)


def is_refused(text: str) -> bool:
    """Whether an entry of a list of what was done denies it."""
    return says_nothing_was_done(text) or state_of(text) == "open"


def without_marks(text: str) -> str:
    """Without check marks and words such as `Done:` in front."""
    bare = _DONE_MARK.sub("", _OPEN_MARK.sub("", text)).lstrip()
    front = _DONE_FRONT.match(bare)
    return bare[front.end() :].lstrip() if front else bare
