# SPDX-License-Identifier: Apache-2.0
"""What a person would do who follows a finding's first fix. The commands are played: the variables
are those of the run, pip's site-packages and conda's prefix are the situation's own."""

import argparse
import glob
import pathlib
import re
import shlex
import shutil
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[3]
SPEC = re.compile(r"(==|>=|<=|!=|~=|<|>)([\d.*]+)")


class NotPlayed(Exception):
    pass


def numbers(text):
    return [int(n) for n in re.findall(r"\d+", text)]


def satisfies(release, spec):
    """PEP 440, as far as fixes use it."""
    for operator, text in SPEC.findall(spec):
        want = numbers(text)
        have = [release.major, release.minor, release.patch, release.build]
        prefix = have[:len(want)]
        whole = want + [0] * (4 - len(want))
        if operator == "==":
            ok = prefix == want if "*" in text or len(want) < 4 else have == want
        elif operator == "!=":
            ok = prefix != want
        elif operator == "~=":
            ok = have >= whole and have[:len(want) - 1] == want[:-1]
        else:
            ok = {">=": have >= whole, "<=": prefix <= want, ">": have > whole,
                  "<": have < whole}[operator]
        if not ok:
            return False
    return True


def choose(world, spec):
    """The release that the index would give: of those that this situation knows, else the floor."""
    found = [r for r in world.known + [h.built for h in world.hosts] if satisfies(r, spec)]
    if found:
        return max(found)
    for operator, text in SPEC.findall(spec):
        if operator in ("==", ">=", "~="):
            n = (numbers(text) + [0] * 4)[:4]
            return type(world.hosts[0].built)(*n)
    raise NotPlayed(f"no release satisfies {spec}")


def set_variable(world, command):
    words = shlex.split(command)
    if words[0] == "unset":
        for name in words[1:]:
            world.environment.pop(name, None)
    else:
        for word in words[1:]:
            name, _, value = word.partition("=")
            old = str(world.environment.get(name, ""))
            value = re.sub(r"\$\{LD_LIBRARY_PATH:\+:\$LD_LIBRARY_PATH\}",
                           f":{old}" if old else "", value)
            world.environment[name] = value.replace("$LD_LIBRARY_PATH", old)


def pip_words(words):
    """pip's own command, the names it is given, the folder it fetches to, the folder it takes from."""
    parser = argparse.ArgumentParser(exit_on_error=False, add_help=False)
    parser.add_argument("command", choices=["install", "uninstall", "download"])
    parser.add_argument("names", nargs="+")
    parser.add_argument("-d", dest="fetched")
    parser.add_argument("--find-links", dest="offered")
    parser.add_argument("--target", dest="folder")
    for flag in ("-y", "--no-deps", "--no-index", "--force-reinstall", "--upgrade"):
        parser.add_argument(flag, action="store_true")
    try:
        return parser.parse_args(words)
    except argparse.ArgumentError as error:
        raise NotPlayed(f"pip {' '.join(words)}: {error}") from error


def pip(world, words):
    asked = pip_words(words)
    if asked.command == "uninstall":
        for name in asked.names:
            uninstall(world, name)
        return
    if asked.command == "download":
        world.fetched.update((asked.fetched, name) for name in asked.names)
        return
    for word in asked.names:
        if asked.offered and (asked.offered, word) not in world.fetched:
            raise NotPlayed(f"{word} was not fetched to {asked.offered}")
        name, spec = re.match(r"([A-Za-z0-9_.-]+?)\s*((?:[=<>!~].*)?)$", word).groups()
        cudnn = re.fullmatch(r"nvidia-cudnn-cu(\d+)", name)
        if name.startswith("nvidia-") and not cudnn:
            other_wheel(world, name)
            continue
        if not cudnn:
            upgrade_host(world, name, spec)
            continue
        release = choose(world, spec)
        if asked.folder:
            world.directory(release, world.root / asked.folder / "nvidia/cudnn/lib")
            continue
        uninstall(world, name)
        world.wheel(release, cuda=int(cudnn.group(1)))


# What NVIDIA's other wheels hold: directory, libraries.
WHEELS = {
    "nvidia-cuda-nvrtc-cu11": ("cuda_nvrtc", ["libnvrtc.so.11.2"]),
    "nvidia-cuda-nvrtc-cu12": ("cuda_nvrtc", ["libnvrtc.so.12"]),
    "nvidia-cublas-cu11": ("cublas", ["libcublas.so.11", "libcublasLt.so.11"]),
    "nvidia-cublas-cu12": ("cublas", ["libcublas.so.12", "libcublasLt.so.12"]),
    "nvidia-cuda-runtime-cu12": ("cuda_runtime", ["libcudart.so.12"]),
}


def other_wheel(world, name):
    if name not in WHEELS:
        raise NotPlayed(f"there is no wheel {name}")
    directory, libraries = WHEELS[name]
    for soname in libraries:
        world.nvidia(directory, soname, ["cublasLtCreate", "cublasLtGetVersion"])


