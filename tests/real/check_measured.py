#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check_measured.py small|large [TABLE]: plays the rows of measured.tsv on real files, bare and
watched. The small ones need a few hundred MB of cuDNN, the large ones whole frameworks.

For each: the watched program does what the bare one does; every log is valid; the report has
exactly the findings of the row; the first of them stands in the log while the program runs, and
where cuDNN aborts, the log ends there, with the finding in it; and core/search says which files the
loader tries, in its order (tests/oracle/search_observed.py).
"""

import csv
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import traceback

import watch

ROOT = watch.ROOT
PYTHON = sys.executable
FETCH = [PYTHON, str(ROOT / "tests/setup/fetch_cudnn.py")]
WITH_CACHE = str(ROOT / "tests/neutrality/with-cache")
ORACLE, DRIVER = ROOT / "tests/oracle", f"{watch.BUILD}/oracle/search_driver"
NOT_HERE = 125  # of with-cache: no mount namespace
SMALL = ("linked", "opened", "jax")
COLUMNS = "row host libraries elsewhere calls ends says findings".split()


def rows(table):
    lines = [line for line in table.read_text().splitlines() if not line.startswith("#")]
    return list(csv.DictReader(lines, COLUMNS, delimiter="\t", quoting=csv.QUOTE_NONE))


# ---- files ---------------------------------------------------------------------------------------


def fetched(release, files):
    """(site-packages, paths of those files) of a release."""
    parts = ",".join(f for f in files if f != "facade")
    command = FETCH + [release, "--print", "lib"] + (["--parts", parts] if parts else [])
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    lib = pathlib.Path(done.stdout.strip())
    names = {f: "libcudnn.so.?" if f == "facade" else f"libcudnn_{f}.so.?" for f in files}
    return lib.parents[2], [next(lib.glob(names[f])) for f in files]


def put(path, into):
    """A file of its own in that directory: a link would lead home to the fetched installation."""
    os.makedirs(into, exist_ok=True)
    try:
        os.link(path, f"{into}/{path.name}")
    except OSError:
        shutil.copy2(path, into)


def each_release(text):
    for item in text.split():
        release, _, files = item.rpartition(":")
        yield fetched(release, files.split(","))


def account_for(record, lib):
    """Lets RECORD name the libraries that lie there, with their sizes: a package without holes."""
    lines = [line for line in record.read_text(encoding="utf-8").splitlines(True)
             if ".so." not in line]
    lines += [f"nvidia/{path.parent.parent.name}/lib/{path.name},,{path.stat().st_size}\n"
              for path in sorted(pathlib.Path(lib).glob("lib*.so.*"))]
    record.unlink()
    record.write_text("".join(lines), encoding="utf-8")


def install(text, site):
    """The row's libraries as one installation; its metadata is the first release's."""
    for number, (source, paths) in enumerate(each_release(text)):
        for path in paths:
            put(path, f"{site}/nvidia/cudnn/lib")
        for info in source.glob("nvidia_cudnn*.dist-info") if number == 0 else []:
            shutil.copytree(info, f"{site}/{info.name}")
    for record in pathlib.Path(site).glob("nvidia_cudnn*.dist-info/RECORD"):
        account_for(record, f"{site}/nvidia/cudnn/lib")
    return f"{site}/nvidia/cudnn/lib"


def toolkit(text, scratch):
    directory = f"{scratch}/cuda-13.0/lib64"
    for _, paths in each_release(text):
        for path in paths:
            put(path, directory)
    return directory


def empty(names, scratch):
    for name in names.split(","):
        subprocess.run([str(ROOT / "tests/fixtures/standin/make-standin"), "--empty", name,
                        f"{scratch}/empty"], check=True)
    return f"{scratch}/empty"


# ---- programs ------------------------------------------------------------------------------------


def facade_in(lib):
    return str(next(pathlib.Path(lib).glob("libcudnn.so.?")))


def without_cache(program):
    """By a loader that sees no ld.so.cache: the computer's own cuDNN would fill gaps."""
    found = re.search(r"interpreter: (.*)\]", watch.readelf("-l", program))
    return [found.group(1), "--inhibit-cache", program]


