"""Fine-tune and score with the Trainer of transformers, on one process or many.

Three things differ from a plain Trainer, so that the result is the same on any number of processes, and after an
interruption: batches are laid out over all processes at once and dealt to them; the loss is the mean over a whole
batch; and a part is scored in batches that are dealt likewise, each post once, its metrics taken once over all.
"""

from __future__ import annotations

import math
import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
import transformers
from accelerate import PartialState
from accelerate.utils import broadcast_object_list, gather_object, str_to_bool
from torch.nn.functional import cross_entropy
from torch.utils.data import DataLoader
from transformers import (
    AutoModelForSequenceClassification,
    Trainer,
    TrainerCallback,
    TrainerControl,
    TrainerState,
    TrainingArguments,
)
from transformers.trainer_callback import PrinterCallback

from temporal_rumors import macro_prf
from temporal_rumors.errors import UserError
from temporal_rumors.models.transformer.batches import TrainingBatches, scoring_batches
from temporal_rumors.models.transformer.checkpoints import Checkpoint
from temporal_rumors.models.transformer.encoding import Encoded
from temporal_rumors.processes import is_main

# Lies in a checkpoint that was written to its end.
_WHOLE = "whole"
_DTYPES = {"bf16": torch.bfloat16, "fp16": torch.float16}
# Tensor cores multiply rectangles of multiples of eight.
ALIGN = 8


