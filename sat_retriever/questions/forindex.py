"""Make labelled questions about a user's own index from the facts in its sheets."""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from functools import lru_cache

from sat_retriever.datasets.labels.query import Query
from sat_retriever.errors import InputError
from sat_retriever.questions.contents.draw import KINDS
from sat_retriever.questions.contents.make import Contents, content_queries, shares
from sat_retriever.questions.facts import Need, SheetFacts
from sat_retriever.questions.generate import Made, QueryOptions, make_queries
from sat_retriever.questions.grammar import FOUND, Grammar
from sat_retriever.questions.headers import header_queries
from sat_retriever.questions.namefacts import LeftOut, found_facts
from sat_retriever.records.links import Link, LinkType
from sat_retriever.records.progress import Progress
from sat_retriever.records.sheets import SheetRecord
from sat_retriever.text.period.periods import SheetPeriod
from sat_retriever.text.period.spans import Span, span_of
from sat_retriever.text.period.spellings import spelled
from sat_retriever.text.segment import stems

_LOOKED_AT = 2_000  # sheets with a word; a word of more sheets is too common to tell them apart
_TIME = re.compile(r"\b(?:years?|quarters?|months?|hal(?:f|ves)|latest|last|annual|season)\b", re.I)


@dataclass(frozen=True, slots=True)
class Described:
    """The words that describe each sheet, and the sheets by word.

    Attributes:
        own: Stems of kind, category and entity, by sheet id.
        all: The own stems and those of the sheet id, which has the names of folders, file and tab.
    """

    facts: Mapping[str, SheetFacts]
    own: Mapping[str, frozenset[str]]
    all: Mapping[str, frozenset[str]]
    sheets: Mapping[str, Sequence[str]]

    @classmethod
    def of(cls, facts: Iterable[SheetFacts]) -> Described:
        """Collect the words of all facts."""
        by_id, own, every = {}, {}, {}
        sheets: dict[str, list[str]] = {}
        for each in facts:
            named = frozenset().union(*map(_stems, (each.kind, each.category, each.entity)))
            by_id[each.sheet_id] = each
            own[each.sheet_id] = named
            every[each.sheet_id] = named | _stems(each.sheet_id)
            for word in sorted(every[each.sheet_id]):
                sheets.setdefault(word, []).append(each.sheet_id)
        return cls(by_id, own, every, sheets)

    def forgotten(self, text: str, meant: Sequence[str], keys: Sequence[str] = ()) -> str | None:
        """Find an unintended sheet that a question's words describe too; None if there is none.

        The words of the question in an intended sheet's kind, category and owner describe that
        sheet. Another sheet with all of them is forgotten if the question names no time, or if its
        period lies within that of an intended sheet with the same description.

        Args:
            meant: The intended sheets: the answers, or the sheets that take from them.
            keys: Key columns that it names; sheets without them are not described.
        """
        asked = _stems(text)
        timed = bool(spelled(text).units) or bool(_TIME.search(text))
        known = set(meant)
        times: dict[frozenset[str], set[Span | None]] = {}  # periods of those meant, by description
        for sheet in meant:
            if said := asked & self.own.get(sheet, _NONE):
                times.setdefault(said, set()).add(_span(self.facts[sheet].period))
        for said in sorted(times, key=sorted):
            rarest = min(said, key=lambda word: (len(self.sheets[word]), word))
            for sheet in self.sheets[rarest][:_LOOKED_AT]:
                if (
                    sheet not in known
                    and (not keys or Need(keys=tuple(keys)).holds(self.facts[sheet]))
                    and said <= self.all[sheet]
                    and (not timed or _within(self.facts[sheet].period, times[said]))
                ):
                    return sheet
        return None


def _within(period: SheetPeriod | None, spans: Set[Span | None]) -> bool:
    """True if a sheet's period lies within one of some spans; if unknown, so must all spans be."""
    if period is None:
        return spans == {None}
    return any(span is not None and span.covers(period) for span in spans)


def _span(period: SheetPeriod | None) -> Span | None:
    return None if period is None else span_of(period)


_NONE: frozenset[str] = frozenset()


@lru_cache(maxsize=65_536)
def _stems(text: str) -> frozenset[str]:
    return frozenset(stems(text))


_HEADER_SHARE = 0.1  # of all questions; these name columns
_CONTENT_SHARE = 0.4  # of all questions; these ask for what stands in sheets, or for nothing
_LARGEST_SHARE = 0.5  # of the corpus that may be positives of one question
_FEWEST = 4  # number of positives that is always allowed
_PATIENCE = 20  # questions made for each requested one, before giving up
_TRACED = (LinkType.FORMULA_REFERENCE, LinkType.AGGREGATION, LinkType.SUMMARY_SOURCE)

_DOUBLED = re.compile(r"(?<!\w)(\w.{2,}?) \1(?!\w)")  # "project budget project budget"

_WORD = re.compile(r"[^\W_]+")

INCOMPLETE = "the words describe sheets beyond the answer"
TWICE = "another query has the same words"
STUTTER = "the same name would be said twice"


