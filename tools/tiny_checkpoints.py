"""Tiny checkpoints with random weights, made by the libraries that read them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

WORDS = (
    *("police", "say", "the", "bridge", "is", "closed", "nobody", "was", "hurt", "breaking", "rumour", "false", "true"),
    *("city", "fire", "station", "report", "new"),
)
SIGNS = "abcdefghijklmnopqrstuvwxyz0123456789.,!?"
SIZES = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 32}


def bert(
    folder: Path,
    dropout: float = 0.1,
    words: Sequence[str] = WORDS,
    sizes: Mapping[str, Any] = SIZES,
    positions: int = 64,
) -> Path:
    """A BERT that reads words, and letters of other words."""
    import torch
    from transformers import BertConfig, BertModel, BertTokenizerFast

    vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *SIGNS, *(f"##{sign}" for sign in SIGNS), *words]
    folder.mkdir(parents=True)
    (folder / "vocab.txt").write_text("\n".join(vocabulary) + "\n")
    BertTokenizerFast(str(folder / "vocab.txt")).save_pretrained(folder)
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=len(vocabulary),
        max_position_embeddings=positions,
        hidden_dropout_prob=dropout,
        attention_probs_dropout_prob=dropout,
        **sizes,
    )
    BertModel(config).save_pretrained(folder)
    return folder


def gpt2(folder: Path, language_model: bool = False) -> Path:
    """A decoder, whose tokeniser has no token to pad with; with a head that predicts tokens, if that is asked for."""
    import torch
    from transformers import GPT2Config, GPT2LMHeadModel, GPT2Model, GPT2TokenizerFast

    folder.mkdir(parents=True)
    signs = f"{SIGNS}{SIGNS.upper()}-:_\\n@#/'\""
    tokens = ["<|endoftext|>", *dict.fromkeys(signs), "Ċ", "Ġ", *(f"Ġ{sign}" for sign in dict.fromkeys(signs))]
    (folder / "vocab.json").write_text(json.dumps({token: code for code, token in enumerate(dict.fromkeys(tokens))}))
    (folder / "merges.txt").write_text("#version: 0.2\n" + "".join(f"Ġ {sign}\n" for sign in dict.fromkeys(signs)))
    GPT2TokenizerFast(str(folder / "vocab.json"), str(folder / "merges.txt")).save_pretrained(folder)
    torch.manual_seed(0)
    sizes = {"n_positions": 1024 if language_model else 64, "n_embd": 16, "n_layer": 1, "n_head": 2}
    config = GPT2Config(vocab_size=len(tokens), bos_token_id=0, eos_token_id=0, **sizes)
    (GPT2LMHeadModel if language_model else GPT2Model)(config).save_pretrained(folder)
    return folder


def bertweet(folder: Path) -> Path:
    """A RoBERTa with the tokeniser of BERTweet, which numbers positions from behind the padding token."""
    import torch
    from transformers import RobertaConfig, RobertaModel

    folder.mkdir(parents=True)
    signs = SIGNS + "@_:/USERHTPL"
    pieces = [piece for sign in dict.fromkeys(signs) for piece in (sign, f"{sign}@@")]
    (folder / "vocab.txt").write_text("".join(f"{piece} 9\n" for piece in pieces))
    (folder / "bpe.codes").write_text("p o 9\n")
    (folder / "tokenizer_config.json").write_text(
        json.dumps({"tokenizer_class": "BertweetTokenizer", "model_max_length": 128})
    )
    torch.manual_seed(0)
    config = RobertaConfig(vocab_size=len(pieces) + 10, max_position_embeddings=34, pad_token_id=1, **SIZES)
    RobertaModel(config).save_pretrained(folder)
    return folder
