"""Answer questions by a language model of a GGUF file, in PyTorch, several at a time.

request → waiting → prompts read one by one → replies written together → answer

The file's weights become bfloat16, or whole numbers of 8 bits. Where a processor multiplies
matrices of bfloat16 (AMX), one core reads a prompt more than twice as fast as llama.cpp; others
(VNNI) multiply those of 8 bits faster. A batch of replies takes hardly longer than one. A question
joins the batch as soon as there is room, between two tokens of the others, so that none waits for
the longest reply. `benchmarks.answers.torch_server` serves it.
"""

from __future__ import annotations

import importlib
import queue
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, wait
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer, DynamicCache, GgufConfig

from benchmarks.answers.torch_layers import attend_by_blocks, quantize

_SHARED = 512  # tokens; a longer beginning in common with the prompt before is not read again
_LOOK_S = 1.0  # seconds between two looks whether the client is still there


@dataclass(eq=False, slots=True)
class Question:
    """One request: its prompt, its limits, and the reply so far."""

    prompt: list[int]  # tokens
    max_tokens: int
    temperature: float
    random: torch.Generator
    grammar: Any  # of llguidance; None where every text is allowed
    done: Future[str] = field(default_factory=Future)  # the finish reason
    reply: list[int] = field(default_factory=list)  # tokens
    gone: bool = False  # whoever asked
    cache: Any = None  # keys and values of the prompt, until it joins the batch

    @property
    def size(self) -> int:
        """Most tokens of the prompt and its reply."""
        return len(self.prompt) + self.max_tokens

    @property
    def length(self) -> int:
        """Tokens whose keys and values are known: all but the last one of the reply."""
        return len(self.prompt) + len(self.reply) - 1


