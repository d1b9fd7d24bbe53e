"""The card of a saved model: what it was trained and tested on, and how far a random split would flatter it."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from temporal_rumors import atomic, signature
from temporal_rumors import benchmark as benchmarks
from temporal_rumors.errors import UserError
from temporal_rumors.report import words
from temporal_rumors.report.summary import Summary
from temporal_rumors.templates import template

_TEMPLATE = Path(__file__).with_name("card.md.jinja")


def write_card(record: Mapping[str, Any], summary: Summary, folder: str | os.PathLike[str]) -> None:
    """Write the card of a saved model, README.md, as the Hub shows it.

    Args:
        record: of the run that fitted the model.
        summary: of this and, for the inflation, of other runs.
        folder: where the model is saved.
    """
    atomic.write(Path(folder) / "README.md", card(record, summary))


def card(record: Mapping[str, Any], summary: Summary) -> str:
    """Return the card of a model, Markdown with a YAML header.

    Args:
        record: of the run that fitted the model.
        summary: of this and, for the inflation, of other runs.
    """
    subject = record["benchmark"], record["task"]
    benchmark = benchmarks.get(*subject)
    names = record["model"], signature.variant_name(record)
    checkpoint = str(record["settings"].get("checkpoint", ""))
    return template(_TEMPLATE, {"signed": words.signed, "evidence": words.evidence}).render(
        record=record,
        title=benchmark.title,
        language=benchmark.language,
        n_test=f"{len(record['predictions']['ids']):,}",
        signature=signature.compose(signature.of_runs([record], record["protocol"])),
        inflation=[row for row in summary.inflation if row.subject == subject and row.model in names],
        pretrained=bool(checkpoint),
        base_model=record["model"].partition("@")[0] if checkpoint.startswith("commit:") else None,
        settings=[
            (name, value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))
            for name, value in sorted(record["settings"].items())
        ],
    )


def push(folder: str | os.PathLike[str], name: str) -> str:
    """Upload a saved model with its card to the Hub, and return its address.

    Args:
        folder: of the model.
        name: of the repository, made if it is not there, as `owner/model`.

    Raises:
        UserError: the Hub refuses, or cannot be reached.
    """
    from huggingface_hub import HfApi

    try:
        api = HfApi()
        address = api.create_repo(name, exist_ok=True)
        api.upload_folder(repo_id=address.repo_id, folder_path=Path(folder), commit_message="Upload model")
    except (OSError, ValueError) as error:
        raise UserError(
            f"{name} cannot be uploaded: {str(error).splitlines()[0]}; `hf auth login` gives this machine a token"
        ) from None
    return str(address)
