"""The one way in which HTML templates are loaded: what they are given is escaped, and what they lack is an error."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jinja2 import Template


def template(path: Path, filters: Mapping[str, Callable[..., Any]] | None = None) -> Template:
    """Return a jinja template; what it renders ends without a line break.

    Args:
        path: the template file.
        filters: name -> function, beside those that jinja has.
    """
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(path.parent),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(filters or {})
    return environment.get_template(path.name)
