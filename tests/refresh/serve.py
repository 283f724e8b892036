#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""serve.py DIRECTORY: a package index over the wheels there, on a free port of the loopback, which
is printed. A wheel is as old as its file. What is asked for, and how much of it, goes to stderr.
"""

import datetime
import functools
import http.server
import json
import os
import pathlib
import re
import sys


class Handler(http.server.SimpleHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        page = re.fullmatch(r"/simple/([\w.-]+)/", self.path)
        file = pathlib.Path(self.directory) / os.path.basename(self.path)
        if page:
            self.project(page[1])
        elif file.is_file():
            self.part_of(file.read_bytes())
        else:
            self.send_error(404)

    def project(self, name):
        wheels = sorted(path for path in pathlib.Path(self.directory).glob("*.whl")
                        if path.name.split("-")[0].replace("_", "-") == name)
        if not wheels:
            self.send_error(404)
            return
        files = [{"filename": path.name, "url": f"/files/{path.name}", "hashes": {},
                  "upload-time": uploaded(path)} for path in wheels]
        self.answer(200, json.dumps({"meta": {"api-version": "1.1"}, "name": name, "versions": [],
                                     "files": files}).encode(),
                    {"Content-Type": "application/vnd.pypi.simple.v1+json"})

    def part_of(self, content):
        asked = re.fullmatch(r"bytes=(\d*)-(\d*)", self.headers.get("Range", "bytes=0-"))
        begin, end = asked.groups()
        first = int(begin) if begin else max(len(content) - int(end), 0)
        last = min(int(end), len(content) - 1) if begin and end else len(content) - 1
        if last < first:
            self.answer(416, b"", {"Content-Range": f"bytes */{len(content)}"})
            return
        self.answer(206, content[first:last + 1],
                    {"Content-Range": f"bytes {first}-{last}/{len(content)}"})

    def answer(self, status, content, headers):
        self.send_response(status)
        for name, value in {**headers, "Content-Length": str(len(content)),
                            "Accept-Ranges": "bytes"}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)


def uploaded(path):
    return datetime.datetime.fromtimestamp(path.stat().st_mtime, datetime.timezone.utc).isoformat()


def main():
    handler = functools.partial(Handler, directory=sys.argv[1])
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        print(server.server_address[1], flush=True)
        server.serve_forever()


if __name__ == "__main__":
    main()
