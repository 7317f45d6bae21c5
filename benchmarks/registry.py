"""List every table that can be measured, by name and by room."""

from __future__ import annotations

import ast
import importlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from benchmarks.corpora import INDUSTRYTAB_1K, used

Main = Callable[[Sequence[str]], object]


@dataclass(frozen=True, slots=True)
class Table:
    """One measurement.

    Attributes:
        module: Module in `benchmarks` with a `main(arguments)`; its folder is the room.
        arguments: Options that select this table if a module makes several.
    """

    module: str
    arguments: tuple[str, ...] = ()

    @property
    def room(self) -> str:
        """Folder of its module."""
        return self.module.partition(".")[0]

    @property
    def what(self) -> str:
        """Its subject: the first line of its module, which is not imported."""
        path = Path(__file__).parent.joinpath(*self.module.split(".")).with_suffix(".py")
        text = ast.get_docstring(ast.parse(path.read_text("utf-8"))) or ""
        return f"{text.partition(chr(10))[0]} {' '.join(self.arguments[:3])}".strip()

    @property
    def main(self) -> Main:
        """The module's `main`; the module is imported only on access."""
        found: Main = importlib.import_module(f"benchmarks.{self.module}").main
        return found


_UNSEEN = ("--split", "grouped")
_JUDGED = ("--modes", "--corpora", *used("judged"))
_APART = ("--modes", "--models", "apart", "--corpora", INDUSTRYTAB_1K)

TABLES: Mapping[str, Table] = MappingProxyType(
    {
        "statistics": Table("paper.statistics"),
        "main": Table("paper.trained"),
        "grouped": Table("paper.trained", _UNSEEN),
        "sensitivity": Table("paper.sensitivity"),
        "cascade": Table("paper.cascade"),
        "bug": Table("paper.bug"),
        "spider": Table("paper.spider"),
        "quality": Table("unlabelled.quality"),
        "unchanged": Table("unlabelled.unchanged"),
        "cosine": Table("unlabelled.cosine"),
        "fusion": Table("unlabelled.fusion"),
        "adapted": Table("unlabelled.adapted"),
        "general_tests": Table("unlabelled.adapted", _JUDGED),
        "apart_tests": Table("unlabelled.adapted", _APART),
        "general": Table("general.general"),
        "features": Table("general.features"),
        "periods": Table("periods.periods"),
        "copies": Table("copies.copies"),
        "copies_bounds": Table("copies.bounds"),
        "headers": Table("reading.headers"),
        "messy": Table("reading.messy"),
        "left_out": Table("reading.left_out"),
        "read_cost": Table("reading.read_cost"),
        "encodings": Table("reading.encodings"),
        "reading": Table("reading.reading"),
        "links_quality": Table("links.quality"),
        "formula_links": Table("links.formula_links"),
        "joins": Table("links.joins"),
        "links_scale": Table("links.scale"),
        "related": Table("related.related"),
        "related_neighbours": Table("related.neighbours"),
        "graph_attempt": Table("related.attempt"),
        "synth_stats": Table("made.stats"),
        "synth_roundtrip": Table("made.roundtrip"),
        "synth_quality": Table("made.quality"),
        "synth_recalculated": Table("made.recalculated"),
        "synth_scale": Table("made.scale"),
        "contents": Table("contents.contents"),
        "target": Table("contents.target"),
        "table_choice": Table("contents.tables"),
        "asked": Table("contents.asked"),
        "real": Table("real.real"),
        "ladder": Table("real.real", ("--ladder",)),
        "nothing": Table("nothing.nothing"),
        "common_words": Table("nothing.common_words"),
        "table_data": Table("answers.table_data"),
        "answers": Table("answers.llm"),
        "scripted": Table("answers.scripted"),
        "made_answers": Table("answers.made_sql"),
        "hostile_sql": Table("answers.hostile_sql"),
        "eps_answers": Table("answers.eps_answers"),
        "latency": Table("speed.latency"),
        "serve": Table("speed.serve"),
        "page": Table("speed.page"),
        "overhead": Table("speed.overhead"),
        "million": Table("speed.million"),
        "postgres": Table("speed.postgres"),
        "beside": Table("speed.beside"),
        "equal_stores": Table("safety.equal_stores"),
        "ten_million": Table("speed.ten_million"),
        "contents_cost": Table("speed.contents_cost"),
        "cell_search": Table("speed.cell_search"),
        "encoder": Table("speed.encoder"),
        "walk": Table("speed.walk"),
        "install": Table("speed.install"),
        "adapters": Table("speed.adapters"),
        "sync": Table("speed.sync"),
        "remote": Table("speed.remote"),
        "ray": Table("speed.cluster"),
        "postgres_writes": Table("speed.postgres_writes"),
        "train_speed": Table("speed.train_speed"),
        "gpu": Table("gpu.gpu"),
        "adapt_scale": Table("speed.adapt_scale"),
        "golden": Table("safety.golden"),
        "robustness": Table("safety.robustness"),
        "determinism": Table("safety.determinism"),
        "large": Table("safety.large"),
        "privacy": Table("safety.privacy"),
        "postgres_kills": Table("safety.postgres_kills"),
        "permissions": Table("safety.permissions"),
        "crash": Table("safety.crash"),
        "contention": Table("safety.contention"),
        "cut_hosts": Table("safety.cut_hosts"),
        "soak": Table("safety.soak"),
        "operate": Table("safety.operate"),
    }
)
