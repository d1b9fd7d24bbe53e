"""Checkpoints are fine-tuned alike on one process and many, unbroken and resumed; tiny ones with random weights."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from temporal_rumors import benchmark, models
from temporal_rumors.errors import UserError
from temporal_rumors.models import Model
from temporal_rumors.models.transformer.batches import TrainingBatches, scoring_batches

torch = pytest.importorskip("torch")

from tiny_checkpoints import WORDS, bert, bertweet, gpt2  # noqa: E402

from temporal_rumors.models.transformer import checkpoints as finding  # noqa: E402
from temporal_rumors.models.transformer.encoding import Encoded, load_tokenizer  # noqa: E402
from temporal_rumors.models.transformer.training import logits_of, precision_of  # noqa: E402

CLASSES = ["non-rumour", "rumour"]
EXAMPLES = Path(__file__).parents[2] / "examples"
SAMPLE = benchmark.get("sample_temporal")


@pytest.fixture(scope="session")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return bert(tmp_path_factory.mktemp("checkpoints") / "bert")


@pytest.fixture(autouse=True)
def _offline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("TEMPORAL_RUMORS_CACHE", str(tmp_path / "cache"))


def posts(n: int, seed: int = 0) -> tuple[list[str], np.ndarray]:
    """Invented posts, some with a word that tells their class."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 2, n)
    texts = [
        " ".join([*rng.choice(WORDS, rng.integers(1, 12)), "false" if label else "true"]) for label in labels.tolist()
    ]
    return texts, labels