@dataclass(frozen=True)
class Padder:
    """Makes tensors of posts.

    Attributes:
        fill: column -> what to pad with.
        left: pad before the text.
        width: of every rectangle; None takes that of the longest post in it.
        align: round the width up to a multiple of this.
    """

    fill: Mapping[str, int]
    left: bool
    width: int | None
    align: int = 1

    def __call__(self, encoded: Encoded, rows: np.ndarray) -> dict[str, torch.Tensor]:
        width = self.width or -(-int(encoded.lengths[rows].max()) // self.align) * self.align
        return {name: torch.from_numpy(v) for name, v in encoded.padded(rows, self.fill, width, self.left).items()}


@contextmanager
def quiet() -> Iterator[None]:
    """Keep transformers from telling what we tell ourselves, and from drawing bars where nobody looks."""
    logger, bars = transformers.logging.get_verbosity(), transformers.logging.is_progress_bar_enabled()
    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    try:
        yield
    finally:
        transformers.logging.set_verbosity(logger)
        if bars:
            transformers.logging.enable_progress_bar()


def processes() -> PartialState:
    """Return which of how many processes this is, and where it computes; they talk to one another from here on."""
    # Without a GPU accelerate must be told so, or each of several processes takes itself for the only one.
    return PartialState(cpu=only_cpu())


def only_cpu() -> bool:
    """Whether to compute without an accelerator: there is none, or the launcher was told so."""
    return not torch.accelerator.is_available() or bool(str_to_bool(os.environ.get("ACCELERATE_USE_CPU", "false")))


def new_model(checkpoint: Checkpoint, labels: Sequence[str], padding: int, seed: int) -> Any:
    """Return a pretrained encoder with a new linear layer for some classes.

    Args:
        checkpoint: the encoder.
        labels: class names.
        padding: the token to pad with.
        seed: of the new layer.

    Raises:
        UserError: the checkpoint cannot be loaded as a sequence classifier.
    """
    torch.manual_seed(seed)
    try:
        return AutoModelForSequenceClassification.from_pretrained(
            checkpoint.folder,
            local_files_only=True,
            dtype=torch.float32,
            num_labels=len(labels),
            id2label=dict(enumerate(labels)),
            label2id={label: code for code, label in enumerate(labels)},
            problem_type="single_label_classification",
            pad_token_id=padding,
            ignore_mismatched_sizes=True,
        )
    except (OSError, ValueError, KeyError) as error:
        raise UserError(f"{checkpoint.name} cannot be loaded as a classifier: {str(error).strip()}") from None


def load(folder: Path) -> Any:
    """Return a fine-tuned model that was saved."""
    return AutoModelForSequenceClassification.from_pretrained(folder, local_files_only=True, dtype=torch.float32)


def agreed(value: str) -> str:
    """Return the value of the main process."""
    processes()
    found: list[str] = broadcast_object_list([value])
    return found[0]


def precision_of(asked: str) -> str:
    """Return the precision to train with: "no" (32 bit), "bf16" or "fp16".

    Args:
        asked: "auto" takes bf16 on GPUs that have it, and 32 bit elsewhere.

    Raises:
        UserError: this machine cannot do what is asked for, here or by `accelerate launch`.
    """
    launched = os.environ.get("ACCELERATE_MIXED_PRECISION", "no")
    if asked == "auto" and launched in _DTYPES:
        asked = launched
    cuda = torch.cuda.is_available()
    has_bf16 = cuda and torch.cuda.is_bf16_supported(including_emulation=False)
    if asked == "auto":
        return "bf16" if has_bf16 else "no"
    if asked in _DTYPES and not (has_bf16 if asked == "bf16" else cuda):
        device = "this GPU" if cuda else "a CPU"
        raise UserError(f"{asked} pays on GPUs that have it, and {device} does not: ask for precision auto or no")
    return asked


class FineTuning(Trainer):
    """A Trainer that deals whole batches, scores each post once, and goes on where it was interrupted.

    Args:
        model: the pretrained model with a new head.
        arguments: of the Trainer.
        train, validation: encoded posts.
        train_labels, validation_labels: (n,) int64.
        padder: makes tensors of posts.
        batch_size, eval_batch_size: posts of a batch over all processes, and of a batch to score.
        grouped: put posts of like lengths together.
        patience: epochs without a better score after which training stops.
    """

    def __init__(
        self,
        model: Any,
        arguments: TrainingArguments,
        train: Encoded,
        train_labels: np.ndarray,
        validation: Encoded,
        validation_labels: np.ndarray,
        *,
        padder: Padder,
        batch_size: int,
        eval_batch_size: int,
        grouped: bool,
        patience: int,
    ) -> None:
        self._posts, self._labels = train, train_labels
        self._held, self._held_labels = validation, validation_labels
        self._padder, self._size_to_score = padder, eval_batch_size
        self._batches = TrainingBatches(
            train.lengths,
            batch_size,
            arguments.seed,
            grouped,
            rank=arguments.process_index,
            world=arguments.world_size,
            accumulate=arguments.gradient_accumulation_steps,
        )
        shares = arguments.world_size * arguments.gradient_accumulation_steps
        if self._batches.smallest < shares:
            raise UserError(
                f"batches of {self._batches.smallest} posts cannot be cut into {shares} (processes x accumulation "
                "steps): take fewer of these or larger batches"
            )
        self._epochs = _Epochs(self._batches, patience)
        super().__init__(
            model=model,
            args=arguments,
            train_dataset=range(len(train)),
            eval_dataset=range(len(validation)),
            compute_loss_func=_mean_over_batch,
            callbacks=[self._epochs, _Bar()],
        )
        self.remove_callback(PrinterCallback)

    def get_train_dataloader(self) -> DataLoader:
        """Return the slices of this process; they are dealt already, so accelerate does not deal them again."""

        def collate(rows: list[int]) -> dict[str, torch.Tensor]:
            chosen = np.array(rows)
            return {**self._padder(self._posts, chosen), "labels": torch.from_numpy(self._labels[chosen])}

        return DataLoader(
            range(len(self._posts)),  # type: ignore[arg-type]
            batch_sampler=self._batches,
            collate_fn=collate,
            pin_memory=self.args.device.type == "cuda",
        )

    def evaluate(self, *args: Any, **kwargs: Any) -> dict[str, float]:
        """Score the validation part: exact over all its posts, whatever the batches."""
        logits = self.logits(self._held)
        if not np.isfinite(logits).all():
            raise UserError("the training went astray: scores are no numbers any more; lower learning_rate")
        metrics = {f"eval_{name}": value for name, value in scores(logits, self._held_labels).items()}
        self.log(metrics)
        self.control = self.callback_handler.on_evaluate(self.args, self.state, self.control, metrics)
        return metrics

    def logits(self, encoded: Encoded) -> np.ndarray:
        """Return (n, n_classes) float32, of every post once, in the order of the posts; the same on every process."""
        model = self.model_wrapped
        if model is self.model and self.is_fsdp_enabled:
            model = self.model_wrapped = self.accelerator.prepare(self.model)
        return logits_of(
            model,
            encoded,
            self._padder,
            self._size_to_score,
            device=self.args.device,
            precision=self.accelerator.mixed_precision,
            rank=self.args.process_index,
            world=self.args.world_size,
        )

    def run(self) -> None:
        """Train, from the newest whole checkpoint on where there is one, and load the best."""
        folder = Path(str(self.args.output_dir))
        checkpoint = _newest(folder)
        self.accelerator.wait_for_everyone()
        if checkpoint is not None:
            path = str(checkpoint / "trainer_state.json")
            self.state = TrainerState.load_from_json(path)
            # It stands there with its whole path, and the folder may have been moved.
            self.state.best_model_checkpoint = str(folder / f"checkpoint-{self.state.best_global_step}")
            if is_main():
                self.state.save_to_json(path)
            self.accelerator.wait_for_everyone()
            epochs = self.args.num_train_epochs
            if self.state.epoch >= epochs or self._epochs.is_over(self.state, self.args):
                self._load_best_model()
                return
        self.train(resume_from_checkpoint=None if checkpoint is None else str(checkpoint))

    def _load_rng_state(self, checkpoint: str | None) -> None:
        """Do nothing: what is drawn depends on the seed and the epoch alone."""


def scores(logits: np.ndarray, labels: np.ndarray) -> dict[str, float]:
    """Return the mean cross-entropy ("loss"), and macro-F1 and accuracy.

    Args:
        logits: (n, n_classes).
        labels: (n,) int64.
    """
    from scipy.special import log_softmax

    likelihood = log_softmax(logits.astype(np.float64), axis=1)[np.arange(len(labels)), labels]
    macro = macro_prf(predictions=logits.argmax(axis=1), references=labels, labels=list(range(logits.shape[1])))
    return {"loss": float(-likelihood.mean()), "f1": macro["f1"], "accuracy": macro["accuracy"]}


def logits_of(
    model: Any,
    encoded: Encoded,
    padder: Padder,
    batch_size: int,
    *,
    device: torch.device,
    precision: str = "no",
    rank: int = 0,
    world: int = 1,
) -> np.ndarray:
    """Return (n, n_classes) float32 of every post, in their order.

    Args:
        model: any sequence classifier.
        encoded: n posts.
        padder: makes tensors of posts.
        batch_size: posts at once.
        device: where the model is.
        precision: "no", "bf16" or "fp16".
        rank, world: which process this is of how many; batches are dealt to them, and their scores gathered.
    """
    batches = scoring_batches(encoded.lengths, batch_size)
    found: list[tuple[int, np.ndarray]] = []
    model.eval()
    dtype = _DTYPES.get(precision)
    for turn in range(math.ceil(len(batches) / world)):
        # The last turn may lack batches: whoever has none scores one again, as processes must keep step.
        number = turn * world + rank
        tensors = padder(encoded, batches[min(number, len(batches) - 1)])
        with torch.no_grad(), torch.autocast(device.type, dtype=dtype, enabled=dtype is not None):
            output = model(**{name: tensor.to(device) for name, tensor in tensors.items()}).logits
        if number < len(batches):
            found.append((number, output.float().cpu().numpy()))
    if world > 1:
        found = gather_object(found)
    if not found:
        raise UserError("there are no posts to score")
    logits = np.empty((len(encoded), found[0][1].shape[1]), dtype=np.float32)
    for number, values in found:
        logits[batches[number]] = values
    return logits


def _mean_over_batch(outputs: Any, labels: torch.Tensor, num_items_in_batch: torch.Tensor) -> torch.Tensor:
    """The mean loss over a batch of all processes; the Trainer multiplies by their number, gradients are averaged."""
    return cross_entropy(outputs.logits.float(), labels, reduction="sum") / num_items_in_batch


class _Epochs(TrainerCallback):
    """Begins each epoch in a state that depends on nothing before it, and ends training that no longer helps."""

    def __init__(self, batches: TrainingBatches, patience: int) -> None:
        self._batches, self._patience = batches, patience

    def on_epoch_begin(self, args: TrainingArguments, state: TrainerState, control: Any, **kwargs: Any) -> None:
        self._batches.epoch = round(state.epoch or 0)
        entropy = np.random.SeedSequence([args.seed, self._batches.epoch, args.process_index])
        torch.manual_seed(int(entropy.generate_state(1)[0]))

    def on_evaluate(self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **kwargs: Any) -> None:
        control.should_training_stop |= self.is_over(state, args)

    def on_save(self, args: TrainingArguments, state: TrainerState, control: Any, **kwargs: Any) -> None:
        if state.is_world_process_zero:
            (Path(str(args.output_dir)) / f"checkpoint-{state.global_step}" / _WHOLE).touch()

    def is_over(self, state: TrainerState, args: TrainingArguments) -> bool:
        """Whether the best epoch is further back than patience goes."""
        metric = f"eval_{args.metric_for_best_model}"
        found = [entry[metric] for entry in state.log_history if metric in entry]
        best = found.index((max if args.greater_is_better else min)(found)) if found else 0
        return len(found) - 1 - best >= self._patience


class _Bar(TrainerCallback):
    """A progress bar on standard error, quiet where that is no terminal."""

    def on_train_begin(self, args: TrainingArguments, state: TrainerState, control: Any, **kwargs: Any) -> None:
        from tqdm.auto import tqdm

        # disable=None: quiet where standard error is not a terminal.
        shown = None if state.is_world_process_zero else True
        self._bar = tqdm(
            total=state.max_steps, initial=state.global_step, desc="steps", unit="step", leave=False, disable=shown
        )

    def on_step_end(self, args: TrainingArguments, state: TrainerState, control: Any, **kwargs: Any) -> None:
        self._bar.update()

    def on_evaluate(self, args: TrainingArguments, state: TrainerState, control: Any, **kwargs: Any) -> None:
        loss = kwargs["metrics"]["eval_loss"]
        self._bar.set_postfix_str(f"epoch {state.epoch:.0f}, validation loss {loss:.3f}")

    def on_train_end(self, args: TrainingArguments, state: TrainerState, control: Any, **kwargs: Any) -> None:
        self._bar.close()


def _newest(folder: Path) -> Path | None:
    """The newest checkpoint that was written to its end; what was begun after it is removed."""
    found = sorted(folder.glob("checkpoint-*"), key=lambda path: int(path.name.rpartition("-")[2]))
    whole = [path for path in found if (path / _WHOLE).is_file()]
    if is_main():
        for path in found:
            if path not in whole:
                shutil.rmtree(path, ignore_errors=True)
    return whole[-1] if whole else None
