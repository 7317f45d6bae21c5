from __future__ import annotations

import json
import shutil

import pytest

from sat_retriever import EncoderError
from sat_retriever.encoder.checkpoint import read_checkpoint
from sat_retriever.encoder.spec import EncoderSpec

_BGE_PREFIX = "Represent this sentence for searching relevant passages: "


def test_pooling_prefixes_and_limits_come_from_the_folder(tiny_source):
    spec = read_checkpoint(tiny_source, "tiny").spec
    assert (spec.pooling, spec.width, spec.max_length, spec.pad_id) == ("cls", 32, 32, 0)
    assert (spec.query_prefix, spec.sheet_prefix) == ("search: ", "sheet: ")


@pytest.mark.parametrize(
    ("config", "pooling"),
    [
        ({"pooling_mode_cls_token": False, "pooling_mode_mean_tokens": True}, "mean"),
        ({"pooling_mode": "mean"}, "mean"),
        ({"pooling_mode": ["cls"], "include_prompt": True}, "cls"),
    ],
)
def test_old_and_new_pooling_configurations_are_read(tiny, config, pooling):
    (tiny / "1_Pooling/config.json").write_text(json.dumps(config))
    assert read_checkpoint(tiny, "tiny").spec.pooling == pooling


@pytest.mark.parametrize(
    "config",
    [
        {"pooling_mode_max_tokens": True},
        {"pooling_mode_cls_token": True, "pooling_mode_mean_tokens": True},
        {"pooling_mode_cls_token": True, "include_prompt": False},
        {},
    ],
)
def test_other_poolings_are_refused(tiny, config):
    (tiny / "1_Pooling/config.json").write_text(json.dumps(config))
    with pytest.raises(EncoderError, match="one of CLS or mean"):
        read_checkpoint(tiny, "tiny")


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({}, ("", "")),
        ({"prompts": {"query": "", "document": ""}}, ("", "")),
        ({"prompts": {"a": "A: "}, "default_prompt_name": "a"}, ("A: ", "A: ")),
        ({"prompts": {"a": "A: ", "query": "Q: "}, "default_prompt_name": "a"}, ("Q: ", "A: ")),
        ({"prompts": {"passage": "P: "}}, ("", "P: ")),
    ],
)
def test_prompts_are_chosen_as_sentence_transformers_does(tiny, settings, expected):
    (tiny / "config_sentence_transformers.json").write_text(json.dumps(settings))
    spec = read_checkpoint(tiny, "tiny").spec
    assert (spec.query_prefix, spec.sheet_prefix) == expected


def test_bge_gets_its_documented_query_prefix_when_its_configuration_has_none(tiny, change):
    (tiny / "config_sentence_transformers.json").unlink()
    named = read_checkpoint(tiny, "BAAI/bge-base-en-v1.5").spec
    assert (named.query_prefix, named.sheet_prefix) == (_BGE_PREFIX, "")
    change(tiny / "config.json", _name_or_path="/home/someone/.cache/BAAI_bge-base-en/")
    assert read_checkpoint(tiny, "tiny").spec.query_prefix == _BGE_PREFIX


def test_a_prompt_in_the_configuration_goes_before_the_documented_prefix(tiny):
    assert read_checkpoint(tiny, "BAAI/bge-base-en-v1.5").spec.query_prefix == "search: "


def test_moving_a_folder_does_not_change_its_fingerprint(tiny, tmp_path):
    (tiny / "config_sentence_transformers.json").unlink()
    moved = shutil.copytree(tiny, tmp_path / "bge-base-en-v1.5")
    fingerprints = {
        read_checkpoint(folder, str(folder)).spec.fingerprint for folder in (tiny, moved)
    }
    assert len(fingerprints) == 1


def test_maximum_length_is_the_smallest_stated_limit(tiny, change):
    (tiny / "sentence_bert_config.json").unlink()
    change(tiny / "tokenizer_config.json", model_max_length=int(1e30))
    assert read_checkpoint(tiny, "tiny").spec.max_length == 64  # max_position_embeddings
    change(tiny / "tokenizer_config.json", model_max_length=48)
    assert read_checkpoint(tiny, "tiny").spec.max_length == 48
    change(tiny / "config.json", model_type="roberta", pad_token_id=1, max_position_embeddings=40)
    assert read_checkpoint(tiny, "tiny").spec.max_length == 38


def test_lowercasing_is_read(tiny, change):
    change(tiny / "sentence_bert_config.json", do_lower_case=True)
    assert read_checkpoint(tiny, "tiny").spec.lowercase


def test_pickled_weights_are_refused_with_the_way_to_convert_them(tiny):
    (tiny / "model.safetensors").rename(tiny / "pytorch_model.bin")
    with pytest.raises(EncoderError, match=r"pickle.*never read.*safe_serialization"):
        read_checkpoint(tiny, "tiny")


