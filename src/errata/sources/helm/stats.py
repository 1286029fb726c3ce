"""HELM's statistics: which of them measure answers, and which one is the main measure.

The main measure of a leaderboard is defined in a schema that is not part of a run. The table here covers the schemas of
the classic, lite, capabilities and instruct leaderboards; for other groups the first usual measure is used.
"""

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from errata.sources.shared.values import mapping, number, sequence, text
from errata.text.lazy_regex import lazy_regex

_BOOKKEEPING = lazy_regex(
    r"num_\w+|training_\w+|inference_\w+|batch_size|finish_reason_\w+|prompt_truncated|max_prob|logprob\w*"
    r"|perplexity|bits_per_byte|\w+_runtime|\w+_cost"
)
_USUAL = ("exact_match", "quasi_exact_match", "f1_score", "prefix_exact_match", "quasi_prefix_exact_match")
_MAIN = {
    "boolq": "quasi_exact_match",
    "civil_comments": "quasi_exact_match",
    "imdb": "quasi_exact_match",
    "raft": "quasi_exact_match",
    "legalbench": "quasi_exact_match",
    "med_qa": "quasi_exact_match",
    "narrative_qa": "f1_score",
    "natural_qa_closedbook": "f1_score",
    "natural_qa_openbook_longans": "f1_score",
    "quac": "f1_score",
    "gsm": "final_number_exact_match",
    "math_chain_of_thought": "math_equiv_chain_of_thought",
    "math_regular": "math_equiv",
    "msmarco_regular": "RR@10",
    "msmarco_trec": "NDCG@10",
    "summarization_cnndm": "rouge_2",
    "summarization_xsum": "rouge_2",
    "wmt_14": "bleu_4",
    "mmlu_pro": "chain_of_thought_correctness",
    "gpqa": "chain_of_thought_correctness",
    "ifeval": "ifeval_strict_accuracy",
    "wildbench": "wildbench_score_rescaled",
    "omni_math": "omni_math_accuracy",
}


class Stat(NamedTuple):
    name: str
    split: str
    sub_split: str
    perturbation: str
    value: float | None
    place: int

    @property
    def is_measure(self) -> bool:
        return not _BOOKKEEPING.fullmatch(self.name)

    @property
    def label(self) -> str:
        return " ".join(filter(None, (self.name, self.split, self.sub_split, self.perturbation)))


def stats_of(listed: Any) -> Iterator[Stat]:
    """From a list with names and means, or from the values by name of a displayed prediction."""
    for place, (name, value) in enumerate(mapping(listed).items()):
        yield Stat(name=name, split="", sub_split="", perturbation="", value=number(value), place=place)
    for place, stat in enumerate(map(mapping, sequence(listed))):
        named = mapping(stat.get("name"))
        if not text(named.get("name")):
            continue
        yield Stat(
            name=text(named["name"]),
            split=text(named.get("split")),
            sub_split=text(named.get("sub_split")),
            perturbation=perturbed(named.get("perturbation")),
            # a statistic without values has no mean
            value=number(stat.get("mean")),
            place=place,
        )


def perturbed(perturbation: Any) -> str:
    fields = mapping(perturbation)
    return " ".join(filter(None, (text(fields.get("name")), text(fields.get("computed_on")))))


def main_measure(groups: Iterable[str], names: Iterable[str]) -> str:
    """The measure that decides; empty if nothing was measured."""
    measured = list(dict.fromkeys(names))
    wanted = [_MAIN[group] for group in groups if group in _MAIN]
    return next((name for name in (*wanted, *_USUAL) if name in measured), measured[0] if measured else "")
