"""The base install: its size, its packages, its cold start, its encoders.

    python -m benchmarks run install [--rounds 7] [--sheets 120]

Builds this checkout's wheel and installs it, without an extra, into a fresh environment; the
package registry is needed for both. All processes but the encoders' run in that environment. The
embedded MiniLM is not part of the base install: there it is a folder that this checkout exports,
as one would on another machine. The encoders are timed in this checkout's own environment, as
`run encoder` does it.
"""

from __future__ import annotations

import json
import re
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.results import ROOT, Result
from benchmarks.runner import Options, console, option, suite
from benchmarks.speed.encoder import in_turns
from benchmarks.speed.environment import (
    Command,
    Environment,
    Package,
    built_wheel,
    disk_bytes,
    file_bytes,
    fresh_environment,
    median_seconds,
    run,
)
from benchmarks.speed.latency import queries, records
from sat_retriever.encoder import MINILM, SheetEncoder
from sat_retriever.encoder.models import folder as model_folders
from sat_retriever.encoder.models.folder import GENERAL
from sat_retriever.errors import EncoderError, MissingExtraError
from sat_retriever.rank.links.linkrank import LINKS
from sat_retriever.synth.corpus import synthesize
from sat_retriever.synth.options import WORKBOOKS, SynthOptions
from sat_retriever.text.serialize import serialize

BASE = "base"
MOST_MB = 320.0
UNWANTED = ("torch", "transformers", "scipy")
MODELS = model_folders.FOLDER.relative_to(ROOT)  # below a folder of packages
QUESTION = "monthly revenue by region"
LARGEST = 10  # packages with a number of their own; the result's rows have them all
_ASKED, _SERIALIZED = 200, 300


@dataclass(frozen=True, slots=True)
class Encoder:
    """A Sheet Encoder that the base install can use.

    Attributes:
        name: "minilm" or "general".
        source: Value for `sat index --encoder`.
        folder: Folder of its files.
        method: Its name in `benchmarks.speed.encoder`.
        reranker: Value for `sat search --reranker`; empty if it has no reranker.
    """

    name: str
    source: str
    folder: Path
    method: str
    reranker: str = ""


def sizes(environment: Environment, wheel: Path) -> dict[str, Any]:
    """Return megabytes (10^6 bytes), also by largest package, and the count of unwanted ones."""
    packages = environment.packages()
    models = [place / MODELS for place in environment.site]
    return {
        "packages": len(packages),
        "on_disk_mb": _mb(disk_bytes(environment.site)),
        "files_mb": _mb(file_bytes(environment.site)),
        "wheel_mb": _mb(wheel.stat().st_size),
        "models_mb": _mb(file_bytes(place for place in models if place.is_dir())),
        "unwanted": len(unwanted(packages)),
        **{f"{package.name}_mb": _mb(package.size) for package in packages[:LARGEST]},
    }


def unwanted(packages: Sequence[Package]) -> list[str]:
    """Return the packages of training, and scipy, that are there all the same."""
    there = {_normal(package.name) for package in packages}
    return [name for name in UNWANTED if name in there]


def too_much(metrics: Mapping[str, Any]) -> list[str]:
    """Return the problems of an install, in sentences; none if it is fine.

    >>> too_much({"on_disk_mb": 321.0, "unwanted": 0})
    ['it takes 321.0 MB, the most is 320 MB']
    """
    found = []
    if metrics["on_disk_mb"] > MOST_MB:
        found.append(f"it takes {metrics['on_disk_mb']} MB, the most is {MOST_MB:.0f} MB")
    if metrics["unwanted"]:
        found.append(f"it brings some of {', '.join(UNWANTED)}")
    return found


def _normal(name: str) -> str:
    """Return a package's name as registries compare it.

    >>> _normal("SciPy"), _normal("et_xmlfile")
    ('scipy', 'et-xmlfile')
    """
    return re.sub(r"[-_.]+", "-", name).lower()


def _mb(size: int) -> float:
    return round(size / 1e6, 1)


def encoders(exported: Path) -> tuple[list[Encoder], list[str]]:
    """Return encoders that can be had, and why the others cannot.

    Args:
        exported: Folder that the MiniLM is written to.
    """
    there, missing = [], []
    finders: Mapping[str, Callable[[], Encoder]] = {
        MINILM: partial(minilm, exported),
        GENERAL: general,
    }
    for name, find in finders.items():
        try:
            there.append(find())
        except (EncoderError, MissingExtraError) as error:
            missing.append(f"{name}: {error}")
    return there, missing


