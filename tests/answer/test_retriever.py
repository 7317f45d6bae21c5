"""Stage 2 by what names it: links, nothing, or a folder with a trained reranker."""

import subprocess
import sys
from pathlib import Path

import onnx
import pytest
from onnx import TensorProto, helper
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

from sat_retriever import (
    Column,
    CrossEncoderReranker,
    EncoderError,
    GraphReranker,
    InputError,
    Link,
    LinkReranker,
    PathNotFoundError,
    SheetEncoder,
    SheetIndex,
    SheetRecord,
    SheetRetriever,
    load_reranker,
)
from sat_retriever.encoder.models.folder import write_folder
from sat_retriever.index.search.scores import score_all
from sat_retriever.rank.cross_encoder import PairSpec, write_pair_folder
from sat_retriever.rank.mixed import Passage, rerank_mixed
from sat_retriever.text.period.question import _asked
from tests.fakes import CountingEncoder, HashedEncoder
from tests.rank.graph.small_model import save_small_model, small_spec
from tests.saved_encoder import save_bag_of_words


@pytest.fixture
def index(tmp_path):
    records = [
        SheetRecord(name, name, columns=(Column("Amount"),))
        for name in ("sales", "sales notes", "taxes")
    ]
    with SheetIndex.create(tmp_path / "a.sat", HashedEncoder(512)) as opened:
        opened.add_records(records, [Link("sales", "taxes", "formula_reference")], find_links=False)
        yield opened


def save_longest_first(folder: Path, index: SheetIndex) -> Path:
    """A Cross-Encoder whose logit is the number of word pieces of a pair."""
    tokenizer = Tokenizer(
        models.WordLevel({"[PAD]": 0, "[CLS]": 1, "[SEP]": 2, "[UNK]": 3}, "[UNK]")
    )
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    draft = folder.with_suffix(".json")
    draft.parent.mkdir(parents=True, exist_ok=True)
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 1), ("[SEP]", 2)]
    )
    tokenizer.save(str(draft))
    nodes = [
        helper.make_node("Cast", ["attention_mask"], ["mask"], to=TensorProto.FLOAT),
        helper.make_node("Cast", ["input_ids"], ["ids"], to=TensorProto.FLOAT),
        helper.make_node("Mul", ["ids", "mask"], ["kept"]),
        helper.make_node("Sign", ["kept"], ["ones"]),
        helper.make_node("Constant", [], ["last"], value_ints=[1]),
        helper.make_node("ReduceSum", ["ones", "last"], ["logits"], keepdims=0),
    ]
    inputs = [
        helper.make_tensor_value_info(name, TensorProto.INT64, ["b", "t"])
        for name in ("input_ids", "attention_mask")
    ]
    output = helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["b"])
    graph = helper.make_graph(nodes, "longest", inputs, [output])
    opset = [helper.make_opsetid("", 18)]
    model = helper.make_model(graph, opset_imports=opset, ir_version=10)
    spec = PairSpec(
        backbone="none", pooling="cls", max_length=64, start_id=1, end_id=2, pad_id=0,
        token_types=False, lowercase=False, blend=0.0, encoder=index.fingerprint,
        serialization=index.serialization.fingerprint, dense_weight=1.0, candidates=50,
    )  # fmt: skip
    write_pair_folder(folder, spec, draft, lambda path: onnx.save(model, path))
    draft.unlink()
    return folder


def test_each_folder_loads_its_own_kind_of_reranker(index, tmp_path):
    graph = save_small_model(tmp_path / "graph", small_spec(index))
    pairs = save_longest_first(tmp_path / "pairs", index)
    assert isinstance(load_reranker(index, graph), GraphReranker)
    assert isinstance(load_reranker(index, str(pairs)), CrossEncoderReranker)
    assert isinstance(SheetRetriever(index, str(graph)).reranker, GraphReranker)
    hits = SheetRetriever(index, pairs).retrieve("sales", 3)
    assert [hit.sheet_id for hit in hits] == ["sales notes", "sales", "taxes"]


def test_the_run_folder_of_a_training_loads_what_was_trained(index, tmp_path):
    save_small_model(tmp_path / "run" / "reranker", small_spec(index))
    save_longest_first(tmp_path / "other" / "cross-encoder", index)
    assert isinstance(load_reranker(index, tmp_path / "run"), GraphReranker)
    assert isinstance(load_reranker(index, tmp_path / "other"), CrossEncoderReranker)


