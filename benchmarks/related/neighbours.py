"""How far links lead from one right sheet to the others: what a graph could gain at all.

    python -m benchmarks run related_neighbours [--sets NAME ...]

Over the validation parts of `run related`. A question's *anchor* is the best of its relevant sheets
in the order of the walk; the others are looked for among the sheets that a link joins to it, in
either direction. For each kind of links, "any" (all kinds that the walk follows) and sheets of its
workbook:

- `reached`: share of the other relevant sheets that are neighbours of the anchor;
- `complete`: share of the questions whose other relevant sheets are all neighbours;
- `false`: mean number of neighbours that are not relevant;
- `first`: share of the relevant neighbours that would be found if, of all neighbours, as many were
  taken as are relevant, by Stage 1's score;
- `lost_reached`: of the other relevant sheets that the walk leaves outside of its first ten, the
  share that are neighbours.

`connected` is the share of the questions whose relevant sheets are connected by links among
themselves. Four orders move sheets of the walk's ranking right behind another one: *told* moves the
relevant sheets that are connected to the anchor, as a graph would that makes no error; *untold* all
neighbours of the anchor, by Stage 1's score; *workbook* all sheets of its workbook; *trusting* all
neighbours of the first sheet, relevant or not, so it is the only one that a search could have.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from benchmarks.progress import progress_bar
from benchmarks.related.related import Wanted, searched
from benchmarks.related.scoring import MEASURES, Searched
from benchmarks.related.sets import MADE, SETS, Places
from benchmarks.results import Result
from benchmarks.runner import Options, console, option, suite
from sat_retriever.answer.retriever import CANDIDATES
from sat_retriever.datasets.labels import Query
from sat_retriever.datasets.metrics import mean
from sat_retriever.datasets.metrics.rows import row_of
from sat_retriever.encoder import SheetEncoder
from sat_retriever.errors import CorpusError
from sat_retriever.index.index import SheetIndex
from sat_retriever.rank.links.linkrank import LinkReranker
from sat_retriever.records.grouping import connected
from sat_retriever.records.links import Link, LinkType

ANY, WORKBOOK = "any", "same_workbook"
FIRST = 10  # sheets of a ranking in which a relevant one is not lost
_PULLING = tuple(kind.value for kind in LinkType if kind.kind.pull)
_MEASURES = tuple(name for name in MEASURES if name != "F1_of_set")


@dataclass(frozen=True, slots=True)
class Neighbourhood:
    """The links of an index.

    Attributes:
        linked: Neighbours of each sheet by kind of links.
        homes: Sheets of each workbook.
        home: Workbook of each sheet.
    """

    linked: Mapping[str, Mapping[str, frozenset[str]]]
    homes: Mapping[str, frozenset[str]]
    home: Mapping[str, str]

    @classmethod
    def of(cls, index: SheetIndex) -> Neighbourhood:
        """Read the links of an index."""
        return cls.made(index.all_links(), index.workbook_of(index.sheet_ids()))

    @classmethod
    def made(cls, links: Iterable[Link], home: Mapping[str, str]) -> Neighbourhood:
        """Return the neighbours by links, and by workbook.

        >>> found = Neighbourhood.made([Link("a", "b", "join_key")], {"a": "x", "b": "y"})
        >>> found.of_sheet("b", "any"), found.of_sheet("b", "same_workbook")
        (frozenset({'a'}), frozenset())
        """
        linked: dict[str, dict[str, set[str]]] = {}
        for link in links:
            if link.type in _PULLING and link.source != link.target:
                for kind in (link.type, ANY):
                    ends = linked.setdefault(kind, {})
                    ends.setdefault(link.source, set()).add(link.target)
                    ends.setdefault(link.target, set()).add(link.source)
        homes: dict[str, set[str]] = {}
        for sheet, name in home.items():
            homes.setdefault(name, set()).add(sheet)
        return cls(
            {kind: {one: frozenset(n) for one, n in ends.items()} for kind, ends in linked.items()},
            {name: frozenset(sheets) for name, sheets in homes.items()},
            home,
        )

    def of_sheet(self, sheet: str, kind: str) -> frozenset[str]:
        """Return the neighbours of a sheet by links of a kind, or in its workbook."""
        if kind == WORKBOOK:
            return self.homes.get(self.home.get(sheet, ""), frozenset()) - {sheet}
        return self.linked.get(kind, {}).get(sheet, frozenset())

    def around(self, anchor: str, relevant: Collection[str]) -> set[str]:
        """Return the relevant sheets that links among relevant sheets connect to one of them."""
        pairs = {one: {frozenset((one, n)) for n in self.of_sheet(one, ANY)} for one in relevant}
        groups = connected((one, [one, *ends]) for one, ends in pairs.items())
        return next(set(group) for group in groups if anchor in group) - {anchor}


@dataclass(frozen=True, slots=True)
class Ranked:
    """One question with its ranking.

    Attributes:
        query: The question.
        anchor: The best of its relevant sheets.
        others: Its other relevant sheets.
        walk: Ranking of the walk, best first; the anchor is in it.
        scores: Stage 1's score of the sheets in the neighbourhood: of the anchor by links and
            workbook, and of the first sheet by links.
    """

    query: Query
    anchor: str
    others: frozenset[str]
    walk: tuple[str, ...]
    scores: Mapping[str, float]

    def ordered(self, sheets: Collection[str]) -> list[str]:
        """Return sheets of the neighbourhood, best first by Stage 1's score."""
        return sorted(sheets, key=lambda sheet: (-self.scores.get(sheet, 0.0), sheet))

    def with_behind(self, sheets: Collection[str], leader: str = "") -> list[str]:
        """Return the walk's ranking with some sheets moved right behind the anchor, best first.

        Sheets that stand before it stay there.

        Args:
            sheets: The sheets to move; all are in the neighbourhood.
            leader: Sheet to move them behind in place of the anchor.
        """
        place = self.walk.index(leader or self.anchor) + 1
        before = self.walk[:place]
        moved = [sheet for sheet in self.ordered(sheets) if sheet not in before]
        return [*before, *moved, *(each for each in self.walk[place:] if each not in moved)]


