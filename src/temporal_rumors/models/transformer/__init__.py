"""Any checkpoint of the Hub or of a folder, fine-tuned as the paper fine-tunes BERT."""

from __future__ import annotations

import gc
import json
import os
from collections.abc import Sequence
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np

from temporal_rumors.errors import UserError, unknown
from temporal_rumors.models import Model, available

if TYPE_CHECKING:
    from transformers import TrainingArguments

    from temporal_rumors.models.transformer.checkpoints import Checkpoint
    from temporal_rumors.models.transformer.encoding import Encoded
    from temporal_rumors.models.transformer.training import Padder

PADDINGS = ("longest", "max_length")
PRECISIONS = ("auto", "no", "bf16", "fp16")
METRICS = ("loss", "f1", "accuracy")
_SEEN = "seen.json"


class Classifier(Model):
    """A sequence classifier: a pretrained encoder with a linear layer, fine-tuned; defaults are the paper's.

    Posts are padded to the longest of their batch, and batches made of posts of like lengths, which changes nothing
    but the time; `padding="max_length"` and `grouped=False` are what the paper does.

    Args:
        labels: class names.
        name: of the checkpoint: a folder that `save_pretrained` wrote, or a name on the Hub, with @ and a revision if
            it is not to be the newest.
        checkpoint: its identity, as `settings` has it, where no other will do; None takes what is there.
        learning_rate: the highest; it falls linearly to 0.
        batch_size: posts of a training batch, over all processes.
        epochs: at most.
        patience: epochs without a better score on the validation part after which training stops.
        best_metric: what of the validation part decides which epoch is kept: "loss", "f1" or "accuracy".
        max_length: tokens of a post, at most; no more than the model has positions.
        weight_decay: of AdamW.
        warmup: share of all steps during which the learning rate rises.
        padding: "longest" of the batch, or "max_length".
        grouped: put posts of like lengths together.
        precision: "auto" (bf16 on GPUs that have it, else 32 bit), "no", "bf16" or "fp16".
        accumulate: steps into which a process cuts its share of a batch, where memory is short.
        eval_batch_size: posts to score at once.
        compile: compile the model with torch.

    Raises:
        UserError: a setting is not valid, or the checkpoint is not to be had.

    Source: Mu et al. 2023, section 3 and appendix.
    """

    name = "transformer"
    version = "1"
    deterministic = False
    libraries = ("torch", "transformers", "accelerate", "tokenizers")

    def __init__(
        self,
        labels: Sequence[str],
        *,
        name: str,
        checkpoint: str | None = None,
        learning_rate: float = 2e-5,
        batch_size: int = 32,
        epochs: int = 10,
        patience: int = 3,
        best_metric: str = "loss",
        max_length: int = 256,
        weight_decay: float = 0.0,
        warmup: float = 0.0,
        padding: str = "longest",
        grouped: bool = True,
        precision: str = "auto",
        accumulate: int = 1,
        eval_batch_size: int = 128,
        compile: bool = False,
    ) -> None:
        for what, value, valid in (
            ("best_metric", best_metric, METRICS),
            ("padding", padding, PADDINGS),
            ("precision", precision, PRECISIONS),
        ):
            if value not in valid:
                raise UserError(unknown(what, value, valid))
        counts = {
            "batch_size": batch_size,
            "epochs": epochs,
            "patience": patience,
            "max_length": max_length,
            "accumulate": accumulate,
            "eval_batch_size": eval_batch_size,
        }
        for what, count in counts.items():
            if isinstance(count, bool) or not isinstance(count, int) or count < 1:
                raise UserError(f"{what} must be an integer from 1 on, found {count!r}")
        for what, number, top in (
            ("learning_rate", learning_rate, 1.0),
            ("weight_decay", weight_decay, 1.0),
            ("warmup", warmup, 1.0),
        ):
            if isinstance(number, bool) or not isinstance(number, (int, float)) or not 0 <= number < top:
                raise UserError(f"{what} must be a number from 0 to below {top:g}, found {number!r}")
        for what, flag in (("grouped", grouped), ("compile", compile)):
            if not isinstance(flag, bool):
                raise UserError(f"{what} must be true or false, found {flag!r}")
        _require(name)
        if checkpoint is None:
            checkpoint = self._locate(name).identity
        super().__init__(
            labels,
            {
                "checkpoint": checkpoint,
                "learning_rate": float(learning_rate),
                **counts,
                "best_metric": best_metric,
                "weight_decay": float(weight_decay),
                "warmup": float(warmup),
                "padding": padding,
                "grouped": grouped,
                "precision": precision,
                "compile": compile,
            },
        )
        self.name = name
        self._model: Any = None
        self._trainer: Any = None
        self._seen = np.ones(len(self.labels), dtype=bool)
        self._fitted_values: dict[str, Any] = {}

    def encode(self, texts: Sequence[str], *context: Sequence[str]) -> Encoded:
        """Tokenise posts; what they reply to, if given, is read as a second text.

        Args:
            texts: (n,) str.
            *context: (n,) str each, blank where there is none.
        """
        from temporal_rumors.models.transformer.encoding import tokenize

        return tokenize(self._base, self._tokenizer, texts, context, self._most)

    @property
    def fitted(self) -> dict[str, Any]:
        """The epoch that was kept and its scores on the validation part, and how the model was trained."""
        return self._fitted_values

    def _fit(
        self,
        train: Encoded,
        train_labels: np.ndarray,
        validation: Encoded,
        validation_labels: np.ndarray,
        seed: int,
        folder: Path | None,
    ) -> None:
        from temporal_rumors.models.transformer.training import ALIGN, FineTuning, agreed, precision_of, quiet

        # An earlier model of this process must not take up memory any longer.
        gc.collect()
        wanted = self.settings
        precision = precision_of(wanted["precision"])
        with TemporaryDirectory() as temporary, quiet():
            arguments = self._arguments(folder or Path(agreed(temporary)), seed, precision)
            trainer = FineTuning(
                self._new_model(seed),
                arguments,
                train,
                train_labels,
                validation,
                validation_labels,
                padder=self._padder(ALIGN if precision != "no" else 1),
                batch_size=wanted["batch_size"],
                eval_batch_size=wanted["eval_batch_size"],
                grouped=wanted["grouped"],
                patience=wanted["patience"],
            )
            trainer.run()
        self._trainer, self._model = trainer, trainer.model
        self._seen = np.isin(np.arange(len(self.labels)), train_labels)
        history = [entry for entry in trainer.state.log_history if "eval_loss" in entry]
        best = next(e for e in history if e["step"] == trainer.state.best_global_step)
        self._fitted_values = {
            "epoch": round(best["epoch"]),
            "epochs": len(history),
            "validation_loss": best["eval_loss"],
            "validation_f1": best["eval_f1"],
            "precision": precision,
            "device": arguments.device.type,
            "processes": arguments.world_size,
        }

    def _scores(self, encoded: Encoded) -> np.ndarray:
        from temporal_rumors.models.transformer.training import logits_of, quiet

        with quiet():
            if self._trainer is not None:
                logits = self._trainer.logits(encoded)
            else:
                logits = logits_of(
                    self._model, encoded, self._padder(1), self.settings["eval_batch_size"], device=self._model.device
                )
        found = logits.astype(np.float64)
        found[:, ~self._seen] = -np.inf
        return found

    def _save(self, folder: Path) -> None:
        from temporal_rumors.models.transformer.training import quiet

        with quiet():
            if self._trainer is not None:
                self._trainer.save_model(str(folder))
                (folder / "training_args.bin").unlink(missing_ok=True)
            else:
                self._model.save_pretrained(folder)
            # So that whoever truncates (`truncation=True`) reads as much of a post as the model did.
            self._tokenizer.model_max_length = self._most
            self._tokenizer.save_pretrained(folder)
        (folder / _SEEN).write_text(json.dumps(self._seen.tolist()) + "\n", encoding="utf-8")

    def _load(self, folder: Path) -> None:
        from temporal_rumors.models.transformer.checkpoints import Checkpoint
        from temporal_rumors.models.transformer.training import load, processes, quiet

        # Its base need not be at hand: the tokeniser lies beside it.
        self._base = Checkpoint(self.name, folder, self.settings["checkpoint"])
        with quiet():
            self._model = load(folder).to(processes().device)
        self._seen = np.array(json.loads((folder / _SEEN).read_text(encoding="utf-8")), dtype=bool)

    @staticmethod
    def _locate(name: str) -> Checkpoint:
        from temporal_rumors.models.transformer.checkpoints import locate

        return locate(name)

    @cached_property
    def _base(self) -> Checkpoint:
        found = self._locate(self.name)
        if found.identity != (expected := self.settings["checkpoint"]):
            raise UserError(
                f"{self.name} is not the checkpoint that is asked for: found {found.identity}, expected {expected}"
            )
        return found

    @cached_property
    def _tokenizer(self) -> Any:
        from temporal_rumors.models.transformer.encoding import load_tokenizer

        return load_tokenizer(self._base)

    @cached_property
    def _most(self) -> int:
        """Tokens of a post that are read, at most."""
        from temporal_rumors.models.transformer.encoding import most_tokens

        return most_tokens(self._base, self._tokenizer, self.settings["max_length"])

    def _padder(self, align: int) -> Padder:
        from temporal_rumors.models.transformer.training import Padder

        tokenizer, wide = self._tokenizer, self.settings["padding"] == "max_length"
        return Padder(
            {"input_ids": tokenizer.pad_token_id, "token_type_ids": tokenizer.pad_token_type_id},
            tokenizer.padding_side == "left",
            self._most if wide else None,
            align,
        )

    def _new_model(self, seed: int) -> Any:
        from temporal_rumors.models.transformer.training import new_model

        return new_model(self._base, self.labels, self._tokenizer.pad_token_id, seed)

    def _arguments(self, folder: Path, seed: int, precision: str) -> TrainingArguments:
        from transformers import TrainingArguments

        from temporal_rumors.models.transformer.training import only_cpu, processes

        wanted = self.settings
        shares = processes().num_processes * wanted["accumulate"]
        # Or what the launcher says would hold, whatever is asked for here.
        os.environ["ACCELERATE_MIXED_PRECISION"] = precision
        return TrainingArguments(
            output_dir=str(folder.absolute()),
            use_cpu=only_cpu(),
            num_train_epochs=wanted["epochs"],
            per_device_train_batch_size=max(1, wanted["batch_size"] // shares),
            gradient_accumulation_steps=wanted["accumulate"],
            learning_rate=wanted["learning_rate"],
            weight_decay=wanted["weight_decay"],
            warmup_steps=wanted["warmup"],
            eval_strategy="epoch",
            save_strategy="epoch",
            logging_strategy="epoch",
            save_total_limit=2,
            load_best_model_at_end=True,
            metric_for_best_model=wanted["best_metric"],
            greater_is_better=wanted["best_metric"] != "loss",
            seed=seed,
            bf16=precision == "bf16",
            fp16=precision == "fp16",
            torch_compile=wanted["compile"],
            ddp_find_unused_parameters=False,
            report_to=[],
            disable_tqdm=True,
            remove_unused_columns=False,
            log_level="error",
            log_level_replica="error",
        )


def _require(name: str) -> None:
    """Refuse a checkpoint where the libraries are missing that it takes."""
    lacking = [library for library in ("torch", "transformers", "accelerate") if find_spec(library) is None]
    if lacking:
        built_in = ", ".join(available())
        raise UserError(
            f"unknown model {name!r}: it is none of this package ({built_in}), and a checkpoint takes "
            f'{", ".join(lacking)}: pip install "temporal-rumors[transformers]"'
        )
