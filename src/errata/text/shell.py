"""Words for a shell: a command that errata shows can be copied, whatever the names in it."""

import shlex
from collections.abc import Sequence


def shell_word(word: str) -> str:
    """Quoted where a shell would act on it; `~/` stays outside of the quotes, since a shell expands it only there."""
    return f"~/{shlex.quote(word[2:])}" if word.startswith("~/") and word[2:] else shlex.quote(word)


def command_line(words: Sequence[str]) -> str:
    """A command on one line; a name with line breaks does not make another one."""
    return " ".join(shell_word(" ".join(word.split()) if "\n" in word or "\r" in word else word) for word in words)
