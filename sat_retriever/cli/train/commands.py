"""Commands for the trainings of both stages, and for the status of a run folder."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from sat_retriever.cli.options import DeviceOption, JsonOption, examples
from sat_retriever.cli.train.fields import option_name, settings_of, with_options
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
from sat_retriever.errors import InputError
from sat_retriever.rank.cross_encoder import CROSS_ENCODER
from sat_retriever.rank.features.featurerank import FEATURES
from sat_retriever.rank.graph.graphrank import GRAPH
from sat_retriever.train.settings import (
    CROSS_ENCODER_PRESETS,
    ENCODER_PRESETS,
    RERANKER_PRESETS,
    CrossEncoderTraining,
    EncoderTraining,
    FeatureTraining,
    RerankerTraining,
)

Settings = FeatureTraining | RerankerTraining | CrossEncoderTraining

app = typer.Typer(
    name="train",
    help="Train the Sheet Encoder or a reranker.",
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
RERANKERS: Mapping[str, Settings] = {
    FEATURES.name: FeatureTraining(),
    GRAPH.name: RerankerTraining(),
    CROSS_ENCODER.name: CrossEncoderTraining(),
}
Kind = Literal["features", "graph", "cross-encoder"]


@app.command(
    no_args_is_help=True,
    epilog=examples(
        "sat train encoder --index reports.sat --labels labels.csv --out run",
        "sat train encoder --corpus corpus --out run --epochs 5 --seed 43",
        "accelerate launch -m sat_retriever train encoder --corpus corpus --out run",
    ),
)
@with_options({"encoder": EncoderTraining()}, also=input_of_options)
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
    settings = settings_of(start_of(EncoderTraining(), ENCODER_PRESETS, preset), given)
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
        "sat train reranker --corpus corpus --encoder run --out rerank --kind graph --layers 2",
        "sat train reranker -i new.sat --labels labels.csv --out cross --kind cross-encoder",
    ),
)
@with_options(RERANKERS, also=input_of_options)
def reranker(
    out: Out,
    *,
    kind: Annotated[
        Kind,
        typer.Option(
            help="features: what lists of candidates show, as the reranker in the package does; "
            "graph: the paper's Stage 2; cross-encoder: reads question and sheet together.",
            metavar="NAME",
        ),
    ] = "features",
    encoder: Stage1 = None,
    preset: Annotated[str | None, _presets(RERANKER_PRESETS | CROSS_ENCODER_PRESETS)] = None,
    device: DeviceOption = "auto",
    as_json: JsonOption = False,
    **given: Any,
) -> None:
    """Train Stage 2, a reranker of one of three kinds.

    Use RUN with sat search --reranker.
    """
    presets: Mapping[str, Mapping[str, Settings]] = {
        GRAPH.name: RERANKER_PRESETS, CROSS_ENCODER.name: CROSS_ENCODER_PRESETS
    }  # fmt: skip
    _refuse_other_settings(kind, given)
    settings = settings_of(start_of(RERANKERS[kind], presets.get(kind, {}), preset), given)
    with said_once():
        source = chosen_input(given, settings.seed)
        check_extra()
        from sat_retriever.train.reranker.train import gather, train_reranker

        dataset = source.dataset
        with shown(source) as bar, searched(source, encoder, out, device) as (seen, whole):
            train, validation = (
                gather(index, queries, settings, progress=partial(bar.counting, "candidates"))
                for index, queries in ((seen, dataset.train), (whole, dataset.validation))
            )
            train_reranker(
                train, validation, settings, out, data_name=dataset.name, device=device,
                progress=bar.training,
            )  # fmt: skip
    report(out, source, as_json=as_json)


def _refuse_other_settings(kind: Kind, given: Mapping[str, Any]) -> None:
    """Refuse settings of other kinds of rerankers, which would have no effect."""
    own = {each.name for each in fields(RERANKERS[kind])}
    for name, settings in RERANKERS.items():
        for each in fields(settings):
            if given.get(each.name) is not None and each.name not in own:
                raise InputError(
                    f"{option_name(each.name)} is a setting of --kind {name}, not of {kind}; "
                    "name that kind, or leave the setting out"
                )


@app.command(no_args_is_help=True, epilog=examples("sat train status run"))
def status(
    run: Annotated[Path, typer.Argument(help="Run folder.", metavar="RUN", exists=True)],
    *,
    as_json: JsonOption = False,
) -> None:
    """Show a training: settings, curves, the best epoch, and the next commands."""
    print_run(run, as_json=as_json)