def c_host(row, lib, scratch, mode):
    program = f"{scratch}/host-{mode}"
    subprocess.run([str(ROOT / "tests/fixtures/hosts/build-host"), mode, lib, program], check=True)
    start = [program] if row["elsewhere"].startswith("cache=") else without_cache(program)
    return start + ([facade_in(lib)] if mode == "dlopen-path" else []) + row["calls"].split()


def linked(row, scratch):
    return c_host(row, install(row["libraries"], f"{scratch}/site"), scratch, "lazy"), {}


def opened(row, scratch):
    return c_host(row, install(row["libraries"], f"{scratch}/site"), scratch, "dlopen-path"), {}


def jax(row, scratch):
    """The plugin of tests/neutrality/jax-site, with the row's cuDNN in the place of its own."""
    release = row["libraries"].partition(":")[0]
    done = subprocess.run([str(ROOT / "tests/neutrality/jax-site"), release], check=True, text=True,
                          stdout=subprocess.PIPE)
    site = f"{scratch}/site"
    shutil.copytree(done.stdout.strip(), site, copy_function=link_or_copy, ignore=cudnn_in)
    install(row["libraries"], site)
    line = "from jax_cuda12_plugin import _versions as v; " \
           "print(v.cudnn_build_version(), v.cudnn_get_version())"
    return [PYTHON, "-c", line], {"PYTHONPATH": site}


def cudnn_in(directory, names):
    """Of the names in a directory of site-packages, those that NVIDIA's cuDNN wheels put there."""
    return [n for n in names if n.startswith("nvidia_cudnn_cu")
            or (n == "cudnn" and os.path.basename(directory) == "nvidia")]


def link_or_copy(source, target):
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)


def torch(row, scratch):
    """What `make demo FRAMEWORK=torch` installed, with the row's cuDNN in the place of its own. -S:
    that site-packages stays out, where PyTorch would find the other."""
    venv = f"{watch.BUILD}/demo/venv-torch-2.15.0"
    source = next(pathlib.Path(venv).glob("lib/python3*/site-packages"))
    site = f"{scratch}/site"
    shutil.copytree(source, site, copy_function=link_or_copy, symlinks=True, ignore=cudnn_in)
    if row["libraries"] != "-":
        install(row["libraries"], site)
    line = "import torch; print(torch.backends.cudnn.version())"
    return [f"{venv}/bin/python", "-S", "-c", line], {"PYTHONPATH": site}


def onnxruntime(_, scratch):
    site = f"{scratch}/site"
    subprocess.run([PYTHON, "-m", "pip", "install", "-q", "--target", site,
                    "onnxruntime-gpu==1.31.1"], check=True)
    return [PYTHON, str(pathlib.Path(__file__).with_name("onnx_session.py"))], {"PYTHONPATH": site}


def whole(line):
    """A framework as its users install it."""
    def host(_row, _scratch):
        done = subprocess.run([str(ROOT / "tests/setup/frameworks")], check=True, text=True,
                              stdout=subprocess.PIPE)
        return [f"{done.stdout.strip()}/bin/python", "-c", line], {}
    return host


CUPY = """
import cupy
try:
    print(cupy.zeros(3))
except cupy.cuda.runtime.CUDARuntimeError as error:
    print(cupy.__version__, error)
"""
HOSTS = {"linked": linked, "opened": opened, "jax": jax, "torch": torch, "onnxruntime": onnxruntime,
         "jax-whole": whole("import jax; print(jax.__version__, jax.devices())"),
         "tensorflow": whole("import tensorflow as tf; print(tf.__version__, "
                             "tf.config.list_physical_devices('GPU'))"),
         "cupy": whole(CUPY),
         "ctranslate2": whole("import ctranslate2 as c; "
                              "print(c.__version__, c.get_cuda_device_count())")}


