"""A page around a section of HTML, in one file that needs no network."""

from __future__ import annotations

from pathlib import Path

from temporal_rumors.templates import template

_TEMPLATE = Path(__file__).with_name("page.html.jinja")


def page(title: str, section: str) -> str:
    """Return an HTML document.

    Args:
        title: plain text, of the document and its heading.
        section: HTML, already escaped.
    """
    from markupsafe import Markup

    return template(_TEMPLATE).render(title=title, section=Markup(section)) + "\n"