def ranked(asked: Searched, near: Neighbourhood) -> list[Ranked | None]:
    """Return each question with its ranking; None if no relevant sheet is ranked."""
    reranker = LinkReranker()
    found: list[Ranked | None] = []
    for query in asked.queries:
        question = asked.index.question(query.text)
        first = asked.index.search.found(question, CANDIDATES, all_copies=True)
        walk = tuple(each.sheet_id for each in reranker.rerank(first))
        anchor = next((sheet for sheet in walk if sheet in query.positives), None)
        if anchor is None:
            found.append(None)
            continue
        around = near.of_sheet(anchor, ANY) | near.of_sheet(anchor, WORKBOOK)
        around |= near.of_sheet(walk[0], ANY) | near.around(anchor, query.positives)
        scored = asked.index.search.score_sheets(question, sorted(around)) if around else []
        scores = {each.sheet_id: each.score for each in scored}
        others = frozenset(query.positives) - {anchor}
        found.append(Ranked(query, anchor, others, walk, scores))
    return found


def reach(found: Sequence[tuple[Ranked, Neighbourhood]], kind: str) -> dict[str, float | None]:
    """Return what neighbours of a kind hold, over all questions; see the module."""
    others = reached = lost = lost_reached = complete = false = hit = 0
    for one, near in found:
        around = near.of_sheet(one.anchor, kind)
        right = one.others & around
        gone = one.others - set(one.walk[:FIRST])
        others, reached = others + len(one.others), reached + len(right)
        lost, lost_reached = lost + len(gone), lost_reached + len(gone & around)
        complete += one.others <= around
        false += len(around - one.others)
        hit += len(set(one.ordered(around)[: len(right)]) & right)
    return {
        "reached": _share(reached, others),
        "complete": _share(complete, len(found)),
        "false": _share(false, len(found)),
        "first": _share(hit, reached),
        "lost": float(lost),
        "lost_reached": _share(lost_reached, lost),
    }


def bounds(found: Sequence[tuple[Ranked, Neighbourhood]]) -> dict[str, dict[str, float]]:
    """Return the measures of the walk's ranking and of the four others; see the module."""
    rows: dict[str, list[dict[str, Any]]] = {}
    for place, (one, near) in enumerate(found):
        orders = {
            "walk": one.walk,
            "told": one.with_behind(near.around(one.anchor, one.query.positives)),
            "untold": one.with_behind(near.of_sheet(one.anchor, ANY)),
            "workbook": one.with_behind(near.of_sheet(one.anchor, WORKBOOK)),
            "trusting": one.with_behind(near.of_sheet(one.walk[0], ANY), one.walk[0]),
        }
        for name, order in orders.items():
            rows.setdefault(name, []).append(row_of(place, order, one.query.positives))
    return {
        name: {measure: mean([MEASURES[measure](row) for row in each]) for measure in _MEASURES}
        for name, each in rows.items()
    }


def measure(name: str, asked: Sequence[Searched]) -> Result:
    """Return all figures of one set."""
    found: list[tuple[Ranked, Neighbourhood]] = []
    questions = 0
    total = sum(len(each.queries) for each in asked)
    with progress_bar(name, total) as told:
        for each in asked:
            near = Neighbourhood.of(each.index)
            own = ranked(each, near)
            questions += len(own)
            found += [(one, near) for one in own if one is not None]
            told(questions, total)
    anchors = [one.walk.index(one.anchor) for one, _ in found]
    metrics: dict[str, Any] = {
        "questions": questions,
        "with_anchor": len(found),
        "anchor_first": _share(sum(place == 0 for place in anchors), len(found)),
        "anchor_in_4": _share(sum(place < 4 for place in anchors), len(found)),
        "connected": _share(
            sum(near.around(one.anchor, one.query.positives) == one.others for one, near in found),
            len(found),
        ),
        "kinds": {
            kind: reach(found, kind)
            for kind in (*_PULLING, ANY, WORKBOOK)
            if any(near.of_sheet(one.anchor, kind) for one, near in found)
        },
        "bounds": bounds(found),
    }
    return Result("neighbours", name, metrics, "validation")


def _share(part: float, whole: float) -> float | None:
    return part / whole if whole else None


@suite(
    "related_neighbours", "data", "encoder", work=MADE, sets=option(list(SETS), choices=list(SETS))
)
def main(options: Options) -> Iterator[Result]:
    """Measure every set."""
    places = Places(options.data, options.work)
    wanted = Wanted("validation", places, SheetEncoder.load(options.encoder))
    for name in options.sets:
        try:
            with searched(SETS[name], wanted) as (asked, data):
                result = measure(name, asked)
        except CorpusError as error:
            console.print(f"{name}: not run, {error}")
            continue
        yield replace(result, data=data)
