"""Keep answers in a file as they come, so that a killed run can go on."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from sat_retriever.errors import InputError
from sat_retriever.records.files import make_folder, writing

_FORMAT = 1
_BEGINNING = b'{"format": '


@dataclass(frozen=True, slots=True)
class Answer:
    """The outcome of one question.

    Attributes:
        ids: Labels that the model named, best first, each once; not filled up.
        prompt_tokens: Tokens of the prompt by the server's count; None if not reported.
        tries: Number of times it was asked.
        short: True if it named at least one sheet, but fewer than requested.
        failed: True if no try gave a sheet.
        seconds: Time of all tries together.
        problem: Reason why the last try failed; empty unless all did.
        digest: Digest of the model's files; empty if the server did not report it.
    """

    ids: tuple[str, ...]
    prompt_tokens: int | None
    tries: int
    short: bool
    failed: bool
    seconds: float
    problem: str = ""
    digest: str = ""


def key_of(settings: Mapping[str, Any], prompt: str) -> str:
    """Return sixty-four hex digits over all inputs that can change an answer.

    The model's files are excluded, so a run of kept answers needs no server. Each answer has their
    digest, which is compared if there is a server.

    Args:
        settings: The model's name and all its options.
        prompt: The whole message, with catalogue and question.
    """
    text = json.dumps([_FORMAT, settings, prompt], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


class Answers:
    """Answers by key; each is a line that is on the disk before the next question is asked.

    One process may write to a file at a time. A last line that a kill left incomplete is dropped
    and its question asked again. Failed questions are asked again too.
    """

    def __init__(self, path: str | Path) -> None:
        """Read the answers of a file.

        Args:
            path: A file of JSON lines; created with the first answer if it is missing.

        Raises:
            InputError: If it cannot be read, or is not a file of answers.
        """
        self.path = Path(path)
        self._kept: dict[str, Answer] = {}
        self._seen: dict[str, Answer] = {}
        self._whole: int | None = None  # bytes before an incomplete last line, else None
        self._read()

    def __len__(self) -> int:
        """Return the number of questions with a kept answer that did not fail."""
        return sum(not answer.failed for answer in self._kept.values())

    @property
    def seen(self) -> tuple[Answer, ...]:
        """The answers to the questions that were asked or looked up since the file was opened."""
        return tuple(self._seen.values())

    def find(self, key: str, fits: Callable[[Answer], bool] | None = None) -> Answer | None:
        """Return the kept answer to a question; None if there is none or it failed.

        Args:
            key: See `key_of`.
            fits: Decides whether a kept answer may still be used, for example because the model is
                the same; None always allows it.
        """
        answer = self._kept.get(key)
        if answer is None or answer.failed or not (fits is None or fits(answer)):
            return None
        self._seen[key] = answer
        return answer

    def keep(self, key: str, answer: Answer) -> None:
        """Append an answer to the file.

        Raises:
            OutputError: If it cannot be written.
        """
        line = json.dumps({"format": _FORMAT, "key": key, **asdict(answer)}) + "\n"
        make_folder(self.path.parent)
        with writing(self.path), self.path.open("ab") as file:
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
                key, answer = _answer(json.loads(line))
            except (ValueError, KeyError, TypeError) as error:
                raise InputError(
                    f"{self.path}, line {number}: no kept answer; move the file away, or choose "
                    "another folder (--out)"
                ) from error
            self._kept[key] = answer
        if torn[: len(_BEGINNING)] != _BEGINNING[: len(torn)]:  # another program's text
            raise InputError(
                f"{self.path} does not end with a kept answer; move the file away, or choose "
                "another folder (--out)"
            )
        if torn:
            self._whole = len(content) - len(torn)


def _answer(row: Mapping[str, Any]) -> tuple[str, Answer]:
    if row["format"] != _FORMAT:
        raise ValueError(row["format"])
    tokens = row["prompt_tokens"]
    answer = Answer(
        ids=tuple(str(each) for each in row["ids"]),
        prompt_tokens=None if tokens is None else int(tokens),
        tries=int(row["tries"]),
        short=bool(row["short"]),
        failed=bool(row["failed"]),
        seconds=float(row["seconds"]),
        problem=str(row["problem"]),
        digest=str(row.get("digest", "")),  # older answers have none
    )
    return str(row["key"]), answer
