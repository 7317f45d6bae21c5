"""Keep what a model's frozen layers make of each text, so that a step computes the others alone.

Frozen layers never change and have no dropout, so a text has the same states behind them in every
step of a training.
"""

from __future__ import annotations

import copy
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from sat_retriever.records.tokens import FloatArray

Pieces = NDArray[np.int32]  # word pieces of one text

MOST_BYTES = 8 << 30  # of a file of states; a larger corpus is trained without one
_NEAR = 1e-4  # of two states that are equal but for the last digits


@dataclass(frozen=True, slots=True)
class Frozen:
    """The frozen layers' states of a training's texts, and the model that goes on from them."""

    states: States
    rest: torch.nn.Module  # takes states, (b, t, d), as `inputs_embeds`
    layers: torch.nn.ModuleList  # of the rest: the trained ones


class States:
    """The states of texts behind the frozen layers, found by the word pieces of a text.

    They are in a file without a name, which goes with the process.
    """

    def __init__(self, width: int, found: Iterable[tuple[Pieces, FloatArray]]) -> None:
        """Write the states of each text, (t, width) float32."""
        self._starts: dict[bytes, int] = {}
        count = 0
        with tempfile.TemporaryFile() as file:
            for text, states in found:
                self._starts[text.tobytes()] = count
                file.write(np.ascontiguousarray(states).data)
                count += len(text)
            file.flush()
            self._rows = np.memmap(file, np.float32, "r", shape=(count, width))

    def padded(self, texts: Sequence[Pieces]) -> FloatArray:
        """Return the states of known texts, (b, t, d) float32, with zeros behind each text."""
        longest = max(map(len, texts))
        found = np.zeros((len(texts), longest, self._rows.shape[1]), dtype=np.float32)
        for place, text in enumerate(texts):
            start = self._starts[text.tobytes()]
            found[place, : len(text)] = self._rows[start : start + len(text)]
        return found


def divided(
    transformer: Any, layers: torch.nn.ModuleList, count: int
) -> tuple[torch.nn.Module, torch.nn.Module, torch.nn.ModuleList]:
    """Return a transformer without its last `count` layers, the rest, and these layers of it.

    Both parts share the weights of the whole; the rest takes states as `inputs_embeds`. They fit
    together where `embeddings` gives the first layer's input and the last layer's output is the
    model's; see `is_whole`.
    """
    place = next(name for name, each in transformer.named_modules() if each is layers)
    first, rest = _sharing(transformer), _sharing(transformer)
    del first.get_submodule(place)[-count:]
    last = rest.get_submodule(place)
    del last[:-count]
    rest.embeddings = _Given()
    return first, rest, last


def is_whole(
    transformer: torch.nn.Module,
    first: torch.nn.Module,
    rest: torch.nn.Module,
    ids: torch.Tensor,
    mask: torch.Tensor,
) -> bool:
    """True if both parts after each other give what the whole gives, in evaluation mode."""
    with torch.no_grad():
        known = transformer(input_ids=ids, attention_mask=mask).last_hidden_state  # (b, t, d)
        try:
            states = first(input_ids=ids, attention_mask=mask).last_hidden_state
            found = rest(inputs_embeds=states, attention_mask=mask).last_hidden_state
        except (AttributeError, RuntimeError, TypeError, ValueError):  # it is built otherwise
            return False
    return bool((found - known)[mask.bool()].abs().max() < _NEAR)


class _Given(torch.nn.Module):
    """Stand for embeddings: the states that are given in place of word pieces go on unchanged."""

    def forward(self, *given: Any, **named: Any) -> Any:
        known = (each for each in (*given, *named.values()) if isinstance(each, torch.Tensor))
        return next(each for each in known if each.is_floating_point())


def _sharing(module: Any) -> Any:
    """Return a copy with the same parameters and buffers, in evaluation mode."""
    kept = [*module.parameters(), *module.buffers(), module.config]
    return copy.deepcopy(module, {id(each): each for each in kept}).eval()
