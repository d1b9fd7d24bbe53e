"""What is known of checkpoints beyond their own files: those of the paper, and where a tokeniser needs to be asked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Preset:
    """A checkpoint of the paper's.

    Attributes:
        row: the model of the paper's tables that it is: `bert` or `bert_plus`.
        tokenizer: options of its tokeniser.
    """

    row: str
    tokenizer: Mapping[str, Any] = field(default_factory=dict)


# BERTweet was trained on tweets whose mentions, links and emoji were rewritten; its tokeniser does so if it is told to.
_BERTWEET = Preset("bert_plus", {"normalization": True})
_BERT, _ERNIE = Preset("bert"), Preset("bert_plus")
PRESETS = {
    "bert-base-uncased": _BERT,
    "google-bert/bert-base-uncased": _BERT,
    "vinai/bertweet-base": _BERTWEET,
    "hfl/chinese-bert-wwm": _BERT,
    "hfl/chinese-bert-wwm-ext": _BERT,
    "nghuyong/ernie-1.0-base-zh": _ERNIE,
}