def without_time(text):
    """ONNX Runtime dates its messages, TensorFlow those of its parts, and by process."""
    text = re.sub(r"\b[IWEF]\d{4} \d\d:\d\d:\d+\.\d+ +\d+", "TIME", text)
    return re.sub(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d+", "TIME", text)


# ---- one row -------------------------------------------------------------------------------------


def elsewhere(row, scratch):
    """What goes before the command, and the environment."""
    how, _, libraries = row["elsewhere"].partition("=")
    if how == "-":
        return [], {}
    directory = empty(libraries, scratch) if how == "empty" else toolkit(libraries, scratch)
    return ([WITH_CACHE, directory], {}) if how == "cache" else ([], {"LD_LIBRARY_PATH": directory})


def ending(run):
    return signal.Signals(-run.status).name if run.status < 0 else str(run.status)


def expected_findings(row):
    named = [] if row["findings"] == "-" else row["findings"].split()
    return [f for f in named if f != "driver-missing" or not watch.driver_is_there()]


def check_death(checks, log):
    """cuDNN ended the process inside a call: the log stops there, with the finding in it."""
    last = [c for c in log.of("call")][-1:]
    checks.that(last and last[0]["phase"] == "before", f"the last call is {last}")
    checks.equal("summaries", log.of("summary"), [])


def check_watched(checks, row, run):
    logs = [watch.Log(path) for path in sorted(pathlib.Path(run.logs).glob("*.jsonl"))]
    checks.that(logs, "no log")
    for log in logs:
        checks.that(not log.errors, f"log: {log.errors}")
    expected = expected_findings(row)
    _, document = watch.report(run.logs)
    checks.equal("findings", watch.grave(document["findings"]), expected)
    live = [f for log in logs for f in log.of("finding")]
    first = next((one for one in expected if one in watch.LIVE), None)
    if first:
        checks.that(first in watch.grave(live), f"{first} was not told live")
    for finding in document["findings"]:
        checks.that(finding["fix"], f"{finding['id']} says no fix")
    if run.status < 0:
        check_death(checks, logs[0])
    if row["host"].startswith(("linked", "opened")):
        checks.equal("who called", {os.path.basename(c["host_path"] or "?")[:5]
                                    for c in logs[0].of("call")}, {"host-"})
    return document


def check_search(checks, command, **environment):
    """The files that the loader tries, from whom it loads for whom."""
    before = [PYTHON, "-B", str(ORACLE / "search_observed.py"), DRIVER]
    if command[0] == WITH_CACHE:
        before, command = command[:2] + before, command[2:]
    done = subprocess.run(before + command, env=watch.clean_environment(**environment), text=True,
                          capture_output=True)
    checks.that(re.search(r" files tried, 0 differ$", done.stdout.strip()),
                f"search: {done.stdout[-2000:]}{done.stderr[-2000:]}")


def check_row(checks, row, host, scratch):
    before, environment = elsewhere(row, scratch)
    command, more = HOSTS[host](row, scratch)
    bare, run = watch.run_both(before + command, **environment, **more)
    if before and bare.status == NOT_HERE:
        return None
    said = bare.out + bare.err
    checks.equal("end", ending(bare), row["ends"])
    checks.that(re.search(row["says"], said, re.DOTALL | re.MULTILINE), f"it said {said!r}")
    checks.equal("end with the shim", ending(run), row["ends"])
    checks.equal("output with the shim", run.out, bare.out)
    checks.equal("errors with the shim", without_time(run.err), without_time(bare.err))
    check_search(checks, before + command, **environment, **more)
    return check_watched(checks, row, run)


def check(checks, row, host):
    checks.case = f"{row['row'].strip()} ({host})"
    with tempfile.TemporaryDirectory(dir=os.environ.get("WC_BUILD")) as scratch:
        try:
            document = check_row(checks, row, host, scratch)
        except Exception:  # pylint: disable=broad-except  # the other rows go on
            checks.that(False, traceback.format_exc())
            return
    said = ["skipped: no mount namespace"]
    if document:
        said = [f["title"] for f in document["findings"]]
    print(f"{row['row']} ({host}): {'; '.join(said) or 'nothing'}")


def main():
    if sys.argv[1:2] not in (["small"], ["large"]) or len(sys.argv) > 3:
        sys.exit(__doc__)
    checks = watch.Checks()
    os.makedirs(os.path.dirname(DRIVER), exist_ok=True)
    subprocess.run([str(ORACLE / "build-search-driver"), str(ROOT / "core"), DRIVER], check=True)
    own = pathlib.Path(__file__).with_name("measured.tsv")
    for row in rows(pathlib.Path(sys.argv[2]) if sys.argv[2:] else own):
        for host in row["host"].split():
            if (host in SMALL) == (sys.argv[1] == "small"):
                check(checks, row, host)
    checks.finish()


if __name__ == "__main__":
    main()
