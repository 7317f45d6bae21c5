"""Commands for the three trainings, and for the status of a run folder."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from sat_retriever.cli.options import DeviceOption, JsonOption
from sat_retriever.cli.terminal import examples
from sat_retriever.cli.train.fields import settings_of, with_options
from sat_retriever.cli.train.input import input_of_options
from sat_retriever.cli.train.report import print_run
from sat_retriever.cli.train.session import (
    check_extra,
    chosen_input,
    report,
    said_once,
    searched,
    shown,
    start_of,
)
from sat_retriever.train.settings import (
    CROSS_ENCODER_PRESETS,
    ENCODER_PRESETS,
    RERANKER_PRESETS,
    CrossEncoderTraining,
    EncoderTraining,
    RerankerTraining,
)

app = typer.Typer(
    name="train",
    help="Train the Sheet Encoder, the reranker or the Cross-Encoder.",
    epilog=examples(
        "sat train encoder --index reports.sat --labels labels.csv --out run",
        "sat train reranker --corpus corpus --encoder run --out rerank",
        "sat train status run",
    ),
    no_args_is_help=True,
    rich_markup_mode="rich",
)

Out = Annotated[
    Path,
    typer.Option(help="Run folder; a stopped run continues.", metavar="RUN", file_okay=False),
]
Stage1 = Annotated[
    str | None,
    typer.Option(help="Sheet Encoder: a run, a folder or a name.", metavar="RUN|DIR|NAME"),
]


def _presets(known: Mapping[str, object]) -> Any:
    return typer.Option(help=f"Start from these settings: {', '.join(known)}.", metavar="NAME")


EncoderPreset = Annotated[str | None, _presets(ENCODER_PRESETS)]
RerankerPreset = Annotated[str | None, _presets(RERANKER_PRESETS)]
CrossEncoderPreset = Annotated[str | None, _presets(CROSS_ENCODER_PRESETS)]


@app.command(
    no_args_is_help=True,
    epilog=examples(
        "sat train encoder --index reports.sat --labels labels.csv --out run",
        "sat train encoder --corpus corpus --out run --epochs 5 --seed 43",
        "accelerate launch -m sat_retriever train encoder --corpus corpus --out run",
    ),
)
@with_options(EncoderTraining, also=input_of_options)
def encoder(
    out: Out,
    *,
    preset: EncoderPreset = None,
    device: DeviceOption = "auto",
    as_json: JsonOption = False,
    **given: Any,
) -> None:
    """Fine-tune Stage 1, the Sheet Encoder.

    Use RUN/encoder with sat index --encoder, and RUN/sentence-transformers
    with sentence-transformers.
    """
    settings = settings_of(start_of(EncoderTraining, ENCODER_PRESETS, preset), given)
    with said_once():
        source = chosen_input(given, settings.seed)
        check_extra()
        from sat_retriever.train.encoder.train import train_encoder

        data = source.data()
        with shown(source) as bar:
            train_encoder(data, settings, out, device=device, progress=bar.training)
    report(out, source, as_json=as_json)


@app.command(
    no_args_is_help=True,
    epilog=examples(
        "sat train reranker --index new.sat --labels labels.csv --out rerank",
        "sat train reranker --corpus corpus --encoder run --out rerank --layers 2",
    ),
)
@with_options(RerankerTraining, also=input_of_options)
def reranker(
    out: Out,
    *,
    encoder: Stage1 = None,
    preset: RerankerPreset = None,
    device: DeviceOption = "auto",
    as_json: JsonOption = False,
    **given: Any,
) -> None:
    """Train Stage 2: the base scorer, then the gated graph over it.

    Use RUN/reranker with sat search --reranker.
    """
    settings = settings_of(start_of(RerankerTraining, RERANKER_PRESETS, preset), given)
    with said_once():
        source = chosen_input(given, settings.seed)
        check_extra()
        from sat_retriever.train.reranker.candidatesets import candidate_sets
        from sat_retriever.train.reranker.train import train_reranker

        dataset = source.dataset
        with shown(source) as bar, searched(source, encoder, out, device) as (seen, whole):
            sets = [
                candidate_sets(
                    index, queries, settings, progress=partial(bar.counting, "candidates")
                )
                for index, queries in ((seen, dataset.train), (whole, dataset.validation))
            ]
            train_reranker(
                sets[0],
                sets[1],
                settings,
                out,
                data_name=dataset.name,
                device=device,
                progress=bar.training,
            )
    report(out, source, as_json=as_json)


@app.command(
    "cross-encoder",
    no_args_is_help=True,
    epilog=examples(
        "sat train cross-encoder --index new.sat --labels labels.csv --out cross",
        "sat train cross-encoder --corpus corpus --encoder run --out cross --negatives 4",
    ),
)
@with_options(CrossEncoderTraining, also=input_of_options)
def cross_encoder(
    out: Out,
    *,
    encoder: Stage1 = None,
    preset: CrossEncoderPreset = None,
    device: DeviceOption = "auto",
    as_json: JsonOption = False,
    **given: Any,
) -> None:
    """Fine-tune a Cross-Encoder, which reads question and sheet together.

    Use RUN/cross-encoder with sat search --reranker.
    """
    settings = settings_of(start_of(CrossEncoderTraining, CROSS_ENCODER_PRESETS, preset), given)
    with said_once():
        source = chosen_input(given, settings.seed)
        check_extra()
        from sat_retriever.train.pairs.pairs import pair_candidates
        from sat_retriever.train.pairs.train import train_cross_encoder

        data = source.data()
        with shown(source) as bar, searched(source, encoder, out, device) as (seen, whole):
            pairs = pair_candidates(data, seen, whole, settings)
            train_cross_encoder(data, pairs, settings, out, device=device, progress=bar.training)
    report(out, source, as_json=as_json)


@app.command(no_args_is_help=True, epilog=examples("sat train status run"))
def status(
    run: Annotated[Path, typer.Argument(help="Run folder.", metavar="RUN", exists=True)],
    *,
    as_json: JsonOption = False,
) -> None:
    """Show a training: settings, curves, the best epoch, and the next commands."""
    print_run(run, as_json=as_json)
