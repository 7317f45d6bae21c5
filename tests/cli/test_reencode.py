"""`sat reencode`: other tokens for a whole index, without its workbooks."""

from __future__ import annotations

import json
import re
import shlex
import shutil

import pytest

from tests.cli.conftest import WORDS
from tests.saved_encoder import save_bag_of_words


@pytest.fixture
def own(tmp_path, workbooks, sat):
    """An index with an encoder in a folder that is no longer what it was."""
    folder = save_bag_of_words(tmp_path / "models" / "bag", WORDS)
    run = sat("index", workbooks, "--index", tmp_path / "own.sat", "--encoder", folder)
    assert (tmp_path / "own.sat").exists(), run.err
    shutil.rmtree(folder)
    save_bag_of_words(folder, WORDS, seed=1)
    return tmp_path / "own.sat"


def test_the_error_about_another_encoder_names_the_command_that_converts_the_index(own, sat):
    refused = sat("search", "revenue by region", "--index", own)
    assert refused.code == 1
    command = re.search(r"sat (reencode .+)", refused.err.replace("\n", " "))
    assert command is not None, refused.err
    done = sat(*shlex.split(command[1].strip()))
    assert (done.code, done.err) == (0, "")
    assert re.search(r"\d+ sheets of .*own\.sat: .*bag before, .*bag now", done.out)
    found = sat("search", "monthly revenue by region", "--index", own, "--json")
    assert json.loads(found.out)["hits"][0]["sheet_id"] == "sales/2024.xlsx#Q1"


def test_another_encoder_can_be_named_and_the_result_be_json(index_file, tmp_path, sat):
    copy = shutil.copy(index_file, tmp_path / "copy.sat")
    other = save_bag_of_words(tmp_path / "other", WORDS, seed=3)
    run = sat("reencode", "--index", copy, "--encoder", other, "--json")
    told = json.loads(run.out)
    assert (told["encoder"], told["index"]) == (str(other), str(copy))
    assert told["before"] != told["encoder"] and told["sheets"] > 3
    status = json.loads(sat("status", "--index", copy, "--json").out)
    assert status["encoder"] == str(other)


def test_without_an_index_or_an_encoder_nothing_is_written(index_file, tmp_path, sat):
    missing = sat("reencode", "--index", tmp_path / "none.sat")
    assert missing.code == 1 and "no index at" in missing.err
    before = index_file.read_bytes()
    unknown = sat("reencode", "--index", index_file, "--encoder", tmp_path / "nowhere")
    assert unknown.code != 0 and "nowhere" in unknown.err
    assert index_file.read_bytes() == before
