"""Remove identities from text that leaves the machine: e-mail addresses, and user names in home folder paths.

Addresses of nobody in particular stay: those of reserved domains (`user@example.com`), `git@host:…` and `noreply@…`.
So do generic accounts (`/home/runner`) and paths of another kind (`/users/42`).
"""

from collections.abc import Callable, Iterator

from errata.text.encoded import undo_invisible
from errata.text.lazy_regex import lazy_regex
from errata.text.redact import Secret, without

_LOCAL = lazy_regex(r"(?<![\w.%+-])[\w.%+-]{1,64}\Z")
_LONGEST_LOCAL = 65
_DOMAIN = lazy_regex(r"@((?:[^\W_](?:[^\W_]|-){0,62}\.){1,8}(?:[a-z]{2,24}|[A-Z]{2,24}))(?![\w(@-])(?!\.\w)")
_NOBODY = lazy_regex(r"(?i)(?:git|hg|svn|noreply|no-reply|donotreply|do-not-reply|mailer-daemon|postmaster)\Z")
_RESERVED = lazy_regex(r"(?i)(?:.*\.)?(?:example\.(?:com|org|net|edu)|example|test|invalid|localhost)\Z")
# `icon@2x.png`, `getty@tty1.service`, `pkg@1.2.3-rc.final`
_NO_HOST = lazy_regex(
    r"(?i)\d+(?:\.|x\.).*\Z|.*\.(?:png|jpe?g|gif|svg|webp|m?js|tsx?|jsx|css|html|json|txt|tgz|gz|lock|ya?ml|toml"
    r"|service|socket|timer|target)\Z"
)

# a separator may be plain, escaped once or more, or as in an address
_SEPARATOR = r"(?:/|\\{1,4}/?|%2[Ff])"
_FOLDER = lazy_regex(rf"(?:home|Users|users|Documents and Settings){_SEPARATOR}")
_BEFORE = lazy_regex(
    rf"(?:(?<![\w.~/\\-])|file:/{{0,2}}|(?<!\w)-[A-Z]|[/\\](?:wsl\$|wsl\.localhost){_SEPARATOR}[\w.-]{{1,20}}"
    rf"|(?<![\w/])/(?:var|usr|export|data|mnt|host|rootfs|System/Volumes/Data)){_SEPARATOR}\Z"
)
_DRIVE = lazy_regex(rf"(?:(?<![A-Za-z])[A-Za-z]:|(?<![\w/])/(?:(?:mnt|cygdrive)/)?[a-z]){_SEPARATOR}\Z")
_LONGEST_BEFORE = 48
_NAME = lazy_regex(r"\w(?:[\w.@+~-]{0,63}\w)?")
_NAME_ON_WINDOWS = lazy_regex(r"[^\\/:*?\"<>|\s](?:[^\\/:*?\"<>|\r\n]{0,40}[^\\/:*?\"<>|\s])?(?=\\)|" + _NAME.pattern)
# tools name folders after paths: `-Users-alice-code`
_JOINED = lazy_regex(r"(?<![\w-])-(?:home|Users)-([A-Za-z][A-Za-z0-9._]{0,63})(?=-)")
_FILE = lazy_regex(r"(?i).*\.(?:html?|m?jsx?|tsx?|php|css|json|png|svg|md|py|txt)\Z")
_ANYBODY = lazy_regex(
    r"(?i)(?:users?|runner|ubuntu|debian|node|agent|sandbox|app|appuser|root|admin|vscode|codespace|jovyan|circleci"
    r"|jenkins|docker|dev|devuser|ec2-user|azureuser|vagrant|pi|nobody|nonroot|oai|model|public|shared|default|me"
    r"|name|username|your-?name|example|index|page|dashboard|settings|linuxbrew)\Z"
)


def without_people(text: str) -> str:
    """The text without e-mail addresses and without user names in the paths of home folders."""
    text = _without(text, _addresses)
    text = _without(text, _names)
    return _without(text, _joined_names)


def _without(text: str, people_in: Callable[[str], Iterator[Secret]]) -> str:
    """Invisible characters do not hide anybody: they are left out of the search, and go with the name they are in."""
    undone = undo_invisible(text)
    if undone is None:
        return without(text, people_in(text))
    return without(text, [Secret(*undone.span(start, end), kind) for start, end, kind in people_in(undone.text)])


def _addresses(text: str) -> Iterator[Secret]:
    for domain in _DOMAIN.finditer(text):
        at = domain.start()
        local = _LOCAL.search(text, max(0, at - _LONGEST_LOCAL), at)
        if local and not (_NOBODY.match(local[0]) or _RESERVED.match(domain[1]) or _NO_HOST.match(domain[1])):
            yield Secret(local.start(), domain.end(), "email")


def _names(text: str) -> Iterator[Secret]:
    if not _may_name_home(text):
        return
    for folder in _FOLDER.finditer(text):
        start = folder.start()
        window = max(0, start - _LONGEST_BEFORE)
        on_windows = _DRIVE.search(text, window, start) is not None
        # `/users/42` is a route, `C:\users\…` is a home
        if on_windows or (text[start] in "hU" and _BEFORE.search(text, window, start)):
            name = (_NAME_ON_WINDOWS if on_windows else _NAME).match(text, folder.end())
            if name and _somebody(name[0]):
                yield Secret(*name.span(), "user")


def _joined_names(text: str) -> Iterator[Secret]:
    if _may_name_home(text):
        yield from (Secret(*one.span(1), "user") for one in _JOINED.finditer(text) if _somebody(one[1]))


def _may_name_home(text: str) -> bool:
    return "home" in text or "sers" in text or "Documents and Settings" in text


def _somebody(name: str) -> bool:
    return not _ANYBODY.match(name) and not _FILE.match(name)
