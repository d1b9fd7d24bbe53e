"""Write the split tables of the dataset cards anew: `python tools/update_cards.py` (set TEMPORAL_RUMORS_DATA)."""

from __future__ import annotations

import re
from typing import Any

from temporal_rumors import atomic, benchmark, listing
from temporal_rumors.protocols import PARTS

BEGIN, END = "<!-- splits -->", "<!-- /splits -->"


def split_table(entry: dict[str, Any]) -> str:
    """Return the Markdown table of a benchmark's splits, from its entry in a listing."""
    classes = entry["classes"]
    lines = [
        "| protocol | "
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
        lines.append(f"| `{split['protocol']}` | {' | '.join(sizes)} | `{split['digest'][:16]}` | {remarks} |")
    return "\n".join(lines)


def with_table(card: str, entry: dict[str, Any]) -> str:
    """Return a card with the table between its markers replaced."""
    table = f"{BEGIN}\n{split_table(entry)}\n{END}"
    return re.sub(f"{BEGIN}.*?{END}", lambda _: table, card, count=1, flags=re.DOTALL)


def main() -> None:
    """Update the cards of all benchmarks whose files are at hand."""
    for entry in listing.listing([]):
        if entry["at_hand"]:
            path = benchmark.folder(entry["benchmark"]) / "README.md"
            atomic.write(path, with_table(path.read_text(encoding="utf-8"), entry))


if __name__ == "__main__":
    main()
