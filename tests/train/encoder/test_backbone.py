from __future__ import annotations

import json
import warnings

import numpy as np
import pytest

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # torch's own, on import
    torch = pytest.importorskip("torch", reason="torch is not installed")
    accelerate = pytest.importorskip("accelerate", reason="accelerate is not installed")
    pytest.importorskip("transformers", reason="transformers is not installed")

from sat_retriever.encoder.checkpoint import read_checkpoint
from sat_retriever.encoder.onnx.export import quiet
from sat_retriever.errors import EncoderError
from sat_retriever.train.encoder.backbone import (
    Backbone,
    encode_pieces,
    group_by_length,
    split_texts,
    train_last_layers,
)
from sat_retriever.train.encoder.train import export_encoder
from tests.tiny_transformer import save_tiny

BGE = "BAAI/bge-base-en-v1.5"
BGE_PREFIX = "Represent this sentence for searching relevant passages: "
TEXTS = [
    "alpha",
    "Sales of BETA in 2021",
    "name: gamma_2022_stock ; shape: 3 x 2 ; columns: region | price | price",
    "an odd text with many words that no vocabulary has, long enough to be cut",
]
KINDS = ["bert", "roberta", "xlm-roberta", "mpnet", "distilbert"]


def _tokens(backbone, texts, prefix=""):
    accelerator = accelerate.Accelerator(cpu=True)
    return encode_pieces(backbone, split_texts(backbone, texts, prefix), accelerator)


def _sentence_transformer(folder):
    with quiet():
        sentence_transformers = pytest.importorskip(
            "sentence_transformers", reason="sentence-transformers is not installed"
        )
        return sentence_transformers.SentenceTransformer(
            str(folder), device="cpu", local_files_only=True
        )


def _encoded(model, texts, way):
    with quiet():
        return getattr(model, f"encode_{way}")(texts, show_progress_bar=False)


def _disturb(backbone):
    """Stand for a training: every learning weight moves."""
    torch.manual_seed(1)
    with torch.no_grad():
        for parameter in backbone.parameters():
            if parameter.requires_grad:
                parameter.add_(0.05 * torch.randn_like(parameter))


@pytest.mark.parametrize("pooling", ["cls", "mean"])
@pytest.mark.parametrize("kind", KINDS)
def test_saved_folder_gives_the_same_tokens_in_sentence_transformers(tmp_path, kind, pooling):
    source = save_tiny(
        tmp_path / "m", kind=kind, pooling=pooling, prompts={"query": "in: ", "document": "of: "}
    )
    backbone = Backbone.load(source, trained_layers=1, max_length=20)
    _disturb(backbone)
    backbone.save_sentence_transformers(tmp_path / "saved")
    model = _sentence_transformer(tmp_path / "saved")
    assert model.max_seq_length == 20
    for way, prefix in (("query", "in: "), ("document", "of: ")):
        ours = _tokens(backbone, TEXTS, prefix)
        assert np.abs(ours - _encoded(model, TEXTS, way)).max() < 1e-5
        assert np.linalg.norm(ours, axis=1) == pytest.approx(1, abs=1e-6)


def test_saved_folder_loads_again_with_the_same_tokens_and_rules(tmp_path):
    backbone = Backbone.load(save_tiny(tmp_path / "m", lowercase=True), max_length=9)
    _disturb(backbone)
    backbone.save_sentence_transformers(tmp_path / "saved")
    again = Backbone.load(tmp_path / "saved")
    assert np.array_equal(_tokens(backbone, TEXTS), _tokens(again, TEXTS))
    rules = ("pooling", "width", "max_length", "pad_id", "lowercase", "tokenizer")
    for rule in (*rules, "query_prefix", "sheet_prefix"):
        assert getattr(again.spec, rule) == getattr(backbone.spec, rule)


def test_saved_folder_holds_no_pickle_and_no_trace_of_where_it_came_from(tmp_path):
    source = save_tiny(tmp_path / "secret-place", name=str(tmp_path / "secret-place"))
    Backbone.load(source).save_sentence_transformers(tmp_path / "saved")
    files = [file for file in (tmp_path / "saved").rglob("*") if file.is_file()]
    assert {file.suffix for file in files} <= {".json", ".safetensors", ".txt"}
    assert not any(b"secret-place" in file.read_bytes() for file in files)


