"""How fast a BERT of base size is fine-tuned on PHEME: as the paper does it, and as we do.

    python benchmarks/finetune_gpu.py [--tiny] [--seconds 60]

Weights are random: speed does not depend on them. Prints posts and tokens a second, padding included and not, the share
of the device's bf16 peak (6 operations for each parameter and token that is computed), and the time of the paper's ten
epochs, for which it gives under 2 minutes on a V100. Without a GPU, --tiny tries the script with a tiny model. Takes
PHEME from TEMPORAL_RUMORS_DATA; without it, the sample.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import torch

from temporal_rumors import benchmark, models
from temporal_rumors.errors import UserError
from temporal_rumors.models.transformer.batches import TrainingBatches
from temporal_rumors.models.transformer.training import ALIGN, quiet

sys.path.insert(0, str(Path(__file__).parents[1] / "tools"))
import tiny_checkpoints

BASE = {"hidden_size": 768, "num_hidden_layers": 12, "num_attention_heads": 12, "intermediate_size": 3072}
VOCABULARY = 30_000
# Dense bf16 operations a second, from the makers' data sheets.
PEAKS = {"V100": 125e12, "A100": 312e12, "H100": 989e12, "H200": 989e12, "L4": 121e12, "4090": 165e12}
EPOCHS = 10


def main() -> None:
    """Time a part of an epoch in each way, and print a row for it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tiny", action="store_true", help="a tiny model, to try the script")
    parser.add_argument("--seconds", type=float, default=60, help="to measure each way")
    given = parser.parse_args()
    try:
        b = benchmark.get("pheme_temporal")
        posts = b.posts()
    except UserError as error:
        print(f"{error}; taking the sample", file=sys.stderr)
        b = benchmark.get("sample_temporal")
        posts = b.posts()
    split = b.split(posts, "chrono")
    name = torch.cuda.get_device_name() if torch.cuda.is_available() else "CPU"
    peak = next((value for key, value in PEAKS.items() if key in name), None)
    words = [word for word, _ in Counter(" ".join(posts.texts).lower().split()).most_common(VOCABULARY)]
    print(f"{name}, torch {torch.__version__}; {b.title}, {len(split.train):,} training posts")
    print(f"{'way':34} {'posts/s':>9} {'tokens/s':>11} {'padded':>7} {'of peak':>8} {'10 epochs':>10}")
    with tempfile.TemporaryDirectory() as folder:
        sizes = tiny_checkpoints.SIZES if given.tiny else BASE
        checkpoint = tiny_checkpoints.bert(Path(folder) / "bert", words=words, sizes=sizes, positions=512)
        ways = {
            "the paper's: 256 tokens, 32 bit": {"padding": "max_length", "grouped": False, "precision": "no"},
            "padded to 256, bf16": {"padding": "max_length", "grouped": False, "precision": "auto"},
            "ours: like lengths": {},
            "ours, compiled": {"compile": True},
        }
        if not torch.cuda.is_available():
            del ways["padded to 256, bf16"], ways["ours, compiled"]
        for way, settings in ways.items():
            model = models.create(str(checkpoint), list(b.classes), epochs=1, **settings)
            encoded = model.encode(posts.texts.tolist())[split.train]
            batches = TrainingBatches(encoded.lengths, 32, 0, model.settings["grouped"])
            padder = model._padder(ALIGN if torch.cuda.is_available() else 1)
            seconds, n_posts, n_tokens, n_padded, n_parameters = timed(model, encoded, batches, padder, given.seconds)
            share = f"{6 * n_parameters * n_padded / seconds / peak:8.1%}" if peak else f"{'-':>8}"
            whole = EPOCHS * len(encoded) * seconds / n_posts
            print(
                f"{way:34} {n_posts / seconds:9,.0f} {n_tokens / seconds:11,.0f} {1 - n_tokens / n_padded:7.0%} "
                f"{share} {whole:8.0f} s",
                flush=True,
            )


def timed(
    model: models.Model, encoded: object, batches: TrainingBatches, padder: object, limit: float
) -> tuple[float, int, int, int, int]:
    """Return seconds, posts, tokens, those with padding, and parameters, of about so many seconds of training."""
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    with quiet():
        network = model._new_model(0).to(device).train()
    n_parameters = sum(p.numel() for name, p in network.named_parameters() if "embeddings" not in name)
    if model.settings["compile"]:
        network = torch.compile(network)
    optimizer = torch.optim.AdamW(network.parameters(), lr=2e-5, fused=device.type == "cuda")
    bf16 = model.settings["precision"] == "auto" and device.type == "cuda"
    n_posts = n_tokens = n_padded = 0
    start = time.perf_counter()
    warm = 0
    while True:
        for rows in batches.whole():
            tensors = {key: tensor.to(device, non_blocking=True) for key, tensor in padder(encoded, rows).items()}
            labels = torch.from_numpy(rows % 2).to(device)
            with torch.autocast(device.type, dtype=torch.bfloat16, enabled=bf16):
                logits = network(**tensors).logits
            torch.nn.functional.cross_entropy(logits.float(), labels).backward()
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)
            warm += 1
            if warm == 5:  # The first steps allocate memory and compile.
                _wait(device)
                start, n_posts, n_tokens, n_padded = time.perf_counter(), 0, 0, 0
                continue
            n_posts += len(rows)
            n_tokens += int(encoded.lengths[rows].sum())
            n_padded += tensors["input_ids"].numel()
            if warm % 20 == 0 or warm < 10:
                _wait(device)
                if warm > 6 and time.perf_counter() - start > limit:
                    return time.perf_counter() - start, n_posts, n_tokens, n_padded, n_parameters
        batches.epoch += 1


def _wait(device: torch.device) -> None:
    if device.type == "cuda":
        torch.cuda.synchronize()


if __name__ == "__main__":
    main()
