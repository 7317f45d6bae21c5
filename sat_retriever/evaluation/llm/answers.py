"""Keep answers in a file as they come, so that a killed run can go on; summarize them."""

from __future__ import annotations

import hashlib
import json
import os
import statistics
import threading
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, ClassVar, Generic, Protocol, TypeVar

from sat_retriever.errors import InputError, LanguageModelError
from sat_retriever.records.files import make_folder, writing

_FORMAT = 1
_BEGINNING = b'{"format": '


class _Failing(Protocol):
    """A dataclass of JSON values; one that failed is asked for again."""

    __dataclass_fields__: ClassVar[dict[str, Any]]

    @property
    def failed(self) -> object: ...


Given = TypeVar("Given", bound=_Failing)


@dataclass(frozen=True, slots=True)
class Answer:
    """The outcome of one question."""

    ids: tuple[str, ...]  # labels that the model named, best first, each once; not filled up
    prompt_tokens: int | None  # by the server's count; None if not reported
    tries: int  # number of times it was asked
    short: bool  # at least one sheet, but fewer than requested
    failed: bool  # no try gave a sheet
    seconds: float  # of all tries together
    problem: str = ""  # why the last try failed; empty unless all did
    digest: str = ""  # of the model's files; empty if the server did not report it


def key_of(settings: Mapping[str, Any], prompt: str) -> str:
    """Return sixty-four hex digits over all inputs that can change an answer.

    The model's files are excluded, so a run of kept answers needs no server. Each answer has their
    digest, which is compared if there is a server. `settings` are the model's name and all its
    options, `prompt` the whole message.
    """
    text = json.dumps([_FORMAT, settings, prompt], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


class Kept(Generic[Given]):
    """Answers of one form by key; each is a line that is on the disk as soon as it is given.

    One process may write to a file at a time, with any number of threads. A last line that a kill
    left incomplete is dropped and its question asked again. Failed questions are asked again too.
    """

    def __init__(
        self, path: str | Path, read: Callable[[Mapping[str, Any]], Given], option: str = "--out"
    ) -> None:
        """Read a file of answers, JSON lines, or start one; an InputError for another file.

        `read` makes an answer of its JSON values. `option` is the one that chooses the folder.
        """
        self.path = Path(path)
        self._read_answer = read
        self._remedy = f"move the file away, or choose another folder ({option})"
        self._kept: dict[str, Given] = {}
        self._seen: dict[str, Given] = {}
        self._writing = threading.Lock()
        self._whole: int | None = None  # bytes before an incomplete last line, else None
        self._read()

    def __len__(self) -> int:
        """Return the number of kept answers that did not fail."""
        return sum(not answer.failed for answer in self._kept.values())

    @property
    def seen(self) -> tuple[Given, ...]:
        """The answers to the questions that were asked or looked up since the file was opened."""
        return tuple(self._seen.values())

    def find(self, key: str, fits: Callable[[Given], bool] | None = None) -> Given | None:
        """Return the kept answer to a question, if one did not fail and, where given, `fits`."""
        answer = self._kept.get(key)
        if answer is None or answer.failed or not (fits is None or fits(answer)):
            return None
        self._seen[key] = answer
        return answer

    def keep(self, key: str, answer: Given) -> None:
        """Append an answer to the file; an OutputError if that fails."""
        line = json.dumps({"format": _FORMAT, "key": key, **asdict(answer)}) + "\n"
        make_folder(self.path.parent)
        with self._writing, writing(self.path), self.path.open("ab") as file:
            if self._whole is not None:
                file.truncate(self._whole)
            file.write(line.encode())
            file.flush()
            os.fsync(file.fileno())
            self._whole = None
            self._kept[key] = self._seen[key] = answer

    def _read(self) -> None:
        try:
            content = self.path.read_bytes()
        except FileNotFoundError:
            return
        except OSError as error:
            raise InputError(f"{self.path} cannot be read: {error.strerror}") from error
        *lines, torn = content.split(b"\n")
        for number, line in enumerate(lines, start=1):
            try:
                row = json.loads(line)
                if row["format"] != _FORMAT:
                    raise ValueError(row["format"])
                self._kept[str(row["key"])] = self._read_answer(row)
            except (ValueError, KeyError, TypeError) as error:
                raise InputError(
                    f"{self.path}, line {number}: no kept answer; {self._remedy}"
                ) from error
        if torn[: len(_BEGINNING)] != _BEGINNING[: len(torn)]:  # another program's text
            raise InputError(f"{self.path} does not end with a kept answer; {self._remedy}")
        if torn:
            self._whole = len(content) - len(torn)


class Answers(Kept[Answer]):
    """Kept answers that name sheets."""

    def __init__(self, path: str | Path) -> None:
        """Read a file of answers, JSON lines, or start one; an InputError for another file."""
        super().__init__(path, _answer)


def _answer(row: Mapping[str, Any]) -> Answer:
    tokens = row["prompt_tokens"]
    return Answer(
        ids=tuple(str(each) for each in row["ids"]),
        prompt_tokens=None if tokens is None else int(tokens),
        tries=int(row["tries"]),
        short=bool(row["short"]),
        failed=bool(row["failed"]),
        seconds=float(row["seconds"]),
        problem=str(row["problem"]),
        digest=str(row.get("digest", "")),  # older answers have none
    )


@dataclass(frozen=True, slots=True)
class Summary:
    """Counts over the questions of a run."""

    questions: int
    short: int  # answered with fewer sheets than requested, and filled up
    failed: int  # without an answer; their candidates keep their order
    retries: int  # tries beyond the first
    tokens_min: int | None  # of a prompt; None if no server count is known
    tokens_mean: float | None
    tokens_max: int | None
    seconds: float  # of all tries, when they were asked
    problems: Mapping[str, int]  # reasons of failures with their numbers; most frequent first

    @property
    def mostly(self) -> str:
        """The most frequent problem, as the end of a sentence."""
        problem = next(iter(self.problems), "")
        return f"; most often: {problem}" if problem else ""

    def check_answered(self) -> None:
        """Raise a LanguageModelError if no question was answered: there is no row to show."""
        if self.failed == self.questions:
            raise LanguageModelError(
                f"not one of {self.questions:,} questions was answered{self.mostly}"
            )


def summary(answers: Sequence[Answer]) -> Summary:
    """Return counts over some answers.

    >>> failed = Answer((), None, 3, short=False, failed=True, seconds=1.0, problem="too slow")
    >>> summary([Answer(("3",), 90, 2, short=True, failed=False, seconds=0.5), failed])
    ... # doctest: +NORMALIZE_WHITESPACE
    Summary(questions=2, short=1, failed=1, retries=3,
            tokens_min=90, tokens_mean=90.0, tokens_max=90, seconds=1.5,
            problems={'too slow': 1})
    """
    tokens = [each.prompt_tokens for each in answers if each.prompt_tokens is not None]
    return Summary(
        questions=len(answers),
        short=sum(each.short for each in answers),
        failed=sum(each.failed for each in answers),
        retries=sum(each.tries - 1 for each in answers),
        tokens_min=min(tokens, default=None),
        tokens_mean=statistics.fmean(tokens) if tokens else None,
        tokens_max=max(tokens, default=None),
        seconds=round(sum(each.seconds for each in answers), 3),
        problems=dict(Counter(each.problem for each in answers if each.failed).most_common()),
    )