@pytest.mark.parametrize("file", ["config.json", "tokenizer_config.json"])
def test_a_folder_with_auto_map_is_refused(tiny, change, file):
    change(tiny / file, auto_map={"AutoModel": "modeling.Evil"})
    with pytest.raises(EncoderError, match="never run"):
        read_checkpoint(tiny, "tiny")


def test_weights_that_the_hash_would_not_cover_are_refused(tiny, change):
    change(tiny / "config.json", transformers_weights="other.safetensors")
    with pytest.raises(EncoderError, match="transformers_weights"):
        read_checkpoint(tiny, "tiny")


def test_an_adapter_is_refused_with_the_way_to_merge_it(tiny):
    (tiny / "adapter_config.json").write_text('{"base_model_name_or_path": "/elsewhere"}')
    with pytest.raises(EncoderError, match="merge_and_unload"):
        read_checkpoint(tiny, "tiny")


def _set_module(folder, number, **keys):
    modules = json.loads((folder / "modules.json").read_text())
    modules[number].update(keys)
    (folder / "modules.json").write_text(json.dumps(modules))


@pytest.mark.parametrize(
    ("change_to", "message"),
    [
        ({"type": "custom_st.Transformer"}, "never run"),
        ({"type": "sentence_transformers_evil.Transformer"}, "never run"),
        ({"type": "sentence_transformers.models.Dense"}, "Dense module"),
        ({"path": "../elsewhere"}, "outside of itself"),
        ({"path": "/etc"}, "outside of itself"),
    ],
)
def test_modules_that_cannot_be_honoured_are_refused(tiny, change_to, message):
    _set_module(tiny, 0, **change_to)
    with pytest.raises(EncoderError, match=message):
        read_checkpoint(tiny, "tiny")


def test_sharded_weights_must_lie_in_the_folder(tiny):
    (tiny / "model.safetensors").unlink()
    index = {"weight_map": {"a": "../../secret.safetensors"}}
    (tiny / "model.safetensors.index.json").write_text(json.dumps(index))
    with pytest.raises(EncoderError, match="outside of itself"):
        read_checkpoint(tiny, "tiny")


@pytest.mark.parametrize(
    ("file", "message"),
    [
        ("modules.json", "no sentence-transformers folder"),
        ("config.json", r"config\.json is missing"),
        ("tokenizer.json", r"no tokenizer\.json"),
        ("1_Pooling/config.json", "is missing"),
        ("model.safetensors", "download may be incomplete"),
    ],
)
def test_a_missing_file_is_named(tiny, file, message):
    (tiny / file).unlink()
    with pytest.raises(EncoderError, match=message):
        read_checkpoint(tiny, "tiny")


@pytest.mark.parametrize("content", [b"{", b"[]", b"\xff\xfe"])
def test_a_damaged_configuration_is_named(tiny, content):
    (tiny / "config.json").write_bytes(content)
    with pytest.raises(EncoderError, match=r"config\.json"):
        read_checkpoint(tiny, "tiny")


def test_every_part_of_the_spec_changes_the_fingerprint():
    base = {
        "weights": "w",
        "architecture": "a",
        "tokenizer": "t",
        "pooling": "cls",
        "width": 8,
        "max_length": 16,
    }
    changes = [
        {},
        {"weights": "x"},
        {"architecture": "x"},
        {"tokenizer": "x"},
        {"pooling": "mean"},
        {"width": 9},
        {"max_length": 17},
        {"pad_id": 1},
        {"lowercase": True},
        {"query_prefix": "q"},
        {"sheet_prefix": "s"},
        {"precision": "int8"},
    ]
    assert {key for change in changes for key in change} == set(EncoderSpec.__dataclass_fields__)
    fingerprints = {EncoderSpec(**(base | change)).fingerprint for change in changes}
    assert len(fingerprints) == len(changes)


def test_volatile_keys_of_the_configuration_do_not_change_the_fingerprint(tiny, change):
    before = read_checkpoint(tiny, "tiny").spec.fingerprint
    change(tiny / "config.json", transformers_version="9.9", _name_or_path="elsewhere")
    assert read_checkpoint(tiny, "tiny").spec.fingerprint == before
    change(tiny / "config.json", num_attention_heads=2)
    assert read_checkpoint(tiny, "tiny").spec.fingerprint != before


def test_an_unknown_precision_or_pooling_is_refused():
    spec = EncoderSpec("w", "a", "t", "cls", 8, 16)
    with pytest.raises(EncoderError, match="unknown precision 'fp8'"):
        spec.with_precision("fp8")  # type: ignore[arg-type]
    with pytest.raises(EncoderError, match="unknown pooling 'max'"):
        EncoderSpec("w", "a", "t", "max", 8, 16)  # type: ignore[arg-type]