def uninstall(world, name):
    there = list(world.site.glob(f"{name.replace('-', '_')}-*.dist-info"))
    for info in there:
        shutil.rmtree(info)
    if there and name.startswith("nvidia-cudnn"):
        shutil.rmtree(world.site / "nvidia/cudnn", ignore_errors=True)


def upgrade_host(world, name, spec):
    for host in world.hosts:
        if host.distribution.replace("_", "-") == name:
            host.rebuild(choose(world, spec))
            return
    raise NotPlayed(f"nobody here has {name}")


def conda(world, words):
    spec = words[-1]
    prefix = pathlib.Path(world.conda_prefix)
    for record in prefix.glob("conda-meta/cudnn-*.json"):
        record.unlink()
    for path in prefix.glob("lib/libcudnn*"):
        path.unlink()
    world.conda(choose(world, spec), prefix=prefix)


def on_files(world, command):
    """rm, mv, ln, cp, find, ldconfig within the situation."""
    split = [re.sub("^cudnn-wheels/", f"{world.root}/cudnn-wheels/", w) for w in shlex.split(command)]
    words = [found for word in split for found in sorted(glob.glob(word)) or [word]]
    paths = [w for w in words[1:] if w.startswith("/")]
    if not paths or not all(str(pathlib.Path(p)).startswith(str(world.root)) for p in paths):
        raise NotPlayed(command)
    subprocess.run(words, check=True)


# ---- which there are --------------------------------------------------------------------------


def kinds_of(fix):
    return "+".join(edit["edit"] for edit in fix["edits"])


def sort_of(finding, fix):
    return f"{finding['id']} {kinds_of(fix)}"


def printed(findings):
    """(sort, number of the finding, number of the fix) of each that was replayed."""
    return [(sort_of(finding, fix), i, k) for i, finding in enumerate(findings)
            for k, fix in enumerate(finding["fix"]) if fix["checked"] == "replayed"]


def said(findings):
    """Why the others were not."""
    return [fix["why"] for finding in findings for fix in finding["fix"] if fix["checked"] == "no"]


def play_command(world, command):
    words = shlex.split(command)
    if words[0] in ("unset", "export"):
        set_variable(world, command)
    elif words[0] in ("pip", "pip3"):
        pip(world, words[1:])
    elif words[:3] == ["python", "-m", "pip"] or words[:3] == ["python3", "-m", "pip"]:
        pip(world, words[3:])
    elif words[0] == "conda":
        conda(world, words[1:])
    elif words[0] in ("rm", "mv", "ln", "cp", "find") or words[:2] == ["/sbin/ldconfig", "-n"]:
        on_files(world, command)
    elif words[0] == "chmod" and world.closed and words[-1] == str(world.closed):
        world.closed = None
    else:
        raise NotPlayed(command)


# ---- fixes that no command does: by their edits -------------------------------------------------


def place(world, edit):
    """The libraries of a release put into a directory, as its archive has them; another major's
    stay."""
    into = pathlib.Path(edit["path"])
    if not into.is_relative_to(world.root):
        raise NotPlayed(edit["path"])
    if edit["name"] != "cudnn":
        world.cuda_dependency(edit["name"], into)
        return
    release = choose(world, edit["value"])
    for path in into.glob("libcudnn*"):
        if re.search(rf"\.so(\.{release.major}(\..*)?)?$", path.name):
            path.unlink()
    world.directory(release, into)
    for path in into.glob(f"libcudnn*.so.{release.major}"):
        into.joinpath(path.name.partition(".so")[0] + ".so").symlink_to(path.name)


def load_first(world, edit):
    """Another order of imports: of the package's folder, or of a library that is in none."""
    name = edit["name"]
    first = [h for h in world.hosts if name == h.library.name or f"/{name}/" in str(h.library)
             or f"/{name}.libs/" in str(h.library)]
    world.hosts = first + [h for h in world.hosts if h not in first]


def preload(world, edit):
    """What the host's own function opens by its path, of what is there."""
    table = (ROOT / "core/knowledge/frameworks.def").read_text()
    row = re.search(rf'^FRAMEWORK\("{edit["name"]}".*?^$', table, re.M | re.S)[0]
    files = re.findall(r'PRELOADED\(\d+, "([^"]+)"\)', row)
    there = [world.site / file for file in files if (world.site / file).exists()]
    world.hosts[0].words[:0] = [f"open:{path}" for path in there]


BY_HAND = {"preloader": preload, "place": place, "restore": place, "import-first": load_first}


def play(world, finding, fix):
    if world.by:
        world.by()
        return
    if fix["command"]:
        for line in fix["command"].split("\n"):
            for command in re.split(r" && |(?<!\\); ", line):
                play_command(world, command)
        return
    for edit in fix["edits"]:
        if edit["edit"] not in BY_HAND:
            raise NotPlayed(f"{edit['edit']}: {fix['text']}")
        BY_HAND[edit["edit"]](world, edit)
