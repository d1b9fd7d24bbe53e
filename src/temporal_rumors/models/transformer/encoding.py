"""Posts as token ids: tokenised once for each checkpoint and text, and kept."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np

from temporal_rumors import atomic
from temporal_rumors.errors import UserError
from temporal_rumors.models.transformer.checkpoints import Checkpoint
from temporal_rumors.processes import is_main
from temporal_rumors.records import json_digest
from temporal_rumors.sources.files import cache_folder

# What a model reads beside the mask: ids, and where the tokeniser gives them, which of two texts a token is of.
_COLUMNS = ("input_ids", "token_type_ids")
_AT_ONCE = 2048
_OF_TWEETS = "BertweetTokenizer"


class Encoded:
    """Tokenised posts of different lengths.

    Args:
        lengths: (n,) int64, tokens of each post.
        columns: name -> (n_tokens,) int32, of all posts one after the other.
    """

    def __init__(self, lengths: np.ndarray, columns: Mapping[str, np.ndarray]) -> None:
        self.lengths, self.columns = lengths, columns
        self._starts = np.cumsum(lengths) - lengths

    def __len__(self) -> int:
        return len(self.lengths)

    def __getitem__(self, rows: np.ndarray) -> Encoded:
        lengths = self.lengths[rows]
        steps = np.arange(lengths.sum()) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        places = np.repeat(self._starts[rows], lengths) + steps
        return Encoded(lengths, {name: values[places] for name, values in self.columns.items()})

    def padded(self, rows: np.ndarray, fill: Mapping[str, int], width: int, left: bool) -> dict[str, np.ndarray]:
        """Return some posts as rectangles.

        Args:
            rows: (k,) int64.
            fill: column -> what to pad with.
            width: of the rectangles, at least the length of the longest post.
            left: pad before the text.

        Returns:
            Each column and "attention_mask" -> (k, width) int64.
        """
        some = self[rows]
        kept = np.arange(width) < some.lengths[:, None]
        if left:
            kept = kept[:, ::-1]
        found = {"attention_mask": kept.astype(np.int64)}
        for name, values in some.columns.items():
            found[name] = np.full(kept.shape, fill[name], dtype=np.int64)
            found[name][kept] = values
        return found


def load_tokenizer(checkpoint: Checkpoint) -> Any:
    """Return the tokeniser of a checkpoint.

    Raises:
        UserError: the checkpoint has none that can be read, or one that needs a package that is not installed.
    """
    from transformers import AutoTokenizer

    try:
        tokenizer = AutoTokenizer.from_pretrained(checkpoint.folder, local_files_only=True)
        if type(tokenizer).__name__ == _OF_TWEETS:
            # It was trained on tweets whose mentions, links and emoji it rewrites, but only if it is told to.
            if find_spec("emoji") is None:
                raise UserError(f"{checkpoint.name}: its tokeniser needs the package emoji: pip install emoji")
            tokenizer = AutoTokenizer.from_pretrained(checkpoint.folder, local_files_only=True, normalization=True)
    except UserError:
        raise
    except (OSError, ValueError, KeyError, ImportError) as error:
        raise UserError(f"{checkpoint.name}: its tokeniser cannot be loaded: {str(error).strip()}") from None
    if tokenizer.pad_token_id is None:
        if tokenizer.eos_token is None:
            raise UserError(f"{checkpoint.name}: its tokeniser has neither a padding nor an end token: choose another")
        # As decoders without a padding token are used: the mask hides it.
        tokenizer.pad_token = tokenizer.eos_token
    return tokenizer


def most_tokens(checkpoint: Checkpoint, tokenizer: Any, most: int) -> int:
    """Return how many tokens of a post are read: as many as asked for, but no more than the model has positions.

    Args:
        checkpoint: the model.
        tokenizer: its tokeniser.
        most: what is asked for.
    """
    from transformers import AutoConfig

    config = AutoConfig.from_pretrained(checkpoint.folder, local_files_only=True)
    limits = [most, tokenizer.model_max_length]
    if positions := getattr(config, "max_position_embeddings", None):
        # RoBERTa and its kin, BERTweet among them, number positions from the padding token's number on.
        shifted = "roberta" in config.model_type or config.model_type in ("camembert", "esm")
        limits.append(positions - (config.pad_token_id + 1 if shifted else 0))
    return int(min(limits))


def tokenize(
    checkpoint: Checkpoint, tokenizer: Any, texts: Sequence[str], context: Sequence[Sequence[str]], most: int
) -> Encoded:
    """Tokenise posts, or read what an earlier call kept of the same texts and checkpoint.

    Args:
        checkpoint: the model.
        tokenizer: its tokeniser.
        texts: (n,) the posts.
        context: columns of (n,) texts that belong to them; what is not blank is read as a second text.
        most: tokens of a post, at most; of two texts the longer one is cut.
    """
    seconds = [_second(text, others) for text, *others in zip(texts, *context, strict=True)] if context else None
    key = json_digest(
        [
            *(checkpoint.identity, most, list(texts), seconds),
            *(version(library) for library in ("transformers", "tokenizers")),
        ]
    )
    path = cache_folder() / "tokenised" / f"{key}.npz"
    return _read(path) or _write(path, _tokenized(tokenizer, texts, seconds, most))


def _second(text: str, others: Sequence[str]) -> str:
    """What a post replies to, each text once."""
    return " ".join(dict.fromkeys(other for other in others if other.strip() and other != text))


def _tokenized(tokenizer: Any, texts: Sequence[str], seconds: Sequence[str] | None, most: int) -> Encoded:
    lengths: list[int] = []
    columns: dict[str, list[int]] = {}
    for start in range(0, len(texts), _AT_ONCE):
        some = slice(start, start + _AT_ONCE)
        found = tokenizer(
            [_sound(text) for text in texts[some]],
            None if seconds is None else [_sound(text) for text in seconds[some]],
            truncation=True,
            max_length=most,
            return_attention_mask=False,
        )
        # Of a blank text some tokenisers make no token at all, and a model reads at least one.
        blank = {"input_ids": [tokenizer.pad_token_id], "token_type_ids": [tokenizer.pad_token_type_id]}
        for name in _COLUMNS:
            if name in found:
                rows = [row or blank[name] for row in found[name]]
                columns.setdefault(name, []).extend(token for row in rows for token in row)
        lengths += (len(row) or 1 for row in found["input_ids"])
    return Encoded(
        np.array(lengths, dtype=np.int64), {name: np.array(ids, dtype=np.int32) for name, ids in columns.items()}
    )


def _sound(text: str) -> str:
    """A text that tokenisers take: half a surrogate pair is no character, and shown as a replacement."""
    return text.encode("utf-8", "surrogatepass").decode("utf-8", "replace")


def _read(path: Path) -> Encoded | None:
    try:
        with np.load(path, allow_pickle=False) as kept:
            columns = {name: kept[name] for name in kept.files}
    except (OSError, ValueError, EOFError, BadZipFile):  # not there, or damaged
        return None
    return Encoded(columns.pop("lengths"), columns)


def _write(path: Path, encoded: Encoded) -> Encoded:
    stream = io.BytesIO()
    arrays: dict[str, Any] = {"lengths": encoded.lengths, **encoded.columns}
    np.savez(stream, **arrays)
    if is_main():
        atomic.write(path, stream.getvalue())
    return encoded
