"""Make the questions that an adaptation learns from, chooses with and is judged by.

questions/train.json       made only from the sheets that training may see
questions/rerank.json      others, made in the same way
questions/held-out.json    made from all sheets; every sheet of an answer is held out
rewordings.json            answers of the language model, if one rewords them
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice
from pathlib import Path

from sat_retriever.datasets.dataset import Dataset
from sat_retriever.datasets.labels import Query, load_labels
from sat_retriever.datasets.labels.write import write_queries
from sat_retriever.errors import EmptyInputError
from sat_retriever.index.index import SheetIndex
from sat_retriever.llm.chat import Chat
from sat_retriever.questions.forindex import own_queries
from sat_retriever.questions.generate import Made
from sat_retriever.questions.paraphrase import in_other_words, reworded
from sat_retriever.records.files import make_folder
from sat_retriever.records.grouping import evenly
from sat_retriever.records.sheets import SheetRecord
from sat_retriever.train.adapt.settings import AdaptSettings
from sat_retriever.train.data.holdout import (
    FEWEST,
    circles,
    divided,
    even,
    families_of,
    kept_apart,
    sides,
)
from sat_retriever.train.data.reading import read_records

QUESTIONS, TRAIN = "questions", "train.json"
_HELD_OUT_MOST = 1_000  # held-out questions; more would hardly change a decision
_REWORDINGS = ".rewordings.json"  # hidden: it serves any options
_RERANK, _HELD_OUT = "rerank.json", "held-out.json"
_OTHER_SEED = 10_000  # added to the seed, gives other questions about the same sheets

Counting = Callable[[str, int, int], None]  # the step, how much is done, of how much


@dataclass(frozen=True, slots=True)
class Material:
    """The questions of an adaptation, and the sheets that it may see.

    Attributes:
        train: Training questions of Stage 1; labelled ones are repeated to reach their share.
        rerank: Training questions of Stage 2. They differ from `train`, since Stage 1 finds better
            candidates for questions that it was trained on; the labelled ones are the same. With
            few other questions, or without Stage 2, they are those of `train`.
        choose: Questions about held-out families. They choose the epoch, the mixture of the
            weights before and after, and the share of the cosine if the encoder brings none.
        judge: Questions about other held-out families. They decide which models are kept, and
            their figures are reported. Made ones are reworded, since training questions quote
            the sheets.
        circles: A number for each of `judge`, equal for those about the same families.
        apart: True if `judge` and `choose` are separate; with few questions both are the same.
        seen: Ids of the sheets that training may use, even as negatives.
        made: Number of made questions, for training and held out.
        own: Number of labelled questions in use.
        left_out: Number of labelled questions left out: those about both seen and held-out sheets
            or about both parts of the held-out ones, and those beyond the share of labelled ones.
        families: Number of families of sheets, of which `held_out` are held out.
    """

    train: tuple[Query, ...]
    rerank: tuple[Query, ...]
    choose: tuple[Query, ...]
    judge: tuple[Query, ...]
    circles: tuple[int, ...]
    apart: bool
    seen: frozenset[str]
    made: int
    own: int
    left_out: int
    families: int
    held_out: int


def prepare(
    index: SheetIndex,
    settings: AdaptSettings,
    folder: Path,
    own: Sequence[Query] = (),
    *,
    chat: Chat | None = None,
    counting: Counting | None = None,
) -> Material:
    """Make the questions of an adaptation once, or read those of an earlier start.

    Training questions are made as if the held-out sheets did not exist, so training learns nothing
    about them. Held-out questions are made from all sheets, so their answers are complete. `own`
    are labelled or logged questions about sheets of the index; `chat` rewords the made ones.

    Raises:
        LanguageModelError: If the model gives no answer; earlier answers are kept.
    """
    groups = families_of(index)
    held_out = kept_apart(groups, share=settings.share, seed=settings.seed)
    ids = index.sheet_ids()
    mine = Dataset(index.path.stem, (), tuple(own), split=divided(own, ids, held_out))
    seen = frozenset(ids) - held_out
    first, second, about_held_out = _made(index, settings, folder, seen, chat, counting)
    lessons = _without(first, _texts((*about_held_out, *own)))
    others = _without(second, _texts((*first, *about_held_out, *own)))
    checked = evenly(mine.validation, _HELD_OUT_MOST)
    asked = (*even(_without(about_held_out, _texts(own))), *checked)
    labelled = _share_of(mine.train, lessons, settings)
    train = mixed(lessons, labelled, settings)
    _check(train, asked, index, settings)
    rerank = mixed(others, labelled, settings) if len(others) >= FEWEST else train
    choose, judge, apart = sides(asked, groups, held_out, settings.seed)
    judge = _less_quoted(judge, own, index, settings.seed)
    return Material(
        train=train,
        rerank=rerank,
        choose=choose,
        judge=judge,
        circles=circles(judge, groups),
        apart=apart,
        seen=seen,
        made=len(lessons) + len(others) + len(asked) - len(checked),
        own=len(labelled) + len(checked),
        left_out=len(own) - len(labelled) - len(checked),
        families=len(groups),
        held_out=sum(group[0] in held_out for group in groups),
    )


def merged(parts: Iterable[Sequence[Query]]) -> tuple[Query, ...]:
    """Merge the questions of several files: each text once, with all its relevant sheets.

    >>> both = merged([[Query("a", ("1",), ("2",))], [Query("a", ("2",)), Query("b", ("1",))]])
    >>> [(query.text, query.positives, query.negatives) for query in both]
    [('a', ('1', '2'), ()), ('b', ('1',), ())]
    """
    found: dict[str, Query] = {}
    for query in (query for part in parts for query in part):
        first = found.setdefault(query.text, query)
        positives = tuple(dict.fromkeys((*first.positives, *query.positives)))
        found[query.text] = replace(
            first,
            positives=positives,
            negatives=_others(first.negatives + query.negatives, positives),
            hard_negatives=_others(first.hard_negatives + query.hard_negatives, positives),
            hard_negative_types={},
        )
    return tuple(found.values())


def mixed(
    made: Sequence[Query], own: Sequence[Query], settings: AdaptSettings
) -> tuple[Query, ...]:
    """Return made questions and labelled ones, repeated to reach their share.

    >>> made, own = [Query("a", ("1",))] * 8, [Query("b", ("2",))]
    >>> len(mixed(made, own, AdaptSettings(own_share=0.33, own_most=8)))
    12
    """
    if not own:
        return tuple(made)
    times = max(1, min(settings.own_most, round(_wanted(made, settings) / len(own))))
    return (*made, *(query for query in own for _ in range(times)))


# ---- inner workings


def _share_of(
    own: Sequence[Query], made: Sequence[Query], settings: AdaptSettings
) -> Sequence[Query]:
    """Return as many labelled questions as their share beside the made ones allows."""
    return evenly(own, max(1, round(_wanted(made, settings)))) if made else own


def _wanted(made: Sequence[Query], settings: AdaptSettings) -> float:
    return settings.own_share / (1 - settings.own_share) * len(made)


class _Records:
    """Some records of an index, read anew in each pass."""

    def __init__(self, index: SheetIndex, kept: frozenset[str] | None = None) -> None:
        self._index = index
        self._kept = kept

    def __iter__(self) -> Iterator[SheetRecord]:
        for record in read_records(self._index):
            if self._kept is None or record.sheet_id in self._kept:
                yield record


def _made(
    index: SheetIndex,
    settings: AdaptSettings,
    folder: Path,
    seen: frozenset[str],
    chat: Chat | None,
    counting: Counting | None,
) -> list[tuple[Query, ...]]:
    """Return the made questions `train`, `rerank` and held-out; from the folder if it has them."""
    place = folder / QUESTIONS
    if not place.is_dir():
        number = settings.questions(len(index))

        def tell(done: int, total: int) -> None:
            if counting is not None:
                counting("making questions", done, total)

        def learn(seed: int) -> tuple[Made, ...]:
            links = (each for each in index.all_links() if {each.source, each.target} <= seen)
            records = _Records(index, seen)
            return own_queries(records, links, number, seed=seed, progress=tell).made

        def ask(about: frozenset[str]) -> tuple[Made, ...]:
            records, links, most = _Records(index), index.all_links(), min(number, _HELD_OUT_MOST)
            return own_queries(
                records, links, most, seed=settings.seed, about=about, progress=tell
            ).made

        made = {
            TRAIN: learn(settings.seed),
            _RERANK: learn(settings.seed + _OTHER_SEED) if settings.stage == "both" else (),
            _HELD_OUT: ask(frozenset(index.sheet_ids()) - seen),
        }
        if chat is not None:
            every_one = tuple(chain(*made.values()))
            told = reworded(every_one, chat, folder / _REWORDINGS, seed=settings.seed)
            rest = iter(told.made)
            made = {name: tuple(islice(rest, len(each))) for name, each in made.items()}
        _write(place, made)
    return [_read(place / name) for name in (TRAIN, _RERANK, _HELD_OUT)]


def _write(place: Path, made: Mapping[str, Sequence[Made]]) -> None:
    """Write all files, or none of them."""
    draft = place.with_name(f".{place.name}.partial")
    shutil.rmtree(draft, ignore_errors=True)
    make_folder(draft)
    for name, part in made.items():
        write_queries(draft / name, (each.query for each in part))
    draft.rename(place)


def _read(file: Path) -> tuple[Query, ...]:
    """Read the questions of a file that was written here; it may hold none."""
    return () if file.read_text(encoding="utf-8").split() == ["[", "]"] else load_labels(file)


def _others(sheets: Sequence[str], positives: Collection[str]) -> tuple[str, ...]:
    return tuple(each for each in dict.fromkeys(sheets) if each not in positives)


def _less_quoted(
    judge: Sequence[Query], own: Sequence[Query], index: SheetIndex, seed: int
) -> tuple[Query, ...]:
    """Reword the made questions; a person already wrote the labelled ones."""
    labelled = _texts(own)
    made = [query for query in judge if query.text.casefold() not in labelled]
    encode = index.encoder.encode_sheets  # of many words; a framework's queries go one by one
    other = iter(in_other_words(made, read_records(index), encode, seed=seed))
    return tuple(query if query.text.casefold() in labelled else next(other) for query in judge)


def _texts(queries: Sequence[Query]) -> set[str]:
    return {query.text.casefold() for query in queries}


def _without(queries: Sequence[Query], texts: set[str]) -> tuple[Query, ...]:
    return tuple(query for query in queries if query.text.casefold() not in texts)


def _check(
    train: Sequence[Query], asked: Sequence[Query], index: SheetIndex, settings: AdaptSettings
) -> None:
    if not train:
        raise EmptyInputError(
            f"no question can be made from the names, headers and links in {index.path.name}; give "
            "labelled or logged ones (--queries FILE)"
        )
    if not asked:
        raise EmptyInputError(
            f"there is no question about held-out sheets alone, {settings.share:g} of all in "
            f"{index.path.name}: hold out more (--share), make more (--number), or give labelled "
            "ones (--queries FILE)"
        )
