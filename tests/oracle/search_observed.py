#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""search_observed.py DRIVER PROGRAM [ARGUMENT]...: any program at all. The loader says whom it loads
for whom (LD_DEBUG=files) and which files it tries (libs); from the former alone core/search has to
find the latter: the full list, in order."""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

from search_oracle import LOADER, Gone, Opened, Processor, Replay, differ

OPENED = re.compile(r"file=(.*) \[0\];  dynamically loaded by (.*) \[0\]$")
GONE = re.compile(r"file=(.*) \[0\];  destroying link map$")
SEARCHES = re.compile(r"find library=.* \[(\d+)\]; searching$")
MAPS = re.compile(r"file=.* \[0\];  generating link map$")


class Run:
    """What the loader said of one process; what is the same for all its searches."""

    def __init__(self, command):
        self.top, self.secure = pathlib.Path.cwd(), False
        self.library_path = os.environ.get("LD_LIBRARY_PATH")
        self.cache, words = "/etc/ld.so.cache", command
        if os.path.basename(command[0]) == os.path.basename(LOADER):
            assert command[1] == "--inhibit-cache", command
            self.cache, words = "/dev/null", command[2:]
        self.program = pathlib.Path(words[0]).resolve()
        self.events, self.tried = [], []
        for line in self.lines(command):
            self.take(line, words[0])

    def lines(self, command):
        """Those of the process itself, not of what it forks."""
        with tempfile.TemporaryDirectory() as scratch:
            variables = {"LD_DEBUG": "files,libs", "LD_DEBUG_OUTPUT": f"{scratch}/said"}
            with subprocess.Popen(command, env={**os.environ, **variables},
                                  stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
                process.wait()
            text = pathlib.Path(f"{scratch}/said.{process.pid}").read_text(errors="replace")
        return re.findall(rf"^ *{process.pid}:\t *(.*)$", text, re.M)

    def take(self, line, itself):
        if found := OPENED.match(line):
            self.events.append(Opened(found[1], None if found[2] == itself else found[2], False))
        elif found := GONE.match(line):
            self.events.append(Gone(found[1]))
        elif MAPS.match(line) and self.events and isinstance(self.events[-1], Opened):
            self.events[-1] = self.events[-1]._replace(maps=True)
        elif found := SEARCHES.match(line):
            self.counts = found[1] == "0"
        elif line.startswith("trying file=") and self.counts:
            self.tried.append(line.partition("=")[2])

    def note(self, feature):
        pass


def main():
    run = Run(sys.argv[2:])
    replay = Replay(sys.argv[1], run, Processor())
    wrong = differ(" ".join(sys.argv[2:])[:200], replay.run(), run.tried)
    opened = sum(isinstance(event, Opened) for event in run.events)
    print(f"{opened} opened, {replay.count} objects, {len(run.tried)} files tried, "
          f"{'they differ' if wrong else '0 differ'}")
    sys.exit(wrong or not run.tried)


if __name__ == "__main__":
    main()
