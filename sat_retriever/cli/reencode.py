"""`sat reencode`: give every sheet of an index a token of another encoder."""

from __future__ import annotations

from typing import Annotated

import typer

from sat_retriever.cli.principals import opened_whole
from sat_retriever.cli.progress import At, progress
from sat_retriever.cli.terminal import (
    DEFAULT_INDEX,
    DeviceOption,
    IndexOption,
    JsonOption,
    counted,
    examples,
    plain,
    print_json,
    stdout,
)
from sat_retriever.cli.trained import encoder_source
from sat_retriever.encoder import DEFAULT

EXAMPLES = examples(
    "sat reencode --index reports.sat",
    "sat reencode --index reports.sat --encoder BAAI/bge-base-en-v1.5",
)


def reencode(
    file: IndexOption = DEFAULT_INDEX,
    *,
    encoder: Annotated[
        str, typer.Option(help="Encoder of the new tokens.", metavar="NAME|DIR|RUN")
    ] = DEFAULT,
    device: DeviceOption = "auto",
    as_json: JsonOption = False,
) -> None:
    """Give every sheet of an index a token of another encoder.

    No workbook is read. The index stays as it was until the end, also if
    this is interrupted. Servers that have it open must be started again.
    An index that an older version wrote with another "general" encoder
    becomes one of the present encoder.
    """
    with progress("reencode", "opening the encoder") as shown, opened_whole(file, device) as index:
        before, sheets = index.encoder_name, len(index)
        index.reencode(
            encoder_source(encoder),
            progress=lambda done, total: shown.at(At("encoding", done, total, noun="sheet")),
        )
        after = index.encoder_name
    if as_json:
        print_json({"index": str(file), "sheets": sheets, "before": before, "encoder": after})
        return
    said = f"{counted(sheets, 'sheet')} of {file}: {before} before, {after} now"
    stdout().print(plain(said), soft_wrap=True)
