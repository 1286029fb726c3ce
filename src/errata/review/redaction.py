"""A packet as it may leave the machine: redacted, without the subject's names for blind readers, and its hash.

Evidence is looked up in the redacted packet, too: a reviewer saw no other.
Texts are redacted before they are cut: what is left of half a secret has lost the shape it is known by. So whoever
makes a packet redacts it at once; `redacted` is for those that come from elsewhere, and does nothing twice.
"""

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Any

import msgspec

from errata.model import FailureKey, LeftOut, Observation, Packet, PacketPlace, Question, Run, Signal
from errata.model.identity import fingerprint
from errata.text.lazy_regex import lazy_regex
from errata.text.outgoing import for_others, tree_for_others

SHORT, MIDDLE, LONG = 200, 10_000, 50_000
"""Characters: names and words come again and again; what is longer than long is not worth remembering."""
_of_words = lru_cache(2_048)(for_others)
_of_texts = lru_cache(1_024)(for_others)
_of_long_texts = lru_cache(128)(for_others)
"""The packets of a run share the subject's instructions and the turns of a conversation; those of one failure share
its steps."""
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
_KEY_OF = lazy_regex(
    r"\[redacted:(?:anthropic|openai|google|xai|groq|perplexity|fireworks|cerebras|together|nvidia|replicate"
    r"|hugging-face|openrouter)(?:-client|-refresh)?-(key|token|secret|session)\]"
)
"""The owner of a key would reveal the model's vendor."""
_OTHERWISE = {"gpt": "chatgpt", "qwen": "tongyi"}
SIZE = 16


def redact_text(text: str) -> str:
    """As it may leave the machine."""
    if len(text) <= SHORT:
        return _of_words(text)
    if len(text) <= MIDDLE:
        return _of_texts(text)
    return _of_long_texts(text) if len(text) <= LONG else for_others(text)


def redacted(packet: Packet) -> Packet:
    """Without secrets and people. Ids and the question stay: they are ours, and others refer to them."""
    if packet.redacted:
        return packet
    return msgspec.structs.replace(
        packet,
        run=tree_for_others(packet.run),
        facts=tree_for_others(packet.facts),
        failure_key=_key(packet.failure_key),
        signals=tuple(_signal(one) for one in packet.signals),
        observations=tuple(map(_observation, packet.observations)),
        timeline=tuple(map(for_others, packet.timeline)),
        places=tuple(_place(one) for one in packet.places),
        history=tuple(tree_for_others(one) for one in packet.history),
        left_out=tuple(LeftOut(what=for_others(one.what), why=for_others(one.why)) for one in packet.left_out),
        extra={},
        redacted=True,
    )


def _place(place: PacketPlace) -> PacketPlace:
    return PacketPlace(place=for_others(place.place), source=for_others(place.source), text=for_others(place.text))


def _signal(signal: Signal) -> Signal:
    texts = {name: for_others(getattr(signal, name)) for name in ("where", "quote", "stated")}
    return msgspec.structs.replace(signal, **texts, extra={})


def _observation(observation: Observation) -> Observation:
    names = ("speaker", "text", "quote", "tool", "argument")
    texts = {name: for_others(getattr(observation, name)) for name in names}
    return msgspec.structs.replace(observation, **texts, extra={})


def _key(key: FailureKey | None) -> FailureKey | None:
    return key and FailureKey(exact=for_others(key.exact), coarse=for_others(key.coarse))


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


def packet_hash(packet: Packet) -> str:
    """The same for the same facts and texts, whatever the order in a dict, and whether it was redacted before or not.

    History, signals and observations are left out, and so is the size, which counts them: another run in the store, or
    another version of the rules, changes them, and neither makes an answer that was paid for worthless. The same holds
    for the labels that are offered: a known gap depends on the history, and other labels make another prompt.
    """
    question = Question(taxonomy=packet.question.taxonomy, labels=(), rule="")
    hints: dict[str, Any] = {"history": (), "signals": (), "observations": (), "failure_key": None, "size": {}}
    facts = msgspec.structs.replace(redacted(packet), **hints, question=question)
    return fingerprint(facts, size=SIZE)
