"""Tasks for EleutherAI's lm-evaluation-harness: what a language model answers without being fine-tuned."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from temporal_rumors import atomic
from temporal_rumors.benchmark import Benchmark

_HELPERS = Path(__file__).with_name("lm_eval_helpers.py")
_CONTEXT = {"parent_text": "It replies to", "source_text": "The conversation began with"}
# One way of asking for all: (suffix of the task, output type).
_VARIANTS = (("", "multiple_choice"), ("_generate", "generate_until"))


def write_tasks(folder: Path, written: Sequence[tuple[Benchmark, str]]) -> list[str]:
    """Write two tasks for each configuration, YAML, and the helpers that they share.

    The one has the model rank the names of the classes, the other has it write one. Examples (few-shot) are drawn from
    the training part alone.

    Args:
        folder: of the exported benchmark.
        written: each benchmark and task with the name of a configuration that was written.

    Returns:
        Names of the tasks.
    """
    atomic.write(folder / "helpers.py", _HELPERS.read_bytes())
    names = []
    for b, config in written:
        for suffix, output in _VARIANTS:
            names.append(f"{b.name}_{config}{suffix}".replace("-", "_"))
            atomic.write(folder / f"{names[-1]}.yaml", _task(b, config, names[-1], output))
    return names


def _task(b: Benchmark, config: str, name: str, output: str) -> str:
    asked = [f"{_CONTEXT[column]}: {{{{{column} or '-'}}}}\n" for column in b.texts[1:] if column in _CONTEXT]
    prompt = f"Post: {{{{text}}}}\n{''.join(asked)}Which is it: {', '.join(b.classes)}?\nAnswer:"
    lines = [
        f"task: {name}",
        f"tag: {json.dumps([b.name])}",
        "custom_dataset: !function helpers.load",
        f"dataset_kwargs: {json.dumps({'config': config})}",
        f"output_type: {output}",
        "training_split: train",
        "validation_split: validation",
        "test_split: test",
        "fewshot_split: train",
        f"doc_to_text: {json.dumps(prompt)}",
        'target_delimiter: " "',
    ]
    if output == "multiple_choice":
        lines += [
            "doc_to_target: label",
            f"doc_to_choice: {json.dumps(list(b.classes))}",
            "process_results: !function helpers.ranked",
        ]
    else:
        lines += [
            f"doc_to_target: {json.dumps('{{' + json.dumps(list(b.classes)) + '[label]}}')}",
            "generation_kwargs:",
            '  until: ["\\n"]',
            "  max_gen_toks: 16",
            "  do_sample: false",
            "process_results: !function helpers.written",
        ]
    lines.append("metric_list:")
    for metric in ("macro_f1", "acc", *(["answered"] if output != "multiple_choice" else [])):
        lines += [
            f"- metric: {metric}",
            f"  aggregation: {'!function helpers.macro_f1' if metric == 'macro_f1' else 'mean'}",
            "  higher_is_better: true",
        ]
    return "\n".join([*lines, "metadata:", f"  version: {json.dumps(b.version)}", ""])
