"""The errors that a user can mend: the message says what was found, what was expected and what to do."""

from collections.abc import Iterable


class UserError(ValueError):
    """A mistake in input or usage; the command line prints it without a traceback and exits with 2."""


class DataNotFoundError(UserError):
    """A source file is neither at hand nor downloadable; the message says what to put where."""


def nearest(name: str, valid: Iterable[str], cutoff: float = 0.6) -> str | None:
    """Return the valid name that another is the beginning or a misspelling of, if there is one.

    Args:
        name: what was found.
        valid: the names there are.
        cutoff: how alike two names must be, from 0 to 1.
    """
    import difflib

    names = list(valid)
    begun = [known for known in names if name and known.startswith(name)]
    return next(iter(begun or difflib.get_close_matches(name, names, 1, cutoff)), None)


def unknown(what: str, name: str, valid: Iterable[str]) -> str:
    """Return the message for a name that is not one of the valid ones: the nearest of them, and all of them.

    Args:
        what: what it should have named, such as "benchmark".
        name: what was found.
        valid: the names there are.
    """
    names = list(valid)
    near = nearest(name, names)
    hint = f" (did you mean {near!r}?)" if near else ""
    return f"unknown {what} {name!r}{hint}; valid ones: {', '.join(names)}"
