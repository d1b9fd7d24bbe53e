"""Where the authors of the chronological-splits paper publish their files, and how to cite them."""

_COMMIT = "50deb804b1b8a392ec5a7e598d068bc3a13b71da"
HOMEPAGE = "https://github.com/YIDAMU/Rumor_Benchmarks_Temporality"
CITATION = """@inproceedings{mu-etal-2023-time,
  title = {It's about Time: Rethinking Evaluation on Rumor Detection Benchmarks using Chronological Splits},
  author = {Mu, Yida and Bontcheva, Kalina and Aletras, Nikolaos},
  booktitle = {Findings of the Association for Computational Linguistics: EACL 2023},
  year = {2023},
}"""

# The source of both Twitter15 and Twitter16.
CITATION_TWITTER = """@inproceedings{ma-etal-2017-detect,
  title = {Detect Rumors in Microblog Posts Using Propagation Structure via Kernel Learning},
  author = {Ma, Jing and Gao, Wei and Wong, Kam-Fai},
  booktitle = {Proceedings of ACL 2017},
  year = {2017},
}"""


def paper_url(name: str) -> str:
    """Return the address of one of the authors' files at the pinned commit."""
    return f"https://raw.githubusercontent.com/YIDAMU/Rumor_Benchmarks_Temporality/{_COMMIT}/{name}"