@dataclass(frozen=True, slots=True)
class OwnQueries:
    """The questions about an index, and the sheets and questions left out.

    Attributes:
        made: The questions, each with the words that a rewording must keep.
        covered: Number of sheets that are a positive of some question.
        sheets_left_out: Sheets that no question asks for by name, by reason.
        dropped: Number of questions made but not kept, by reason.
    """

    made: tuple[Made, ...]
    sheets: int
    covered: int
    sheets_left_out: tuple[LeftOut, ...] = ()
    dropped: Counter[str] = field(default_factory=Counter)


def own_queries(
    records: Iterable[SheetRecord],
    links: Iterable[Link],
    number: int,
    *,
    seed: int = 0,
    types: Collection[str] | None = None,
    about: frozenset[str] | None = None,
    contents: Contents | None = None,
    progress: Progress | None = None,
) -> OwnQueries:
    """Make questions that people could ask about these sheets, with all sheets that answer them.

    Names, headers, periods and links are used, and, if asked for, what stands in cells. All query
    types are equally frequent, unlike in the published corpora.

    Source: paper, appendix on data sets (positives share attributes). Departs: the
    attributes are read from a user's own sheets instead of being known.

    Args:
        records: Sheets of an index; iterated over several times.
        links: Links between them; iterated over once.
        number: Number of questions; fewer are made if there are no more.
        types: Query types to make; None for all.
        about: Ids of the only sheets that may be positives; None for any. A question that other
            sheets answer too is left out.
        contents: The same sheets with their contents: gives questions about what stands in them,
            for versions, and such that nothing answers; None gives none of them.

    Raises:
        InputError: If the number is below 1, or a type is unknown.
    """
    options = _options(number, types)
    traced: list[Link] = []
    found = found_facts(records, _traced(links, traced))
    described = Described.of(found.facts)
    sheets = len(found.facts) + sum(left.number for left in found.left_out)
    options = replace(
        options, max_positives=_most(sheets, options), grammar=Grammar.load(FOUND), about=about
    )
    kept: dict[str, Made] = {}
    dropped: Counter[str] = Counter()
    if types is None or "semantic_lookup" in types:
        chance = random.Random(f"headers {seed}")  # noqa: S311 - repeatable, no secret
        wanted = max(1, round(number * _HEADER_SHARE))
        for each in header_queries(records, wanted, chance, about):
            kept[each.query.text.casefold()] = each
    asked = [kind for kind in KINDS if types is None or kind in types]
    share = _CONTENT_SHARE if types is None or options.shares else 1.0
    numbers = shares(round(number * share), asked)
    about_cells = () if contents is None else content_queries(contents, numbers, seed, about=about)
    for each in about_cells:
        kept.setdefault(each.query.text.casefold(), each)
    made = make_queries(
        found.facts,
        traced,
        number=_PATIENCE * number,
        seed=seed,
        options=options,
    )
    for each in made if len(kept) < number else ():
        text = each.query.text.casefold()
        if text in kept:
            dropped[TWICE] += 1
        elif stutters(each.query, described):
            dropped[STUTTER] += 1
        elif described.forgotten(each.query.text, each.meant, each.keys) is not None:
            dropped[INCOMPLETE] += 1
        else:
            kept[text] = each
            if progress is not None:
                progress(len(kept), number)
        if len(kept) >= number:
            break
    covered = {sheet for each in kept.values() for sheet in each.query.positives}
    return OwnQueries(
        made=tuple(kept.values())[:number],
        sheets=sheets,
        covered=len(covered),
        sheets_left_out=found.left_out,
        dropped=dropped,
    )


def stutters(query: Query, described: Described) -> bool:
    """True if the text repeats a name: as subject and owner, or in a row."""
    text = query.text.casefold()
    if _DOUBLED.search(text):
        return True
    facts = (described.facts[sheet] for sheet in query.positives if sheet in described.facts)
    owners = {tuple(each.entity.casefold().split()) for each in facts}
    counts = Counter(_WORD.findall(text))
    return any(
        len(owner) > 1 and all(counts[word] > 1 for word in owner) for owner in sorted(owners)
    )


def _options(number: int, types: Collection[str] | None) -> QueryOptions:
    if number < 1:
        raise InputError(f"number is {number}; ask for at least 1 question")
    options = QueryOptions.even()
    if types is None:
        return options
    known = [*sorted({name for name, _ in options.shares}), *KINDS]
    for name in types:
        if name not in known:
            raise InputError(f"there is no query type {name!r}; choose from {', '.join(known)}")
    shares = {key: share for key, share in options.shares.items() if key[0] in types}
    return replace(options, shares=shares)


def _most(sheets: int, options: QueryOptions) -> int:
    """Return the most positives of a question; one that most sheets answer is not informative."""
    return max(1, min(options.max_positives, max(_FEWEST, int(sheets * _LARGEST_SHARE))))


def _traced(links: Iterable[Link], traced: list[Link]) -> Iterator[Link]:
    """Yield all links; keep those that questions use, without their evidence."""
    for link in links:
        if link.type in _TRACED:
            traced.append(replace(link, evidence=""))
        yield link
