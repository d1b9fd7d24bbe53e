"""The errors that a user can mend: the message says what was found, what was expected and what to do."""


class UserError(ValueError):
    """A mistake in input or usage; the command line prints it without a traceback and exits with 2."""


class DataNotFoundError(UserError):
    """A source file is neither at hand nor downloadable; the message says what to put where."""
