"""A real task small enough to compute by hand: fit a sum of four numbers."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np
import torch
from safetensors.torch import save_file

from sat_retriever.train.settings import Schedule

SIZE = 20  # queries: batches of 6, 6, 6, 2


def schedule(**changed) -> Schedule:
    given = {
        "epochs": 3, "batch_size": 6, "learning_rate": 0.05, "weight_decay": 0.01,
        "warmup_epochs": 0.5, "max_grad_norm": 1.0, "accumulation": 1, "precision": "fp32",
        "seed": 42,
    }  # fmt: skip
    return Schedule(**{**given, **changed})


class TinyModule(torch.nn.Module):
    def __init__(self, dropout: float) -> None:
        super().__init__()
        self.frozen = torch.nn.Linear(4, 4).requires_grad_(False)
        self.hidden = torch.nn.Linear(4, 8)
        self.dropout = torch.nn.Dropout(dropout)
        self.out = torch.nn.Linear(8, 1)
        self.pooler = torch.nn.Linear(8, 8)  # trainable, but no loss reaches it
        self.register_buffer("calls", torch.zeros(()))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.calls += self.training
        hidden = torch.nn.functional.gelu(self.hidden(x + self.frozen(x)))
        return self.out(self.dropout(hidden))[:, 0]  # (b,)


class TinyTask:
    """Counts what the loop calls; `before_loss` and `before_validate` may interfere."""

    def __init__(
        self,
        *,
        dropout: float = 0.1,
        measures: Sequence[float] | None = None,
        size: int = SIZE,
        before_loss: Callable[[int], object] = lambda _: None,
        before_validate: Callable[[int], object] = lambda _: None,
    ) -> None:
        draw = torch.Generator().manual_seed(7)
        self.x = torch.randn(size, 4, generator=draw)
        self.y = self.x.sum(dim=1)
        with torch.random.fork_rng():
            torch.manual_seed(3)
            self.module = TinyModule(dropout)
        self.size = size
        self.shift = np.zeros(size, np.float32)  # drawn anew for each epoch, like negatives
        self.measures = measures
        self.before_loss = before_loss
        self.before_validate = before_validate
        self.calls: list[str] = []
        self.epoch = 0

    def prepare(self, epoch, accelerator) -> None:
        assert not self.module.training
        assert not torch.is_grad_enabled()
        self.calls.append(f"prepare {epoch}")
        self.epoch = epoch
        self.shift = (0.1 * torch.randn(self.size)).numpy()
        if accelerator.num_processes > 1:  # the same in each process
            self.shift = np.full(self.size, 0.1 * epoch, np.float32)

    def inputs(self, share, device) -> tuple[torch.Tensor, torch.Tensor]:
        items = torch.as_tensor(share.items)
        return self.x[items], self.y[items] + torch.as_tensor(self.shift)[items]

    def loss(self, module, inputs, share, accelerator) -> torch.Tensor:
        assert self.module.training
        self.calls.append("loss")
        self.before_loss(self.calls.count("loss"))
        x, target = (each.to(accelerator.device) for each in inputs)
        errors = (module(x) - target) ** 2
        return errors.sum() * share.world / share.total

    def validate(self, accelerator) -> Mapping[str, float]:
        assert not self.module.training
        assert not torch.is_grad_enabled()
        self.calls.append("validate")
        self.before_validate(self.calls.count("validate"))
        if self.measures is not None:
            return {"NDCG@5": self.measures[self.calls.count("validate") - 1]}
        error = (self.module(self.x.to(accelerator.device)).cpu() - self.y).square().mean()
        return {"NDCG@5": float(1 / (1 + error)), "error": float(error)}

    def save(self, folder: Path) -> None:
        (folder / "tiny").mkdir(parents=True)
        save_file(self.weights(), folder / "tiny" / "weights.safetensors")
        (folder / "tiny" / "epoch.json").write_text(json.dumps(self.epoch))

    def state(self):
        return {"shift": self.shift, "epoch": np.int64(self.epoch)}

    def restore(self, state) -> None:
        self.shift, self.epoch = state["shift"], int(state["epoch"])

    def weights(self) -> dict[str, torch.Tensor]:
        return {name: value.clone() for name, value in self.module.state_dict().items()}


def same_weights(one: Mapping[str, torch.Tensor], other: Mapping[str, torch.Tensor]) -> bool:
    """Bit for bit."""
    return one.keys() == other.keys() and all(torch.equal(one[name], other[name]) for name in one)


TIMES = {"seconds", "preparation_seconds", "validation_seconds", "memory_mib", "gpu_memory_mib"}


def without_times(rows: Sequence[Mapping[str, object]]) -> list[dict[str, object]]:
    return [{key: value for key, value in row.items() if key not in TIMES} for row in rows]