def test_bge_pools_the_first_piece_and_puts_its_prefix_before_queries(tmp_path):
    source = save_tiny(tmp_path / "bge", pooling="cls", name=BGE, max_length=64)
    backbone = Backbone.load(source, trained_layers=2)
    spec = backbone.spec
    assert (spec.pooling, spec.query_prefix, spec.sheet_prefix) == ("cls", BGE_PREFIX, "")
    backbone.save_sentence_transformers(tmp_path / "saved")
    assert read_checkpoint(tmp_path / "saved", "saved").spec.query_prefix == BGE_PREFIX
    model = _sentence_transformer(tmp_path / "saved")
    assert model.prompts["query"] == BGE_PREFIX
    for way, prefix in (("query", BGE_PREFIX), ("document", "")):
        ours = _tokens(backbone, TEXTS, prefix)
        assert np.abs(ours - _encoded(model, TEXTS, way)).max() < 1e-5
    inputs = [torch.tensor([backbone.pieces.of(BGE_PREFIX + TEXTS[0])])]
    with torch.no_grad():
        states = backbone.transformer(inputs[0]).last_hidden_state[0, 0].numpy()
    expected = states / np.linalg.norm(states)
    assert np.abs(_tokens(backbone, TEXTS[:1], BGE_PREFIX)[0] - expected).max() < 1e-5


def test_exported_encoder_gives_the_trained_tokens(tmp_path):
    from sat_retriever.encoder import SheetEncoder

    source = save_tiny(tmp_path / "m", layers=1, pooling="cls", name=BGE, lowercase=True)
    backbone = Backbone.load(source, trained_layers=1, max_length=12)
    _disturb(backbone)
    backbone.save_sentence_transformers(tmp_path / "saved")
    export_encoder(tmp_path / "saved", tmp_path / "encoder")
    encoder = SheetEncoder.load(tmp_path / "encoder", threads=1)
    assert np.abs(encoder.encode_sheets(TEXTS) - _tokens(backbone, TEXTS)).max() < 1e-5
    ours = _tokens(backbone, TEXTS, BGE_PREFIX)
    assert np.abs(encoder.encode_queries(TEXTS) - ours).max() < 1e-5


def test_a_longer_maximum_than_the_backbones_is_the_backbones(tmp_path):
    source = save_tiny(tmp_path / "m", max_length=24)
    assert Backbone.load(source, max_length=256).spec.max_length == 24
    assert len(Backbone.load(source, max_length=7).pieces.of(TEXTS[3])) == 7


@pytest.mark.parametrize("kind", KINDS)
def test_only_the_last_layers_learn(tmp_path, kind):
    backbone = Backbone.load(save_tiny(tmp_path / "m", kind=kind, layers=3), trained_layers=2)
    learning = {name for name, value in backbone.named_parameters() if value.requires_grad}
    layers = {name.split("layer.")[1].split(".")[0] for name in learning}
    assert layers == {"1", "2"}
    per_layer = sum(".0." in name and "layer" in name for name, _ in backbone.named_parameters())
    assert len(learning) == 2 * per_layer


def test_all_weights_learn_but_the_pooler_that_no_token_reads(tmp_path):
    backbone = Backbone.load(save_tiny(tmp_path / "m"))
    frozen = {name for name, value in backbone.named_parameters() if not value.requires_grad}
    assert frozen == {"transformer.pooler.dense.weight", "transformer.pooler.dense.bias"}


def test_every_learning_weight_gets_a_gradient(tmp_path):
    backbone = Backbone.load(save_tiny(tmp_path / "m"))
    ids = torch.tensor([[2, 9, 11, 3], [2, 8, 3, 0]])
    backbone([(ids, (ids != 0).long())])[:, 0].sum().backward()
    assert all(value.grad is not None for value in backbone.parameters() if value.requires_grad)


@pytest.mark.parametrize("layers", [3, 0])
def test_more_layers_than_there_are_cannot_be_trained(tmp_path, layers):
    source = save_tiny(tmp_path / "m", layers=2)
    with pytest.raises(EncoderError, match=rf"last {layers} layers .* has 2; give 1 to 2"):
        Backbone.load(source, trained_layers=layers)


def test_layers_of_an_unknown_structure_are_not_guessed(tmp_path):
    source = save_tiny(tmp_path / "m", kind="albert")
    with pytest.raises(EncoderError, match="layers of a albert cannot be told"):
        Backbone.load(source, trained_layers=1)
    assert _tokens(Backbone.load(source), TEXTS).shape == (4, 32)


