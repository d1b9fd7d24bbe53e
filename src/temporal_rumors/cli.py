"""The command line: parse, call, print. Everything heavy is imported inside the commands."""

from __future__ import annotations

import dataclasses
import io
import json
import os
import signal
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from temporal_rumors.errors import UserError

if TYPE_CHECKING:
    from temporal_rumors.experiment.execute import Outcome

RUN_FAILED, WRONG_USE, CONDITION_HOLDS, INTERRUPTED = 1, 2, 3, 130
MIN_WIDTH = 80
SAMPLE = "sample_temporal"

app = typer.Typer(
    name="temporal-rumors",
    help="Evaluate rumour detectors honestly: random, chronological and leave-one-event-out splits side by side.",
    epilog="Start with `temporal-rumors run`: it needs no data, and prints a table and writes report.html in seconds.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
)

DataDir = Annotated[
    Path | None,
    typer.Option(
        help="Folder with your copy of the source files. Without it TEMPORAL_RUMORS_DATA and the download cache are "
        "searched, and what is missing is downloaded."
    ),
]
LocalDataDir = Annotated[
    Path | None,
    typer.Option(
        help="Folder with your copy of the source files. Without it TEMPORAL_RUMORS_DATA and the download cache are "
        "searched."
    ),
]
AllowModified = Annotated[
    bool,
    typer.Option(
        "--allow-modified", help="Use source files that are not the published ones; the data digest shows it."
    ),
]
RunsFolder = Annotated[Path, typer.Argument(help="Folder of run records, as `temporal-rumors run` writes it.")]
Threshold = Annotated[str, typer.Option(help="Near copies: edit distance, or share of the longer text.")]
Short = Annotated[
    str, typer.Option(help="Texts too short for the threshold: `exclude` from near copies, or `include`.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON for scripts instead of tables.")]


def _complete_benchmark(incomplete: str) -> list[str]:
    from temporal_rumors import benchmark

    return [name for name in benchmark.names() if name.startswith(incomplete)]


Benchmarks = Annotated[
    list[str] | None,
    typer.Argument(help="Names of benchmarks; none means all.", autocompletion=_complete_benchmark),
]


def _complete_model(incomplete: str) -> list[str]:
    from temporal_rumors import models

    return [name for name in models.available() if name.startswith(incomplete)]


def _complete_protocol(incomplete: str) -> list[str]:
    from temporal_rumors.protocols import GROUPS, protocol_names

    return [name for name in dict.fromkeys([*GROUPS, *protocol_names()]) if name.startswith(incomplete)]


def _version(value: bool) -> None:
    if value:
        from temporal_rumors import __version__

        typer.echo(__version__)
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    pass


@app.command("list")
def list_benchmarks(
    benchmark: Benchmarks = None,
    data_dir: LocalDataDir = None,
    allow_modified: AllowModified = False,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Show whole digests and dropped rows.")] = False,
    as_json: AsJson = False,
) -> None:
    """Show benchmarks and their protocols: sizes, split digests, and what each split does not guarantee.

    Nothing is downloaded: a benchmark whose file is not at hand is listed without sizes.
    """
    from temporal_rumors import listing

    rows = listing.listing(benchmark or [], data_dir, allow_modified=allow_modified)
    if as_json:
        _print_json(rows)
    else:
        _print(listing.tables(rows, verbose=verbose))


