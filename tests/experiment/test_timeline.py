from dataclasses import replace

import numpy as np

from temporal_rumors import benchmark as benchmarks
from temporal_rumors.experiment.timeline import timeline

SAMPLE = "sample_temporal"


def test_the_timeline_counts_every_post_and_marks_the_cuts():
    b = benchmarks.get(SAMPLE)
    posts = b.posts()
    split = b.split(posts, "chrono_stratified")
    line = timeline(posts, split, b.classes, "chrono_stratified")
    assert {name: sum(counts) for name, counts in line["counts"].items()} == dict(b.counts)
    for code, name in enumerate(b.classes):
        mine = posts.times[posts.labels == code]
        first_test = np.datetime64(line["cuts"][name][1][:-1])
        assert (mine >= first_test).sum() == (posts.labels[split.test] == code).sum()
    whole = b.split(posts, "chrono")
    chrono = timeline(posts, whole, b.classes, "chrono")["cuts"]
    assert chrono["rumour"] == chrono["non-rumour"]
    one_class = replace(whole, test=whole.test[posts.labels[whole.test] == 0])
    assert timeline(posts, one_class, b.classes, "chrono")["cuts"]["rumour"] == [chrono["rumour"][0], None]
    assert timeline(posts, split, b.classes, "random_fold0")["cuts"] == {}
    timeless = replace(posts, times=np.full(len(posts), np.datetime64("NaT"), dtype="datetime64[ms]"))
    assert timeline(timeless, split, b.classes, "random_fold0")["start"] is None
