"""Weibo (Ma et al. 2016)."""

from temporal_rumors.benchmark import Benchmark
from temporal_rumors.sources.files import SourceFile
from temporal_rumors.sources.paper import CITATION, HOMEPAGE, paper_url
from temporal_rumors.sources.table import Table

BENCHMARKS = (
    Benchmark(
        name="weibo_temporal",
        title="Weibo",
        language="zh",
        description=(
            "Chinese posts of 2010 to 2015: rumours debunked by Sina Weibo's community management centre, and other "
            "posts, with HTTPURL and @USER in place of most links and mentions. The file's label 0 is the rumour, the "
            "opposite of the original release; here the class names say which is which. One row has no text and is "
            "left out."
        ),
        citation=CITATION
        + """
@inproceedings{ma-etal-2016-detecting,
  title = {Detecting Rumors from Microblogs with Recurrent Neural Networks},
  author = {Ma, Jing and Gao, Wei and Mitra, Prasenjit and Kwon, Sejeong and Jansen, Bernard J. and Wong, Kam-Fai
            and Cha, Meeyoung},
  booktitle = {Proceedings of IJCAI 2016},
  year = {2016},
}""",
        homepage=HOMEPAGE,
        license="not stated upstream; posts belong to their authors",
        classes=("non-rumour", "rumour"),
        source=Table(
            file=SourceFile(
                name="weibo2776_924_964.csv",
                sha256="c12717d7befb11b037d61ea5bb3d605f69dc70529e5278a02b3d00f3eec37be8",
                url=paper_url("weibo2776_924_964.csv"),
            ),
            label="labels",
            labels={"0": "rumour", "1": "non-rumour"},
            time="time",
        ),
        counts={"non-rumour": 2350, "rumour": 2313},
        cuts={"chrono_stratified": {"rumour": (1619, 231, 463), "non-rumour": (1645, 235, 470)}},
        model_settings={"lr": {"analyzer": "char"}},
    ),
)
