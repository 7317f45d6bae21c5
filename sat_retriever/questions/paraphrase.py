"""Reword questions with a language model; drop rewordings that lose a fact."""

from __future__ import annotations

import json
import random
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from sat_retriever.datasets.labels.query import Query
from sat_retriever.errors import InputError
from sat_retriever.llm.chat import Chat
from sat_retriever.questions.generate import Made
from sat_retriever.records.files import draft_of
from sat_retriever.records.sheets import SheetRecord
from sat_retriever.records.tokens import FloatArray
from sat_retriever.text.lexical import STOP_WORDS, sheet_texts
from sat_retriever.text.period.spellings import spelled
from sat_retriever.text.segment import stem, words

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
        cache: JSON file of answers by question; created if missing.

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


SHARE = 0.5  # of the quoted words; chosen on development corpora, see the benchmarks' log
_MOST_WORDS = 20_000  # of the sheets, most frequent first
_LOOKED_AT = 8  # nearest words; if all are forms of the word itself, it stays
_SAME_START = 4  # letters at the beginning that two forms of a word share
_WORD = re.compile(r"[^\W\d_]{3,}")

Encode = Callable[[Sequence[str]], FloatArray]


def in_other_words(
    queries: Sequence[Query],
    records: Iterable[SheetRecord],
    encode: Encode,
    *,
    share: float = SHARE,
    seed: int = 0,
) -> tuple[Query, ...]:
    """Replace some of the words that questions quote by their nearest neighbours.

    A word is quoted if a sheet that answers has it, in any form. Its neighbour is the word of
    all sheets with the nearest meaning that is not a form of it. Times, numbers, function
    words, and words of scripts without spaces stay. Labels stay too: a neighbour may fit other
    sheets as well, but equally for all compared models.

    Source: beyond the paper.

    Args:
        records: All sheets; iterated over once.
        encode: Function from words to unit vectors, (n, d); only their similarities count.
        share: Share of the quoted words to replace, in [0, 1].
    """
    asked = {sheet_id for query in queries for sheet_id in query.positives}
    quotable: dict[str, frozenset[str]] = {}
    counts: Counter[str] = Counter()
    spelling: dict[str, str] = {}
    for record in records:
        found = {word for text in sheet_texts(record) for word in words(text)}
        own = {stem(word): word for word in sorted(found) if _WORD.fullmatch(word)}
        for form, word in own.items():
            spelling.setdefault(form, word)
        counts.update(own.keys())
        if record.sheet_id in asked:
            quotable[record.sheet_id] = frozenset(own)
    most = sorted(counts, key=lambda form: (-counts[form], form))[:_MOST_WORDS]
    chance = random.Random(f"other words {seed}")  # noqa: S311 - repeatable, no secret
    replaced = [_chosen(query, quotable, share, chance) for query in queries]
    forms = sorted({stem(hit.word) for hits in replaced for hit in hits})
    near = _neighbours(forms, {form: spelling[form] for form in most}, encode)
    return tuple(
        replace(query, text=_said(query.text, hits, near))
        for query, hits in zip(queries, replaced, strict=True)
    )


@dataclass(frozen=True, slots=True)
class _Hit:
    start: int
    end: int
    word: str


def _chosen(
    query: Query, quotable: Mapping[str, Set[str]], share: float, chance: random.Random
) -> list[_Hit]:
    own = frozenset().union(*(quotable.get(sheet_id, ()) for sheet_id in query.positives))
    untimed = set(words(spelled(query.text).rest))
    found = []
    for match in _WORD.finditer(query.text):
        read = words(match.group())  # several or none for signs that only look like letters
        if len(read) != 1 or read[0] in STOP_WORDS or read[0] not in untimed:
            continue
        if stem(read[0]) in own:
            found.append(_Hit(*match.span(), read[0]))
    return [hit for hit in found if chance.random() < share]


def _said(text: str, hits: Sequence[_Hit], near: Mapping[str, str]) -> str:
    for hit in reversed(hits):
        text = text[: hit.start] + near.get(stem(hit.word), hit.word) + text[hit.end :]
    return text


def _neighbours(
    forms: Sequence[str], spelling: Mapping[str, str], encode: Encode
) -> dict[str, str]:
    """Map each form to the nearest word of the corpus that is not a form of it, if any."""
    if not forms:
        return {}
    known = list(spelling)
    every = encode([spelling[form] for form in known])
    mine = encode([spelling.get(form, form) for form in forms])
    found = {}
    for form, vector in zip(forms, mine, strict=True):
        nearest = np.argsort(-(every @ vector), kind="stable")[:_LOOKED_AT]
        others = (known[place] for place in nearest)
        other = next((each for each in others if not _alike(each, form)), None)
        if other is not None:
            found[form] = spelling[other]
    return found


def _alike(one: str, other: str) -> bool:
    """True if two stems are likely to be of one word.

    >>> _alike("produc", "product"), _alike("budget", "spend")
    (True, False)
    """
    return one[:_SAME_START] == other[:_SAME_START]