def fitted(
    checkpoint: Path, folder: Path | None = None, seed: int = 0, n: int = 64, **others: Any
) -> tuple[Model, Encoded]:
    options = {"epochs": 3, "learning_rate": 5e-3, "batch_size": 16} | others
    model = models.create(str(checkpoint), CLASSES, **options)
    texts, labels = posts(n)
    encoded = model.encode(texts)
    train, held = np.arange(n // 4, n), np.arange(n // 4)
    model.fit(encoded[train], labels[train], encoded[held], labels[held], seed=seed, folder=folder)
    return model, encoded


# Batches


@given(
    st.lists(st.integers(1, 60), min_size=1, max_size=80),
    st.integers(1, 40),
    st.integers(0, 3),
    st.integers(0, 2),
    st.booleans(),
    st.integers(1, 3),
    st.integers(1, 2),
)
@settings(max_examples=60, deadline=None)
def test_every_post_is_in_one_batch_an_epoch_and_processes_share_it_out(
    lengths: list[int], size: int, seed: int, epoch: int, grouped: bool, world: int, accumulate: int
) -> None:
    def made(**shares: int) -> TrainingBatches:
        return TrainingBatches(np.array(lengths), size, seed, grouped, epoch=epoch, **shares)

    whole = made().whole()
    assert sorted(row for batch in whole for row in batch) == list(range(len(lengths)))
    assert max(map(len, whole)) <= size
    assert max(map(len, whole)) - min(map(len, whole)) <= 1
    assert min(map(len, whole)) == made().smallest
    slices = [list(made(rank=rank, world=world, accumulate=accumulate)) for rank in range(world)]
    assert {len(steps) for steps in slices} == {len(whole) * accumulate}
    for i, batch in enumerate(whole):
        dealt = [row for steps in slices for part in steps[i * accumulate : (i + 1) * accumulate] for row in part]
        assert sorted(dealt) == sorted(batch.tolist())


def test_batches_are_of_like_lengths_and_new_in_every_epoch() -> None:
    lengths = np.random.default_rng(0).integers(5, 100, 1000)
    widths = {}
    for grouped in (True, False):
        batches = TrainingBatches(lengths, 32, 0, grouped)
        first = [batch.tolist() for batch in batches.whole()]
        batches.epoch = 1
        assert [batch.tolist() for batch in batches.whole()] != first
        widths[grouped] = sum(len(batch) * lengths[batch].max() for batch in first)
    assert lengths.sum() <= widths[True] < 1.2 * lengths.sum() < widths[False]


@given(st.lists(st.integers(1, 60), max_size=50), st.integers(1, 60))
def test_posts_are_scored_once_each_the_longest_first(lengths: list[int], size: int) -> None:
    batches = scoring_batches(np.array(lengths, dtype=np.int64), size)
    assert sorted(row for batch in batches for row in batch) == list(range(len(lengths)))
    assert all(len(batch) == size for batch in batches[:-1])
    longest = [max(lengths[row] for row in batch) for batch in batches]
    assert longest == sorted(longest, reverse=True)


# Encoding


@given(st.lists(st.text("policesay new.!?🔥今\ud800 \n", max_size=40), min_size=1, max_size=8), st.booleans())
@settings(max_examples=25, deadline=None)
def test_posts_are_padded_as_the_tokeniser_pads_them(tiny: Path, texts: list[str], left: bool) -> None:
    tokenizer = load_tokenizer(finding.locate(str(tiny)))
    model = models.create(str(tiny), CLASSES)
    sound = [text.replace("\ud800", "\ufffd") for text in texts]
    tokenizer.padding_side = "left" if left else "right"
    expected = tokenizer(sound, padding=True, truncation=True, max_length=64, return_tensors="np")
    encoded = model.encode(texts)
    assert encoded.lengths.tolist() == expected["attention_mask"].sum(axis=1).tolist()
    fill = {"input_ids": tokenizer.pad_token_id, "token_type_ids": tokenizer.pad_token_type_id}
    found = encoded.padded(np.arange(len(texts)), fill, int(encoded.lengths.max()), left)
    assert set(found) == set(expected)
    assert all(np.array_equal(found[name], expected[name]) for name in found)


def test_what_a_post_replies_to_is_read_as_a_second_text_once(tiny: Path) -> None:
    model = models.create(str(tiny), CLASSES)
    tokenizer = load_tokenizer(finding.locate(str(tiny)))
    encoded = model.encode(["police say", "the bridge", "new"], ["new city", "the bridge", ""], ["new city", "", ""])
    pairs = tokenizer(["police say", "the bridge", "new"], ["new city", "", ""])
    for name, values in encoded.columns.items():
        assert values.tolist() == [token for row in pairs[name] for token in row]


def test_posts_are_tokenised_once_for_each_checkpoint_and_text(
    tiny: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts, _ = posts(20)
    first = models.create(str(tiny), CLASSES).encode(texts)
    (kept,) = (tmp_path / "cache" / "tokenised").iterdir()
    again = models.create(str(tiny), CLASSES, epochs=7)
    monkeypatch.setattr(type(again._tokenizer), "__call__", None)  # type: ignore[attr-defined]
    second = again.encode(texts)
    assert all(np.array_equal(first.columns[name], second.columns[name]) for name in first.columns)
    monkeypatch.undo()
    monkeypatch.setenv("TEMPORAL_RUMORS_CACHE", str(tmp_path / "cache"))
    kept.write_bytes(kept.read_bytes()[:100])
    assert np.array_equal(
        models.create(str(tiny), CLASSES).encode(texts).columns["input_ids"], first.columns["input_ids"]
    )
    models.create(str(tiny), CLASSES).encode([*texts, "more"])
    models.create(str(tiny), CLASSES, max_length=8).encode(texts)
    assert len(list((tmp_path / "cache" / "tokenised").iterdir())) == 3


def test_no_more_tokens_are_read_than_there_are_positions(tiny: Path, tmp_path: Path) -> None:
    long = ["police " * 300]
    assert models.create(str(tiny), CLASSES).encode(long).lengths.tolist() == [64]
    assert models.create(str(tiny), CLASSES, max_length=10).encode(long).lengths.tolist() == [10]
    # 34 positions, of which RoBERTa's numbering leaves 32.
    tweets = fitted(bertweet(tmp_path / "bertweet"), epochs=1)[0]
    encoded = tweets.encode(long)
    assert encoded.lengths.tolist() == [32]
    assert np.isfinite(tweets.predict_proba(encoded)).all()


def test_bertweet_reads_mentions_links_and_emoji_as_it_was_trained_to(tmp_path: Path) -> None:
    model = models.create(str(bertweet(tmp_path / "bertweet")), CLASSES)
    raw, written = (model.encode([text]) for text in ("@somebody, http://t.co/x", "@USER, HTTPURL"))
    assert raw.columns["input_ids"].tolist() == written.columns["input_ids"].tolist()
    assert model._tokenizer.normalizeTweet("🔥 @somebody") == ":fire: @USER"  # type: ignore[attr-defined]


# Training and scoring


def test_the_model_learns_what_tells_the_classes_apart(tiny: Path) -> None:
    model, encoded = fitted(tiny, n=160, epochs=12, learning_rate=1e-2)
    assert (model.predict(encoded) == posts(160)[1]).mean() > 0.9
    assert model.fitted["validation_f1"] > 0.9
    assert 1 <= model.fitted["epoch"] <= model.fitted["epochs"] <= 12


def test_training_is_a_plain_loop_over_the_batches(tmp_path: Path) -> None:
    """Against AdamW, a linear schedule and clipping, written out; without dropout, which depends on how it is drawn."""
    checkpoint = bert(tmp_path / "bert", dropout=0.0)
    model, encoded = fitted(checkpoint, epochs=2, patience=5)
    _, labels = posts(64)
    from temporal_rumors.models.transformer.training import new_model

    plain = new_model(finding.locate(str(checkpoint)), CLASSES, 0, 0)
    decays = [p for name, p in plain.named_parameters() if "bias" not in name and "LayerNorm" not in name]
    assert decays
    optimizer = torch.optim.AdamW(plain.parameters(), lr=5e-3, weight_decay=0.0)
    rows = np.arange(16, 64)
    batches, losses, states, step = TrainingBatches(encoded.lengths[rows], 16, 0, True), [], [], 0
    padder = model._padder(1)  # type: ignore[attr-defined]
    for epoch in range(2):
        batches.epoch = epoch
        plain.train()
        for batch in batches.whole():
            for group in optimizer.param_groups:
                group["lr"] = 5e-3 * (1 - step / 6)
            tensors = padder(encoded, rows[batch])
            loss = torch.nn.functional.cross_entropy(plain(**tensors).logits, torch.from_numpy(labels[rows[batch]]))
            optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(plain.parameters(), 1.0)
            optimizer.step()
            step += 1
        plain.eval()
        with torch.no_grad():
            logits = plain(**padder(encoded, np.arange(16))).logits
        losses.append(float(torch.nn.functional.cross_entropy(logits, torch.from_numpy(labels[:16]))))
        states.append({name: tensor.clone() for name, tensor in plain.state_dict().items()})
    best = int(np.argmin(losses))
    assert model.fitted["epoch"] == best + 1
    assert model.fitted["validation_loss"] == pytest.approx(losses[best], abs=1e-4)
    for name, tensor in model._model.state_dict().items():  # type: ignore[attr-defined]
        assert torch.allclose(tensor, states[best][name], atol=1e-4), name


def test_a_score_does_not_depend_on_the_batches(tiny: Path) -> None:
    model, encoded = fitted(tiny, epochs=1)
    padder = model._padder(1)  # type: ignore[attr-defined]
    network = model._model  # type: ignore[attr-defined]
    device = torch.device("cpu")
    one = logits_of(network, encoded, padder, 1, device=device)
    for size in (2, 5, 64):
        assert np.allclose(logits_of(network, encoded, padder, size, device=device), one, atol=1e-6)
    wide = model.__class__(CLASSES, name=str(tiny), padding="max_length")._padder(1)  # type: ignore[attr-defined]
    assert np.allclose(logits_of(network, encoded, wide, 5, device=device), one, atol=1e-6)


def test_the_same_seed_gives_the_same_model_and_another_one_another(tiny: Path) -> None:
    first, encoded = fitted(tiny)
    probabilities = first.predict_proba(encoded)
    assert np.array_equal(fitted(tiny)[0].predict_proba(encoded), probabilities)
    assert not np.array_equal(fitted(tiny, seed=1)[0].predict_proba(encoded), probabilities)
    # Steps into which a batch is cut change sums by rounding alone, but for dropout.
    assert first.fitted["processes"] == 1


def test_training_ends_when_it_no_longer_helps_and_the_best_epoch_is_kept(tiny: Path) -> None:
    model, _ = fitted(tiny, epochs=12, learning_rate=0.0, patience=2)
    assert (model.fitted["epoch"], model.fitted["epochs"]) == (1, 3)


def test_a_class_that_training_never_showed_is_not_predicted(tiny: Path) -> None:
    model = models.create(str(tiny), [*CLASSES, "unverified"], epochs=1)
    texts, labels = posts(32)
    encoded = model.encode(texts)
    model.fit(encoded, labels, encoded, labels)
    assert (model.predict_proba(encoded)[:, 2] == 0).all()


def test_decoders_without_a_token_to_pad_with_are_fine_tuned(tmp_path: Path) -> None:
    model, _ = fitted(gpt2(tmp_path / "gpt2"), epochs=1)
    blank = model.encode(["", "police say the bridge"])
    assert blank.lengths[0] == 1
    together, alone = model.predict_proba(blank), model.predict_proba(blank[np.array([1])])
    assert np.allclose(together[1], alone[0], atol=1e-6)


# Interruption


class _Interrupt(Exception):
    pass


def _weights(model: Model) -> dict[str, Any]:
    return model._model.state_dict()  # type: ignore[attr-defined,no-any-return]


def _same(model: Model, other: Model) -> bool:
    mine, others = _weights(model), _weights(other)
    return all(torch.equal(tensor, others[name]) for name, tensor in mine.items())


@pytest.mark.parametrize("step", [2, 3, 5, 9])
def test_an_interrupted_fit_goes_on_to_the_same_weights(
    tiny: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: int
) -> None:
    """Three steps an epoch: in the first, at the end of the first, in the second, and after the last."""
    from temporal_rumors.models.transformer import training

    unbroken, encoded = fitted(tiny)
    save = training.FineTuning._save_checkpoint

    def interrupted(self: Any, *args: Any) -> None:
        save(self, *args)
        if self.state.global_step >= step:
            raise _Interrupt  # After writing, but before it counts as whole.

    monkeypatch.setattr(training.FineTuning, "_save_checkpoint", interrupted)
    with pytest.raises(_Interrupt):
        fitted(tiny, tmp_path / "work")
    monkeypatch.undo()
    monkeypatch.setenv("TEMPORAL_RUMORS_CACHE", str(tmp_path / "cache"))
    resumed, _ = fitted(tiny, tmp_path / "work")
    assert _same(resumed, unbroken)
    assert resumed.fitted == unbroken.fitted
    assert np.array_equal(resumed.predict_proba(encoded), unbroken.predict_proba(encoded))


def test_a_folder_that_was_moved_is_gone_on_with(tiny: Path, tmp_path: Path) -> None:
    first, _ = fitted(tiny, tmp_path / "here", epochs=12, learning_rate=0.0, patience=2)
    (tmp_path / "here").rename(tmp_path / "there")
    again, _ = fitted(tiny, tmp_path / "there", epochs=12, learning_rate=0.0, patience=2)
    assert _same(first, again)
    assert again.fitted == first.fitted


def test_training_that_goes_astray_is_told(tiny: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from temporal_rumors.models.transformer import training

    monkeypatch.setattr(training, "logits_of", lambda *_, **__: np.full((16, 2), np.nan))
    with pytest.raises(UserError, match=r"went astray.*lower learning_rate"):
        fitted(tiny)


def test_a_fit_that_was_done_but_not_recorded_is_not_trained_further(tiny: Path, tmp_path: Path) -> None:
    for options in ({}, {"epochs": 12, "learning_rate": 0.0, "patience": 2}):
        folder = tmp_path / str(len(options))
        first, _ = fitted(tiny, folder, **options)
        before = sorted(path.name for path in folder.iterdir())
        again, _ = fitted(tiny, folder, **options)
        assert _same(first, again)
        assert again.fitted == first.fitted
        assert sorted(path.name for path in folder.iterdir()) == before


RUN = """
import os, signal, sys
from temporal_rumors.models.transformer import training

class Killed(training._Bar):
    def on_step_end(self, args, state, control, **others):
        super().on_step_end(args, state, control, **others)
        if state.global_step == int(sys.argv[1]):
            os.kill(os.getpid(), signal.SIGKILL)

training._Bar = Killed
from temporal_rumors.cli import main
main(sys.argv[2:])
"""


def test_a_killed_run_goes_on_from_its_last_epoch(tiny: Path, tmp_path: Path) -> None:
    options = ["--model", str(tiny), "--protocol", "chrono", "--set", "epochs=3", "--set", "learning_rate=0.003"]
    records = {}
    for name, kills in (("unbroken", ["-1"]), ("killed", ["20", "-1"])):  # 14 steps an epoch
        arguments = ["run", *options, "--runs", name, "--report", f"{name}.json"]
        for kill in kills:
            done = subprocess.run(
                [sys.executable, "-c", RUN, kill, *arguments], cwd=tmp_path, capture_output=True, text=True, check=False
            )
            assert done.returncode == (0 if kill == "-1" else -signal.SIGKILL), done.stderr
            work = list(tmp_path.glob(f"{name}/*/*/.*.unfinished/checkpoint-*"))
            assert len(work) == (0 if kill == "-1" else 1)
        (path,) = tmp_path.glob(f"{name}/*/*/*.json")
        record = json.loads(path.read_text())
        records[name] = {key: record[key] for key in ("predictions", "fitted", "metrics", "key")}
    assert records["killed"] == records["unbroken"]


# Several processes


SCORE = """
import sys
import numpy as np
from temporal_rumors.models import Model
from temporal_rumors.models.transformer.training import logits_of, processes

state = processes()
model = Model.load(sys.argv[1])
encoded = model.encode([f"police say {'the bridge ' * i}" for i in range(9)])
for size in (1, 2, 5):
    found = logits_of(
        model._model,
        encoded,
        model._padder(1),
        size,
        device=state.device,
        rank=state.process_index,
        world=state.num_processes,
    )
    np.save(f"{sys.argv[2]}-{size}-{state.process_index}.npy", found)
state.wait_for_everyone()
state.destroy_process_group()
"""


def launch(script: str, *arguments: str, processes: int, cwd: Path) -> str:
    (cwd / "script.py").write_text(script)
    configuration = EXAMPLES / "accelerate" / ("one_cpu.yaml" if processes == 1 else "two_cpu_processes.yaml")
    command = [sys.executable, "-m", "accelerate.commands.launch", "--config_file", str(configuration)]
    environment = os.environ | {"HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        [*command, "script.py", *arguments], cwd=cwd, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_two_processes_score_as_one_does(tiny: Path, tmp_path: Path) -> None:
    fitted(tiny, epochs=1)[0].save(tmp_path / "model")
    for processes in (1, 2):
        launch(SCORE, "model", f"of-{processes}", processes=processes, cwd=tmp_path)
    for size in (1, 2, 5):
        alone = np.load(tmp_path / f"of-1-{size}-0.npy")
        assert alone.shape == (9, 2)
        both = [np.load(tmp_path / f"of-2-{size}-{rank}.npy") for rank in (0, 1)]
        assert np.array_equal(both[0], both[1])
        # The same rows in the same batches; sums may differ in their last bit.
        assert np.allclose(both[0], alone, rtol=0, atol=1e-7)
        assert np.array_equal(both[0].argmax(axis=1), alone.argmax(axis=1))


def test_two_processes_train_as_one_does(tmp_path: Path) -> None:
    """Without dropout, which every process draws for itself, they differ by rounding alone."""
    checkpoint = bert(tmp_path / "bert", dropout=0.0)
    script = (EXAMPLES / "finetune_transformer.py").read_text()
    options = ["--model", str(checkpoint), "--epochs", "2", "--learning-rate", "0.003", "--batch-size", "31"]
    found = []
    for processes in (1, 2):
        out = launch(script, *options, "--runs", f"runs-{processes}", processes=processes, cwd=tmp_path)
        assert out.count("macro") == 0
        assert out.count("f1 ") == 1
        (path,) = tmp_path.glob(f"runs-{processes}/*/*/*.json")
        record = json.loads(path.read_text())
        assert record["fitted"]["processes"] == processes
        found.append(record)
    one, two = found
    assert one["key"] == two["key"]
    assert one["predictions"]["ids"] == two["predictions"]["ids"]
    assert one["predictions"]["predictions"] == two["predictions"]["predictions"]
    assert np.allclose(one["predictions"]["confidences"], two["predictions"]["confidences"], atol=1e-3)
    assert one["fitted"]["validation_loss"] == pytest.approx(two["fitted"]["validation_loss"], abs=1e-3)


# Saved models


def test_a_saved_model_is_read_back_here_and_by_transformers(tiny: Path, tmp_path: Path) -> None:
    from transformers import pipeline

    model, encoded = fitted(tiny)
    model.save(tmp_path / "saved")
    again = Model.load(tmp_path / "saved")
    assert (again.name, again.labels, again.settings) == (str(tiny), CLASSES, model.settings)
    assert np.array_equal(again.predict_proba(encoded), model.predict_proba(encoded))
    texts, _ = posts(64)
    assert np.array_equal(again.encode(texts).columns["input_ids"], encoded.columns["input_ids"])
    classify = pipeline("text-classification", str(tmp_path / "saved"))
    for answer, row in zip(classify(texts[:4]), model.predict_proba(encoded)[:4], strict=True):
        assert answer["label"] == CLASSES[row.argmax()]
        assert answer["score"] == pytest.approx(row.max(), abs=1e-5)
    again.save(tmp_path / "twice")
    assert np.array_equal(Model.load(tmp_path / "twice").predict_proba(encoded), model.predict_proba(encoded))


def test_a_saved_model_can_be_a_checkpoint(tiny: Path, tmp_path: Path) -> None:
    fitted(tiny, epochs=1)[0].save(tmp_path / "saved")
    model, encoded = fitted(tmp_path / "saved", epochs=1)
    assert model.predict_proba(encoded).shape == (64, 2)


# Checkpoints and settings


def test_a_checkpoint_is_told_by_what_its_files_hold(tiny: Path, tmp_path: Path) -> None:
    shutil.copytree(tiny, tmp_path / "copy")
    identity = finding.locate(str(tiny)).identity
    assert finding.locate(str(tmp_path / "copy")).identity == identity
    (tmp_path / "copy" / "README.md").write_text("a card")
    assert finding.locate(str(tmp_path / "copy")).identity == identity
    config = json.loads((tmp_path / "copy" / "config.json").read_text())
    (tmp_path / "copy" / "config.json").write_text(json.dumps(config | {"layer_norm_eps": 1e-11}))
    assert finding.locate(str(tmp_path / "copy")).identity != identity
    with pytest.raises(UserError, match="is not the checkpoint that is asked for: found sha256:"):
        models.create(str(tmp_path / "copy"), CLASSES, checkpoint=identity).encode(["police"])


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("lrr", "unknown model 'lrr' .*did you mean 'lr'"),
        (
            "owner/there-is-none",
            "unknown model 'owner/there-is-none': .*neither in the cache nor to be had from the Hub",
        ),
        ("no//name", "no folder here, and no name that the Hub takes"),
        ("empty", "empty is a folder without config.json"),
    ],
)
def test_a_checkpoint_that_is_not_to_be_had_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, told: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty").mkdir()
    with pytest.raises(UserError, match=told):
        models.create(name, CLASSES)


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"best_metric": "f2"}, "unknown best_metric 'f2'.*valid ones: loss, f1, accuracy"),
        ({"padding": "max"}, "unknown padding 'max'.*max_length"),
        ({"precision": "fp8"}, "unknown precision 'fp8'"),
        ({"epochs": 0}, "epochs must be an integer from 1 on, found 0"),
        ({"batch_size": 2.5}, "batch_size must be an integer"),
        ({"learning_rate": -1}, "learning_rate must be a number from 0 to below 1"),
        ({"grouped": "yes"}, "grouped must be true or false"),
        ({"epoch": 3}, "unknown setting of .*'epoch'.*did you mean 'epochs'"),
    ],
)
def test_a_wrong_setting_is_told_before_anything_is_trained(tiny: Path, settings: dict[str, Any], told: str) -> None:
    with pytest.raises(UserError, match=told):
        models.create(str(tiny), CLASSES, **settings)


def test_a_precision_that_the_machine_has_not_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert precision_of("auto") == precision_of("no") == "no"
    for asked in ("bf16", "fp16"):
        with pytest.raises(UserError, match=f"{asked} pays on GPUs that have it, and a CPU does not"):
            precision_of(asked)
    monkeypatch.setenv("ACCELERATE_MIXED_PRECISION", "fp16")
    with pytest.raises(UserError, match="fp16 pays on GPUs"):
        precision_of("auto")


def test_a_batch_that_cannot_be_shared_out_is_refused(tiny: Path) -> None:
    with pytest.raises(UserError, match="batches of 1 posts cannot be cut into 2"):
        fitted(tiny, batch_size=1, accumulate=2)