def minilm(exported: Path) -> Encoder:
    """Return the embedded MiniLM as a folder, for environments without torch.

    Raises:
        EncoderError: If it cannot be exported.
        MissingExtraError: If it is not installed here.
    """
    SheetEncoder.load(MINILM).save(exported)
    return Encoder(MINILM, str(exported), exported, "fp32")


def general() -> Encoder:
    """Return the encoder of this package, with its reranker if there is one.

    Raises:
        EncoderError: If this checkout does not have it.
    """
    SheetEncoder.load(GENERAL)
    folder = model_folders.FOLDER / GENERAL
    reranker = GENERAL if (folder / "reranker").is_dir() else ""
    return Encoder(GENERAL, GENERAL, folder / "encoder", GENERAL, reranker)


def cold_starts(
    environment: Environment, found: Sequence[Encoder], folder: Path, options: Options
) -> dict[str, dict[str, float]]:
    """Return the seconds of whole processes: of the install itself, and with each encoder."""
    corpus = folder / "corpus"
    synthesize(corpus, SynthOptions(str(options.sheets), seed=7, queries=1))
    sat, python = environment.sat, environment.python
    commands: dict[tuple[str, str], Command] = {
        (BASE, "python_s"): [python, "-c", "pass"],
        (BASE, "import_s"): [python, "-c", "import sat_retriever"],
        (BASE, "help_s"): [sat, "--help"],
    }
    for encoder in found:
        index = folder / f"{encoder.name}.sat"
        run([sat, "index", corpus / WORKBOOKS, "-i", index, "--encoder", encoder.source], folder)
        search: Command = [sat, "search", QUESTION, "--index", index]
        if not json.loads(run([*search, "--json"], folder))["hits"]:
            sys.exit(f"sat search found nothing in the index of {encoder.name}")
        commands[encoder.name, "search_s"] = [*search, "--reranker", LINKS.name]
        if encoder.reranker:
            own = [*search, "--reranker", encoder.reranker]
            commands[encoder.name, "reranked_search_s"] = own
    starts: dict[str, dict[str, float]] = {}
    for (method, metric), seconds in median_seconds(commands, folder, options.rounds).items():
        starts.setdefault(method, {})[metric] = seconds
    return starts


def speeds(found: Sequence[Encoder], folder: Path, rounds: int) -> dict[str, dict[str, float]]:
    """Return the numbers of `run encoder` by encoder, over made texts."""
    content = {
        "queries": queries(_ASKED),
        "sheets": [serialize(record) for record in records(_SERIALIZED)],
    }
    measured = in_turns([encoder.method for encoder in found], content, rounds, folder)
    return {encoder.name: measured[encoder.method] for encoder in found}


def measure(options: Options) -> tuple[list[Result], list[str]]:
    """Return a result of the install and one of each encoder, and why others are missing."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for part in ("wheel", "encoders"):
            (folder / part).mkdir()
        wheel = built_wheel(folder / "wheel")
        environment = fresh_environment(folder / "environment", wheel)
        metrics = sizes(environment, wheel)
        rows = [
            {"package": package.name, "version": package.version, "bytes": package.size}
            for package in environment.packages()
        ]
        found, missing = encoders(folder / "encoders" / MINILM)
        starts = cold_starts(environment, found, folder, options)
        fast = speeds(found, folder, options.encoder_rounds)
        results = [Result(BASE, "fresh_environment", metrics | starts[BASE], per_query=rows)]
        for encoder in found:
            size = {"sheets": options.sheets, "encoder_mb": _mb(file_bytes([encoder.folder]))}
            numbers = {**size, **starts[encoder.name], **fast[encoder.name]}
            results.append(Result(encoder.name, f"made_{options.sheets}", numbers))
    return results, missing


@suite(
    "install",
    sheets=option(120, "of the made index"),
    rounds=option(7, "of every cold start"),
    encoder_rounds=3,
)
def main(options: Options) -> Iterator[Result]:
    """Measure; fails if the install is too large."""
    results, missing = measure(options)
    yield from results
    for reason in missing:
        console.print(f"not measured, {reason}")
    if wrong := too_much(results[0].metrics):
        sys.exit(f"the base install is not as it should be: {'; '.join(wrong)}")
