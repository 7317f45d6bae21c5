"""Define every error that a user of this package can meet, as one tree.

    SatError
    ├── InputError               an argument or input file cannot be used
    │   ├── PathNotFoundError    a named file or folder does not exist
    │   ├── UnknownSheetError    an index has no sheet or workbook of that name
    │   ├── RemoteError          a file system behind a URL refuses or cannot be reached
    │   ├── EmptyInputError      an empty query, or nothing to work on
    │   ├── CorpusError          a published data set is missing or malformed
    │   └── QueryError           a SQL query is not allowed, wrong, or too expensive
    ├── OutputError              a file or folder cannot be written
    ├── LanguageModelError       a language model cannot be reached or answers badly
    │   └── ModelSetupError      asking again does not help: no server, no model, no room
    │       └── ModelContextError   a text is longer than the model's context
    ├── ClusterError             a Ray cluster cannot be reached, or fails
    ├── MissingExtraError        an optional dependency is not installed
    ├── TrainingError            a training cannot start or continue
    ├── EncoderError             a trained model cannot be loaded or run
    │   ├── EncoderUnavailableError    an encoder elsewhere is busy, slow or failing for now
    │   └── FingerprintMismatchError   the index was written by another encoder
    └── SheetIndexError          the index file cannot be used
        ├── IndexNotFoundError   no index at that path
        ├── IndexFormatError     not an index, broken, or written by a newer version
        │   └── IndexDamagedError    rows of it are damaged; verifying rebuilds them
        ├── IndexBusyError       another process is writing to it
        ├── IndexStorageError    the disk is full, read-only or failing
        └── PermissionsError     it has permissions, and the caller named no groups

A workbook that cannot be read raises no error: it is reported as
`sat_retriever.records.sheets.Skipped`, so one bad file never ends a run.
"""


class SatError(Exception):
    """Root of all errors that this package raises on purpose."""


class InputError(SatError):
    """An argument or an input file cannot be used."""


class PathNotFoundError(InputError):
    """A named file or folder does not exist."""


class UnknownSheetError(InputError):
    """An index has no sheet or workbook of that name, or none that the one who asks may see."""


class RemoteError(InputError):
    """A file system behind a URL refuses, fails or cannot be reached."""


class EmptyInputError(InputError):
    """There is nothing to work on, for example an empty query."""


class CorpusError(InputError):
    """A published data set is missing or does not have the documented form."""


class QueryError(InputError):
    """A SQL query is refused, wrong, or went beyond its limits; the message helps to mend it."""


class OutputError(SatError):
    """A file or folder cannot be written: no space, no permission, no such place."""


class LanguageModelError(SatError):
    """A language model cannot be reached, does not exist, or answers badly.

    Attributes:
        wait_s: Seconds after which its server may be asked again; None if it did not say.
    """

    wait_s: float | None = None


class ModelSetupError(LanguageModelError):
    """No server, no such model, no key, a prompt beyond its context: asking again does not help."""


class ModelContextError(ModelSetupError):
    """A text is longer than the model's context."""


class ClusterError(SatError):
    """A Ray cluster cannot be reached or fails, or its nodes do not see the workbooks."""


class MissingExtraError(SatError):
    """An optional dependency is not installed; the message gives the command that installs it."""


class TrainingError(SatError):
    """A training cannot start or go on, or its run folder belongs to another training."""


class EncoderError(SatError):
    """A Sheet Encoder, reranker or Cross-Encoder cannot be loaded or run."""


class EncoderUnavailableError(EncoderError):
    """An encoder that runs elsewhere is busy, slow or failing; the same may work later.

    Attributes:
        wait_s: Seconds after which its server may be asked again; None if it did not say.
    """

    wait_s: float | None = None


class FingerprintMismatchError(EncoderError):
    """The encoder that wrote the index is not the one that a model or a caller uses."""


class SheetIndexError(SatError):
    """The index file cannot be used."""


class IndexNotFoundError(SheetIndexError):
    """There is no index at the given path."""


class IndexFormatError(SheetIndexError):
    """The file is no index, is broken, or was written by a newer version."""


class IndexDamagedError(IndexFormatError):
    """Rows of the index are damaged; the message names them; `verify` rebuilds them."""


class IndexBusyError(SheetIndexError):
    """Another process is writing to the index."""


class IndexStorageError(SheetIndexError):
    """The disk is full, read-only or failing."""


class PermissionsError(SheetIndexError):
    """An index with permissions is read without groups, or cannot be read for some groups alone."""
