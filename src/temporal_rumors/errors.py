"""The errors that a user can mend: the message says what was found, what was expected and what to do."""

from collections.abc import Iterable

# How alike a name must be to a valid one for that to be offered; ours share a suffix, which counts.
_ALIKE = 0.8


class UserError(ValueError):
    """A mistake in input or usage; the command line prints it without a traceback and exits with 2."""


class DataNotFoundError(UserError):
    """A source file is neither at hand nor downloadable; the message says what to put where."""


def nearest(name: str, valid: Iterable[str]) -> str | None:
    """Return the valid name that another is the beginning or a misspelling of, if there is one.

    Args:
        name: what was found.
        valid: the names there are.
    """
    import difflib

    names, sought = list(valid), str(name).lower()
    begun = [known for known in names if sought and known.startswith(sought)]
    return next(iter(begun or difflib.get_close_matches(sought, names, 1, _ALIKE)), None)


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
