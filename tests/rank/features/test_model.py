"""The folder of a feature reranker, and how far it moves a sheet."""

import json
from dataclasses import replace

import numpy as np
import pytest

from sat_retriever.encoder.models.folder import write_folder
from sat_retriever.errors import EncoderError, InputError
from sat_retriever.rank.features.featurerank import FEATURES
from sat_retriever.rank.features.features import ListInputs, list_inputs
from sat_retriever.rank.features.model import FORMAT, MODEL, FeatureModel
from tests.rank.features.small_features import list_of


@pytest.fixture
def inputs(world):
    return list_inputs(list_of(world, "which apple is blue"))


def test_a_folder_holds_the_same_model(model, inputs, tmp_path):
    model.save(tmp_path / "m")
    again = FeatureModel.load(tmp_path / "m")
    assert again.spec == model.spec
    moves = model.moves(inputs)
    assert moves.any()
    assert again.moves(inputs).tolist() == moves.tolist()


def test_no_sheet_moves_further_than_the_bounds(model, inputs):
    """Each sheet has a sibling among the best ten, so all of them are pulled."""
    most = model.spec.most
    assert most == pytest.approx((2.0 + 6.0) / 20)
    large = {f"{name}.b3": np.full(1, 1e6, np.float32) for name in ("own", "pull")}
    moved = replace(model, network=model.network | large).moves(inputs)
    assert moved == pytest.approx(np.full(12, most))
    assert np.abs(model.moves(inputs)).max() <= most


def test_pulls_come_from_related_sheets_only(model, inputs):
    alone = ListInputs(inputs.features, np.zeros_like(inputs.relations))
    pulled = model.moves(inputs) != model.moves(alone)
    assert pulled.tolist() == inputs.relations.any(axis=(1, 2)).tolist()
    assert np.abs(model.moves(alone)).max() <= model.spec.bound / model.spec.slope


def test_a_strange_list_moves_only_without_the_guard(model, inputs):
    strange = ListInputs(inputs.features + 50, inputs.relations)
    assert not model.moves(strange).any()
    assert model.moves(strange, guarded=False).any()


def test_a_copy_for_another_encoder_differs_in_that_only(model, tmp_path):
    model.save(tmp_path / "m")
    FEATURES.copy(tmp_path / "m", tmp_path / "copy", encoder="other")
    assert FeatureModel.load(tmp_path / "copy").spec == replace(model.spec, encoder="other")
    assert (tmp_path / "copy" / MODEL).read_bytes() == (tmp_path / "m" / MODEL).read_bytes()


@pytest.mark.parametrize(
    "changes",
    [
        {"features": ("score",)},
        {"relations": ()},
        {"candidates": 0},
        {"slope": 0.0},
        {"bound": float("nan")},
    ],
)
def test_a_spec_out_of_range_is_refused(model, changes):
    with pytest.raises(InputError, match="train it again"):
        replace(model.spec, **changes)


def test_a_damaged_file_is_named(model, tmp_path):
    model.save(tmp_path / "m")
    file = tmp_path / "m" / MODEL
    file.write_bytes(file.read_bytes()[:-10])
    with pytest.raises(EncoderError, match=MODEL):
        FeatureModel.load(tmp_path / "m")


def test_a_folder_of_objects_is_not_unpickled(model, tmp_path):
    """Its hashes are right, so that only the reading of arrays can refuse it."""
    model.save(tmp_path / "m")
    spec = json.loads((tmp_path / "m" / "config.json").read_text())["spec"]

    def write(file):
        with file.open("wb") as out:
            np.savez(out, mean=np.array([{}], dtype=object))

    write_folder(tmp_path / "p", FORMAT, spec, {MODEL: write})
    with pytest.raises(EncoderError, match=MODEL):
        FeatureModel.load(tmp_path / "p")


def test_a_folder_of_another_version_says_so(model, tmp_path):
    model.save(tmp_path / "m")

    def write(file):
        file.write_bytes((tmp_path / "m" / MODEL).read_bytes())

    spec = json.loads((tmp_path / "m" / "config.json").read_text())["spec"]
    write_folder(tmp_path / "old", FORMAT, spec | {"features": ["score"]}, {MODEL: write})
    with pytest.raises(EncoderError, match="other features than this version"):
        FeatureModel.load(tmp_path / "old")
    del spec["bound"]
    write_folder(tmp_path / "odd", FORMAT, spec, {MODEL: write})
    with pytest.raises(EncoderError, match="other fields"):
        FeatureModel.load(tmp_path / "odd")
