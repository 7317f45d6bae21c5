"""Train an index's encoder and reranker on questions made from its own sheets.

    questions -> Stage 1 -> judged -> Stage 2 over it -> judged -> the index encoded anew

    config.json       all settings, and the state of the index that they apply to
    questions/        the questions
    stage-1/          run of the Sheet Encoder; the index then names `stage-1/encoder`
    carried/          the index's trained reranker, if any, converted for that encoder's tokens
    stage-2/          run of the reranker; the index names this one or the carried one
    result.json       the outcome: written before the index is changed

Every part is a run folder of its own or is made anew, so an adaptation that was stopped or killed
can go on. It reads a copy of the index, so workbooks may be indexed meanwhile; the sheets that the
index has at the end get the new tokens. The index changes at the very end, in one transaction, or
not at all.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Protocol

from sat_retriever.datasets.dataset import divided_dataset
from sat_retriever.datasets.labels import Query, load_labels
from sat_retriever.datasets.metrics.rows import Rows
from sat_retriever.encoder import SheetEncoder
from sat_retriever.errors import EmptyInputError, TrainingError
from sat_retriever.index.index import SheetIndex
from sat_retriever.llm.chat import Chat
from sat_retriever.rank.links.linkrank import LINKS
from sat_retriever.rank.load import AUTO
from sat_retriever.rank.trained import TrainedKind
from sat_retriever.records.files import make_folder
from sat_retriever.records.jsonform import to_json
from sat_retriever.records.tokens import Encoder
from sat_retriever.text.serialize import serialize
from sat_retriever.train.adapt.outcome import (
    CARRIED,
    ENCODER,
    STAGE_1,
    STAGE_2,
    Adaptation,
    Verdict,
    answer_rows,
    counts,
    first_verdict,
    kept_reranker,
    next_verdict,
    trainings,
)
from sat_retriever.train.adapt.questions import QUESTIONS, TRAIN, Material, prepare
from sat_retriever.train.adapt.settings import OWN, AdaptSettings
from sat_retriever.train.adapt.start import (
    estimated_seconds,
    goes_on,
    refuse_untrainable,
    reranker_of,
    stage_2_of,
    start_of,
)
from sat_retriever.train.data.corpusindex import seen_index
from sat_retriever.train.data.reading import from_index, read_records, refuse_unknown_sheets
from sat_retriever.train.encoder.train import train_encoder
from sat_retriever.train.loop.memory import largest_memory_mib
from sat_retriever.train.loop.runfolder import CONFIG, RunFolder
from sat_retriever.train.loop.state import TrainingProgress
from sat_retriever.train.reranker.train import gather, train_reranker

_KIND = "adapt 7"  # raised when the same settings give another result
_DRAFTS = ".drafts"


class Watcher(Protocol):
    """A receiver of an adaptation's progress."""

    def training(self, progress: TrainingProgress) -> None:
        """Receive the progress of one of the trainings."""
        ...

    def counting(self, what: str, done: int, total: int) -> None:
        """Receive the progress of another step."""
        ...

    def prepared(self, material: Material, seconds: float | None) -> None:
        """Receive the training material and the estimated seconds of Stage 1; None without it."""
        ...