@app.command()
def run(
    benchmark: Annotated[
        list[str] | None,
        typer.Option(
            help="Benchmark to run, see `temporal-rumors list`; repeat for more. Without it: the embedded sample.",
            autocompletion=_complete_benchmark,
        ),
    ] = None,
    task: Annotated[
        list[str] | None,
        typer.Option(help="Task of a benchmark that has several, such as stance; repeat for more. Without it: all."),
    ] = None,
    model: Annotated[
        list[str] | None,
        typer.Option(
            help="Model to run: lr, or any checkpoint, by its name on the Hub or its folder; repeat for more. Without "
            "it: lr.",
            autocompletion=_complete_model,
        ),
    ] = None,
    protocol: Annotated[
        list[str] | None,
        typer.Option(
            help="Protocol to run, such as `official`, or `random` or `loo` for all folds or events; repeat for more. "
            "Without it: all.",
            autocompletion=_complete_protocol,
        ),
    ] = None,
    seeds: Annotated[int, typer.Option(min=1, help="Seeds 0 to N-1 for models that draw; lr does not.")] = 1,
    setting: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="NAME=VALUE",
            help="A setting of the models that have it, such as epochs=3; repeat for more.",
        ),
    ] = None,
    save_models: Annotated[
        Path | None, typer.Option(help="Folder to save the fitted models in, each with a card.")
    ] = None,
    data_dir: DataDir = None,
    allow_modified: AllowModified = False,
    runs: Annotated[Path, typer.Option(help="Folder of the run records; what is done there is not done again.")] = Path(
        "runs"
    ),
    report: Annotated[Path, typer.Option(help="Report to write: .html, .md, .tex, .csv or .json.")] = Path(
        "report.html"
    ),
    jobs: Annotated[
        int,
        typer.Option(min=1, help="Runs at a time, a process each; pays for slow models. Results do not depend on it."),
    ] = 1,
    as_json: AsJson = False,
) -> None:
    """Run models under every protocol, keep a record of each run, and report the inflation.

    With no option: logistic regression on the embedded sample corpus. On your copy of the real data:

        temporal-rumors run --benchmark pheme_temporal --benchmark weibo_temporal --data-dir FOLDER

    Interrupted, the same command goes on where it stopped.
    """
    try:
        from temporal_rumors import report as reports
        from temporal_rumors.experiment.execute import DONE, FAILED, SKIPPED, Settings, saved
        from temporal_rumors.experiment.grid import grid
        from temporal_rumors.experiment.store import RunStore, read_record

        reports.check_suffix(report)
        if data_dir is not None and not benchmark:
            raise UserError("--data-dir goes with --benchmark: without one the embedded sample runs")
        planned = grid(benchmark or [SAMPLE], model or ["lr"], protocol, seeds, task)
        settings = Settings(
            str(runs),
            None if data_dir is None else str(data_dir),
            allow_modified,
            model_settings=_settings(setting or [], model or ["lr"]),
            save_models=None if save_models is None else str(save_models),
        )
        for name in dict.fromkeys(benchmark or ()):
            if name not in {each.benchmark for each in planned}:
                typer.echo(f"{name} has none of these protocols: left out", err=True)
        outcomes = _execute(planned, settings, jobs)
        records = [read_record(outcome.path) for outcome in outcomes if outcome.path is not None]
        if records:
            _report(records, [report], as_json)
        if save_models is not None:
            # Not before all runs are done: a card states the inflation.
            summary = reports.summarise(RunStore(runs).read())
            for outcome in outcomes:
                if outcome.state == DONE and outcome.path is not None:
                    reports.write_card(read_record(outcome.path), summary, saved(outcome.run, str(save_models)))
            if SKIPPED in [outcome.state for outcome in outcomes]:
                typer.echo("models of runs that were done before are not saved: run them into another folder", err=True)
    except KeyboardInterrupt:
        typer.echo(f"interrupted: finished runs are kept in {runs}; the same command goes on from there", err=True)
        raise typer.Exit(INTERRUPTED) from None
    states = [outcome.state for outcome in outcomes]
    typer.echo(
        f"{len(planned)} {'run' if len(planned) == 1 else 'runs'} in {runs}: {states.count(DONE)} done now, "
        f"{states.count(SKIPPED)} done before, {states.count(FAILED)} failed",
        err=True,
    )
    failed = [outcome for outcome in outcomes if outcome.state == FAILED]
    _tell_failures(failed, len(planned))
    if failed:
        raise typer.Exit(WRONG_USE if not records and all(not f.traceback for f in failed) else RUN_FAILED)


