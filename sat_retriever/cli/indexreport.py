"""The report of `sat index`: counts, speed, cost, and skipped files."""

from __future__ import annotations

import shlex
from collections import Counter

from sat_retriever.cli.progress import rate
from sat_retriever.cli.terminal import counted, plain, skipped_table, stdout
from sat_retriever.encoder import EmbeddingEncoder
from sat_retriever.encoder.embedder import Cost
from sat_retriever.index.index import SheetIndex
from sat_retriever.index.store.place import Place
from sat_retriever.index.sync.sync import SyncReport
from sat_retriever.records.formats import FORMAT_NAMES
from sat_retriever.records.sheets import SkipReason

_LISTED = 8  # skipped files and sheets listed at the end; the rest are counted


def print_report(report: SyncReport, sheets: int, file: Place | None) -> None:
    """Print what a sync did.

    Args:
        file: The index; None if it was empty and is not kept.
    """
    out = stdout()
    read = report.added + report.changed
    if file is not None:
        _print_counts(report, sheets, file)
    if read:
        pace = rate(read, report.seconds, "workbook")
        out.print(f"{counted(report.sheets, 'sheet')} read in {report.seconds:.1f} s, {pace}")
    if report.repaired:
        out.print(f"{counted(report.repaired, 'workbook')} had damaged rows and were repaired")
    for lost in report.lost:
        out.print(plain(f"damaged rows are lost: {lost}"), style="bold")
    if report.skipped:
        _print_skipped(report, file)
    if not read + report.unchanged:
        ignored = counted(report.ignored, "other file")
        out.print(f"no workbook was found; looked for {', '.join(FORMAT_NAMES)}; {ignored} ignored")
        out.print("hidden folders and links to folders are left out", style="dim")


def _print_counts(report: SyncReport, sheets: int, file: Place) -> None:
    out = stdout()
    counts = ", ".join(
        f"{getattr(report, name):,} {name}" for name in ("added", "changed", "unchanged", "removed")
    )
    out.print(f"[bold]{counted(sheets, 'sheet')}[/bold] in", plain(file))
    out.print(f"workbooks: {counts}; other files ignored: {report.ignored:,}")


def _print_skipped(report: SyncReport, file: Place | None) -> None:
    skipped = report.skipped
    reasons = Counter(skip.reason.value for skip in skipped)
    listed = sorted(reasons.items(), key=lambda item: (-item[1], item[0]))
    summary = ", ".join(f"{count:,} {reason}" for reason, count in listed)
    out = stdout()
    out.print()
    out.print(f"skipped, whole or in part: {summary}", style="bold")
    if report.known:
        out.print(f"{report.known:,} of them known from earlier runs, in unchanged files")
    # Empty sheets need no attention; whole files that failed need most.
    told = sorted(
        (skip for skip in skipped if skip.reason is not SkipReason.EMPTY_SHEET),
        key=lambda skip: (skip.sheet is not None, skip.path, skip.sheet or ""),
    )
    if told:
        out.print(skipped_table(told[:_LISTED]))
    if file is not None and len(skipped) > len(told[:_LISTED]):
        out.print(plain(f"all of them: sat status --skipped --index {file}"), style="dim")


def speed(cost: Cost) -> str:
    """Texts so far, and texts a second."""
    return f"{counted(cost.texts, 'text')}, {cost.texts_per_second:,.1f} texts/s"


def encoder_lines(opened: SheetIndex, report: SyncReport) -> list[str]:
    """Cost of an encoder that runs elsewhere, and the way to a reranker for it; else nothing."""
    cost = report.cost
    if cost is None:
        return []
    encoder = opened.encoder
    place = f" ({encoder.place})" if isinstance(encoder, EmbeddingEncoder) else ""
    counts = [counted(cost.texts, "text"), counted(cost.characters, "character")]
    counts += [] if cost.tokens is None else [counted(cost.tokens, "token")]
    counts += [f"{cost.retries:,} repeated"] if cost.retries else []
    lines = [
        f"encoded by {encoder.name}{place}: {', '.join(counts)} in {cost.seconds:.1f} s, "
        f"{cost.texts_per_second:,.1f} texts/s"
    ]
    if opened.reranker_name is None:
        lines.append(
            "searches rank by links, which need no training; to train a reranker for this "
            f"encoder: sat adapt --index {shlex.quote(str(opened.path))} --stage reranker"
        )
    return lines