def adapt(
    index: SheetIndex,
    folder: str | Path,
    settings: AdaptSettings | None = None,
    *,
    own: Sequence[Query] = (),
    chat: Chat | None = None,
    watcher: Watcher | None = None,
) -> Adaptation:
    """Train encoder and reranker on an index's own sheets, and keep the better models.

    `settings.stage` names one of both. A reranker alone is trained over the index's own tokens and
    needs its encoder for questions only, so any encoder will do.

    An adapted encoder, with the index's own reranker or an adapted one, replaces the current models
    only if it gives better answers about families of sheets that training never saw. These are
    tested with questions that quote the sheets less than the training questions do. Otherwise the
    index stays as it is. An encoder that started from the index's own, of which it keeps half,
    needs any lead; all other models need one beyond chance. The link reranker is used if the index
    has no trained reranker that reads tokens, or if another backbone is named.

    The same call goes on in the run folder after a stop or a kill. `own` are labelled or logged
    questions, each text once; `chat` is a language model that rewords the made ones.

    Source: paper, sections 3.3 and 3.4. Departs: the questions are made from the sheets' names,
    headers, periods and links, so no labels are needed.

    Raises:
        InputError: If a label names an unknown sheet, no question can be made, or all sheets are
            of one family.
        TrainingError: If the folder holds another adaptation, or another process is running it.
        EncoderError: If the encoder cannot be trained further, or the index's reranker is damaged.
        PathNotFoundError: If the index names a reranker that does not exist.
        FingerprintMismatchError: If that reranker was trained on other tokens than the index has.
        MissingExtraError: If an optional package is missing; the message names the command.
        IndexBusyError: If another process is writing to the index.
        IndexStorageError: If the index cannot be written; it then stays as it was.
    """
    if int(os.environ.get("WORLD_SIZE", "1")) > 1:
        raise TrainingError("an adaptation runs in one process; start it without a launcher")
    begun = time.monotonic()
    settings = settings or AdaptSettings()
    if not len(index):
        raise EmptyInputError(f"{index.path} holds no sheets; index some workbooks first")
    refuse_unknown_sheets(own, index.sheet_ids(), str(index.path))
    if settings.stage != "reranker":
        refuse_untrainable(index, settings.backbone)
    folder = Path(folder).resolve()
    config = {
        "kind": _KIND, "start": _start(index, folder), **asdict(settings),
        "labels": _hash_of(map(str, own)), "reworded": chat is not None,
    }  # fmt: skip
    _forget_untrained(folder, config)
    run = RunFolder(folder, main=True)
    if run.finished:  # sheets that were indexed since get the new tokens too
        run = RunFolder.open(folder, config, data_hash=run.config()["data"]["hash"])
        _check_about(index, folder)
    else:
        with _as_it_was(index, folder) as sheets:
            name = index.path.stem
            run = RunFolder.open(folder, config, data_hash=_texts_hash(sheets), data_name=name)
            with run.held():
                before = sum(each.seconds for each in trainings(folder))  # of earlier starts
                made = _Making(sheets, folder, settings, tuple(own), chat, watcher).result()
                seconds = before + time.monotonic() - begun
                run.finish({**made, "seconds": seconds, "memory_mib": largest_memory_mib()})
    result = run.result()
    _apply(index, folder, result, watcher)
    shutil.rmtree(folder / _DRAFTS, ignore_errors=True)
    return Adaptation.read(folder, result)


