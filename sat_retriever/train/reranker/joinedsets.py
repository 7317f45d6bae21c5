"""Join candidate sets of several corpora for one training of Stage 2."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from sat_retriever.errors import EmptyInputError, InputError
from sat_retriever.train.reranker.candidatesets import CandidateSets


def joined_sets(parts: Mapping[str, CandidateSets]) -> CandidateSets:
    """Join all questions in the order of the parts, with lists padded to the longest.

    Args:
        parts: Candidates by corpus, found with the same encoder and settings.

    Raises:
        EmptyInputError: If there is no part.
        InputError: If two parts were found in different ways.
    """
    if not parts:
        raise EmptyInputError("there are no candidate sets to join; give one or more")
    sets = tuple(parts.values())
    spec = sets[0].spec
    odd = next((name for name, each in parts.items() if each.spec != spec), None)
    if odd is not None:
        raise InputError(
            f"the candidates of {odd} were found in another way ({parts[odd].spec}) than the "
            f"first ones ({spec}); build all with one encoder, one dense_weight and one setting"
        )
    names = [f"{name}/{each}" for name, part in parts.items() for each in part.sheet_ids]
    order = sorted(range(len(names)), key=lambda place: names[place])
    new_row = np.empty(len(names) + 1, dtype=np.int32)
    new_row[order], new_row[-1] = np.arange(len(names), dtype=np.int32), -1
    starts = np.cumsum([0, *(len(each.sheet_ids) for each in sets)])
    moved = [
        new_row[np.where(each.rows < 0, len(names), each.rows + start)]
        for each, start in zip(sets, starts, strict=False)
    ]
    k = max(each.rows.shape[1] for each in sets)
    return CandidateSets(
        spec=spec,
        sheet_ids=tuple(names[place] for place in order),
        table=np.concatenate([each.table for each in sets])[order],
        queries=np.concatenate([each.queries for each in sets]),
        rows=np.concatenate([_wide(each, k, 1, -1) for each in moved]),
        scores=np.concatenate([_wide(each.scores, k, 1) for each in sets]),
        features=np.concatenate([_wide(each.features, k, 1) for each in sets]),
        relations=np.concatenate([_wide(each.relations, k, 2) for each in sets]),
        relevant=np.concatenate([_wide(each.relevant, k, 1) for each in sets]),
        hard=np.concatenate([_wide(each.hard, k, 1) for each in sets]),
        positives=np.concatenate([each.positives for each in sets]),
        judged=np.concatenate([each.judged for each in sets]),
    )


def _wide(array: NDArray[np.generic], k: int, axes: int, value: int = 0) -> NDArray[np.generic]:
    """Pad the candidate axes of an array to length k: the second axis, or the last two.

    Args:
        array: (b, k', …) for one axis, (b, c, k', k') for two.
        k: Candidates per question.
        axes: Number of candidate axes, 1 or 2.
        value: Value of the padding.
    """
    places = [1] if axes == 1 else [2, 3]
    more = [(0, k - size if axis in places else 0) for axis, size in enumerate(array.shape)]
    return np.pad(array, more, constant_values=value)
