"""The paper's recipe on a GPU: both stages trained, steps and encoding timed, the cascade measured.

    python -m benchmarks run gpu --prepare          # here: put all data into one folder, then end
    python -m benchmarks run gpu [--seed 42]        # on the machine with the GPU
    python -m benchmarks run gpu --quick --device cpu      # a trial of the command, some minutes

`--prepare` copies the corpus and downloads the paper's backbone and all-mpnet-base-v2, of the same
size, into `--folder`, which git ignores; `--encoders` names one of them alone. Copy that folder
into a checkout on another machine, and nothing is downloaded there. Trainings and finished results
are kept, so the same command goes on after a stop. Without a CUDA device that torch and onnxruntime
can use, the command says why and writes nothing. Trials, by `--quick` or on the CPU, are written
below `--folder`, never among the committed results.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks import fetch, results
from benchmarks.corpora import INDUSTRYTAB_1K
from benchmarks.gpu.device import choose, device_info, refuse_missing
from benchmarks.paper.quick import make_quick
from benchmarks.results import Result
from benchmarks.runner import Options, option, results_folder, suite
from sat_retriever.encoder.source import MINILM

BACKBONE = "BAAI/bge-base-en-v1.5"
# Folders of the encoders below the benchmark's data, by the beginning of their results' names.
ENCODERS = {"": "bge-base-en-v1.5", "mpnet_": "all-mpnet-base-v2"}


def prepare(folder: Path, data: Path, encoders: Sequence[str]) -> None:
    """Put corpus and encoders into the benchmark's folder; what is there stays.

    Raises:
        SystemExit: If the corpus is not there, or the backbone cannot be downloaded.
    """
    corpus, home = data / INDUSTRYTAB_1K, folder / "data"
    if not corpus.is_dir():
        sys.exit(f"not run: there is no corpus {corpus} (--data DIR)")
    _copy(corpus, home / INDUSTRYTAB_1K)
    for encoder in encoders:
        if encoder == ENCODERS["mpnet_"]:
            _copy(fetch.unpacked(fetch.MPNET), home / encoder)
        elif not (home / encoder / "modules.json").is_file():
            _download(home / encoder)
    print(f"all data is in {home}")


def _copy(source: Path, target: Path) -> None:
    """Copy a folder unless it is there; a copy that is stopped leaves nothing."""
    if target.is_dir():
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent) as draft:
        shutil.copytree(source, Path(draft, target.name)).rename(target)


def _download(place: Path) -> None:
    """Download the paper's backbone from the hub."""
    from huggingface_hub import snapshot_download

    try:
        snapshot_download(BACKBONE, local_dir=place, ignore_patterns=["onnx/*", "*.bin"])
    except (OSError, RuntimeError, ValueError) as error:
        sys.exit(f"{BACKBONE} cannot be downloaded ({error}); put its folder at {place}")


def parts(options: Options) -> Iterator[tuple[Result, Callable[[], Mapping[str, Any]]]]:
    """Yield each result without its metrics, and the function that measures them."""
    from benchmarks.gpu import measured
    from benchmarks.paper.trained import changed
    from benchmarks.training.corpus import corpus_of, dataset_of
    from benchmarks.training.runner import Places

    places = Places(options.folder / "data", options.folder / "runs")
    named, seed = options.corpus, options.seed
    corpus = corpus_of(named, "standard", seed, places.data, options.limit)
    dataset = dataset_of(corpus, places.data)
    ground = measured.Ground(corpus, dataset, places, options.device, seed)
    for prefix, backbone in options.backbones.items():
        recipes = {
            name: changed(recipe, options.set)
            for name, recipe in measured.paper_recipes(backbone).items()
        }
        for name, recipe in recipes.items():
            own = f"{prefix}{name}"
            blank = Result(own, dataset.name, {}, corpus.split, seed)
            yield blank, partial(measured.cascade, own, recipe, ground, options.repeats)
        for precision in ("fp32", "fp16") if options.device == "cuda" else ("fp32",):
            settings = measured.encoder_of(recipes["stage1"], precision)
            blank = Result(f"{prefix}step_{precision}", dataset.name, {}, "train", seed)
            yield blank, partial(measured.training_steps, settings, dataset, options.steps)
        blank = Result(f"{prefix}encode", f"template_{options.sheets}", {}, seed=seed)
        yield blank, partial(measured.encoding, recipes["stage1"], ground, options.sheets)


@suite(
    "gpu",
    "data",
    folder=option(Path(".cache/gpu"), "data and models"),
    prepare=option(False, "fill the folder's data from --data, then end"),
    device=option("cuda", choices=("cuda", "cpu")),
    encoders=option(tuple(ENCODERS.values()), choices=tuple(ENCODERS.values())),
    seed=42,
    steps=option(20, "timed training steps"),
    sheets=option(100_000, "sheets to encode"),
    repeats=option(3, "timed rounds over the questions"),
    quick=option(False, "a small made corpus, MiniLM, one epoch"),
    again=option(False, "measure anew what is there"),
)
def main(options: Options) -> Iterator[Result]:
    """Train and measure.

    Raises:
        SystemExit: If the data or the device is not there.
    """
    if options.prepare:
        prepare(options.folder, options.data, options.encoders)
        return
    refuse_missing(options.device)
    choose(options.device)
    _complete(options)
    trial = options.quick or options.device == "cpu"
    options.out = results_folder(options, options.folder, trial=trial)
    about = device_info(options.device)
    data = sorted((options.folder / "data" / INDUSTRYTAB_1K).glob("*.json"))
    for blank, measure in parts(options):
        found = results.read_summaries("gpu", options.out).get(blank.name)
        if found and not options.again:
            commit = (found["provenance"]["commit"] or "no commit")[:9]
            print(f"{blank.name} is there already, of {commit}; --again measures anew", flush=True)
            continue
        print(f"measuring {blank.name}", flush=True)
        yield replace(blank, metrics={"device": about, **measure()}, data=data)


def _complete(options: Options) -> None:
    """Add what is trained on, and from what, to the options.

    Raises:
        SystemExit: If the folder lacks the data.
    """
    options.set, options.limit, options.corpus = [], None, INDUSTRYTAB_1K
    options.runs = options.folder / "runs"
    if options.quick:
        make_quick(options)
        options.backbones, options.steps, options.repeats = {"": MINILM}, 2, 1
        options.sheets = min(options.sheets, 300)
        return
    data = options.folder / "data"
    wanted = {start: name for start, name in ENCODERS.items() if name in options.encoders}
    for name in wanted.values():
        if not (data / name).is_dir():
            sys.exit(
                f"not run: {data} lacks {name}; run: python -m benchmarks run gpu --prepare, where "
                "there is a network, and copy the folder here"
            )
    options.backbones = {start: str(data / name) for start, name in wanted.items()}