@app.command()
def audit(
    name: Annotated[
        str,
        typer.Argument(
            metavar="DATA",
            help="A benchmark, a file of posts (.csv, .tsv, .jsonl, .json, .parquet), or a data set on the Hub.",
            autocompletion=_complete_benchmark,
        ),
    ],
    protocol: Annotated[
        str | None,
        typer.Argument(
            help="How it is split; a file needs one. Without it: chrono for a benchmark; of a data set on the Hub, the "
            "parts it comes with.",
            autocompletion=_complete_protocol,
        ),
    ] = None,
    task: Annotated[
        str | None, typer.Option(help="Task of a benchmark that has several. Without it: the first.")
    ] = None,
    threshold: Annotated[
        str, typer.Option(help="Near copies: edit distance, as 20, or share of the longer text, as 0.2.")
    ] = "20",
    short: Short = "exclude",
    text_column: Annotated[str, typer.Option(help="Column of a file or Hub data set: the posts.")] = "text",
    label_column: Annotated[str | None, typer.Option(help="Column with the classes.")] = None,
    time_column: Annotated[str | None, typer.Option(help="Column with the times.")] = None,
    id_column: Annotated[str | None, typer.Option(help="Column with the ids.")] = None,
    event_column: Annotated[str | None, typer.Option(help="Column with the events.")] = None,
    thread_column: Annotated[str | None, typer.Option(help="Column with the conversations.")] = None,
    author_column: Annotated[str | None, typer.Option(help="Column with the authors.")] = None,
    time_zone: Annotated[str | None, typer.Option(help="Zone of times that name none, such as UTC.")] = None,
    data_dir: DataDir = None,
    allow_modified: AllowModified = False,
    out: Annotated[Path | None, typer.Option(help="Page to write, .html, for people without a terminal.")] = None,
    fail_on: Annotated[
        list[str] | None,
        typer.Option(help="Exit with 3 where it holds, such as `near_copy>0` or `near_copy>5%`; repeat for more."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Show what leaks from training to test posts: near copies, ids, conversations, events, links, and time itself.

    temporal-rumors audit pheme_temporal chrono --data-dir FOLDER

    temporal-rumors audit posts.csv random_fold0 --label-column class --fail-on "near_copy>0"
    """
    from temporal_rumors import benchmark
    from temporal_rumors.audit import inputs, ledger

    limit = inputs.threshold(threshold)
    _check_page(out)
    is_benchmark = name in benchmark.names()
    of_files = {
        "--label-column": label_column,
        "--time-column": time_column,
        "--id-column": id_column,
        "--event-column": event_column,
        "--thread-column": thread_column,
        "--author-column": author_column,
        "--time-zone": time_zone,
        "--text-column": None if text_column == "text" else text_column,
    }
    of_benchmarks = {"--task": task, "--data-dir": data_dir, "--allow-modified": allow_modified or None}
    for option, value in (of_files if is_benchmark else of_benchmarks).items():
        if value is not None:
            kind = "a file or a data set on the Hub" if is_benchmark else "a benchmark"
            raise UserError(f"{option} goes with {kind}, which {name!r} is not")
    if is_benchmark:
        found = ledger.audit_benchmark(
            name, protocol or "chrono", data_dir, allow_modified, task=task, threshold=limit, short=short
        )
    else:
        given = {
            "label_column": label_column,
            "time_column": time_column,
            "id_column": id_column,
            "event_column": event_column,
        }
        columns: dict[str, Any] = {column: value for column, value in given.items() if value is not None}
        train, test, remarks = inputs.read_parts(name, protocol, time_zone=time_zone, **columns)
        given = {"thread_column": thread_column, "author_column": author_column}
        columns |= {column: value for column, value in given.items() if value is not None}
        found = ledger.audit_splits(
            train, test, threshold=limit, short=short, text_column=text_column, time_zone=time_zone, **columns
        )
        found = dataclasses.replace(found, protocol=protocol, remarks=remarks)
    failed = [condition for condition in fail_on or () if found.fails(condition)]
    if out is not None:
        _write_page(out, f"Leakage ledger: {found.title}", ledger.section(found))
    if as_json:
        _print_json(found.to_json())
    else:
        _print(ledger.tables(found))
        typer.echo(f"signature: {found.signature}")
    for condition in failed:
        typer.echo(f"fails: {condition}", err=True)
    if failed:
        raise typer.Exit(CONDITION_HOLDS)


@app.command()
def overlap(
    benchmark: Benchmarks = None,
    data_dir: LocalDataDir = None,
    allow_modified: AllowModified = False,
    as_json: AsJson = False,
) -> None:
    """Count near copies beside table 6 of the paper, and the posts that stand in two benchmarks.

    Nothing is downloaded: a benchmark whose file is not at hand is named and left out.
    """
    from temporal_rumors.audit import overlap as overlapping

    found = overlapping.overlaps(benchmark or [], data_dir, allow_modified=allow_modified)
    if as_json:
        _print_json(found.to_json())
    else:
        _print(overlapping.tables(found))


@app.command()
def explain(
    runs: RunsFolder = Path("runs"),
    retrain: Annotated[
        bool, typer.Option("--retrain", help="Train each random fold again without the training posts that leak.")
    ] = False,
    threshold: Threshold = "20",
    resamples: Annotated[int, typer.Option(min=100, help="Bootstrap resamples.")] = 2000,
    seed: Annotated[int, typer.Option(min=0, help="Of the resamples.")] = 0,
    data_dir: DataDir = None,
    allow_modified: AllowModified = False,
    out: Annotated[Path | None, typer.Option(help="Page to write, .html.")] = None,
    as_json: AsJson = False,
) -> None:
    """Say how sure the inflation is, and how much of it each leak explains: takes the run records and the data.

    temporal-rumors explain runs --data-dir FOLDER
    """
    from temporal_rumors.audit import explain as explaining
    from temporal_rumors.audit import inputs, layout
    from temporal_rumors.experiment.store import RunStore

    _check_page(out)
    found = explaining.explain(
        RunStore(runs).read(),
        data_dir,
        allow_modified,
        retrain,
        threshold=inputs.threshold(threshold),
        n_resamples=resamples,
        seed=seed,
    )
    if out is not None:
        _write_page(out, "Inflation, explained", layout.section(found))
    if as_json:
        _print_json(found.to_json())
    else:
        _print(layout.tables(found))


@app.command()
def errors(
    runs: RunsFolder = Path("runs"),
    threshold: Threshold = "20",
    short: Short = "exclude",
    examples: Annotated[int, typer.Option(min=0, help="Groups of copies to show of each kind.")] = 2,
    data_dir: DataDir = None,
    allow_modified: AllowModified = False,
    as_json: AsJson = False,
) -> None:
    """Say how right models are on test posts that they have seen near copies of, and on others.

    temporal-rumors errors runs --data-dir FOLDER
    """
    from temporal_rumors.audit import inputs
    from temporal_rumors.audit import mistakes as analysis
    from temporal_rumors.experiment.store import RunStore

    found = analysis.mistakes(
        RunStore(runs).read(), data_dir, allow_modified, inputs.threshold(threshold), short, examples
    )
    if as_json:
        _print_json(found.to_json())
    else:
        _print(analysis.tables(found))


@app.command("export")
def export_benchmark(
    benchmark: Annotated[str, typer.Argument(help="Name of the benchmark.", autocompletion=_complete_benchmark)],
    out: Annotated[Path, typer.Option(help="Folder to write to.")],
    form: Annotated[
        str,
        typer.Option(
            "--format", help="`parquet`, for datasets and the Hub; or `lm-eval`, tasks for lm-evaluation-harness."
        ),
    ] = "parquet",
    protocol: Annotated[
        list[str] | None,
        typer.Option(help="Protocol; repeat for more. Without it: all.", autocompletion=_complete_protocol),
    ] = None,
    data_dir: DataDir = None,
    allow_modified: AllowModified = False,
) -> None:
    """Write a benchmark as files that other programs read without this package.

    temporal-rumors export pheme_temporal --format lm-eval --out tasks --data-dir FOLDER

    lm_eval run --include_path tasks --tasks pheme_temporal_chrono --model hf --model_args pretrained=NAME
    """
    from temporal_rumors.export import export

    written = export(benchmark, out, form, protocol, data_dir, allow_modified)
    typer.echo(f"wrote {len(written)} {'tasks' if form == 'lm-eval' else 'configurations'} to {out}", err=True)
    for name in written:
        typer.echo(name)


@app.command("show-signature")
def show_signature(
    signature: Annotated[str, typer.Argument(help="The line that stands beside a score.")],
    as_json: AsJson = False,
) -> None:
    """Read a signature: what a score was computed on."""
    from temporal_rumors import signature as signatures

    parts = signatures.parse(signature)
    if as_json:
        _print_json(parts)
    else:
        for name, value in parts.items():
            shown = "".join(c if c.isprintable() else ascii(c)[1:-1] for c in value)
            typer.echo(f"{name:12} {shown:24} {signatures.meaning(name)}".rstrip())


@app.command()
def score(
    gold: Annotated[Path, typer.Argument(help="The key, as the organisers publish it: JSON of 2017 or of 2019.")],
    submission: Annotated[Path, typer.Argument(help="The answers: JSON in the form that the organisers ask for.")],
    task: Annotated[
        str, typer.Option(help="`rumoureval`: all tasks of the key; `stance` or `veracity`: that one alone.")
    ] = "rumoureval",
    edition: Annotated[
        str,
        typer.Option(
            help="Whose definitions: `paper` (the card of the 2017 paper), or the script of `2017` or `2019`."
        ),
    ] = "paper",
    missing: Annotated[
        str, typer.Option(help="A reference without an answer is `incorrect`, or an `error`.")
    ] = "incorrect",
    lenient: Annotated[
        bool, typer.Option("--lenient", help="Take what the official scripts take: unknown labels, any confidence.")
    ] = False,
    per_class: Annotated[
        bool, typer.Option("--per-class", help="Add recall by class and the confusion matrix.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Score a submission to RumourEval, stance and veracity, in all languages of the file.

    Three definitions circulate and differ; say which one a number of yours is of:

        temporal-rumors score --edition 2019 final-eval-key.json answer.json
    """
    from temporal_rumors import submissions

    result = submissions.score_files(
        gold, submission, task=task, edition=edition, strict=not lenient, missing=missing, per_class=per_class
    )
    if as_json:
        _print_json(result)
    else:
        _print(submissions.tables(result))
        # Whole on one line, however narrow the terminal: it is there to be copied.
        typer.echo(f"signature: {result['signature']}")


@app.command("report")
def report_runs(
    runs: RunsFolder = Path("runs"),
    out: Annotated[
        list[Path] | None,
        typer.Option(
            help="File to write: .html, .md, .tex, .csv or .json; repeat for more. Without it: report.html, but "
            "nothing with --json."
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Build the report anew from run records alone: no data and no model is needed."""
    from temporal_rumors import report as reports
    from temporal_rumors.experiment.store import RunStore

    paths = out or ([] if as_json else [Path("report.html")])
    for path in paths:
        reports.check_suffix(path)
    records = RunStore(runs).read()
    if not records:
        raise UserError(f"no run records in {runs}: `temporal-rumors run --runs {runs}` makes some")
    _report(records, paths, as_json)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line; a user's mistake is told in one line on standard error, without a traceback."""
    # A notebook hands down a backend that need not be there; figures are only ever written to files.
    os.environ["MPLBACKEND"] = "agg"
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # A terminal that lacks a sign shows a question mark, and the report is written all the same.
            stream.reconfigure(errors="replace")
    for name in ("SIGTERM", "SIGHUP"):
        if hasattr(signal, name) and threading.current_thread() is threading.main_thread():
            # As Ctrl-C: so that the processes of --jobs end with this one.
            signal.signal(getattr(signal, name), signal.default_int_handler)
    try:
        app(arguments)
    except UserError as error:
        typer.echo(f"error: {error}", err=True)
        sys.exit(WRONG_USE)
    except OSError as error:
        # The output cannot be written: its reader has left, or its disk is full.
        typer.echo(f"error: {error.strerror or error}", err=True)
        sys.exit(RUN_FAILED)


def _settings(given: Sequence[str], names: Sequence[str]) -> dict[str, Any]:
    """Read NAME=VALUE: a value as JSON writes it, and anything else as text."""
    from temporal_rumors import models
    from temporal_rumors.errors import unknown

    found: dict[str, Any] = {}
    known = dict.fromkeys(setting for name in names for setting in models.settings_of(name))
    for text in given:
        name, equals, value = text.partition("=")
        if not equals:
            raise UserError(f"--set {text!r} is not NAME=VALUE, such as epochs=3")
        if name not in known:
            raise UserError(f"--set: {unknown('setting', name, known)}")
        try:
            found[name] = json.loads(value)
        except ValueError:
            found[name] = value
    return found


def _execute(planned: Sequence[Any], settings: Any, jobs: int) -> list[Outcome]:
    from tqdm.auto import tqdm

    from temporal_rumors.experiment.execute import execute

    outcomes = []
    # disable=None: quiet where standard error is not a terminal.
    with tqdm(total=len(planned), desc="runs", unit="run", disable=None, leave=False) as bar:
        for outcome in execute(planned, settings, jobs):
            outcomes.append(outcome)
            bar.set_postfix_str(str(outcome.run))
            bar.update()
    return outcomes


def _report(records: list[dict[str, Any]], paths: Sequence[Path], as_json: bool) -> None:
    from temporal_rumors import report as reports

    summary = reports.summarise(records)
    # Files first: printing may end early, when its reader has seen enough.
    for path in paths:
        reports.write(summary, path)
        typer.echo(f"wrote {path}", err=True)
    if as_json:
        _print_json(summary.to_json())
    else:
        _print(reports.terminal(summary))


def _tell_failures(failed: Sequence[Outcome], n_planned: int) -> None:
    told: dict[str, list[str]] = {}
    for outcome in failed:
        told.setdefault(outcome.traceback or f"error: {outcome.error}", []).append(str(outcome.run))
    for message, names in told.items():
        typer.echo(message, err=True)
        typer.echo(
            f"  in {len(names)} of {n_planned} runs: {', '.join(names[:3])}{', …' if names[3:] else ''}", err=True
        )


def _check_page(path: Path | None) -> None:
    if path is not None and path.suffix.lower() != ".html":
        raise UserError(f"cannot write a page to {path}: its suffix must be .html")


def _write_page(path: Path, title: str, section: str) -> None:
    from temporal_rumors import atomic
    from temporal_rumors.audit.page import page

    atomic.write(path, page(title, section))
    typer.echo(f"wrote {path}", err=True)


def _print_json(value: Any) -> None:
    # ASCII: whole in whatever encoding the output has.
    typer.echo(json.dumps(value, ensure_ascii=True, indent=1, allow_nan=False))


def _print(renderables: Sequence[Any]) -> None:
    from rich.console import Console

    console = Console(markup=False, highlight=False)
    # Tables are laid out for 80 columns; a narrower terminal wraps them, which loses no number.
    console.width = max(console.width, MIN_WIDTH)
    for renderable in renderables:
        console.print(renderable)