class TorchModel:
    """A causal model that answers batches of questions in a thread of its own.

    Args:
        model: The model, of transformers.
        tokenizer: Its tokenizer, with a chat template.
        context: Most tokens of a prompt and its reply, and of all that are answered at a time.
        slots: Most questions at a time.
    """

    def __init__(self, model: Any, tokenizer: Any, context: int, slots: int) -> None:
        self._model, self._tokenizer = model, tokenizer
        self.context = context
        self._slots = slots
        self._end = tokenizer.eos_token_id
        self._waiting: queue.Queue[Question] = queue.Queue()
        self._held: Question | None = None  # the first of those waiting, which does not fit yet
        self._open: list[Question] = []  # their replies are being written
        self._cache = DynamicCache()  # of all open ones; each ends on the right
        self._before = Question([], 0, 0.0, torch.Generator(), None, cache=DynamicCache())
        threading.Thread(target=self._work, daemon=True).start()

    @classmethod
    def of_file(cls, file: Path, context: int, slots: int, int8: bool = False) -> TorchModel:
        """Return the model of a GGUF file, on a GPU if there is one.

        With `int8` its blocks multiply whole numbers of 8 bits.
        """
        folder, name = str(file.parent), file.name
        model: Any = AutoModelForCausalLM.from_pretrained(
            folder,
            gguf_file=name,
            quantization_config=GgufConfig(gguf_file=name, dequantize=True),
            dtype=torch.bfloat16,
        )
        if int8:
            quantize(model.model.layers)
        device = "cuda" if torch.cuda.is_available() else "cpu"
        if device == "cpu":
            attend_by_blocks(model)
        tokenizer = AutoTokenizer.from_pretrained(folder, gguf_file=name)
        return cls(model.to(device), tokenizer, context, slots)

    def question(self, body: Mapping[str, Any]) -> Question:
        """Return the question of a request; a ValueError for one that cannot be answered."""
        said = [{"role": each["role"], "content": each["content"]} for each in body["messages"]]
        prompt = self._tokenizer.apply_chat_template(
            said, add_generation_prompt=True, return_dict=False
        )
        schema = (body.get("response_format") or {}).get("json_schema", {}).get("schema")
        question = Question(
            prompt,
            int(body.get("max_tokens") or 512),
            float(body.get("temperature") or 0.0),
            torch.Generator().manual_seed(int(body.get("seed") or 0)),
            None if schema is None else self._grammar(schema),
        )
        if question.size > self.context:
            raise ValueError(
                f"the prompt has {len(prompt)} tokens, and with {question.max_tokens} for the "
                f"reply exceeds the context of {self.context}"
            )
        return question

    @cached_property
    def _grammars(self) -> Any:
        hf: Any = importlib.import_module("llguidance.hf")
        return hf.from_tokenizer(self._tokenizer, n_vocab=self._model.config.vocab_size)

    def _grammar(self, schema: Mapping[str, Any]) -> Any:
        matcher: Any = importlib.import_module("llguidance").LLMatcher
        # No `uniqueItems`: llama.cpp's grammars do not know it either.
        form = {"whitespace_flexible": False, "item_separator": ", ", "lenient": True}
        grammar = matcher.grammar_from_json_schema(dict(schema), overrides=form)
        found = matcher(self._grammars, grammar)
        if found.is_error():
            raise ValueError(f"response_format: {found.get_error()}")
        return found

    def answer(self, question: Question, gone: Callable[[], bool]) -> tuple[str, str]:
        """Return the text of a reply and its finish reason.

        Args:
            question: What is asked.
            gone: Looked at each second; once True, no more of the reply is written.
        """
        self._waiting.put(question)
        while wait([question.done], _LOOK_S).not_done:
            question.gone = question.gone or gone()
        reason = question.done.result()
        return self._tokenizer.decode(question.reply, skip_special_tokens=True), reason

    def _work(self) -> None:
        while True:
            with torch.inference_mode():
                try:
                    self._admit()
                    self._write()
                except Exception as error:  # noqa: BLE001 - whatever it is, the questions get it
                    for each in self._open:
                        if not each.done.done():  # complete before another one failed
                            each.done.set_exception(error)
                    self._open, self._cache = [], DynamicCache()

    def _admit(self) -> None:
        """Read the prompts of waiting questions while there is room; wait if none is open."""
        while len(self._open) < self._slots and (question := self._fitting()):
            if question.gone:
                question.done.set_result("length")
                continue
            try:
                if not self._says(question, self._read(question)):
                    continue
                caches = [self._cache, question.cache] if self._open else [question.cache]
                longest = max(each.length for each in (question, *self._open))
                joined = _joined(caches, longest)
            except Exception as error:  # noqa: BLE001 - the others go on
                question.done.set_exception(error)
                continue
            self._open.append(question)
            self._cache = joined

    def _fitting(self) -> Question | None:
        """Return the first waiting question; None if there is none, or no room beside the others.

        All take the room of the longest, and together at most the context.
        """
        try:
            found = self._held or self._waiting.get(block=not self._open)
        except queue.Empty:
            return None
        longest = max(each.size for each in (found, *self._open))
        fits = not self._open or longest * (len(self._open) + 1) <= self.context
        self._held = None if fits else found
        return found if fits else None

    def _write(self) -> None:
        """Add one token to each open reply, and close those that are complete."""
        if not self._open:
            return
        device, longest = self._model.device, max(each.length for each in self._open)
        lengths = torch.tensor([each.length for each in self._open], device=device)
        mask = torch.arange(longest + 1, device=device) >= longest - lengths[:, None]
        found = self._model(
            torch.tensor([each.reply[-1:] for each in self._open], device=device),
            cache=self._cache,
            attention_mask=mask.long() if len(self._open) > 1 else None,
            position_ids=lengths[:, None],
        )
        pairs = zip(self._open, found.logits[:, -1], strict=True)
        going = [self._says(*each) for each in pairs]
        if all(going):
            return
        self._open = [each for each, on in zip(self._open, going, strict=True) if on]
        if not self._open:
            self._cache = DynamicCache()
            return
        self._cache.batch_select_indices(torch.tensor(going, device=device).nonzero()[:, 0])
        self._cache = _joined([self._cache], max(each.length for each in self._open))

    def _read(self, question: Question) -> torch.Tensor:
        """Read a prompt; return the logits of the first token of the reply."""
        old, new = self._before.prompt, question.prompt
        shared = next(
            (place for place, pair in enumerate(zip(old, new)) if pair[0] != pair[1]),  # noqa: B905
            min(len(old), len(new)),
        )
        shared = min(shared, len(new) - 1)
        question.cache = DynamicCache()
        if shared >= _SHARED:
            for place, layer in enumerate(self._before.cache.layers):
                keys, values = layer.keys[:, :, :shared], layer.values[:, :, :shared]
                question.cache.update(keys, values, place)
            new = new[shared:]
        found = self._model(
            torch.tensor([new], device=self._model.device), cache=question.cache, logits_to_keep=1
        )
        self._before.cache = None
        self._before = question
        logits: torch.Tensor = found.logits[0, -1]
        return logits

    def _says(self, question: Question, logits: torch.Tensor) -> bool:
        """Add the next token to a reply; return False if it is complete."""
        logits = logits.float().cpu()
        if question.grammar is not None:
            allowed = np.frombuffer(question.grammar.compute_bitmask(), np.uint8)
            bits = np.unpackbits(allowed, bitorder="little")[: len(logits)].astype(bool)
            logits = logits.masked_fill(~torch.from_numpy(bits), -torch.inf)
        if question.temperature:
            shares = torch.softmax(logits / question.temperature, -1)
            token = int(torch.multinomial(shares, 1, generator=question.random))
        else:
            token = int(logits.argmax())
        ended = token == self._end
        if not ended:
            question.reply.append(token)
            if question.grammar is not None:
                question.grammar.consume_token(token)
                ended = question.grammar.is_stopped()
        if ended or question.gone or len(question.reply) == question.max_tokens:
            question.done.set_result("stop" if ended else "length")
        return not question.done.done()


def _joined(caches: Sequence[Any], length: int) -> DynamicCache:
    """Return caches as one of a length; each is filled up or cut on the left."""
    joined = DynamicCache()

    def fitted(kept: torch.Tensor) -> torch.Tensor:
        return torch.nn.functional.pad(kept, (0, 0, length - kept.shape[2], 0))

    for place in range(len(caches[0].layers)):
        layers = [each.layers[place] for each in caches]
        keys = torch.cat([fitted(layer.keys) for layer in layers])
        values = torch.cat([fitted(layer.values) for layer in layers])
        joined.update(keys, values, place)
    return joined
