"""Write the split tables of the dataset cards anew: `python tools/update_cards.py` (set TEMPORAL_RUMORS_DATA)."""

from __future__ import annotations

import re
from typing import Any

from temporal_rumors import atomic, benchmark, listing
from temporal_rumors.protocols import PARTS

END = "<!-- /splits -->"


def split_table(entry: dict[str, Any]) -> str:
    """Return a benchmark's splits as a Markdown table between its markers, from the benchmark's entry in a listing."""
    classes = entry["classes"]
    lines = [
        _begin(entry),
        f"| {'configuration' if entry['task'] else 'protocol'} | "
        + " | ".join(f"{part} ({' / '.join(classes)})" for part in PARTS)
        + " | digest (sha256) | not guaranteed |",
        "| --- |" + " ---: |" * len(PARTS) + " --- | --- |",
    ]
    for split in entry["protocols"]:
        sizes = []
        for part in PARTS:
            counts = [split["sizes"][part][name] for name in classes]
            sizes.append(f"{sum(counts):,} ({' / '.join(f'{n:,}' for n in counts)})")
        remarks = "; ".join(split["not_guaranteed"]) or "-"
        lines.append(f"| `{split['config']}` | {' | '.join(sizes)} | `{split['digest'][:16]}` | {remarks} |")
    return "\n".join([*lines, END])


def with_table(card: str, entry: dict[str, Any]) -> str:
    """Return a card with the table between its markers replaced.

    Raises:
        ValueError: the card has no such markers.
    """
    pattern = f"{re.escape(_begin(entry))}.*?{re.escape(END)}"
    card, found = re.subn(pattern, lambda _: split_table(entry), card, count=1, flags=re.DOTALL)
    if not found:
        raise ValueError(
            f"the card of {entry['benchmark']} has no {_begin(entry)} and {END}: put them where it belongs"
        )
    return card


def _begin(entry: dict[str, Any]) -> str:
    return f"<!-- splits {entry['task']} -->" if entry["task"] else "<!-- splits -->"


def main() -> None:
    """Update the cards of all benchmarks whose files are at hand."""
    for entry in listing.listing([]):
        if "posts" in entry:
            path = benchmark.folder(entry["benchmark"]) / "README.md"
            atomic.write(path, with_table(path.read_text(encoding="utf-8"), entry))


if __name__ == "__main__":
    main()
