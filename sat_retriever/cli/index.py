"""`sat index`: read folders and files into an index."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal

import typer

from sat_retriever.cli.indexreport import encoder_lines, print_report, speed
from sat_retriever.cli.options import (
    DEFAULT_INDEX,
    DeviceOption,
    IndexOption,
    JsonOption,
    PasswordOption,
    PathsArgument,
    ReadersOption,
    encoder_source,
    examples,
)
from sat_retriever.cli.progress import At, Shown, progress
from sat_retriever.cli.terminal import counted, fail, plain, print_json, stderr, stdout
from sat_retriever.encoder import DEFAULT
from sat_retriever.encoder.embedder import Cost
from sat_retriever.encoder.load import load_encoder
from sat_retriever.encoder.models.folder import is_packaged
from sat_retriever.encoder.onnx.device import Device
from sat_retriever.errors import (
    ClusterError,
    EmptyInputError,
    EncoderError,
    IndexBusyError,
    InputError,
    SatError,
)
from sat_retriever.index.index import SheetIndex
from sat_retriever.index.store.opening import store_exists
from sat_retriever.index.store.place import Place
from sat_retriever.index.sync.executor import Executor
from sat_retriever.index.sync.indexing import check_named
from sat_retriever.index.sync.sync import SyncReport
from sat_retriever.records.contents import ContentsPolicy
from sat_retriever.records.jsonform import to_json
from sat_retriever.records.permissions import OWNER
from sat_retriever.records.privacy import Privacy
from sat_retriever.records.tokens import Encoder
from sat_retriever.workbook.limits import Limits
from sat_retriever.workbook.remote.url import Named

Precision = Literal["fp32", "int8"]
PrivacyChoice = tuple[ContentsPolicy | None, str | None]
"""What is to be kept of cells, and the pattern of columns to skip; None where it is not said."""

app = typer.Typer()


@app.command(
    no_args_is_help=True,
    epilog=examples(
        "sat index ~/reports --index reports.sat",
        "sat index q1.xlsx q2.csv --index small.sat --contents names",
        "sat index /data --index all.sat --encoder BAAI/bge-base-en-v1.5 --json",
        "sat index /data --index many.sat --encoder ollama:bge-m3",
        "sat index s3://bucket/reports --index reports.sat",
        "sat index /shared/reports --index reports.sat --ray-address 10.0.0.5:6379",
    ),
)
def index(
    paths: PathsArgument,
    file: IndexOption = DEFAULT_INDEX,
    *,
    contents: Annotated[
        ContentsPolicy | None,
        typer.Option(
            help="What a new index keeps of the cells: all texts that identify (the default), one "
            "example for each column, or names only, with no cell value on disk.",
            show_default=False,
        ),
    ] = None,
    skip_columns: Annotated[
        str | None,
        typer.Option(
            help="Regular expression, such as salary|iban: of columns whose header matches, only "
            "the header is kept.",
            metavar="PATTERN",
        ),
    ] = None,
    model: Annotated[
        str | None,
        typer.Option(
            "--encoder",
            "--model",
            help="Encoder of a new index; ollama:MODEL is an embedding model of an Ollama server.",
            metavar="NAME|DIR|RUN",
        ),
    ] = None,
    precision: Annotated[
        Precision | None,
        typer.Option(
            help="fp32 or int8: precision of an encoder other than the default.", metavar="NAME"
        ),
    ] = None,
    batch_size: Annotated[
        int | None,
        typer.Option(
            min=1, help="Texts in a request to an ollama: encoder; 32 by default.", metavar="N"
        ),
    ] = None,
    permissions: Annotated[
        str | None,
        typer.Option(
            help="Who may see which sheet: a TOML file of rules, or files for the rights of the "
            "workbook files. Later runs keep using it.",
            metavar="RULES.toml|files",
        ),
    ] = None,
    password: PasswordOption = None,
    encoding: Annotated[
        str | None,
        typer.Option(
            help="Encoding of delimited files, such as cp1252, in place of the one found in each; "
            "those under the paths are read again. Repeat it when they change.",
            metavar="NAME",
        ),
    ] = None,
    device: DeviceOption = "auto",
    workers: ReadersOption = None,
    limits: Annotated[
        str | None,
        typer.Option(
            help="Limits per file: seconds of processor time, MiB of memory, cells per sheet; "
            "files that were cut at an earlier limit are read again.",
            metavar="seconds=S,memory=M,cells=N",
        ),
    ] = None,
    verify: Annotated[
        bool,
        typer.Option(
            "--verify", help="Hash every file, even if its time is unchanged; repair damaged rows."
        ),
    ] = False,
    follow_links: Annotated[
        bool,
        typer.Option("--follow-links", help="Also read links to files outside the folders."),
    ] = False,
    ray: Annotated[
        bool, typer.Option("--ray", help="Read and encode in a Ray cluster of this machine.")
    ] = False,
    ray_address: Annotated[
        str | None,
        typer.Option(
            help="Read and encode on the nodes of a running Ray cluster that this machine belongs "
            "to; auto is the one that runs here.",
            metavar="HOST:PORT|auto",
        ),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Read workbooks and make them searchable.

    Run it again to update the index: only new and changed workbooks are
    read. Folders are searched recursively. Files that are spreadsheets
    neither by content nor by name are counted and ignored. Files that
    cannot be read are listed with the reason, as are links to files outside
    the folders. A folder at a URL needs the extra remote; unchanged
    workbooks are not downloaded again. --ray and --ray-address need the extra
    ray. If no workbook is found and there is no index yet, none is made, and
    the exit code is 1.
    """
    check_named(paths)
    bounds = Limits.parse(limits) if limits is not None else None
    named = EncoderChoice(model, precision, batch_size, device)
    with (
        _executor(ray_address, workers, ray=ray) as executor,
        progress("index", "looking for workbooks", path=str(paths[0])) as shown,
        opened_index(file, named, (contents, skip_columns), shown) as (opened, is_new),
    ):
        if permissions is not None:
            opened.permit(permissions)
        try:
            report = synced(
                shown,
                opened,
                paths,
                verify=verify,
                follow_links=follow_links,
                password=password,
                encoding=encoding,
                workers=workers,
                limits=bounds,
                executor=executor,
            )
        except KeyboardInterrupt:
            shown.say(f"interrupted; {_kept(opened)}")
            raise typer.Exit(130) from None
        except (EncoderError, ClusterError):
            shown.say(_kept(opened))
            raise
        whole = opened.seen_by(OWNER)
        sheets, left = len(whole), not is_new or bool(whole.workbooks())
        encoded = encoder_lines(whole, report)
    if as_json:
        written = str(file) if left else None
        print_json({"index": written, "sheets_in_index": sheets, **to_json(report)})
    else:
        print_report(report, sheets, file if left else None)
        for line in encoded:
            stdout().print(plain(line), soft_wrap=True)
    if not left:
        raise typer.Exit(fail(EmptyInputError(f"no index was made: {file} would be empty"), 1))


@contextmanager
def _executor(address: str | None, workers: int | None, *, ray: bool) -> Iterator[Executor | None]:
    """The cluster that the options ask for; None for this machine without one."""
    if not ray and address is None:
        yield None
        return
    from sat_retriever.index.sync.cluster.session import ray_cluster

    with ExitStack() as stack:
        with stderr().status("connecting to Ray" if address else "starting Ray"):
            cluster = stack.enter_context(ray_cluster(address, workers=workers))
        yield cluster


def synced(shown: Shown, opened: SheetIndex, paths: Sequence[Named], **options: Any) -> SyncReport:
    """Sync an index and show the progress."""
    now = At("reading", noun="workbook")

    def tell(done: int, total: int, path: str) -> None:
        nonlocal now
        now = replace(now, done=done, total=total, path=path)
        shown.at(now)

    def count(cost: Cost) -> None:
        nonlocal now
        now = replace(now, figures=speed(cost))
        shown.at(now)

    def list_files(url: str, files: int) -> None:
        shown.at(At("listing", done=files, noun="file", path=url))

    return opened.sync(paths, progress=tell, spent=count, listed=list_files, **options)


def _kept(opened: SheetIndex) -> str:
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
