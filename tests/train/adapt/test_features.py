"""`adapt` trains the package's kind of reranker further where an index has one."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
import pytest

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # torch's own, on import
    pytest.importorskip("torch", reason="torch is not installed")
    pytest.importorskip("accelerate", reason="accelerate is not installed")

from sat_retriever.encoder.models.folder import FOLDER, file_hash
from sat_retriever.index.index import SheetIndex
from sat_retriever.rank.features.featurerank import FEATURES
from sat_retriever.rank.features.model import MODEL, FeatureModel
from sat_retriever.train.adapt.adapt import adapt
from sat_retriever.train.adapt.settings import AdaptSettings
from sat_retriever.train.loop.summary import read_run
from tests.fakes import HashedEncoder
from tests.train.adapt.corpus import sheet_records

SETTINGS = AdaptSettings(number=60, share=0.3, stage="reranker", stage_2_epochs=1)


@pytest.mark.parametrize("sure", [True, False])
def test_the_reranker_that_there_is_is_trained_further_and_used_if_it_is_better(tmp_path, sure):
    with SheetIndex.create(tmp_path / "a.sat", HashedEncoder()) as index:
        index.add_records(sheet_records())
        own = tmp_path / "own"
        FEATURES.copy(FOLDER / "general" / "reranker", own, encoder=index.fingerprint)
        index.name_reranker(own)
        made = adapt(index, tmp_path / "run", replace(SETTINGS, sure=sure))
        run = read_run(tmp_path / "run" / "stage-2")
        assert (run.settings["kind"], run.settings["epochs"]) == ("features", 1)
        assert run.settings["start_from"] == file_hash(own / MODEL)
        assert [verdict.name for verdict in made.verdicts][1:] == ["trained reranker"]
        kept = made.verdicts[1].kept
        assert index.reranker_name == str(tmp_path / "run" / "stage-2" if kept else own)
        trained = FeatureModel.load(run.path / "reranker")
        first = FeatureModel.load(own)
        assert trained.spec.encoder == index.fingerprint
        pairs = ((trained.network[name], first.network[name]) for name in first.network)
        same = all(np.array_equal(*pair) for pair in pairs)
        assert same is (run.phases[0].best.epoch == 0)