@dataclass(frozen=True, slots=True)
class _Making:
    index: SheetIndex
    folder: Path
    settings: AdaptSettings
    own: tuple[Query, ...]
    chat: Chat | None
    watcher: Watcher | None

    def result(self) -> dict[str, Any]:
        material = prepare(
            self.index, self.settings, self.folder, self.own, chat=self.chat, counting=self._count
        )
        alone = self.settings.stage == "reranker"
        if self.watcher is not None:
            self.watcher.prepared(
                material, None if alone else estimated_seconds(self.index, material, self.settings)
            )
        now = self._rows(self.index, AUTO, material)  # first: its reranker may be missing
        first = first_verdict(f"{self.index.encoder_name}, as it is searched now", now)
        made = (self._reranker_alone if alone else self._from_stage_1)(material, now, first)
        return {
            "stage": self.settings.stage,
            "apart": material.apart,
            "counts": counts(len(self.index), material),
            **made,
        }

    def _reranker_alone(self, material: Material, now: Rows, first: Verdict) -> dict[str, Any]:
        new = self._stage_2(self.index, material, reranker_of(self.index))
        verdict = self._next("trained reranker", new, now, material)
        return {
            "rows": to_json((first, verdict)),
            "encoder": None,
            "dense_weight": None,
            "reranker": STAGE_2 if verdict.kept else None,
        }

    def _from_stage_1(self, material: Material, now: Rows, first: Verdict) -> dict[str, Any]:
        encoder = self._stage_1(material)
        carried = self._carried(encoder.fingerprint)
        verdicts = [first]
        with self._draft("adapted", encoder) as draft:
            new = self._rows(draft, carried[1] if carried else LINKS.name, material)
            ranking = "reranker from before" if carried else "links"
            # It keeps half of what the index's encoder knew, so no proof is asked of any lead.
            sure = self.settings.sure and not goes_on(self.index, self.settings.backbone)
            verdict = next_verdict(
                f"adapted encoder, {ranking}", new, now, material.circles, sure=sure
            )
            verdicts.append(verdict)
            if self.settings.stage == "both":
                now = new if verdicts[-1].kept else now
                new = self._stage_2(draft, material, carried)
                verdicts.append(self._next("adapted encoder and reranker", new, now, material))
        kept = any(verdict.kept for verdict in verdicts[1:])
        return {
            "rows": to_json(tuple(verdicts)),
            "encoder": encoder.fingerprint if kept else None,
            "dense_weight": encoder.dense_weight if kept else None,
            "reranker": kept_reranker(verdicts, carried=carried is not None),
        }

    def _stage_1(self, material: Material) -> SheetEncoder:
        named = self.settings.backbone
        start = start_of(self.index.encoder_name if named == OWN else named)
        labels = divided_dataset(
            self.index.path.stem, material.train, material.choose, seen=material.seen
        )
        data = from_index(self.index, labels)
        learnt = getattr(self.index.encoder, "dense_weight", None)
        if goes_on(self.index, named) and learnt is not None:
            # Made questions quote the sheets, so they would give words too much weight.
            data = replace(data, shares=(learnt,))
        trained = train_encoder(
            data, self.settings.encoder_training(start), self.folder / STAGE_1,
            device=self.index.device, progress=self._training,
        )  # fmt: skip
        return SheetEncoder.load(trained.encoder, device=self.index.device)

    def _carried(self, encoder: str) -> tuple[TrainedKind, Path] | None:
        """Convert the index's reranker, if any, to the tokens of the adapted encoder."""
        before = reranker_of(self.index, self.settings.backbone)
        if before is None:
            return None
        kind, folder = before
        if not kind.carries:
            return None
        kind.copy(folder, self.folder / CARRIED, encoder=encoder)
        return kind, self.folder / CARRIED

    def _stage_2(
        self, whole: SheetIndex, material: Material, before: tuple[TrainedKind, Path] | None
    ) -> Rows:
        """Train a reranker over an index's tokens, see `stage_2_of`, and return its rows."""
        settings, start = stage_2_of(before, self.settings)
        with self._seen(whole, material.seen) as seen:
            train, choose = (
                gather(each, queries, settings, progress=partial(self._count, "candidates"))
                for each, queries in ((seen, material.rerank), (whole, material.choose))
            )
        train_reranker(
            train, choose, settings, self.folder / STAGE_2,
            start_from=start, data_name=self.index.path.stem, device=self.index.device,
            progress=self._training,
        )  # fmt: skip
        return self._rows(whole, self.folder / STAGE_2, material)

    def _seen(self, whole: SheetIndex, seen: frozenset[str]) -> SheetIndex:
        """Index the sheets that training may see, with the tokens of another index."""
        if whole is not self.index:
            return self._draft("adapted-seen", whole.encoder, seen)
        part = whole.copied(self.folder / _DRAFTS / "seen.sat")  # encodes nothing anew
        part.remove([each for each in part.sheet_ids() if each not in seen])
        return part

    def _draft(self, name: str, encoder: Encoder, seen: frozenset[str] | None = None) -> SheetIndex:
        """Index the sheets, or those that training may see, with the tokens of an encoder."""
        ids = frozenset(self.index.sheet_ids()) if seen is None else seen
        self._count("encoding", 0, len(ids))
        file = self.folder / _DRAFTS / f"{name}.sat"
        return seen_index(self.index, ids, file, encoder=encoder)

    def _next(self, name: str, new: Rows, now: Rows, material: Material) -> Verdict:
        return next_verdict(name, new, now, material.circles, sure=self.settings.sure)

    def _rows(self, index: SheetIndex, reranker: str | Path, material: Material) -> Rows:
        return answer_rows(index, reranker, material.judge, partial(self._count, "judging"))

    def _training(self, progress: TrainingProgress) -> None:
        if self.watcher is not None:
            self.watcher.training(progress)

    def _count(self, what: str, done: int, total: int) -> None:
        if self.watcher is not None:
            self.watcher.counting(what, done, total)


