"""A small Cross-Encoder, exported once, and an index of the tiny corpus."""

from __future__ import annotations

import importlib.util
import shutil
import warnings
from dataclasses import replace
from pathlib import Path

import pytest

from sat_retriever.index.index import SheetIndex
from sat_retriever.rank.cross_encoder import PairSpec, write_pair_folder
from sat_retriever.records.sheets import Column, SheetRecord
from sat_retriever.text.serialize import Serialization
from tests.fakes import HashedEncoder
from tests.tiny_transformer import COMPANIES, SUBJECTS, YEARS, save_tiny


@pytest.fixture(scope="session")
def pair_model(tmp_path_factory):
    """A torch model with random weights, none of them small: logits that differ."""
    for module in ("torch", "transformers", "onnxscript", "accelerate"):
        if importlib.util.find_spec(module) is None:
            pytest.skip(f"{module} is not installed; run: pip install '.[train]'")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch's own, on import
        import torch

        from sat_retriever.train.reranker.pairmodel import PairModel
        from sat_retriever.train.settings import CrossEncoderTraining
    torch.set_num_threads(1)  # so small a model is slower with more
    source = save_tiny(tmp_path_factory.mktemp("source") / "m", max_length=48)
    model = PairModel.load(CrossEncoderTraining(backbone=str(source)))
    with torch.no_grad():
        model.head.weight.normal_(0.0, 1.0, generator=torch.Generator().manual_seed(3))
        model.head.bias.fill_(0.25)
    return model


@pytest.fixture(scope="session")
def spec(pair_model) -> PairSpec:
    return PairSpec(
        backbone=pair_model.checkpoint.spec.fingerprint,
        pooling="mean",
        max_length=pair_model.max_length,
        start_id=2,
        end_id=3,
        pad_id=0,
        token_types=True,
        lowercase=False,
        blend=2.0,
        encoder=HashedEncoder().fingerprint,
        serialization=Serialization().fingerprint,
        dense_weight=1.0,
        candidates=50,
    )


@pytest.fixture(scope="session")
def saved(pair_model, spec, tmp_path_factory) -> Path:
    """Never changed by a test."""
    from sat_retriever.train.reranker.pairmodel import export_pair_model

    folder = tmp_path_factory.mktemp("saved") / "cross-encoder"
    write_pair_folder(
        folder,
        spec,
        pair_model.checkpoint.tokenizer,
        lambda file: export_pair_model(pair_model, file),
    )
    return folder


@pytest.fixture
def folder(saved, tmp_path) -> Path:
    """A copy to break."""
    return Path(shutil.copytree(saved, tmp_path / "cross-encoder"))


@pytest.fixture
def with_spec(saved, spec, tmp_path):
    """The same model with other fields of its spec."""

    def make(**changed) -> Path:
        target = tmp_path / "-".join(changed)
        write_pair_folder(
            target,
            replace(spec, **changed),
            saved / "tokenizer.json",
            lambda file: shutil.copyfile(saved / "model.onnx", file),
        )
        return target

    return make


@pytest.fixture
def index(tmp_path) -> SheetIndex:
    names = [f"{c}_{y}_{s}" for c in COMPANIES for y in YEARS for s in SUBJECTS]
    columns = (Column("region"), Column("price"))
    records = [SheetRecord(f"s{row:02d}", name, columns=columns) for row, name in enumerate(names)]
    with SheetIndex.create(tmp_path / "tiny.sat", HashedEncoder()) as made:
        made.add_records(records, find_links=False)
        yield made
