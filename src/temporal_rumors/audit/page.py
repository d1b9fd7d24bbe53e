"""A page around a section of HTML, in one file that needs no network."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

_TEMPLATE = "page.html.jinja"


def page(title: str, section: str) -> str:
    """Return an HTML document.

    Args:
        title: plain text, of the document and its heading.
        section: HTML, already escaped.
    """
    from markupsafe import Markup

    return str(_template().render(title=title, section=Markup(section)))


@cache
def _template() -> Any:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        undefined=StrictUndefined,
        keep_trailing_newline=True,
    )
    return environment.get_template(_TEMPLATE)