# ---- inner workings


def _start(index: SheetIndex, folder: Path) -> str:
    """Return the fingerprint of the encoder that the adaptation starts or started from."""
    run = RunFolder(folder, main=False)
    if run.finished and run.result().get("encoder") == index.fingerprint:
        return str(run.config()["settings"].get("start"))  # it is in the index already
    return index.fingerprint


@contextmanager
def _as_it_was(index: SheetIndex, folder: Path) -> Iterator[SheetIndex]:
    """Yield a copy of the index from when the adaptation began; others may write meanwhile."""
    if not (folder / CONFIG).exists():
        shutil.rmtree(folder / _DRAFTS, ignore_errors=True)  # of a run that was cleared
    file = folder / _DRAFTS / "copy" / index.path.name
    make_folder(file.parent)
    if not file.exists():
        index.copied(file).close()
    with SheetIndex.open(file, index.encoder, times=index.times, device=index.device) as copy:
        yield copy


def _check_about(index: SheetIndex, folder: Path) -> None:
    """Refuse a result if the index has fewer than half of the sheets that were asked about."""
    learnt = load_labels(folder / QUESTIONS / TRAIN)
    asked = {sheet_id for query in learnt for sheet_id in query.positives}
    there = asked.intersection(index.sheet_ids())
    if 2 * len(there) < len(asked):
        raise TrainingError(
            f"{folder} holds another training: {len(asked) - len(there):,} of the {len(asked):,} "
            f"sheets that it learnt from are not in {index.path}; name a new folder (--out)"
        )


def _texts_hash(index: SheetIndex) -> str:
    """Return a hash of all that an adaptation reads of an index."""
    form = index.serialization
    return _hash_of(f"{each.sheet_id}\n{serialize(each, form)}" for each in read_records(index))


def _forget_untrained(folder: Path, config: Mapping[str, Any]) -> None:
    """Clear a run in which nothing was trained yet, so that its options may change."""
    run = RunFolder(folder, main=True)
    if not (folder / CONFIG).exists() or run.finished:
        return
    if (folder / STAGE_1).exists() or (folder / STAGE_2).exists():
        return
    with run.held():
        before = run.config()["settings"]
        if before.get("kind") == _KIND and before != config:
            shutil.rmtree(folder / QUESTIONS, ignore_errors=True)
            (folder / CONFIG).unlink()


def _hash_of(texts: Iterable[str]) -> str:
    digest = hashlib.sha256()
    for text in texts:
        digest.update(text.encode("utf-8", "replace") + b"\0")
    return digest.hexdigest()[:16]


def _apply(
    index: SheetIndex, folder: Path, result: Mapping[str, Any], watcher: Watcher | None
) -> None:
    """Give the index its new tokens and reranker, unless it has them or keeps the old ones."""
    reranker = folder / result["reranker"] if result["reranker"] else None
    if result["encoder"] not in (None, index.fingerprint):
        encoder = SheetEncoder.load(folder / STAGE_1 / ENCODER, device=index.device)
        tell = None if watcher is None else partial(watcher.counting, "encoding the index anew")
        index.reencode(encoder, reranker=reranker, progress=tell)
    elif reranker is not None and index.reranker_name != str(reranker):
        index.name_reranker(reranker)
