"""The page of a metric's Space: paste or open the inputs, score, read the table, download the result.

The same file stands in the folder of every metric, because a Space holds nothing but its own folder.
"""

import csv
import io
import json
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import gradio as gr

MAX_BYTES = 2**20  # of one input; a browser takes seconds to lay out a longer text
MAX_ROWS = 200  # shown; a download holds them all
MAX_MESSAGE = 300  # characters
MAX_CELL = 100  # characters shown; a download holds them all

_LOG = logging.getLogger(__name__)
_KEPT_SECONDS = 300  # for which gradio leaves an uploaded file lying, though it is read at once
_CSS = """
.gradio-container { max-width: 60rem !important; margin: auto; }
#scores { contain: inline-size; }  /* else the page never gets narrower than the table once was */
#scores [role=gridcell], #scores [role=columnheader] { font-family: var(--font); overflow-wrap: anywhere; }
.dark textarea, .dark #scores { color-scheme: dark; }  /* its scroll bars */
@media (max-width: 600px) {
    #scores [role=gridcell], #scores [role=columnheader], #scores .sizing-body td { font-size: 12px; }
    #scores [role=columnheader] * { font-weight: 400; }
    #scores .cell-wrap { padding-left: 3px; padding-right: 3px; }
    #scores .cell-menu-button { display: none; }
}
"""
# A file made in the browser: the server writes none, so that there is none to guard or to delete.
_DOWNLOAD = """(text) => {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([text], {type: "%s"}));
    link.download = "%s";
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}"""


@dataclass(frozen=True)
class Input:
    """A text that is pasted or read from a file.

    Args:
        label: what it is called on the page.
        example: a text that can be scored.
        extensions: what its files end with, dot included.
    """

    label: str
    example: str
    extensions: Sequence[str]


@dataclass(frozen=True)
class Scores:
    """What the page shows and hands out.

    Args:
        rows: the table, of text and numbers.
        result: the whole result, as JSON can hold it.
        summary: a few short lines.
    """

    rows: list[list[str | int | float]]
    result: dict[str, Any]
    summary: str


def build(
    *,
    name: str,
    introduction: str,
    inputs: Sequence[Input],
    headers: Sequence[str],
    widths: Sequence[str],
    score: Callable[..., Scores],
    choices: Sequence[str] = (),
    choice_label: str = "",
) -> gr.Blocks:
    """Return the page of a metric.

    Args:
        name: the metric, and the stem of the downloads' names.
        introduction: Markdown that says what to paste.
        inputs: what `score` takes, in its order.
        headers: of the table's columns.
        widths: of the table's columns, such as "25%".
        score: takes a text for each input, and a choice where there are any; raises ValueError with a message
            for whoever pasted the text.
        choices: the values of a further argument of `score`, the default first.
        choice_label: what that argument is called on the page.
    """

    def on_score(*arguments: str) -> list[Any]:
        try:
            texts = [text.removeprefix("\ufeff") for text in arguments[: len(inputs)]]
            choice = arguments[len(inputs) :]
            for field, text in zip(inputs, texts, strict=True):
                _check_size(len(text.encode("utf-8", "replace")), field.label)
                if not text.strip():
                    raise ValueError(f"{field.label}: paste a text or open a file.")
            scores = score(*texts, *choice)
            lines = [scores.summary]
            if len(scores.rows) > MAX_ROWS:
                lines.append(f"The table shows {MAX_ROWS} of {len(scores.rows):,} rows, the downloads hold all.")
            shown = [[_shown(cell) for cell in row] for row in scores.rows[:MAX_ROWS]]
            as_json = json.dumps(scores.result, indent=2, allow_nan=False)
            return _outputs("\n".join(lines), shown, as_json, to_csv(headers, scores.rows))
        except Exception as error:
            return _outputs(_message(error), [], "", "")

    def on_open(field: Input, content: bytes) -> list[Any]:
        try:
            return [_decode(content, field.label), None, *_outputs("", [], "", "")]
        except ValueError as error:
            return [gr.skip(), None, *_outputs(_message(error), [], "", "")]

    with gr.Blocks(title=name, analytics_enabled=False, delete_cache=(60, _KEPT_SECONDS)) as page:
        gr.Markdown(introduction)
        texts, openers = [], []
        with gr.Row():
            for field in inputs:
                with gr.Column(min_width=300):
                    texts.append(gr.Textbox(label=field.label, lines=9, max_lines=9))
                    openers.append(
                        gr.UploadButton(
                            f"Open a file: {field.label.lower()}",
                            type="binary",
                            file_types=list(field.extensions),
                            size="sm",
                        )
                    )
        arguments = [*texts]
        if choices:
            arguments.append(gr.Radio(list(choices), value=choices[0], label=choice_label))
        with gr.Row():
            example = gr.Button("Fill in an example")
            button = gr.Button("Score", variant="primary")
        summary = gr.Textbox(label="Result", interactive=False, lines=2, elem_id="summary")
        table = gr.Dataframe(
            headers=list(headers),
            datatype="str",
            type="array",
            label="Scores",
            interactive=False,
            wrap=True,
            column_widths=list(widths),
            buttons=[],
            elem_id="scores",
        )
        contents, downloads = [], []
        with gr.Row():
            for kind, media_type in (("json", "application/json"), ("csv", "text/csv")):
                contents.append(gr.Textbox(visible="hidden", label=kind))
                downloads.append(gr.Button(f"Download {kind.upper()}", interactive=False))
                downloads[-1].click(None, contents[-1], js=_DOWNLOAD % (media_type, f"{name}.{kind}"))

        outputs = [summary, table, *contents, *downloads]
        for field, text, opener in zip(inputs, texts, openers, strict=True):
            opener.upload(partial(on_open, field), opener, [text, opener, *outputs], api_visibility="private")
        examples = {text: field.example for text, field in zip(texts, inputs, strict=True)}
        example.click(lambda: examples, outputs=texts, api_visibility="private")
        button.click(on_score, arguments, outputs, api_visibility="private")
    return page


