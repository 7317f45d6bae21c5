"""Who asks: options of the commands that read an index, and the index as that one sees it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Annotated

import typer

from sat_retriever.encoder.onnx.device import Device
from sat_retriever.errors import InputError
from sat_retriever.index.index import SheetIndex
from sat_retriever.index.store.place import Place
from sat_retriever.records.permissions import OWNER, Principals

GroupsOption = Annotated[
    list[str] | None,
    typer.Option(
        "--as",
        help="A group of the one who asks, in an index with permissions; may be repeated.",
        metavar="GROUP",
    ),
]
OwnerOption = Annotated[
    bool, typer.Option("--as-owner", help="See every sheet of an index with permissions.")
]


def asking(groups: Sequence[str] | None, *, as_owner: bool) -> Principals | None:
    """The one who asks; None if nobody was named.

    Raises:
        InputError: If both groups and the owner were named.
    """
    if groups and as_owner:
        raise InputError("--as and --as-owner exclude each other; leave out one")
    return OWNER if as_owner else groups or None


@contextmanager
def opened_for(
    file: Place, groups: Sequence[str] | None, *, as_owner: bool, device: Device = "auto"
) -> Iterator[SheetIndex]:
    """Open an index as the one sees it who asks; it is closed after the block."""
    principals = asking(groups, as_owner=as_owner)
    with SheetIndex.open(file, device=device) as whole:
        yield whole if principals is None else whole.seen_by(principals)


@contextmanager
def opened_whole(file: Place, device: Device = "auto") -> Iterator[SheetIndex]:
    """Open an index as its owner, who keeps it in order, trains on it and measures it."""
    with SheetIndex.open(file, device=device) as whole:
        yield whole.seen_by(OWNER)
