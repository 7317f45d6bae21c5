"""Reword questions with a local language model; drop rewordings that lose a fact."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from sat_retriever.errors import InputError
from sat_retriever.llm.chat import Chat
from sat_retriever.questions.generate import Made
from sat_retriever.records.files import draft_of

MAX_LENGTH = 400
_FORMAT = 1
_SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "rewordings": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"number": {"type": "integer"}, "text": {"type": "string"}},
                "required": ["number", "text"],
            },
        }
    },
    "required": ["rewordings"],
}
_TASK = (
    "Somebody looks for spreadsheet sheets. Say each request below in other words, as a person "
    "at work would type it: one sentence, same meaning, nothing added, nothing left out. Keep "
    "the words after 'keep' exactly as they are written. Answer with the number and the new "
    "text of every request."
)


@dataclass(frozen=True, slots=True)
class Reworded:
    """The questions after rewording.

    Attributes:
        made: The questions in their order, labels unchanged.
        reworded: Number of questions with a new text.
        kept: Number of questions that kept their text because the new one lost a name, a time
            or a key, was empty, too long, or another question's text.
    """

    made: tuple[Made, ...]
    reworded: int
    kept: int


def reworded(
    made: Sequence[Made], chat: Chat, cache: str | Path, *, batch: int = 8, seed: int = 0
) -> Reworded:
    """Reword questions with a model, unless the new text would lose a name, a time or a key.

    Every answer is saved in a JSON file at once. A stopped run continues from there, and a
    repeated run makes no requests and gives the same texts.

    Args:
        made: Questions with the strings that must stay.
        chat: The model.
        cache: JSON file of answers by question; created if missing.
        batch: Questions per prompt.
        seed: Seed for the model.

    Raises:
        InputError: If the cache is not such a file, or `batch` is below 1.
        LanguageModelError: If the model gives no answer; earlier answers are kept.
    """
    if batch < 1:
        raise InputError(f"batch must be at least 1, not {batch}")
    path = Path(cache)
    answers = _load(path)
    missing = [each for each in made if each.query.text not in answers]
    for start in range(0, len(missing), batch):
        part = missing[start : start + batch]
        answers |= _ask(part, chat, seed)
        _save(path, answers)
    texts = {each.query.text.casefold() for each in made}
    result, changed = [], 0
    for each in made:
        text = " ".join(answers[each.query.text].split())
        if _faithful(text, each) and text.casefold() not in texts:
            texts.add(text.casefold())
            result.append(replace(each, query=replace(each.query, text=text)))
            changed += 1
        else:
            result.append(each)
    return Reworded(tuple(result), changed, len(result) - changed)


def _faithful(text: str, made: Made) -> bool:
    said = text.casefold()
    return 0 < len(text) <= MAX_LENGTH and all(name.casefold() in said for name in made.fixed)


def _ask(part: Sequence[Made], chat: Chat, seed: int) -> dict[str, str]:
    """Return the answers by question; empty for a question that the model left out."""
    requests = "\n".join(
        f"{number}. {each.query.text} [keep: {'; '.join(each.fixed) or 'nothing'}]"
        for number, each in enumerate(part, start=1)
    )
    answer = chat.ask(f"{_TASK}\n\n{requests}", _SCHEMA, seed=seed)
    said = dict(_rows(answer.get("rewordings") if isinstance(answer, dict) else None))
    return {each.query.text: said.get(number, "") for number, each in enumerate(part, start=1)}


def _rows(rows: Any) -> Iterator[tuple[int, str]]:
    for row in rows if isinstance(rows, list) else ():
        if isinstance(row, dict):
            number, text = row.get("number"), row.get("text")
            if isinstance(number, int) and isinstance(text, str):
                yield number, text


def _load(path: Path) -> dict[str, str]:
    if not path.exists():
        return {}
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(
            f"{path} cannot be read as JSON: {error}; delete it or name another"
        ) from error
    answers = content.get("answers") if isinstance(content, dict) else None
    if not isinstance(answers, dict) or content.get("format") != _FORMAT:
        raise InputError(f"{path} is not a file of rewordings; delete it or name another")
    return {str(text): str(answer) for text, answer in answers.items()}


def _save(path: Path, answers: Mapping[str, str]) -> None:
    content = {"format": _FORMAT, "answers": answers}
    with draft_of(path) as draft:
        draft.write_text(json.dumps(content, ensure_ascii=False, indent=1), encoding="utf-8")
