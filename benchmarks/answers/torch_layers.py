"""Parts of a language model that read a prompt faster on a processor than those of its library.

Matrices of 8 bits take half the time of bfloat16's (VNNI, without AMX), attention in blocks half
the time of PyTorch's own.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import torch
from transformers import AttentionInterface, AttentionMaskInterface
from transformers.integrations.sdpa_attention import sdpa_attention_forward
from transformers.masking_utils import sdpa_mask

_ROWS = 128  # of a block: its scores over some thousand tokens stay in the processor's cache
_BLOCKS = "blocks"
_MIDDLE = 128  # zero of the inputs, as whole numbers of 8 bits


class Int8Linear(torch.nn.Module):
    """A linear layer with weights of 8 bits a row, and inputs of 8 bits a token.

    The weights are packed once: `torch._int_mm` packs them in each call, which makes a call with
    four tokens four times as long.

    Args:
        layer: The layer that it takes the place of.
        compiled: Compile what surrounds the multiplication, which otherwise takes as long as it.
    """

    def __init__(self, layer: torch.nn.Linear, compiled: bool = False) -> None:
        super().__init__()
        functions: tuple[Any, Any] = _compiled() if compiled else (_uint8, _scaled)
        self._uint8, self._scaled = functions
        step = _step(layer.weight.detach())
        whole = (layer.weight.detach() / step).round().to(torch.int8)
        self._weight = torch.ops.onednn.qlinear_prepack(whole, None)
        self._scale = step.flatten()
        self._zero = torch.zeros(len(whole), dtype=torch.int32)
        self._bias = layer.bias

    def forward(self, given: torch.Tensor) -> torch.Tensor:
        """Return the outputs, of the inputs' type and shape but for the last dimension."""
        rows, step = self._uint8(given.flatten(end_dim=-2))
        sums = torch.ops.onednn.qlinear_pointwise(
            rows,
            *(1.0, _MIDDLE),  # step and zero of the inputs; each row's step comes after
            *(self._weight, self._scale, self._zero, None),
            *(1.0, 0, torch.float32, "none", [], ""),
        )
        found = self._scaled(sums, step, given.dtype)
        outputs: torch.Tensor = found.unflatten(0, given.shape[:-1])
        return outputs if self._bias is None else outputs + self._bias


def _step(rows: torch.Tensor) -> torch.Tensor:
    """Return the step of each row's whole numbers, from -127 to 127."""
    return rows.abs().amax(-1, keepdim=True).float().clamp_min(1e-8) / 127


def _uint8(rows: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Return rows as whole numbers of 8 bits above zero, and each row's step."""
    step = _step(rows)
    return ((rows / step).round() + _MIDDLE).to(torch.uint8), step


def _scaled(sums: torch.Tensor, step: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    return (sums * step).to(dtype)


@cache
def _compiled() -> tuple[Any, Any]:
    return torch.compile(_uint8, dynamic=True), torch.compile(_scaled, dynamic=True)


def quantize(blocks: torch.nn.Module) -> None:
    """Put layers of 8 bits in the place of all linear layers of a model's blocks."""
    for block in list(blocks.modules()):
        for part, layer in list(block.named_children()):
            if isinstance(layer, torch.nn.Linear):
                setattr(block, part, Int8Linear(layer, compiled=True))


def attend_by_blocks(model: Any) -> None:
    """Let a model read its prompts with attention in blocks; other steps are as before."""
    AttentionInterface.register(_BLOCKS, _attention)
    AttentionMaskInterface.register(_BLOCKS, sdpa_mask)
    model.set_attn_implementation(_BLOCKS)


def _attention(
    module: torch.nn.Module,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attention_mask: torch.Tensor | None,
    **more: Any,
) -> tuple[torch.Tensor, None]:
    """Attend as `sdpa` does; whole prompts, which have no mask, by blocks."""
    batch, heads, length, width = query.shape
    if batch > 1 or attention_mask is not None or key.shape[2] != length or length <= _ROWS:
        found: tuple[torch.Tensor, None] = sdpa_attention_forward(
            module, query, key, value, attention_mask, **more
        )
        return found
    scale = more.get("scaling") or width**-0.5
    together = heads // key.shape[1]  # heads that share keys and values
    after = torch.ones(_ROWS, _ROWS, dtype=torch.bool).triu(1)
    outputs = query.new_empty(length, heads, value.shape[3])
    for group, (keys, values) in enumerate(zip(key[0], value[0], strict=True)):
        own = slice(group * together, (group + 1) * together)
        for start in range(0, length, _ROWS):
            end = min(length, start + _ROWS)
            rows = end - start
            scores = (query[0, own, start:end] * scale).reshape(-1, width) @ keys[:end].t()
            scores = scores.view(together, rows, end)
            scores[:, :, start:].masked_fill_(after[:rows, :rows], -torch.inf)
            shares = scores.softmax(-1).view(-1, end)
            outputs[start:end, own] = (
                (shares @ values[:end]).view(together, rows, -1).transpose(0, 1)
            )
    return outputs[None], None
