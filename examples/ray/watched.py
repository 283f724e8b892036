# SPDX-License-Identifier: Apache-2.0
"""Runs a script in a worker of Ray's that is watched: python watched.py train.py

The variables have to be those of a runtime_env: what a task sets for itself comes too late, for a
library is preloaded where a process starts. Only workers are watched.
Error: in the log alone, as a worker's standard error is not the one that it began with. Exit status:
the driver's; a task's exception stays what it was. Logs: with Ray's own on each node, or where
WHICHCUDNN_LOG says; then `whichcudnn report DIRECTORY`.
"""

import os
import runpy
import sys

import ray

ray.init(
    runtime_env={
        "env_vars": {
            "LD_PRELOAD": os.environ.get("WHICHCUDNN_SHIM", "/usr/local/lib/libwhichcudnn.so"),
            "WHICHCUDNN_LOG": os.environ.get("WHICHCUDNN_LOG", "/tmp/ray/session_latest/logs"),
        }
    }
)


@ray.remote
def run(script):
    runpy.run_path(script, run_name="__main__")


ray.get(run.remote(os.path.abspath(sys.argv[1])))
