"""Folders of models: whole or not at all, and refused when they do not fit their hashes."""

import json

import pytest

from sat_retriever import EncoderError
from sat_retriever.encoder.models.folder import (
    _fingerprint,
    file_hash,
    folder_kind,
    is_folder,
    read_folder,
    write_folder,
)

KIND = "sat-thing"
SPEC = {"width": 4, "names": ["a", "b"], "gate": None}


def write_bytes(content):
    return lambda path: path.write_bytes(content) and None


WRITERS = {"model.onnx": write_bytes(b"model"), "words.json": write_bytes(b"[]")}


@pytest.fixture
def saved(tmp_path):
    write_folder(tmp_path / "saved", KIND, SPEC, WRITERS)
    return tmp_path / "saved"


def change(folder, **keys):
    config = json.loads((folder / "config.json").read_text()) | keys
    kept = {key: value for key, value in config.items() if value is not None}
    (folder / "config.json").write_text(json.dumps(kept))


def test_a_folder_gives_back_its_spec_and_holds_its_files_and_nothing_else(saved):
    assert read_folder(saved, KIND) == SPEC
    assert sorted(p.name for p in saved.iterdir()) == ["config.json", "model.onnx", "words.json"]
    assert [path.name for path in saved.parent.iterdir()] == ["saved"]
    assert (saved / "model.onnx").read_bytes() == b"model"
    assert saved.stat().st_mode & 0o777 == 0o755


def test_what_a_folder_holds_is_said_by_its_config(saved, tmp_path):
    assert folder_kind(saved) == KIND
    assert is_folder(saved, KIND)
    assert not is_folder(saved, "sat-other")
    assert folder_kind(tmp_path) is folder_kind(tmp_path / "none") is None
    for text in ("[]", "{", '{"format": 3}', "\xff", "[" * 100_000):
        (tmp_path / "config.json").write_text(text, encoding="latin-1")
        assert folder_kind(tmp_path) is None


def test_a_folder_of_the_same_kind_or_an_empty_one_is_replaced(saved, tmp_path):
    write_folder(saved, KIND, {"width": 5}, {"model.onnx": write_bytes(b"new")})
    assert read_folder(saved, KIND) == {"width": 5}
    assert sorted(p.name for p in saved.iterdir()) == ["config.json", "model.onnx"]
    (tmp_path / "empty").mkdir()
    write_folder(tmp_path / "empty", KIND, SPEC, WRITERS)
    assert read_folder(tmp_path / "empty", KIND) == SPEC
    assert sorted(path.name for path in tmp_path.iterdir()) == ["empty", "saved"]


def test_anything_else_is_not_written_over(saved, tmp_path):
    (tmp_path / "letters").mkdir()
    (tmp_path / "letters" / "a.txt").write_text("dear")
    for target in (tmp_path / "letters", tmp_path / "letters" / "a.txt"):
        with pytest.raises(EncoderError, match="holds no thing; choose another folder"):
            write_folder(target, KIND, SPEC, WRITERS)
    with pytest.raises(EncoderError, match="holds no other"):
        write_folder(saved, "sat-other", SPEC, WRITERS)
    assert read_folder(saved, KIND) == SPEC
    assert (tmp_path / "letters" / "a.txt").read_text() == "dear"


@pytest.mark.parametrize("failure", [OSError("disk full"), ValueError("no model")])
def test_a_failed_write_leaves_what_was_there_and_no_draft(saved, failure):
    def fail(path):
        path.write_bytes(b"half")
        raise failure

    error = EncoderError if isinstance(failure, OSError) else ValueError
    with pytest.raises(error, match=str(failure)):
        write_folder(saved, KIND, SPEC, {"model.onnx": fail})
    assert read_folder(saved, KIND) == SPEC
    assert [path.name for path in saved.parent.iterdir()] == ["saved"]


@pytest.mark.parametrize("name", ["model.onnx", "words.json", "config.json"])
def test_a_missing_file_is_said(saved, name):
    (saved / name).unlink()
    with pytest.raises(EncoderError, match=f"no complete thing folder .*{name}.*again"):
        read_folder(saved, KIND)


@pytest.mark.parametrize("name", ["model.onnx", "words.json"])
def test_a_changed_file_is_refused(saved, name):
    (saved / name).write_bytes(b"other")
    with pytest.raises(EncoderError, match=r"damaged.*again"):
        read_folder(saved, KIND)


@pytest.mark.parametrize(
    "keys", [{"spec": {**SPEC, "width": 5}}, {"files": {}}, {"fingerprint": "0" * 16}]
)
def test_a_changed_config_is_refused(saved, keys):
    change(saved, **keys)
    with pytest.raises(EncoderError, match="damaged"):
        read_folder(saved, KIND)


def test_a_config_that_points_out_of_its_folder_is_refused(saved):
    (saved.parent / "secret").write_bytes(b"secret")
    hashes = {"../secret": file_hash(saved.parent / "secret")}
    change(saved, files=hashes, fingerprint=_fingerprint(KIND, SPEC, hashes))
    with pytest.raises(EncoderError, match="damaged"):
        read_folder(saved, KIND)


@pytest.mark.parametrize("keys", [{"spec": None}, {"files": [1]}, {"format": None}])
def test_a_config_without_what_it_needs_is_refused(saved, keys):
    change(saved, **keys)
    with pytest.raises(EncoderError, match="no complete thing folder"):
        read_folder(saved, KIND)


def test_a_config_that_nests_without_end_is_refused(saved):
    (saved / "config.json").write_text("[" * 100_000)
    with pytest.raises(EncoderError, match="no complete thing folder"):
        read_folder(saved, KIND)


def test_another_kind_or_a_newer_format_is_refused_with_what_to_do(saved):
    with pytest.raises(EncoderError, match=r"sat-thing 1, this version reads sat-other 1"):
        read_folder(saved, "sat-other")
    change(saved, format_number=2)
    with pytest.raises(EncoderError, match=r"sat-thing 2, this version reads.*upgrade"):
        read_folder(saved, KIND)
