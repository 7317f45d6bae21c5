from __future__ import annotations

import numpy as np
import pytest

from sat_retriever import EncoderError, SheetEncoder
from sat_retriever.encoder.export import compact_folder
from sat_retriever.encoder.folder import read_model_folder

TEXTS = ["revenue by region", "price", "name: stock ; columns: price | region ; shape: 9 x 2"]


@pytest.fixture
def compact(tiny_encoder, tmp_path):
    tiny_encoder.save(tmp_path / "full", dense_weight=0.7)
    return compact_folder(read_model_folder(tmp_path / "full"), tmp_path / "compact")


def test_a_compact_encoder_gives_nearly_the_same_tokens_under_another_fingerprint(
    tiny_encoder, compact
):
    found = SheetEncoder.load(compact.path)
    ours, theirs = found.encode_sheets(TEXTS), tiny_encoder.encode_sheets(TEXTS)
    assert (ours * theirs).sum(axis=1).min() > 0.9999
    assert not np.array_equal(ours, theirs)
    assert found.fingerprint != tiny_encoder.fingerprint
    assert found.spec.precision == "compact"
    assert found.dense_weight == 0.7


def test_a_compact_encoder_is_smaller(compact, tmp_path):
    assert compact.model.stat().st_size < (tmp_path / "full/model.onnx").stat().st_size / 1.4


def test_a_compact_token_does_not_depend_on_its_neighbours(compact):
    encoder = SheetEncoder.load(compact.path)
    alone = np.concatenate([encoder.encode_queries([text]) for text in TEXTS])
    np.testing.assert_allclose(encoder.encode_queries(TEXTS), alone, atol=1e-5)


@pytest.mark.parametrize("as_suffix", [True, False])
def test_a_source_can_be_loaded_compact(tiny_source, tiny_encoder, cache, as_suffix):
    if as_suffix:
        found = SheetEncoder.load(f"{tiny_source}:compact", cache_dir=cache)
    else:
        found = SheetEncoder.load(tiny_source, precision="compact", cache_dir=cache)
    assert found.name == f"{tiny_encoder.name}:compact"
    assert found.spec == tiny_encoder.spec.with_precision("compact")


def test_a_compact_encoder_cannot_be_made_compact_again(compact, tmp_path):
    with pytest.raises(EncoderError, match="is compact already"):
        compact_folder(compact, tmp_path / "again")


def test_a_name_and_a_precision_that_contradict_are_refused(tiny_source):
    with pytest.raises(EncoderError, match="names a compact encoder, but precision='int8'"):
        SheetEncoder.load(f"{tiny_source}:compact", precision="int8")
