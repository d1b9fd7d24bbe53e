"""Fine-tune a checkpoint on a benchmark under a protocol, on one process or many, and keep a record of the run.

    accelerate launch examples/finetune_transformer.py --benchmark pheme_temporal --protocol chrono \\
        --model bert-base-uncased --seed 0

The record stands in the run folder as `temporal-rumors run` writes it, for `temporal-rumors report` and `explain`.
Started again after an interruption, the same command goes on from the last whole epoch. Defaults are the paper's.
"""

import argparse
import sys

from temporal_rumors import report
from temporal_rumors.experiment.execute import DONE, FAILED, Settings, execute_run, saved
from temporal_rumors.experiment.grid import Run
from temporal_rumors.experiment.store import RunStore, read_record
from temporal_rumors.processes import finish, is_main


def parse() -> argparse.Namespace:
    """Read the command line; what is not given is left to the model's own defaults."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    run = parser.add_argument_group("what to run")
    run.add_argument("--benchmark", default="sample_temporal", help="see `temporal-rumors list` (%(default)s)")
    run.add_argument("--task", help="of a benchmark that has several, such as stance")
    run.add_argument("--protocol", default="chrono", help="such as chrono_stratified or random_fold0 (%(default)s)")
    run.add_argument("--model", default="bert-base-uncased", help="a checkpoint on the Hub or a folder (%(default)s)")
    run.add_argument("--seed", type=int, default=0, help="of everything random (%(default)s)")
    run.add_argument("--data-dir", help="folder with your copy of the source files")
    run.add_argument("--runs", default="runs", help="folder of the run records (%(default)s)")
    run.add_argument("--save", metavar="FOLDER", help="save the fine-tuned model, with a card, under this folder")
    run.add_argument("--push-to-hub", metavar="NAME", help="upload the saved model; after `hf auth login`")
    tuning = parser.add_argument_group("how to fine-tune", argument_default=argparse.SUPPRESS)
    tuning.add_argument("--learning-rate", type=float, help="the highest; it falls linearly to 0 (2e-5)")
    tuning.add_argument("--batch-size", type=int, help="posts of a batch, over all processes (32)")
    tuning.add_argument("--epochs", type=int, help="at most (10)")
    tuning.add_argument("--patience", type=int, help="epochs without a better score before training stops (3)")
    tuning.add_argument("--best-metric", help="of the validation part: loss, f1 or accuracy (loss)")
    tuning.add_argument("--max-length", type=int, help="tokens of a post, at most (256)")
    tuning.add_argument("--weight-decay", type=float, help="of AdamW (0)")
    tuning.add_argument("--warmup", type=float, help="share of the steps in which the learning rate rises (0)")
    tuning.add_argument("--accumulate", type=int, help="steps to cut a batch into, where memory is short (1)")
    tuning.add_argument("--eval-batch-size", type=int, help="posts to score at once (128)")
    tuning.add_argument("--precision", help="auto, no, bf16 or fp16 (auto: bf16 on GPUs that have it)")
    tuning.add_argument("--compile", action="store_true", help="compile the model with torch")
    tuning.add_argument(
        "--paper-batches",
        action="store_true",
        help="as the paper: pad every post to --max-length, in random order; slower, equal scores within noise",
    )
    return parser.parse_args()


def main() -> int:
    """Carry out one run and print its scores."""
    given = vars(parse())
    names = ("benchmark", "task", "protocol", "model", "seed")
    run = Run(**{name: given.pop(name) for name in names})
    data_dir, runs, save, push = (given.pop(name) for name in ("data_dir", "runs", "save", "push_to_hub"))
    if push and not save:
        sys.exit("--push-to-hub takes --save: what is uploaded is the saved model")
    if given.pop("paper_batches", False):
        given |= {"padding": "max_length", "grouped": False}
    outcome = execute_run(run, Settings(runs, data_dir, model_settings=given, save_models=save))
    if outcome.state == FAILED:
        print(outcome.traceback or f"error: {outcome.error}", file=sys.stderr)
        return 1 if outcome.traceback else 2
    if is_main():
        record = read_record(outcome.path)
        print(f"{run}: " + ", ".join(f"{name} {100 * value:.1f}" for name, value in record["metrics"].items()))
        if save and outcome.state == DONE:
            folder = saved(run, save)
            report.write_card(record, report.summarise(RunStore(runs).read()), folder)
            if push:
                print(report.push(folder, push))
    return 0


if __name__ == "__main__":
    code = main()
    finish()
    sys.exit(code)
