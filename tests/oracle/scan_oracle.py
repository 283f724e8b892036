#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""scan_oracle.py DIR WHICHCUDNN            does a scan of DIR say what find and readelf say?
scan_oracle.py --make SEED POOL DIR      a tree drawn from the libraries in POOL: copied, linked,
                                         renamed, damaged, among files that are nothing

The other way to the same answer: every *.so* and every executable that `find` names, its dynamic
section, notes and symbols as `readelf` prints them. Fails, and says what differs.
"""

import json
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
LIBRARY = re.compile(r".\.so(\.|$)")
CUDNN = re.compile(r"^libcudnn(_[a-z0-9_]+)?(-[0-9a-f]+)?\.so(\.|$)")
CUDA_DEPENDENCY = re.compile(r"^lib(cuda|cudart|cublas|cublasLt|cufft|cufftw|curand|cusolver|cusolverMg|"
                       r"cusparse|cupti|nvJitLink|nvrtc|nvrtc-builtins|nvptxcompiler|nccl)"
                       r"(-[0-9a-f]+)?\.so(\.|$)")
# core/knowledge/frameworks.def has these by their names: nothing in them shows what they open.
KNOWN = re.compile(r"^(xla_cuda_plugin|libonnxruntime_providers_cuda|libphi|libpaddle|_versions)\.")


def functions():
    table = (ROOT / "core/data/cudnn_symbols.tsv").read_text(encoding="ascii")
    return {line.split("\t")[0] for line in table.splitlines() if line.startswith("cudnn")}


def readelf(option, path):
    return subprocess.run(["readelf", "-W", option, path], capture_output=True, check=False,
                          env={**os.environ, "LC_ALL": "C"}).stdout.decode("utf-8", "replace")


class Library:
    def __init__(self, path):
        dynamic = readelf("-d", path)
        self.path = path
        self.is_elf = "Dynamic section" in dynamic and "Class:                             ELF64" \
            in readelf("-h", path)
        self.soname = next(iter(re.findall(r"\(SONAME\).*\[(.*)\]", dynamic)), None)
        self.needed = re.findall(r"\(NEEDED\).*\[(.*)\]", dynamic)

    def build_id(self):
        return next(iter(re.findall(r"Build ID: ([0-9a-f]+)", readelf("-n", self.path))), None)

    def symbols(self):
        rows = (line.split() for line in readelf("--dyn-syms", self.path).splitlines())
        return {row[7].split("@")[0] for row in rows if len(row) > 7 and row[0].endswith(":")}

    def constants(self):
        out = subprocess.run(["strings", "-a", self.path], capture_output=True, check=False).stdout
        return out.decode("utf-8", "replace").splitlines()

    def is_copy(self):
        name = os.path.basename(self.path)
        return bool(CUDNN.match(name) or (self.soname and CUDNN.match(self.soname)))

    def is_host(self, known):
        symbols = self.symbols()
        opens = "dlopen" in symbols and any(CUDNN.match(text) for text in self.constants())
        return any(CUDNN.match(n) for n in self.needed) or bool(symbols & known) or \
            (opens and os.path.getsize(self.path) <= 8 << 20)


def libraries(directory):
    """Real path to library, of each file or link to a file that looks like one, and programs."""
    out = subprocess.run(["find", directory, "-name", "*.so*", "-print0", "-o", "-type", "f",
                          "-perm", "/111", "-print0"], capture_output=True, check=True).stdout
    for raw in filter(None, out.split(b"\0")):
        path = os.fsdecode(raw)
        link = os.path.islink(path)
        if os.path.isfile(path) and (LIBRARY.search(os.path.basename(path)) or
                                     (os.access(path, os.X_OK) and not link)):
            yield path


def key(path):
    """The same file by another name is the same."""
    facts = os.stat(path)
    return facts.st_dev, facts.st_ino


def expected(directory):
    copies, hosts, known = {}, set(), functions()
    for path in libraries(directory):
        name, real = os.path.basename(path), os.path.realpath(path)
        if CUDA_DEPENDENCY.match(name):
            continue
        library = Library(real)
        if not library.is_elf:
            continue
        if library.is_copy() or CUDNN.match(name):
            copies[key(real)] = (library.soname, library.build_id())
        elif not KNOWN.match(name) and library.is_host(known):
            hosts.add(key(real))
    return copies, hosts


def found(directory, command):
    done = subprocess.run([command, "scan", "--json", directory], capture_output=True, check=False,
                          text=True)
    if done.returncode == 2:
        sys.exit(f"scan failed: {done.stderr}")
    document = json.loads(done.stdout)
    copies = {key(o["path"]): (o["soname"], o["build_id"]) for o in document["copies"]}
    inside = os.path.realpath(directory) + "/"
    hosts = {o["path"] for report in document["reports"] for o in report["stack"]["objects"]
             if o["role"] == "host" and o["path"].startswith(inside)}
    return copies, {key(h) for h in hosts if not KNOWN.match(os.path.basename(h))}


def compare(directory, command):
    (copies, hosts), (seen, told) = expected(directory), found(directory, command)
    names = {key(path): path for path in libraries(directory)}
    wrong = [f"copy {names[k]}: readelf {copies.get(k)}, scan {seen.get(k)}"
             for k in sorted(copies.keys() | seen.keys()) if copies.get(k) != seen.get(k)]
    wrong += [f"host {names[k]}: {'not told' if k in hosts else 'is none'}"
              for k in sorted(hosts ^ told)]
    print(f"{len(copies)} copies, {len(hosts)} hosts")
    print("\n".join(wrong) if wrong else "the same")
    return bool(wrong)


# ---- a drawn tree ----

WORDS = ["lib", "lib64", "a b", "nvidia", "cudnn", "torch.libs", "site-packages", "x", "-o",
         "\u00fc"]


def put(draw, source, directory):
    """One library there, in one of the ways in which they come."""
    name = os.path.basename(source)
    way = draw.choice(["copy", "copy", "copy", "link", "hash", "rename", "cut", "text", "hard"])
    if name.startswith("program-"):
        name = name.removesuffix(".so")  # known by its mark alone
    if way == "hash" and CUDNN.match(name):
        stem, rest = name.split(".so", 1)
        name = f"{stem}-{draw.getrandbits(32):08x}.so{rest}"
    target = os.path.join(directory, name)
    if os.path.lexists(target):
        return
    if way == "rename":
        target = os.path.join(directory, f"library{draw.randrange(1000)}.so")
    if way == "link":
        os.symlink(os.path.abspath(source), target)
    elif way == "hard":
        os.link(source, target)
    elif way == "text":
        pathlib.Path(target).write_text("version https://git-lfs.github.com/spec/v1\n", "ascii")
    else:
        shutil.copy(source, target)
    if way == "cut":
        os.truncate(target, draw.randrange(64))


def make(seed, pool, directory):
    draw = random.Random(seed)
    sources = sorted(str(p) for p in pathlib.Path(pool).iterdir() if ".so" in p.name)
    places = [directory]
    for _ in range(draw.randrange(5, 30)):
        place = os.path.join(draw.choice(places), draw.choice(WORDS))
        os.makedirs(place, exist_ok=True)
        places.append(place)
    for _ in range(draw.randrange(20, 80)):
        put(draw, draw.choice(sources), draw.choice(places))
    for i in range(20):
        pathlib.Path(draw.choice(places), f"file{i}.py").write_text("", "ascii")
        pathlib.Path(draw.choice(places), f"nothing{i}.so.txt").write_text("", "ascii")
    os.symlink("..", os.path.join(draw.choice(places), "up"))
    os.mkfifo(os.path.join(draw.choice(places), "pipe.so.7"))
    os.symlink("itself.so", os.path.join(draw.choice(places), "itself.so"))


def main():
    if len(sys.argv) == 5 and sys.argv[1] == "--make":
        make(int(sys.argv[2]), sys.argv[3], sys.argv[4])
        return False
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    return compare(sys.argv[1], sys.argv[2])


if __name__ == "__main__":
    sys.exit(main())
