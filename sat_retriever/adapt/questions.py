"""What an adaptation learns from, chooses with and is judged by: questions about own sheets.

questions/train.json       made from the sheets that training may see, and no others
questions/held-out.json    made from all sheets, those whose whole answer is held out
rewordings.json            a language model's answers, if one rewords them
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from sat_retriever.adapt.settings import AdaptSettings
from sat_retriever.atomic import make_folder
from sat_retriever.chat import Chat
from sat_retriever.errors import EmptyInputError
from sat_retriever.index import SheetIndex
from sat_retriever.labels import Query, load_labels
from sat_retriever.queries.generate import Made
from sat_retriever.queries.own import own_queries
from sat_retriever.queries.paraphrase import reworded
from sat_retriever.queries.publish import write_queries
from sat_retriever.training.families import families_of
from sat_retriever.training.holdout import divided, held_out_families
from sat_retriever.training.sources import read_records
from sat_retriever.types import Link, SheetRecord

FEWEST = 10  # questions that judge apart from those that choose
QUESTIONS = "questions"
_TRIED = 3  # questions about all sheets for one to learn from; few are about held-out ones alone
_REWORDINGS = ".rewordings.json"  # hidden: it is of use whatever the options are
_TRAIN, _HELD_OUT = "train.json", "held-out.json"

Counting = Callable[[str, int, int], None]  # what is being done, how much of it, of how much


@dataclass(frozen=True, slots=True)
class Material:
    """The questions of an adaptation, and the sheets that it may see.

    Attributes:
        train: To learn from; labelled ones stand there as often as they count.
        choose: About held-out families; they choose epoch and share of the cosine.
        judge: About other held-out families; they decide what is kept, and are reported.
        apart: Whether `judge` is apart from `choose`; with few questions both are the same.
        seen: Ids of the sheets that training may use, even as negatives.
        made: Questions that were made, training and held-out ones.
        own: Labelled questions that are used.
        left_out: Labelled questions about both seen and held-out sheets, or both parts of these.
        families: Families of sheets.
        held_out: Those of them that are held out.
    """

    train: tuple[Query, ...]
    choose: tuple[Query, ...]
    judge: tuple[Query, ...]
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
    """The questions of an adaptation; made once, and read again by the next start.

    Those to learn from are made as if the held-out sheets were not there, so nothing of them
    is learnt. Those held out are made from all sheets, so their answers are complete.

    Args:
        index: The sheets and their links.
        settings: How many questions, how much is held out, the seed.
        folder: Where the made questions are kept.
        own: Labelled or logged questions; all their sheets are in the index.
        chat: A language model that rewords what was made; None leaves it.
        counting: Called with what is being done, how much of it is done, and how much there is.

    Raises:
        EmptyInputError: If there is nothing to learn from, or to choose with.
        InputError: If all sheets are of one family.
        LanguageModelError: If the model gives no answer; earlier answers are kept.
        OutputError: If the folder cannot be written.
    """
    groups = families_of(index)
    held_out = held_out_families(groups, share=settings.share, seed=settings.seed)
    ids = index.sheet_ids()
    mine = divided(own, ids, held_out)
    seen = frozenset(ids) - held_out
    made = _made(index, settings, folder, seen, chat, counting)
    taken = _texts((*made[1], *own))
    lessons = tuple(query for query in made[0] if query.text.casefold() not in taken)
    given = _texts(own)
    asked = (*(q for q in made[1] if q.text.casefold() not in given), *mine.validation)
    train = mixed(lessons, mine.train, settings)
    _check(train, asked, index, settings)
    choose, judge, apart = halves(asked, groups, held_out, settings.seed)
    return Material(
        train=train,
        choose=choose,
        judge=judge,
        apart=apart,
        seen=seen,
        made=len(lessons) + len(asked) - len(mine.validation),
        own=len(mine.train) + len(mine.validation),
        left_out=mine.left_out,
        families=len(groups),
        held_out=sum(group[0] in held_out for group in groups),
    )


def merged(parts: Iterable[Sequence[Query]]) -> tuple[Query, ...]:
    """The questions of several files, each text once, with all sheets that any calls relevant.

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
    """Made and labelled questions, the latter as often as it takes to be a share of all.

    >>> made, own = [Query("a", ("1",))] * 8, [Query("b", ("2",))]
    >>> len(mixed(made, own, AdaptSettings(own_share=0.33, own_most=8)))
    12
    """
    if not own:
        return tuple(made)
    wanted = settings.own_share / (1 - settings.own_share) * len(made) / len(own)
    times = max(1, min(settings.own_most, round(wanted)))
    return (*made, *(query for query in own for _ in range(times)))


