"""Every table that can be measured, by name."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

# Corpora that the general model has not seen.
GENERAL_TESTS = (
    "industrytab_1k", "spider_dev", "bird_dev", "bird_dev_evidence", "eps", "templates", "domains",
)  # fmt: skip
Main = Callable[[Sequence[str]], object]


@dataclass(frozen=True, slots=True)
class Table:
    """One measurement.

    Attributes:
        module: Module below `benchmarks` that has its `main(arguments)`.
        what: What it measures, in a line.
        arguments: Options that make it this table, where a module makes several.
    """

    module: str
    what: str
    arguments: tuple[str, ...] = ()

    @property
    def main(self) -> Main:
        """The module's `main`; nothing is imported before it is asked for."""
        found: Main = importlib.import_module(f"benchmarks.{self.module}").main
        return found


TABLES: Mapping[str, Table] = MappingProxyType(
    {
        # the paper's tables
        "statistics": Table("statistics", "sheets, queries, annotations and links of every corpus"),
        "main": Table("trained", "every method on IndustryTab-1K's test split, trained here"),
        "grouped": Table("trained", "the same on unseen families", ("--split", "grouped")),
        "sensitivity": Table("train_sensitivity", "K, depth, gate and channels of the graph"),
        "cascade": Table("cascade", "latency of each method, per stage and in one call"),
        # what the paper leaves out
        "bug": Table("train_bug", "what the error of the released training costs"),
        "quality": Table("quality", "every corpus without training: BM25, dense, fused"),
        "links_quality": Table("links_quality", "what links buy without training"),
        "spider": Table("train_spider", "trained on Spider, asked on Spider dev and BIRD dev"),
        "fusion": Table("fusion", "ways to put cosine and BM25 together, on validation data"),
        "adapted": Table("adapted", "without labels: untrained, general and adapted models"),
        "general_tests": Table(
            "adapted",
            "the general model beside untrained rankings, on every test set",
            ("--modes", "--corpora", *GENERAL_TESTS),
        ),
        "apart_tests": Table(
            "adapted",
            "the general model without the paper's categories and names, on IndustryTab-1K",
            ("--modes", "--models", "apart", "--corpora", "industrytab_1k"),
        ),
        "adapt_scale": Table("adapt_scale", "time and memory of `sat adapt`"),
        "train_speed": Table("train_speed", "seconds of a training step, fp32 and bf16"),
        # reading and understanding
        "periods": Table("periods", "times and owners in questions, however they are spelled"),
        "headers": Table("headers", "header detection against labels"),
        "reading": Table("reading", "reading speed beside other readers"),
        "robustness": Table("robustness", "files that break readers, and mutants of good ones"),
        "determinism": Table("determinism", "the same folder gives the same index, busy or not"),
        "golden": Table("golden", "hashes of all that users see, before and after a change"),
        "large": Table("large", "very long, wide and many-sheeted files, calm and busy"),
        "formula_links": Table("formula_links", "formula links against an independent count"),
        "joins": Table("joins", "join keys by headers against declared foreign keys"),
        "general": Table("general", "the general model: trained, measured, made compact"),
        "compact": Table("compact", "an encoder stored in bytes and half precision"),
        # made corpora
        "synth_stats": Table("synth_stats", "made corpora beside the published ones"),
        "synth_roundtrip": Table("synth_roundtrip", "made workbooks read again"),
        "synth_quality": Table("synth_quality", "made questions without training"),
        "synth_recalculated": Table("synth_recalculated", "cached values against an office suite"),
        "synth_scale": Table("synth_scale", "corpora of many sheets made and indexed"),
        "own_queries": Table("own_queries", "queries made from an index"),
        # speed and safety
        "latency": Table("latency", "one query at 1,000 and 100,000 sheets"),
        "encoder": Table("encoder", "encoder runtimes"),
        "install": Table("install", "the base install: size, packages, cold start, encoders"),
        "links_scale": Table("links_scale", "links at scale"),
        "adapters": Table("adapters", "what adapters add to a call"),
        "sync": Table("sync", "keeping an index in step with a folder"),
        "crash": Table("crash", "kill -9 while indexing"),
        "contention": Table("contention", "two writers and eight readers of one index"),
        "soak": Table("soak", "memory over 20,000 questions in one process"),
    }
)