def launch(page: gr.Blocks, **options: Any) -> Any:
    """Serve the page; options are those of gradio's launch."""
    return page.queue(max_size=50, api_open=False).launch(
        max_file_size=MAX_BYTES,
        footer_links=[],
        run_history=False,
        ssr_mode=False,
        css=_CSS,
        **options,
    )


def to_csv(headers: Sequence[str], rows: Sequence[Sequence[str | int | float]]) -> str:
    """Return rows as CSV in which no text can be read as a formula by a spreadsheet."""
    file = io.StringIO()
    writer = csv.writer(file)
    writer.writerow(headers)
    writer.writerows([_escaped(cell) for cell in row] for row in rows)
    return file.getvalue()


def _escaped(cell: str | int | float) -> str | int | float:
    if isinstance(cell, str):
        cell = _encodable(cell)
        return f"'{cell}" if cell.startswith(("=", "+", "-", "@", "\t", "\r", "\n")) else cell
    return cell


def _shown(cell: str | int | float) -> str:
    return f"{cell:.4f}" if isinstance(cell, float) else _short(str(cell), MAX_CELL)


def _short(text: str, length: int) -> str:
    text = _encodable(text)
    return text if len(text) <= length else text[: length - 1] + "…"


def _encodable(text: str) -> str:
    """Return the text with half characters, which JSON can hold and UTF-8 cannot, spelt out."""
    return text.encode("utf-8", "backslashreplace").decode()


def _check_size(size: int, label: str) -> None:
    if size > MAX_BYTES:
        raise ValueError(
            f"{label}: larger than {MAX_BYTES // 2**20} MB, the limit here. Use the Python function instead."
        )


def _decode(content: bytes, label: str) -> str:
    _check_size(len(content), label)
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise ValueError(f"{label}: the file is not UTF-8 text. Save it as UTF-8.") from None


def _outputs(summary: str, table: list[list[str]], *contents: str) -> list[Any]:
    return [summary, table, *contents, *(gr.update(interactive=bool(content)) for content in contents)]


def _message(error: Exception) -> str:
    """Return what to tell about an error, and draw attention to it."""
    # Not as a gr.Error: its text is read as HTML, goes after a while or stays beside later scores, and what was
    # shown before remains.
    gr.Warning("The reason is given under Result.", title="Not done", duration=5)
    if isinstance(error, ValueError):
        return _short(str(error), MAX_MESSAGE)
    _LOG.error("An error that is no message to the user", exc_info=error)
    return "Something is wrong with this page, or with the input in a way that it does not foresee."
