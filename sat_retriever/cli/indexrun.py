"""One run of `sat index` or `sat watch`: the index and its encoder are opened, and synced."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from typing import Any

from sat_retriever.cli.indexreport import speed
from sat_retriever.cli.options import Precision, encoder_source
from sat_retriever.cli.progress import At, Shown
from sat_retriever.cli.terminal import counted
from sat_retriever.encoder import DEFAULT
from sat_retriever.encoder.embedder import Cost
from sat_retriever.encoder.load import load_encoder
from sat_retriever.encoder.models.folder import is_packaged
from sat_retriever.encoder.onnx.device import Device
from sat_retriever.errors import IndexBusyError, InputError, SatError
from sat_retriever.index.index import SheetIndex
from sat_retriever.index.store.opening import store_exists
from sat_retriever.index.store.place import Place
from sat_retriever.index.sync.executor import Executor
from sat_retriever.index.sync.sync import SyncReport
from sat_retriever.records.contents import ContentsPolicy
from sat_retriever.records.permissions import OWNER
from sat_retriever.records.privacy import Privacy
from sat_retriever.records.tokens import Encoder
from sat_retriever.workbook.remote.url import Named

PrivacyChoice = tuple[ContentsPolicy | None, str | None]
"""What is to be kept of cells, and the pattern of columns to skip; None where it is not said."""


@contextmanager
def executor(
    address: str | None, workers: int | None, shown: Shown, *, ray: bool
) -> Iterator[Executor | None]:
    """The cluster that the options ask for; None for this machine without one."""
    if not ray and address is None:
        yield None
        return
    from sat_retriever.index.sync.cluster.session import ray_cluster

    shown.at(At("connecting to Ray" if address else "starting Ray"))
    with ray_cluster(address, workers=workers) as cluster:
        yield cluster


def synced(shown: Shown, opened: SheetIndex, paths: Sequence[Named], **options: Any) -> SyncReport:
    """Sync an index and show the progress."""
    now = At("reading", noun="workbook")
    shares: dict[str, float] = {}  # of workbooks that are not done

    def tell(done: int, total: int, path: str) -> None:
        nonlocal now
        shares.pop(path, None)
        now = replace(now, done=done, total=total, path=path, parts=sum(shares.values()))
        shown.at(now)

    def tell_part(path: str, share: float) -> None:
        nonlocal now
        shares[path] = share
        now = replace(now, path=f"{path} {share:.0%}", parts=sum(shares.values()))
        shown.at(now)

    def count(cost: Cost) -> None:
        nonlocal now
        now = replace(now, figures=speed(cost))
        shown.at(now)

    def list_files(place: str, files: int) -> None:
        shown.at(At("listing", done=files, noun="file", path=place))

    return opened.sync(
        paths, progress=tell, spent=count, listed=list_files, parts=tell_part, **options
    )


def kept(opened: SheetIndex) -> str:
    """Words for the state after an interrupted run; sheets read but not encoded are lost."""
    kept = len(opened.seen_by(OWNER).workbooks())
    holds = f"the index holds {counted(kept, 'workbook')}; run it again to continue"
    return holds if kept else "no workbook was stored yet"


@dataclass(frozen=True, slots=True)
class EncoderChoice:
    """Encoder options of the command line; None for one that was not given."""

    model: str | None
    precision: Precision | None
    batch_size: int | None
    device: Device

    @property
    def is_default(self) -> bool:
        """True if the options ask for no encoder other than an index's own."""
        return self.model is None and self.precision is None and self.batch_size is None

    def load(self, default: str, shown: Shown) -> Encoder:
        """Return the named encoder, or the default, as the other options say."""
        source = encoder_source(self.model or default)
        if not is_packaged(source):
            shown.at(At("opening the encoder", path=source))
        return load_encoder(
            source, precision=self.precision, batch_size=self.batch_size, device=self.device
        )


@contextmanager
def opened_index(
    file: Place, named: EncoderChoice, kept: PrivacyChoice, shown: Shown
) -> Iterator[tuple[SheetIndex, bool]]:
    """The open index, and True if this run made it; a new index that stays empty is deleted."""
    opened, is_new = _open(file, named, kept, shown)
    with opened:
        try:
            yield opened, is_new
        except BaseException:
            if is_new:
                with suppress(SatError):  # the first error is the one to report
                    opened.delete_if_empty()
            raise
        if is_new:
            with suppress(IndexBusyError):  # another process is writing to it
                opened.delete_if_empty()


def _open(
    file: Place, named: EncoderChoice, kept: PrivacyChoice, shown: Shown
) -> tuple[SheetIndex, bool]:
    """The index at `file`, and True if it is new; options must match an existing index."""
    contents, skip_columns = kept
    privacy = Privacy.of(contents or ContentsPolicy.ALL, skip_columns)
    if not store_exists(file):
        encoder = named.load(DEFAULT, shown)
        with suppress(InputError):  # another process may have made it meanwhile
            return SheetIndex.create(
                file,
                encoder,
                contents=privacy.contents,
                skip_columns=skip_columns,
                device=named.device,
            ), True
    opened = SheetIndex.open(file, device=named.device)
    if (other := _disagrees(opened.privacy, kept)) is not None:
        opened.close()
        raise InputError(
            f"{file} was made with {other}: index into a new file to keep more or less"
        )
    if named.is_default:
        return opened, False
    own = opened.encoder_name.removesuffix(":int8")
    opened.close()
    return SheetIndex.open(file, named.load(own, shown), device=named.device), False


def _disagrees(privacy: Privacy, kept: PrivacyChoice) -> str | None:
    """The option that an index was made with, if another one is given now; None if none is."""
    contents, skip_columns = kept
    if contents not in (None, privacy.contents):
        return f"--contents {privacy.contents}"
    if skip_columns not in (None, privacy.skip_columns):
        made = privacy.skip_columns
        return f"--skip-columns {made!r}" if made else "no --skip-columns"
    return None
