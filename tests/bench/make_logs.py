# SPDX-License-Identifier: Apache-2.0
"""make_logs.py DIRECTORY N: N logs of 100 records each, as a host of several libraries leaves them.

The mix of kinds is about that of logs of frameworks: requests above all, a dozen of libraries, calls,
lookups in vain. Processes differ in node, rank and number; one in a hundred got an older cuDNN.
"""
import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "schema"))
import complete

SITE = "/opt/venv/lib/python3.11/site-packages"
FACADE = f"{SITE}/nvidia/cudnn/lib/libcudnn.so.9"
HOST = f"{SITE}/torch/lib/libtorch_cuda.so"
PARTS = ["graph", "ops", "cnn", "adv", "heuristic", "engines_precompiled", "engines_runtime_compiled"]
CUDA_DEPENDENCIES = ["cudart", "cublas", "cublasLt", "cufft", "curand", "nvrtc", "nccl"]


def library(number, role, path, version, **more):
    name = path.rsplit("/", 1)[1]
    return {"kind": "object", "object": number, "role": role, "mapped": True, "path": path,
            "real_path": path, "asked_name": name, "soname": name, "size": 10 ** 6 + number,
            "device": 2049, "inode": 10 ** 7 + number, "mtime": 1730000000, "build_id": "ab" * 20,
            "base": "7f0000000000", "needed": ["libc.so.6", "libdl.so.2", "libpthread.so.0"],
            "runpath": "$ORIGIN", "version": version, "version_source": "data symbol",
            "installation_kind": "wheel", "installation": "nvidia-cudnn-cu12",
            "installation_version": f"{version}.70", "installation_path": f"{SITE}/nvidia/cudnn",
            "asked_by": FACADE, "asked_by_object": 2, "asked_how": "dlopen", "request": 1, **more}


def libraries(version):
    yield library(1, "host", HOST, None, framework="torch", asked_by=None, asked_by_object=None)
    yield library(2, "facade", FACADE, version, asked_by=HOST, asked_by_object=1)
    for i, part in enumerate(PARTS, 3):
        yield library(i, "part", f"{SITE}/nvidia/cudnn/lib/libcudnn_{part}.so.9", version, part=part)
    for i, name in enumerate(CUDA_DEPENDENCIES, 3 + len(PARTS)):
        yield library(i, "cuda-dependency", f"{SITE}/nvidia/{name}/lib/lib{name}.so.12", "12.4.127", part=name,
                      installation=f"nvidia-{name}-cu12", installation_path=f"{SITE}/nvidia/{name}")


def records(version, rank):
    yield {"kind": "process", "node": "NODE", "start_ticks": 1, "parent_pid": 1,
           "executable": "/opt/venv/bin/python3.11", "arguments": ["python", "train.py"], "directory": "/work", "shim_version": "0.1.0",
           "environment": [f"RANK={rank}", "LD_PRELOAD=/usr/local/lib/libwhichcudnn.so"]}
    yield {"kind": "machine", "kernel": "6.1.0", "architecture": "x86_64", "glibc": "2.36", "driver": "570.86.15",
           "gpu_devices": 8, "operating_system": "Debian GNU/Linux 12 (bookworm)"}
    yield from libraries(version)
    yield {"kind": "demand", "host": 1, "host_path": HOST, "demand_kind": "required", "spec": "==9.8.0.*",
           "package": "nvidia-cudnn-cu12", "source": "METADATA of torch 2.7.0", "compatibility_rule": "torch",
           "framework": "torch", "framework_version": "2.7.0"}
    yield {"kind": "search", "search": 1, "name": "libcudnn.so.9", "caller": HOST, "caller_object": 1, "object": 2,
           "rule": "DT_RUNPATH", "element": "$ORIGIN/../../nvidia/cudnn/lib", "index": 0, "of": HOST, "takes": FACADE}
    yield {"kind": "binding", "host": 1, "host_path": HOST, "target": 2, "target_path": FACADE, "how": "slot",
           "wrapped": 12, "functions": [f"cudnnBackendFunction{i}" for i in range(12)]}
    for i, function in enumerate(["cudnnCreate", "cudnnSetStream", "cudnnBackendExecute"] * 5):
        for phase in ("before", "after"):
            yield {"kind": "call", "function": function, "phase": phase, "host": 1, "host_path": HOST, "target": 2,
                   "target_path": FACADE, **({"status": 0, "status_name": "CUDNN_STATUS_SUCCESS"} if i % 2 else {})}
    for i in range(9):
        name = f"libcudnn_{PARTS[i % 7]}.so.9.8.{i}"
        yield {"kind": "failure", "request": 100 + i, "operation": "dlopen", "name": name, "caller": FACADE,
               "caller_object": 2,
               "text": f"{name}: cannot open shared object file: No such file or directory"}


def log_of(version):
    """One log, with marks where processes differ."""
    most = list(records(version, "12345678"))
    requests = [{"kind": "request", "request": i, "operation": "dlopen", "flags": 257,
                 "name": f"{SITE}/torch/_extensions/module_{i}.cpython-311-x86_64-linux-gnu.so",
                 "caller": "/opt/venv/bin/python3.11"} for i in range(100 - len(most) - 1)]
    summary = {"kind": "summary", "fingerprint": "0" * 16, "requests": 50, "calls": 30}
    lines = [json.dumps(complete.complete(one, seq) | {"pid": 87654321, "tid": 87654321}, separators=(",", ":"))
             for seq, one in enumerate([*most, *requests, summary], 1)]
    assert len(lines) == 100
    return "\n".join(lines) + "\n"


def main():
    directory, count = pathlib.Path(sys.argv[1]), int(sys.argv[2])
    directory.mkdir(parents=True)
    usual, older = log_of("9.8.0"), log_of("9.1.0")
    for i in range(count):
        text = (older if i % 100 == 99 else usual).replace("87654321", str(1000 + i))
        text = text.replace("RANK=12345678", f"RANK={i}").replace('"NODE"', f'"node{i // 8}"')
        (directory / f"whichcudnn-node{i // 8}-{1000 + i}-1.jsonl").write_text(text, encoding="utf-8")


main()
