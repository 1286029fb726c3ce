"""Words for a shell: a command that errata shows can be copied, whatever the names in it."""

import shlex
from collections.abc import Iterable

from errata.text.redact import redact


def shell_word(name: object) -> str:
    """Quoted where a shell would act on it, and on one line whatever the name.

    `~/` stays outside of the quotes, since a shell expands it only there. Redacted first: quotes hide a secret.
    """
    word = redact(" ".join(str(name).splitlines()))
    return f"~/{shlex.quote(word[2:])}" if word.startswith("~/") and word[2:] else shlex.quote(word)


def command_line(words: Iterable[object]) -> str:
    return " ".join(map(shell_word, words))
