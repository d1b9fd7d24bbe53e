"""Fine-tuning beside a plain Trainer, the same job on both sides: train, score the validation part, keep the best.

    HF_HUB_OFFLINE=1 python benchmarks/finetune.py --checkpoint FOLDER [--posts 256] [--epochs 1] [--seeds 1]

Three ways with equal settings and seeds: ours; the Trainer of transformers with dynamic padding, as its guide to text
classification has it; and that with every post padded to 256 tokens, as the paper has it. Prints training posts a
second, ratios, and macro-F1 on the test part; with more seeds and epochs, whether that differs by more than seeds do.
Takes the real benchmarks from TEMPORAL_RUMORS_DATA.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from dataclasses import replace
from typing import Any

import datasets
import numpy as np
import transformers
from transformers import (
    AutoModelForSequenceClassification,
    AutoTokenizer,
    DataCollatorWithPadding,
    Trainer,
    TrainingArguments,
)
from transformers.trainer_callback import PrinterCallback

from temporal_rumors import benchmark, macro_prf, models
from temporal_rumors.protocols import Split
from temporal_rumors.records import Posts

BATCH, LENGTH = 32, 256
WAYS = ("ours", "Trainer, dynamic padding", "Trainer, padded to 256")


def ours(checkpoint: str, posts: Posts, split: Split, classes: list[str], options: dict[str, Any]) -> tuple[float, Any]:
    """Return the seconds that a fit takes, and the answers to the test part."""
    model = models.create(
        checkpoint, classes, batch_size=BATCH, epochs=options["epochs"], learning_rate=options["rate"], patience=99
    )
    encoded = model.encode(posts.texts.tolist())
    parts = [part for rows in (split.train, split.validation) for part in (encoded[rows], posts.labels[rows])]
    start = time.perf_counter()
    model.fit(*parts, seed=options["seed"])
    return time.perf_counter() - start, model.predict(encoded[split.test])


def plain(
    checkpoint: str, posts: Posts, split: Split, classes: list[str], options: dict[str, Any], padded: bool
) -> tuple[float, Any]:
    """Return the same of a Trainer as its documentation sets it up."""
    tokenizer = AutoTokenizer.from_pretrained(checkpoint)
    padding = "max_length" if padded else False

    def part(rows: np.ndarray) -> datasets.Dataset:
        data = datasets.Dataset.from_dict({"text": posts.texts[rows].tolist(), "label": posts.labels[rows].tolist()})
        return data.map(
            lambda batch: tokenizer(batch["text"], truncation=True, max_length=LENGTH, padding=padding),
            batched=True,
            remove_columns=["text"],
        )

    train, validation, test = (part(rows) for rows in (split.train, split.validation, split.test))
    start = time.perf_counter()
    transformers.set_seed(options["seed"])
    network = AutoModelForSequenceClassification.from_pretrained(checkpoint, num_labels=len(classes))
    with tempfile.TemporaryDirectory() as folder:
        trainer = Trainer(
            model=network,
            args=TrainingArguments(
                output_dir=folder,
                seed=options["seed"],
                num_train_epochs=options["epochs"],
                learning_rate=options["rate"],
                per_device_train_batch_size=BATCH,
                per_device_eval_batch_size=BATCH,
                eval_strategy="epoch",
                save_strategy="epoch",
                load_best_model_at_end=True,
                metric_for_best_model="eval_loss",
                report_to=[],
                disable_tqdm=True,
                log_level="error",
            ),
            train_dataset=train,
            eval_dataset=validation,
            data_collator=DataCollatorWithPadding(tokenizer),
        )
        trainer.remove_callback(PrinterCallback)
        trainer.train()
        seconds = time.perf_counter() - start
        return seconds, trainer.predict(test).predictions.argmax(axis=1)


def main() -> None:
    """Measure and print a table for each benchmark."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--checkpoint", required=True, help="folder of a checkpoint, or its name on the Hub")
    parser.add_argument("--benchmarks", nargs="*", default=["twitter15_temporal", "pheme_temporal"])
    parser.add_argument("--posts", type=int, default=256, help="training posts, 0 for all")
    parser.add_argument("--epochs", type=int, default=1)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--rate", type=float, default=1e-4, help="learning rate")
    parser.add_argument("--ways", nargs="*", default=WAYS, choices=WAYS, metavar="WAY", help=", ".join(WAYS))
    given = parser.parse_args()
    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    datasets.disable_progress_bars()
    for name in given.benchmarks:
        b = benchmark.get(name)
        posts = b.posts()
        split = b.split(posts, "random_fold0")
        if given.posts:
            # Evenly spaced, so that lengths and classes are as in the whole.
            chosen = split.train[np.linspace(0, len(split.train) - 1, min(given.posts, len(split.train))).astype(int)]
            split = replace(split, train=chosen)
        print(f"{name}: {len(split.train)} training posts, {given.epochs} epochs, {given.seeds} seeds", flush=True)
        speeds: dict[str, float] = {}
        for way in given.ways:
            taken, scores = [], []
            for seed in range(given.seeds):
                options = {"epochs": given.epochs, "rate": given.rate, "seed": seed}
                arguments = given.checkpoint, posts, split, list(b.classes), options
                found = ours(*arguments) if way == WAYS[0] else plain(*arguments, padded=way == WAYS[2])
                taken.append(found[0])
                codes = list(range(len(b.classes)))
                macro = macro_prf(predictions=found[1], references=posts.labels[split.test], labels=codes)
                scores.append(100 * macro["f1"])
            speeds[way] = given.epochs * len(split.train) / float(np.median(taken))
            spread = f" ± {np.std(scores, ddof=1):.1f}" if given.seeds > 1 else ""
            ratio = f"{speeds[WAYS[0]] / speeds[way]:5.1f}x" if WAYS[0] in speeds else ""
            score = f"{np.mean(scores):.1f}{spread}"
            print(f"  {way:26} {speeds[way]:7.1f} posts/s  ours/this {ratio}  macro-F1 {score}", flush=True)


if __name__ == "__main__":
    main()
