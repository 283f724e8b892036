#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fetches cudnn.h and what it includes into one directory, as a CUDA toolkit would have them."""

import argparse
import os
import shutil
import tempfile

import wheels

# crt/host_defines.h, which cuda_runtime_api.h includes, is in the compiler's wheel.
WHEELS = ["nvidia-cudnn-cu12>=9,<10", "nvidia-cuda-runtime-cu12", "nvidia-cuda-nvcc-cu12"]


def fetch(requirement, into):
    _, address = wheels.resolve(requirement)
    with wheels.open_wheel(address) as wheel:
        for member in wheel.infolist():
            name = os.path.normpath("/" + member.filename.partition("/include/")[2])[1:]
            if not name or member.is_dir():
                continue
            path = os.path.join(into, name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with wheel.open(member) as source, open(path, "wb") as target:
                shutil.copyfileobj(source, target)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--into", metavar="DIR", required=True)
    options = parser.parse_args()
    into = os.path.abspath(options.into)
    with wheels.locked(f"{into}.lock"):
        if os.path.exists(f"{into}/cudnn.h"):
            return
        new = tempfile.mkdtemp(prefix=".headers-", dir=os.path.dirname(into))
        try:
            os.chmod(new, 0o755)
            for requirement in WHEELS:
                wheels.log("headers of", requirement)
                wheels.with_retries(requirement, lambda r=requirement: fetch(r, new))
            os.rename(new, into)
        finally:
            shutil.rmtree(new, ignore_errors=True)


if __name__ == "__main__":
    main()
