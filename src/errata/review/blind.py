"""The subject's names out of a packet, for reviewers who shall not know whom they judge."""

import re
from collections.abc import Iterable
from typing import Any

from errata.model import Run

SHORTEST = 3
_GENERIC = frozenset(("model", "agent", "assistant", "default", "test", "none", "unknown"))
# what a model calls itself beside the name it is served under, and whom it calls its maker
_MAKERS: dict[str, tuple[str, ...]] = {
    "claude": ("anthropic",),
    "gpt": ("openai",),
    "gemini": ("google deepmind", "google"),
    "gemma": ("google deepmind", "google"),
    "llama": ("meta ai",),
    "mistral": ("mistral ai",),
    "qwen": ("alibaba cloud", "alibaba"),
    "deepseek": (),
    "grok": ("xai",),
    "kimi": ("moonshot ai", "moonshot"),
    "command-r": ("cohere",),
}
_KEY_OF = re.compile(r"\[redacted:(?:anthropic|openai|google)-(key|token)\]")
"""Whose key it was tells whose model it is."""
_OTHERWISE = {"gpt": "chatgpt", "qwen": "tongyi"}


class Blindfold:
    """Takes the names of one subject, and of those it is held against, out of texts; whole words only, in any case."""

    def __init__(self, run: Run, others: Iterable[str] = ()) -> None:
        masks = {name: "[another model]" for name in others if len(name) >= SHORTEST} | _names(run)
        self._masks = {name.lower(): mask for name, mask in masks.items()}
        longest_first = sorted(map(re.escape, masks), key=len, reverse=True)
        pattern = rf"(?<![A-Za-z0-9])(?:{'|'.join(longest_first)})(?![A-Za-z0-9])"
        self._pattern = re.compile(pattern, re.IGNORECASE) if masks else None

    def text(self, text: str) -> str:
        text = _KEY_OF.sub(r"[redacted:model-\1]", text) if "[redacted:" in text else text
        if self._pattern is None:
            return text
        return self._pattern.sub(lambda found: self._masks.get(found[0].lower(), "[model]"), text)

    def tree(self, value: Any) -> Any:
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, dict):
            return {key: self.tree(item) for key, item in value.items()}
        if isinstance(value, list | tuple):
            return [self.tree(item) for item in value]
        return value


def _names(run: Run) -> dict[str, str]:
    subject = run.subject
    vendor, _, tail = subject.model.rpartition("/")
    names = {subject.agent: "[agent]", vendor: "[provider]", subject.provider: "[provider]"}
    names |= dict.fromkeys(vendor.split("/"), "[provider]")
    for family, makers in _MAKERS.items():
        if family in subject.model.lower():
            names |= dict.fromkeys(makers, "[provider]")
            names |= {family: "[model]", _OTHERWISE.get(family, family): "[model]"}
    names |= dict.fromkeys((subject.model, tail, *_spellings(subject.model), *_spellings(tail)), "[model]")
    return {name: mask for name, mask in names.items() if len(name) >= SHORTEST and name.lower() not in _GENERIC}


def _spellings(name: str) -> tuple[str, ...]:
    """As names of folders and prose write it."""
    return tuple(re.sub(r"[/:_ -]", mark, name) for mark in ("_", "-", " "))