def halves(
    asked: Sequence[Query],
    groups: Sequence[Sequence[str]],
    held_out: Collection[str],
    seed: int,
) -> tuple[tuple[Query, ...], tuple[Query, ...], bool]:
    """The held-out questions that choose, those that judge, and whether these are apart.

    Held-out families go to one side or the other; a question about both is left out. With too
    few questions on a side all of them do both.
    """
    inside = [group for group in groups if group[0] in held_out]
    if len(inside) > 1:
        judged = held_out_families(inside, share=0.5, seed=seed)
        parts = divided(asked, (), judged)
        if min(len(parts.train), len(parts.validation)) >= FEWEST:
            return parts.train, parts.validation, True
    return tuple(asked), tuple(asked), False


# ---- inner workings


class _Records:
    """Some records of an index, read anew each time they are gone through."""

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
) -> tuple[tuple[Query, ...], tuple[Query, ...]]:
    """Questions for training and held-out ones, from the folder if they are there."""
    place = folder / QUESTIONS
    if not place.is_dir():
        number = settings.questions(len(index))

        def tell(done: int, total: int) -> None:
            if counting is not None:
                counting("making questions", done, total)

        def make(
            number: int, links: Iterator[Link], kept: frozenset[str] | None = None
        ) -> tuple[Made, ...]:
            records = _Records(index, kept)
            return own_queries(records, links, number, seed=settings.seed, progress=tell).made

        links = (x for x in index.all_links() if x.source in seen and x.target in seen)
        lessons = make(number, links, seen)
        every = make(_TRIED * number, index.all_links())
        asked = [each for each in every if not seen.intersection(each.query.positives)]
        if chat is not None:
            cache = folder / _REWORDINGS
            both = reworded((*lessons, *asked), chat, cache, seed=settings.seed).made
            lessons, asked = both[: len(lessons)], list(both[len(lessons) :])
        _write(place, lessons, asked)
    return _read(place / _TRAIN), _read(place / _HELD_OUT)


def _write(place: Path, lessons: Sequence[Made], asked: Sequence[Made]) -> None:
    """Both files, or none of them."""
    draft = place.with_name(f".{place.name}.partial")
    shutil.rmtree(draft, ignore_errors=True)
    make_folder(draft)
    for name, made in ((_TRAIN, lessons), (_HELD_OUT, asked)):
        write_queries(draft / name, (each.query for each in made))
    draft.rename(place)


def _read(file: Path) -> tuple[Query, ...]:
    """The questions of a file that was written here; it may hold none."""
    return () if file.read_text(encoding="utf-8").split() == ["[", "]"] else load_labels(file)


def _others(sheets: Sequence[str], positives: Collection[str]) -> tuple[str, ...]:
    return tuple(each for each in dict.fromkeys(sheets) if each not in positives)


def _texts(queries: Sequence[Query]) -> set[str]:
    return {query.text.casefold() for query in queries}


def _check(
    train: Sequence[Query], asked: Sequence[Query], index: SheetIndex, settings: AdaptSettings
) -> None:
    """Refuse to learn from nothing, or to choose with nothing."""
    if not train:
        raise EmptyInputError(
            f"no question can be made from the names, headers and links in {index.path}; give "
            "labelled or logged ones (--queries FILE)"
        )
    if not asked:
        raise EmptyInputError(
            f"there is no question about held-out sheets alone, {settings.share:g} of all in "
            f"{index.path}: hold out more (--share), make more (--number), or give labelled ones "
            "(--queries FILE)"
        )
