"""What an embedding model gave, before it becomes tokens."""

import numpy as np
import pytest

from sat_retriever import EncoderError
from sat_retriever.encoder.embedder import unit_rows


def test_vectors_of_any_length_become_rows_of_unit_length():
    rows = unit_rows([[3e-20, 4e-20], [300.0, -400.0]], 2, 2, "m")
    assert rows.dtype == np.float32
    np.testing.assert_allclose(rows, [[0.6, 0.8], [0.6, -0.8]], rtol=1e-6)


@pytest.mark.parametrize(
    ("vectors", "said"),
    [
        ([[1.0, 0.0]], r"shape \(1, 2\) for 2 texts"),
        ([], r"shape \(0,\) for 2 texts"),
        ([[], []], r"shape \(2, 0\) for 2 texts"),
        ([1.0, 2.0], r"shape \(2,\) for 2 texts"),
        ([[1.0, 0.0], [1.0]], "no vectors of numbers of one width"),
        ([["a", "b"], ["c", "d"]], "no vectors of numbers of one width"),
        ([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]], "width 3, but 2 before"),
        ([[1.0, 0.0], [0.0, 0.0]], "a vector of zeros for text 2 of 2"),
        ([[float("nan"), 0.0], [0.0, 1.0]], "not finite for text 1 of 2"),
        ([[float("inf"), 0.0], [0.0, 1.0]], "not finite for text 1 of 2"),
    ],
)
def test_what_cannot_be_a_token_is_named(vectors, said):
    with pytest.raises(EncoderError, match=said) as caught:
        unit_rows(vectors, 2, 2, "ollama:small")
    assert "ollama:small" in str(caught.value)