def test_missing_weights_are_refused_not_made_up(tmp_path):
    from safetensors.numpy import load_file, save_file

    source = save_tiny(tmp_path / "m")
    weights = load_file(source / "model.safetensors")
    del weights[next(name for name in weights if "attention.output.dense.weight" in name)]
    save_file(weights, source / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(EncoderError, match="lacks weights"):
        Backbone.load(source)


def test_a_pooler_that_is_missing_stays_missing(tmp_path):
    from safetensors.numpy import load_file, save_file

    source = save_tiny(tmp_path / "m")
    weights = load_file(source / "model.safetensors")
    kept = {name: value for name, value in weights.items() if "pooler" not in name}
    assert len(kept) < len(weights)
    save_file(kept, source / "model.safetensors", metadata={"format": "pt"})
    Backbone.load(source).save_sentence_transformers(tmp_path / "saved")
    assert load_file(tmp_path / "saved/model.safetensors").keys() == kept.keys()


def test_dropout_acts_in_training_only(tmp_path):
    backbone = Backbone.load(save_tiny(tmp_path / "m"))
    ids = torch.tensor([[2, 9, 11, 3]])
    batch = [(ids, torch.ones_like(ids))]
    with torch.no_grad():
        assert torch.equal(backbone(batch), backbone(batch))
        backbone.train()
        assert not torch.equal(backbone(batch), backbone(batch))
        before = backbone.training
        _tokens(backbone, TEXTS)
    assert backbone.training is before is True


def test_dropout_acts_in_trained_layers_alone(tmp_path):
    backbone = Backbone.load(save_tiny(tmp_path / "m", layers=3), trained_layers=1).train()
    layers = backbone.transformer.encoder.layer
    assert [layer.training for layer in layers] == [False, False, True]
    assert not backbone.transformer.embeddings.training
    assert not any(layer.training for layer in backbone.eval().transformer.encoder.layer)


@pytest.mark.parametrize("kind", KINDS)
def test_states_of_frozen_layers_are_kept_and_give_the_same_tokens(tmp_path, kind):
    backbone = Backbone.load(save_tiny(tmp_path / "m", kind=kind, layers=3), trained_layers=2)
    before = _tokens(backbone, TEXTS)
    texts = split_texts(backbone, TEXTS, "")
    backbone.keep_frozen([*texts, *texts])
    with torch.no_grad():  # the whole transformer is not asked again
        for parameter in backbone.transformer.embeddings.parameters():
            parameter.zero_()
    assert np.abs(_tokens(backbone, TEXTS) - before).max() < 1e-6
    _disturb(backbone)
    assert np.abs(_tokens(backbone, TEXTS) - before).max() > 1e-3


def test_nothing_is_kept_of_models_that_learn_as_a_whole_or_are_built_otherwise(
    tmp_path, monkeypatch
):
    source = save_tiny(tmp_path / "m")
    for layers, most in ((None, 1 << 20), (1, 0)):
        monkeypatch.setattr("sat_retriever.train.encoder.backbone.MOST_BYTES", most)
        backbone = Backbone.load(source, trained_layers=layers)
        backbone.keep_frozen(split_texts(backbone, TEXTS, ""))
        assert backbone.frozen is None
    monkeypatch.undo()
    backbone = Backbone.load(source, trained_layers=1)
    after = torch.nn.LayerNorm(32)  # states that the last layer does not give
    backbone.transformer.encoder.register_forward_hook(
        lambda *said: said[-1].__class__(last_hidden_state=after(said[-1].last_hidden_state) + 1)
    )
    backbone.keep_frozen(split_texts(backbone, TEXTS, ""))
    assert backbone.frozen is None
    assert _tokens(backbone, TEXTS).shape == (4, 32)


def test_batches_of_one_call_come_back_in_order(tmp_path):
    backbone = Backbone.load(save_tiny(tmp_path / "m"))
    first, second = torch.tensor([[2, 9, 11, 3]]), torch.tensor([[2, 12, 3], [2, 13, 3]])
    batches = [(ids, torch.ones_like(ids)) for ids in (first, second)]
    with torch.no_grad():
        together = backbone(batches)
        apart = torch.cat([backbone([batch]) for batch in batches])
    assert together.shape == (3, 32)
    assert torch.equal(together, apart)


def test_groups_hold_every_text_once_and_few_padded_pieces():
    rng = np.random.default_rng(0)
    texts = [np.zeros(length, np.int32) for length in rng.integers(1, 300, 200)] + [
        np.zeros(3000, np.int32)
    ]
    groups = group_by_length(texts, torch.device("cpu"))
    assert sorted(place for group in groups for place in group) == list(range(201))
    sizes = [len(group) * max(len(texts[place]) for place in group) for group in groups]
    assert sizes[-1] == 3000
    assert max(sizes[:-1]) <= 1024


def test_texts_are_padded_with_the_sources_own_piece(tmp_path):
    source = save_tiny(tmp_path / "m")
    config = json.loads((source / "config.json").read_text())
    (source / "config.json").write_text(json.dumps(config | {"pad_token_id": 1}))
    backbone = Backbone.load(source)
    ids, mask = backbone.pieces.padded([[2, 9, 3], [2, 3]])
    assert ids.tolist() == [[2, 9, 3], [2, 3, 1]]
    assert mask.tolist() == [[1, 1, 1], [1, 1, 0]]


def test_an_encoder_of_no_such_name_is_refused(tmp_path):
    with pytest.raises(EncoderError, match="neither an existing folder"):
        Backbone.load(tmp_path / "nowhere")


def test_freezing_again_replaces_what_was_chosen_before(tmp_path):
    backbone = Backbone.load(save_tiny(tmp_path / "m"))
    train_last_layers(backbone.transformer, 1)
    learning = {name for name, value in backbone.named_parameters() if value.requires_grad}
    assert {name.split(".")[3] for name in learning} == {"1"}
