"""Report on a training: curves, epochs, results and the next commands."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.text import Text

from sat_retriever.cli.options import ENCODER
from sat_retriever.cli.terminal import counted, grid, plain, print_json, stdout
from sat_retriever.errors import SatError
from sat_retriever.rank.load import trained_kind
from sat_retriever.records.jsonform import to_json
from sat_retriever.train.encoder.fusion import CHOSEN, name_of
from sat_retriever.train.loop.summary import PhaseSummary, RunSummary, read_run
from sat_retriever.train.loop.task import MEASURE

SHADES = " ▁▂▃▄▅▆▇█"
ASCII_SHADES = " .:-=+*#"
_CURVE = 48  # characters of a loss curve
_BAR = 24  # characters of a full bar


def print_run(out: Path, folders: Sequence[str] = (), *, as_json: bool) -> None:
    """Show a run folder.

    Args:
        folders: Folders of the workbooks, for the next command; empty if unknown.
    """
    run = read_run(out)
    commands = next_commands(out, folders or ("FOLDER",))
    if as_json:
        print_json({**_as_json(run), "next": commands})
        return
    console = stdout()
    state = "finished" if run.finished else "not finished; the same command continues it"
    said = filter(None, (str(out), run.settings.get("kind"), run.data.get("name"), state))
    console.print(plain(", ".join(said)))
    for phase in run.phases:
        _print_phase(console, phase)
    console.print()
    _print_totals(console, run)
    for command in commands:
        console.print(plain(command), soft_wrap=True)


def next_commands(out: Path, folders: Sequence[str]) -> list[str]:
    """Command lines that use the models in a run folder."""
    commands = []
    if (out / ENCODER).is_dir():
        named = " ".join(map(_quoted, folders))
        commands.append(f"sat index {named} --index new.sat --encoder {_quoted(out / ENCODER)}")
    with suppress(SatError):  # a training of Stage 1, or one that is not finished
        _, target = trained_kind(out)
        made = out / "index.sat"
        index = _quoted(made) if made.exists() else "INDEX"
        commands.append(f'sat search "…" --index {index} --reranker {_quoted(target)}')
    return commands


def curve(values: Sequence[float], width: int, shades: str = SHADES) -> str:
    """Values as a line of characters, one per mean of equal stretches; lower is lighter.

    >>> curve([3.0, 2.0, 1.0, 0.0], 4), curve([1.0], 4), curve([], 4)
    ('█▅▃▁', '▁', '')
    """
    stretches = (
        [
            values[len(values) * place // width : len(values) * (place + 1) // width]
            for place in range(width)
        ]
        if len(values) > width
        else [[value] for value in values]
    )
    means = [sum(part) / len(part) for part in stretches]
    low, high = min(means, default=0.0), max(means, default=0.0)
    span = (high - low) or 1.0
    return "".join(shades[1 + int((mean - low) / span * (len(shades) - 2))] for mean in means)


def bar(share: float, width: int, shades: str = SHADES) -> str:
    """A share of 1 as a bar of whole characters, of the last shade.

    >>> bar(0.5, 8), bar(0.0, 8), bar(0.55, 8, "-#")
    ('████', '', '####')
    """
    full = int(share * width)
    return shades[-1] * full


def share(value: float | None) -> str:
    """A number in [0, 1] as tables show it.

    >>> share(0.92345), share(1.0), share(None)
    ('.923', '1.000', 'not measured')
    """
    return "not measured" if value is None else f"{value:.3f}".removeprefix("0")


# ---- inner workings


def _print_phase(console: Console, phase: PhaseSummary) -> None:
    shades = ASCII_SHADES if console.options.ascii_only else SHADES
    console.print()
    if phase.losses:
        steps = counted(len(phase.losses), "step")
        said = f"  {phase.losses[0]:.3f} to {phase.losses[-1]:.3f} in {steps}"
        console.print(
            Text.assemble(
                (f"{phase.name} " if phase.name else "", "bold"),
                "loss  ",
                (curve(phase.losses, _CURVE, shades), "cyan"),
                (said, "dim"),
            )
        )
    table = grid("epoch", MEASURE, "", "loss", "seconds")
    for place in (0, 1, 3, 4):
        table.columns[place].justify = "right"
    kept = phase.best
    for each in phase.epochs:
        measure = each.validation.get(MEASURE)
        drawn = Text(bar(measure or 0.0, _BAR, shades), "green" if each is kept else "dim")
        if each is kept:
            drawn.append(" best", "bold green")
        loss = "" if each.loss is None else f"{each.loss:.3f}"
        table.add_row(str(each.epoch), share(measure), drawn, loss, f"{each.seconds:.1f}")
    console.print(table)


def _print_totals(console: Console, run: RunSummary) -> None:
    before, after, epoch = _before_and_after(run)
    if after is not None:
        said = f"validation {MEASURE}: {share(before)} before, "
        console.print(Text.assemble(said, (share(after), "bold"), f" after (epoch {epoch})"))
    chosen = _fusion(run)
    if chosen is not None:
        weight, fused = chosen
        said = f"with cosine weight {weight:g} and word weight {1 - weight:g}: {share(fused)}"
        console.print(f"{said} (chosen by validation; a new index uses it)", soft_wrap=True)
    gpu = "" if run.gpu_memory_mib is None else f", {run.gpu_memory_mib:,.0f} MiB on the GPU"
    console.print(f"{run.seconds:,.1f} s, peak memory {run.memory_mib:,.0f} MiB{gpu}")


def _before_and_after(run: RunSummary) -> tuple[float | None, float | None, int | None]:
    """Validation NDCG@5 before the first phase and of the kept model, and the model's epoch."""
    if not run.phases:
        return None, None, None
    kept = run.phases[-1].best
    if kept is None:
        return run.phases[0].start, None, None
    return run.phases[0].start, kept.validation.get(MEASURE), kept.epoch


def _fusion(run: RunSummary) -> tuple[float, float | None] | None:
    kept = run.phases[-1].best if run.phases else None
    weight = None if kept is None else kept.validation.get(CHOSEN)
    if kept is None or weight is None:
        return None
    return weight, kept.validation.get(name_of(weight))


def _as_json(run: RunSummary) -> dict[str, Any]:
    before, after, epoch = _before_and_after(run)
    return {
        "run": str(run.path),
        "finished": run.finished,
        "data": dict(run.data),
        "best_epoch": epoch,
        "before": before,
        "after": after,
        "dense_weight": None if (chosen := _fusion(run)) is None else chosen[0],
        "seconds": run.seconds,
        "memory_mib": run.memory_mib,
        "gpu_memory_mib": run.gpu_memory_mib,
        "hardware": dict(run.hardware),
        "settings": dict(run.settings),
        "phases": [
            {"name": phase.name, "steps": len(phase.losses), "epochs": to_json(phase.epochs)}
            for phase in run.phases
        ],
    }


def _quoted(value: object) -> str:
    return shlex.quote(str(value))
