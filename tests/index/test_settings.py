"""What an index notes about itself, written and read."""

import numpy as np
import pytest

from sat_retriever import (
    FingerprintMismatchError,
    IndexFormatError,
    InputError,
    Serialization,
    SheetEncoder,
    SheetIndex,
)
from sat_retriever.index.search.fusion import DENSE_WEIGHT
from sat_retriever.index.settings import IndexSettings, new_notes
from sat_retriever.records.contents import ContentsPolicy
from sat_retriever.records.privacy import EVERYTHING, Privacy
from tests.fakes import HashedEncoder
from tests.saved_encoder import save_bag_of_words


def notes(path, dense_weight=None, privacy=EVERYTHING):
    return new_notes(HashedEncoder(32, "own"), dense_weight, Serialization(), path, privacy)


def test_settings_are_read_as_they_were_noted(tmp_path):
    path = tmp_path / "a.sat"
    kept = Privacy(ContentsPolicy.NAMES, "salary|iban")
    found = IndexSettings.from_meta(notes(path, 0.25, kept), path)
    assert (found.encoder, found.width, found.dense_weight) == ("own", 32, 0.25)
    assert (found.privacy, found.reranker) == (kept, None)
    assert found.serialization == Serialization()
    assert IndexSettings.from_meta(notes(path), path).dense_weight == DENSE_WEIGHT


@pytest.mark.parametrize("key", ["encoder", "fingerprint", "width", "serialization", "contents"])
def test_a_missing_note_is_named(tmp_path, key):
    damaged = notes(tmp_path / "a.sat")
    del damaged[key]
    with pytest.raises(IndexFormatError, match=key):
        IndexSettings.from_meta(damaged, tmp_path / "a.sat")


@pytest.mark.parametrize(
    ("noted", "kept"), [("yes", ContentsPolicy.EXAMPLES), ("no", ContentsPolicy.NAMES)]
)
def test_an_index_of_before_contents_keeps_what_it_kept(tmp_path, noted, kept):
    older = notes(tmp_path / "a.sat") | {"examples": noted}
    del older["contents"], older["skip_columns"]
    assert IndexSettings.from_meta(older, tmp_path / "a.sat").privacy == Privacy(kept)


@pytest.mark.parametrize(
    ("key", "value"), [("contents", "most"), ("width", "wide"), ("dense_weight", "half")]
)
def test_a_damaged_note_is_refused(tmp_path, key, value):
    with pytest.raises(IndexFormatError, match=value):
        IndexSettings.from_meta(notes(tmp_path / "a.sat") | {key: value}, tmp_path / "a.sat")


def test_an_index_of_other_texts_is_refused(tmp_path):
    other = notes(tmp_path / "a.sat") | {"serialization_fingerprint": "other"}
    with pytest.raises(FingerprintMismatchError, match="other texts"):
        IndexSettings.from_meta(other, tmp_path / "a.sat")


def test_a_share_of_the_cosine_above_one_is_refused(tmp_path):
    with pytest.raises(InputError, match=r"1\.5"):
        notes(tmp_path / "a.sat", 1.5)


def test_a_folder_that_moved_with_the_index_is_found_beside_it(tmp_path):
    old, new = tmp_path / "old", tmp_path / "new"
    (old / "model").mkdir(parents=True)
    settings = IndexSettings.from_meta(notes(old / "a.sat"), old / "a.sat")
    name = str(old / "model")
    assert settings.located(name, old / "a.sat") == name
    old.rename(new)
    assert settings.located(name, new / "a.sat") == str(new / "model")
    assert settings.located("own", new / "a.sat") == "own"
    (new / "model").rmdir()
    assert settings.located(name, new / "a.sat") == name


def test_a_query_encoded_ahead_is_used_once_and_by_its_encoder_alone(tmp_path):
    words = ["rent", "salary"]
    before = SheetEncoder.load(save_bag_of_words(tmp_path / "before", words))
    now = SheetEncoder.load(save_bag_of_words(tmp_path / "now", words, seed=1))
    path = tmp_path / "a.sat"
    with SheetIndex.create(path, before) as index:
        own = before.encode_queries(words)
        index.encode_ahead([*words, " "])
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(SheetEncoder, "encode_queries", lambda *_: pytest.fail("encoded again"))
            tokens = [index.question(word).token for word in words]
        assert np.abs(tokens - own).max() < 1e-6
        assert np.array_equal(index.question("rent").token, own[0])
        index.encode_ahead(["rent"])
        index.reencode(now)
        assert np.array_equal(index.question("rent").token, now.encode_queries(["rent"])[0])


def test_a_model_that_runs_elsewhere_is_asked_nothing_ahead(tmp_path):
    with SheetIndex.create(tmp_path / "a.sat", HashedEncoder()) as index:
        index.encode_ahead(["rent"])
        own = HashedEncoder().encode_queries(["rent"])[0]
        assert np.array_equal(index.question("rent").token, own)
