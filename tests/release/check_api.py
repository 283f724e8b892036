# SPDX-License-Identifier: Apache-2.0
"""check_api.py DEMO COMMAND: the Python package that is found here, held against what it says of itself."""

import ctypes
import os
import subprocess
import sys
from pathlib import Path

import whichcudnn

demo = Path(sys.argv[1])


def watched(environment, log):
    """What a host says that is started so, and the verdict of its log."""
    done = subprocess.run([str(demo / "host")], env=environment, capture_output=True, text=True, check=True)
    report = subprocess.run([whichcudnn.command(), "report", "--json", str(log)], capture_output=True, text=True, check=False)
    return done.stdout, report.stdout


library = whichcudnn.library()
assert os.path.isabs(library) and Path(library).is_file(), library
assert (Path(whichcudnn.__file__).parent / "py.typed").is_file()
assert whichcudnn.command() == sys.argv[2], whichcudnn.command()

# The environment: behind what is there, once.
os.environ.pop("LD_PRELOAD", None)
assert whichcudnn.env() == {"LD_PRELOAD": library}
assert whichcudnn.env({}) == {"LD_PRELOAD": library}
assert whichcudnn.env({"LD_PRELOAD": "/a.so"})["LD_PRELOAD"] == f"/a.so:{library}"
assert whichcudnn.env({"LD_PRELOAD": "/a.so /b.so"})["LD_PRELOAD"] == f"/a.so /b.so:{library}"
once = whichcudnn.env({"LD_PRELOAD": "/a.so"})
assert whichcudnn.env(once) == once
assert whichcudnn.env({"LD_PRELOAD": "/other/libwhichcudnn.so"})["LD_PRELOAD"] == "/other/libwhichcudnn.so"
assert all(type(value) is str for value in whichcudnn.env(log=Path("logs")).values())

logs = Path("logs-of-python").absolute()
logs.mkdir(exist_ok=True)
said, report = watched({**os.environ, **whichcudnn.env(log=logs)}, logs)
assert said.startswith("version "), said
assert '"facade-and-parts-differ"' in report, report

# This very process: first without cuDNN, then with one.
before = whichcudnn.inspect()
assert before["verdict"] == "not-observed", before
assert before["sources"][0]["pid"] == os.getpid()
ctypes.CDLL(str(demo / "cudnn" / "libcudnn.so.9"), mode=ctypes.RTLD_GLOBAL).cudnnCreate(None)
after = whichcudnn.inspect()
assert [one["id"] for one in after["findings"]][:1] == ["facade-and-parts-differ"], after
assert whichcudnn.inspect(os.getpid())["verdict"] == after["verdict"]
try:
    whichcudnn.inspect(2**22 - 1)
except whichcudnn.NotAvailable as e:
    assert str(e), "no reason"
else:
    raise AssertionError("a process that is not there was inspected")
