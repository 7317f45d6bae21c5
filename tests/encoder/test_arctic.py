"""An encoder for retrieval that states its pooling and its prefix, against published figures."""

from __future__ import annotations

import numpy as np
import pytest

from sat_retriever import SheetEncoder
from tests.places import needs

_QUERIES = ["what is snowflake?", "Where can I get the best tacos?"]
_TEXTS = ["The Data Cloud!", "Mexico City of Course!"]
# The model card's scores of these, a row a query.
_PUBLISHED = [[0.5752, 0.4580], [0.5045, 0.5636]]


@pytest.mark.slow
def test_published_cosines_come_out_of_a_folder_in_torch_and_onnx(cache):
    folder = needs("models/arctic-embed-xs")
    for package in ("torch", "transformers", "onnxscript"):
        pytest.importorskip(package, reason=f"{package} is not installed")
    from sat_retriever.train.encoder.backbone import Backbone

    encoder = SheetEncoder.load(folder, cache_dir=cache)
    assert (encoder.spec.pooling, encoder.width) == ("cls", 384)
    assert encoder.spec.query_prefix.startswith("Represent this sentence")
    cosines = encoder.encode_queries(_QUERIES) @ encoder.encode_sheets(_TEXTS).T
    assert np.allclose(cosines, _PUBLISHED, atol=2e-4)
    first = encoder.encode_sheets(["hello world"])[0, :5]
    assert np.allclose(first, [0.0093, 0.0620, 0.0196, 0.0091, -0.0114], atol=1e-4)
    # What `sat train` starts from has the same description.
    assert Backbone.load(folder, trained_layers=3).spec == encoder.spec
