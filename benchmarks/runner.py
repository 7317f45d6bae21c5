"""Run a suite: read its options, write each result as soon as it is measured, print it.

    @suite("sync", "work", workbooks=1000)
    def main(options: Options) -> Iterator[Result]:
        yield Result("sat-retriever", f"generated_{options.workbooks}", {...})

A suite declares its own options by their defaults and names the common ones that it takes. All take
`--out`, for results that are not to be committed, and `--dry`. The results of a trial are committed
only with `--out`: the suite asks for `results_folder`, or `--quick` and `--limit` write none.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, Literal

from rich.console import Console

from benchmarks import results
from benchmarks.pgserver import UnavailableError
from benchmarks.results import Result, write_result

Common = Literal["data", "work", "runs", "encoder", "seeds", "set", "quick"]
Options = argparse.Namespace
Measure = Callable[[Options], Iterable[Result]]
Main = Callable[[Sequence[str]], None]

_COMMON: dict[str, dict[str, Any]] = {
    "data": {"default": Path("../shared/data"), "help": "folder of the corpora"},
    "work": {"help": "folder for what is kept between runs"},
    "runs": {"default": Path("runs"), "help": "folder of what is trained"},
    "encoder": {"default": "general", "help": "what SheetEncoder.load takes"},
    "seeds": {"default": [42, 43, 44]},
    "set": {
        "default": [],
        "action": "extend",
        "metavar": "NAME=VALUE",
        "help": "changed settings, for trials",
    },
    "quick": {"default": False, "help": "a trial on little data"},
}
console = Console(width=None if sys.stdout.isatty() else 140, highlight=False)


def option(default: Any = None, told: str = "", **more: Any) -> dict[str, Any]:
    """Declare an option with a text for `--help`, or with other arguments of argparse."""
    return {"default": default, "help": told, **more}


def hidden(**more: Any) -> dict[str, Any]:
    """Declare an option that the suite gives to processes of its own."""
    return {"help": argparse.SUPPRESS, **more}


def suite(name: str, /, *common: Common, **own: Any) -> Callable[[Measure], Main]:
    """Make the command of a suite from the function that measures it.

    The command reads the options, then writes and prints each result that the function yields. The
    folder `--work` exists when it is called. A server that cannot be started is told, no failure.
    The function may give its results to another suite, by `options.suite`.

    Args:
        name: Name of its results, and of its folder below `.cache`.
        common: Common options that it takes.
        own: Its other options: the default value or an `option`. The type is that of the default; a
            sequence takes several values, False is a flag.
    """
    declared: dict[str, dict[str, Any]] = {each: dict(_COMMON[each]) for each in common}
    if "work" in declared:
        declared["work"]["default"] = Path(".cache") / name
    declared |= {key: each if isinstance(each, dict) else option(each) for key, each in own.items()}
    declared["out"] = option(
        told="folder of the results; without it, those of trials are never among the committed",
        type=Path,
    )
    declared["dry"] = option(False, "write no results")

    def decorate(measure: Measure) -> Main:
        def main(arguments: Sequence[str] = ()) -> None:
            about = (sys.modules[measure.__module__].__doc__ or "").partition("\n")[0]
            options = _parser(about, declared).parse_args(list(arguments))
            if "work" in options:
                options.work.mkdir(parents=True, exist_ok=True)
            options.suite = name
            try:
                for result in measure(options):
                    trial = getattr(options, "quick", False) or getattr(options, "limit", None)
                    if not options.dry and (options.out or not trial):
                        write_result(options.suite, result, folder=options.out)
                    say(result)
            except UnavailableError as reason:
                console.print(f"not run: {reason}", markup=False)

        return main

    return decorate


def results_folder(options: Options, kept: Path, *, trial: bool) -> Path:
    """Return the folder of results: that of `--out`, else the committed ones.

    Those of a trial, with changed settings or on less data, are in `kept`, where git ignores them.
    """
    chosen: Path = options.out or (kept / "results" if trial else results.FOLDER)
    return chosen


def say(result: Result) -> None:
    """Print a result's name and its figures."""

    def shown(value: Any) -> str:
        if isinstance(value, float):
            return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"
        return f"{value:,}" if isinstance(value, int) else str(value)

    figures = (
        f"{key} {shown(each)}"
        for key, each in result.metrics.items()
        if each is not None and not isinstance(each, dict | list | tuple)
    )
    console.print(f"{result.name}: {', '.join(figures)}", markup=False, soft_wrap=True)


def _parser(about: str, declared: dict[str, dict[str, Any]]) -> argparse.ArgumentParser:
    """Return the parser of some options."""
    parser = argparse.ArgumentParser(description=about)
    for key, each in declared.items():
        told = dict(each)
        default = told.get("default")
        if default is False:
            told["action"] = "store_true"
        elif isinstance(default, list | tuple):
            told.setdefault("nargs", "+")
            told.setdefault("type", type(default[0]) if default else str)
        elif default is not None:
            told.setdefault("type", type(default) if not isinstance(default, Path) else Path)
        parser.add_argument(f"--{key.replace('_', '-')}", **told)
    return parser
