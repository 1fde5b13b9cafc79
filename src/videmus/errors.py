"""The exceptions that a person may meet, each with what happened, where, and what to do next.

    VidemusError                 base: what, where, next
    ├── UsageError               the call itself is wrong (exit status 2)
    │   ├── NotFoundError        no such video, evidence or setting
    │   └── AmbiguousError       several videos fit; all are listed
    ├── MediaError               a file cannot be read, decoded or written
    ├── SubtitleError            a subtitle or transcript cannot be understood
    ├── LibraryError             the library folder is damaged, foreign, locked or read-only
    │   └── VectorSpaceError     vectors of another model: `videmus rebuild`
    ├── ModelError               a model is missing, unreachable, or answers outside its schema
    │   ├── MissingExtraError    an optional package is not installed
    │   ├── BudgetError          the next call would exceed the budget
    │   └── ReplayError          a call that the recording does not hold
    └── QueryError               SQL or a query that is not allowed, or ran too long

Every other exception that reaches a person is a fault of Videmus.
"""

from __future__ import annotations


class VidemusError(Exception):
    """What happened, to what (a file, a time, a setting), and what to type next.

    `str(error)` is one readable line; `error.as_json()` is the document that `--json` prints.
    """

    def __init__(self, what: str, *, where: str = "", next: str = "") -> None:
        super().__init__(what)
        self.what = what
        self.where = where
        self.next = next

    def __str__(self) -> str:
        place = f"{self.where}: " if self.where else ""
        remedy = f" ({self.next})" if self.next else ""
        return f"{place}{self.what}{remedy}"

    def as_json(self) -> dict[str, dict[str, str]]:
        return {"error": {"what": self.what, "where": self.where, "next": self.next}}

    def __reduce__(self) -> tuple[object, ...]:  # keywords survive the way between processes
        return (_rebuild, (type(self), self.what, self.where, self.next))


def _rebuild(kind: type[VidemusError], what: str, where: str, next: str) -> VidemusError:
    return kind(what, where=where, next=next)


class UsageError(VidemusError):
    """The call itself is wrong: an unknown option value, a malformed time."""


class NotFoundError(UsageError):
    """No video, evidence or setting of that name."""


class AmbiguousError(UsageError):
    """Several videos fit; `where` lists them."""


class MediaError(VidemusError):
    """A media file cannot be read, decoded or written."""


class SubtitleError(VidemusError):
    """A subtitle, transcript or evidence file cannot be understood."""


class LibraryError(VidemusError):
    """The library folder is damaged, foreign, locked, full or read-only."""


class VectorSpaceError(LibraryError):
    """The rows' vectors come from another model than the query's; they are never compared."""


class ModelError(VidemusError):
    """A model is missing, unreachable, or keeps answering outside its schema."""


class MissingExtraError(ModelError):
    """An optional package is not installed; `next` is the command that installs it."""


class BudgetError(ModelError):
    """The next call would exceed the budget that the user set."""


class ReplayError(ModelError):
    """A call that the recording does not hold; `where` says which."""


class QueryError(VidemusError):
    """SQL or a query that is not allowed, ran too long or returned too much."""
