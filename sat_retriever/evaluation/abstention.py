"""Count how often a search says that no sheet answers a question, rightly and wrongly."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sat_retriever.answer.retriever import SheetRetriever
from sat_retriever.datasets.labels import Query
from sat_retriever.evaluation.latency import Told
from sat_retriever.evaluation.methods import no_progress

FIRST = 5  # hits among which a right answer has a relevant sheet
ROW = "nothing there"


@dataclass(frozen=True, slots=True)
class NothingThere:
    """Counts of labelled questions, and of those shown with the message that no sheet answers."""

    unanswerable: int
    unanswerable_said: int  # under the message, which is right there
    found: int  # a relevant sheet is among the first five hits
    found_said: int  # under the message, which is wrong there


def nothing_there(
    retriever: SheetRetriever, queries: Sequence[Query], told: Told = no_progress
) -> NothingThere:
    """Count how often an answer has the message that no sheet answers the question.

    A question with relevant sheets of which none is among the first five hits is not counted:
    its answer is wrong with and without the message. Questions without relevant sheets are
    unanswerable.
    """
    said: dict[str, list[bool]] = {"unanswerable": [], "found": []}
    for done, query in enumerate(queries, start=1):
        answer = retriever.retrieve(query.text, FIRST, all_copies=True)  # as in the rows
        if not query.positives:
            said["unanswerable"].append(not answer.answered)
        elif any(hit.sheet_id in query.positives for hit in answer):
            said["found"].append(not answer.answered)
        told(ROW, done, len(queries))
    return NothingThere(
        len(said["unanswerable"]), sum(said["unanswerable"]), len(said["found"]), sum(said["found"])
    )