@pytest.mark.parametrize("kind", ["graph", "pairs"])
def test_searching_with_a_trained_reranker_loads_nothing_of_training(tmp_path, kind):
    encoder = SheetEncoder.load(save_bag_of_words(tmp_path / "bag", ["sales", "taxes"]))
    with SheetIndex.create(tmp_path / "b.sat", encoder) as index:
        index.add_records([SheetRecord("sales", "sales"), SheetRecord("taxes", "taxes")])
        save = {"graph": lambda at: save_small_model(at, small_spec(index)),
                "pairs": lambda at: save_longest_first(at, index)}[kind]  # fmt: skip
        folder = save(tmp_path / kind)
    code = (
        "import sys; from sat_retriever.cli import main\n"
        "try:\n    main()\nfinally:\n"
        "    heavy = {'torch', 'transformers', 'accelerate', 'onnx', 'safetensors'}\n"
        "    print(sorted(heavy & set(sys.modules)))"
    )
    asked = ["search", "sales", "-i", str(tmp_path / "b.sat"), "--reranker", str(folder)]
    done = subprocess.run(
        [sys.executable, "-c", code, *asked], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "sales" in done.stdout
    assert done.stdout.splitlines()[-1] == "[]"


def test_links_and_nothing_are_no_folders(index, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    save_small_model(tmp_path / "links", small_spec(index))
    assert isinstance(SheetRetriever(index, "links").reranker, LinkReranker)
    assert isinstance(SheetRetriever(index).reranker, LinkReranker)
    assert isinstance(SheetRetriever(index, "./links").reranker, GraphReranker)
    assert SheetRetriever(index, None).reranker is None


def test_a_folder_without_a_reranker_is_said(index, tmp_path):
    with pytest.raises(PathNotFoundError, match=r"no folder .*nowhere"):
        SheetRetriever(index, tmp_path / "nowhere")
    write_folder(tmp_path / "thing", "sat-thing", {}, {})
    for folder in (tmp_path, tmp_path / "thing"):
        with pytest.raises(InputError, match="holds no trained reranker"):
            SheetRetriever(index, str(folder))
    damaged = save_small_model(tmp_path / "graph", small_spec(index))
    (damaged / "model.onnx").write_bytes(b"")
    with pytest.raises(EncoderError, match="damaged"):
        load_reranker(index, damaged)


def test_the_reranker_decides_where_a_complete_answer_ends(index, tmp_path):
    """By length all three are next to certain, so all of them are within half of the best."""
    retriever = SheetRetriever(index, save_longest_first(tmp_path / "pairs", index))
    assert len(retriever.retrieve_set("sales")) == 3
    strict = save_small_model(tmp_path / "graph", small_spec(index, complete_share=1.0))
    assert len(SheetRetriever(index, strict).retrieve_set("sales")) == 1


# ---- a query is made into a question once


def rerankers(index, folder):
    """One of every kind, by what chooses it."""
    return {
        "none": None,
        "links": "links",
        "graph": save_small_model(folder / "graph", small_spec(index, start="links")),
        "cross-encoder": save_longest_first(folder / "pairs", index),
    }


@pytest.fixture
def linked(tmp_path):
    """An index whose best sheet for "sales" links to one that is no candidate."""
    encoder = CountingEncoder()
    links = [Link("sales", "staff", "formula_reference")]
    with SheetIndex.create(tmp_path / "linked.sat", encoder) as made:
        names = ("sales", "sales 2021", "sales 2022", "staff")
        made.add_records([SheetRecord(name, name) for name in names], links, find_links=False)
        encoder.asked.clear()
        yield made


@pytest.mark.parametrize("kind", ["none", "links", "graph", "cross-encoder"])
def test_a_query_is_encoded_and_its_times_are_read_once(linked, tmp_path, kind):
    reranker = rerankers(linked, tmp_path)[kind]
    retriever = SheetRetriever(linked, reranker, candidates=1)
    for ask in (retriever.retrieve, retriever.retrieve_set):
        read = sum(_asked.cache_info()[:2])
        assert ask("sales of 2022", 3)
        assert linked.encoder.asked == ["sales of 2022"]
        assert sum(_asked.cache_info()[:2]) == read + 1
        linked.encoder.asked.clear()


@pytest.mark.parametrize("kind", ["links", "graph"])
def test_sheets_that_links_add_cost_no_second_scoring_of_the_corpus(
    linked, tmp_path, kind, monkeypatch
):
    calls = []

    def counted(*arguments):
        calls.append(arguments)
        return score_all(*arguments)

    monkeypatch.setattr("sat_retriever.index.search.search.score_all", counted)
    retriever = SheetRetriever(linked, rerankers(linked, tmp_path)[kind], candidates=1)
    assert "staff" in [hit.sheet_id for hit in retriever.retrieve("sales", 4)]
    assert len(calls) == 1


def test_frameworks_passages_are_ranked_with_one_encoding(linked, tmp_path):
    passages = [Passage("", "sales"), Passage("sales of 2022"), Passage("", "sales 2022")]
    for reranker in rerankers(linked, tmp_path).values():
        stage2 = SheetRetriever(linked, reranker).reranker
        if stage2 is not None:
            assert len(rerank_mixed(stage2, linked, "sales of 2022", passages)) == 3
    assert linked.encoder.asked == ["sales of 2022"]  # by all of them together
