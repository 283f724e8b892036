# SPDX-License-Identifier: Apache-2.0
"""pip, conda, apt-get, git and a person with an archive as far as fixes call for them, inside a world: they do to files and lists what the real ones
do, with packages from a local index of stand-ins. First argument: which of them. Exit 77: the index lacks a package
that the real one may have."""
import base64
import hashlib
import json
import os
import re
import shutil
import sys
import zlib

HERE = os.path.dirname(os.path.abspath(__file__))
INDEX = {"pip": {}, "conda": {}, "apt": {}, "archive": {}}
for part in ("index.json", "world.json"):
    with open(os.path.join(HERE, part)) as text:
        for manager, packages in json.load(text).items():
            for name, versions in packages.items():
                INDEX[manager].setdefault(name, {}).update(versions)


def fail(text, status=1):
    print(text, file=sys.stderr)
    sys.exit(status)


def key(version):
    public = version.split("+")[0]
    return [int(n) for n in re.findall(r"\d+", public)]


def padded(version, length):
    return (key(version) + [0] * length)[:length]


def fits(version, spec):
    """PEP 440, as far as these versions go."""
    for clause in filter(None, (c.strip() for c in spec.split(","))):
        operator, wanted = re.match(r"(===|==|!=|<=|>=|<|>|~=|=)\s*(\S+)", clause).groups()
        if operator in ("==", "!=", "=", "===") and (wanted.endswith(".*") or operator == "="):
            wanted = wanted[:-2] if wanted.endswith(".*") else wanted
            prefix = key(wanted)
            same = key(version)[:len(prefix)] == prefix
        else:
            length = max(len(key(version)), len(key(wanted)))
            have, want = padded(version, length), padded(wanted, length)
            same = have == want
            if operator == "~=":
                prefix = key(wanted)[:-1]
                same = have >= want and key(version)[:len(prefix)] == prefix
            elif operator == "<":
                same = have < want
            elif operator == "<=":
                same = have <= want
            elif operator == ">":
                same = have > want
            elif operator == ">=":
                same = have >= want
        if same == (operator == "!="):
            return False
    return True


def content(source):
    if source.startswith("b64:"):
        return base64.b64decode(source[4:])
    with open(source, "rb") as file:
        return file.read()


def put(path, data):
    """A new file: what a process has mapped stays as it is."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    if os.path.lexists(path):
        os.unlink(path)
    with open(path, "wb") as file:
        file.write(data)
    os.chmod(path, 0o755)


def canonical(name):
    return re.sub(r"[-_.]+", "-", name).lower()


def parse(requirement):
    """(name, spec) of one that counts here; None for an extra's."""
    requirement, _, marker = requirement.partition(";")
    if "extra" in marker:
        return None
    name, spec = re.match(r"\s*([A-Za-z0-9._-]+)\s*(?:\[[^]]*\])?\s*\(?([^)]*)\)?", requirement).groups()
    return canonical(name), spec.strip()


# ---- pip ------------------------------------------------------------------------------------------------


def taken(words, option):
    """(value of the option or None, the words without it)"""
    if option not in words[:-1]:
        return None, words
    at = words.index(option)
    return words[at + 1], words[:at] + words[at + 2:]


def site(python):
    """That of the environment of that interpreter; None: of the environment that is on."""
    prefix = os.path.dirname(os.path.dirname(python)) if python else \
        os.environ.get("WORLD_PREFIX") or os.environ.get("VIRTUAL_ENV") or os.environ.get("CONDA_PREFIX")
    if not prefix or not os.path.isdir(prefix):
        fail("error: externally-managed-environment")
    libraries = os.path.join(prefix, "lib")
    python = next(n for n in sorted(os.listdir(libraries)) if n.startswith("python"))
    return os.path.join(libraries, python, "site-packages")


def installed(where):
    found = {}
    for entry in os.listdir(where):
        if entry.endswith(".dist-info"):
            name, version = entry[:-len(".dist-info")].rsplit("-", 1)
            found[canonical(name)] = (version, os.path.join(where, entry))
    return found


def required_by(info):
    with open(os.path.join(info, "METADATA")) as text:
        return [line.split(": ", 1)[1] for line in text.read().splitlines() if line.startswith("Requires-Dist: ")]


def uninstall(where, name):
    have = installed(where).get(name)
    if not have:
        return False
    info = have[1]
    if not os.path.exists(os.path.join(info, "RECORD")):
        fail(f"error: uninstall-no-record-file: {name}")
    with open(os.path.join(info, "RECORD")) as record:
        paths = [line.rsplit(",", 2)[0] for line in record.read().splitlines() if line]
    for path in paths:
        path = os.path.normpath(os.path.join(where, path))
        if os.path.lexists(path):
            os.unlink(path)
        parent = os.path.dirname(path)
        while parent.startswith(where + "/") and os.path.isdir(parent) and not os.listdir(parent):
            os.rmdir(parent)
            parent = os.path.dirname(parent)
    shutil.rmtree(info, ignore_errors=True)
    return True


def install_wheel(where, name, version, wheel):
    info = f"{name.replace('-', '_')}-{version}.dist-info"
    record = []
    for path, source in wheel["files"].items():
        data = content(source)
        put(os.path.join(where, path), data)
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        record.append(f"{path},sha256={digest},{len(data)}")
    metadata = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
    metadata += "".join(f"Requires-Dist: {r}\n" for r in wheel["requires"])
    for path, text in (("METADATA", metadata), ("INSTALLER", "pip\n"), ("WHEEL", "Wheel-Version: 1.0\n")):
        put(os.path.join(where, info, path), text.encode())
        record.append(f"{info}/{path},,{len(text)}")
    put(os.path.join(where, info, "RECORD"), "\n".join([*record, f"{info}/RECORD,,"]).encode() + b"\n")


def pip(words):
    """uv pip, too"""
    python, words = taken(words, "--python")
    target, words = taken(words, "--target")
    folder, words = taken(words, "-d")
    links, words = taken(words, "--find-links")
    command, *words = words or [""]
    where = target or site(python)
    names = [w for w in words if not w.startswith("-")]
    if target:
        os.makedirs(target, exist_ok=True)
    if command == "uninstall":
        for name in names:
            if not uninstall(where, canonical(name)):
                print(f"WARNING: Skipping {name} as it is not installed.")
        return
    if command not in ("install", "download"):
        fail(f"pip {command}: not known here", 77)
    fetched = os.listdir(links) if links and "--no-index" in words else None
    force = command == "download" or any(w in words for w in ("--force-reinstall", "--reinstall", "-I", "--ignore-installed"))
    upgrade = "--upgrade" in words or "-U" in words
    plan, queue = {}, [(parse(n), True) for n in names]
    while queue:
        (name, spec), asked = queue.pop(0)
        if name in plan:
            continue
        have = installed(where).get(name)
        if have and fits(have[0], spec) and not force and not (upgrade and asked):
            print(f"Requirement already satisfied: {name}")
            if "--no-deps" not in words:
                queue += [(p, False) for p in map(parse, required_by(have[1])) if p]
            continue
        if name not in INDEX["pip"]:
            fail(f"ERROR: No matching distribution found for {name} (in the local index)", 77)
        known = [v for v in INDEX["pip"][name] if fits(v, spec) and ("+" not in v or "+" in spec)]
        known = [v for v in known if fetched is None or f"{name}-{v}.whl" in fetched]
        if not known:
            fail(f"ERROR: Could not find a version that satisfies the requirement {name}{spec}")
        plan[name] = max(known, key=key)
        if "--no-deps" not in words:
            queue += [(p, False) for p in map(parse, INDEX["pip"][name][plan[name]]["requires"]) if p]
    for name, version in plan.items():
        if command == "download":
            put(os.path.join(folder, f"{name}-{version}.whl"), b"")
            continue
        uninstall(where, name)
        install_wheel(where, name, version, INDEX["pip"][name][version])
        print(f"Successfully installed {name}-{version}")


# ---- conda ----------------------------------------------------------------------------------------------

def conda(words):
    command, *words = words or [""]
    prefix, names, skip = os.environ.get("CONDA_PREFIX"), [], False
    for i, word in enumerate(words):
        if skip:
            skip = False
        elif word in ("-p", "--prefix"):
            prefix, skip = words[i + 1], True
        elif word in ("-c", "--channel", "-n", "--name"):
            skip = True
        elif not word.startswith("-"):
            names.append(word)
    if command not in ("install", "remove", "uninstall", "update") or not prefix:
        fail(f"conda {command}: not known here", 77)
    meta = os.path.join(prefix, "conda-meta")
    for word in names:
        name, spec = re.match(r"([A-Za-z0-9._-]+)\s*(.*)", word.split("::")[-1]).groups()
        versions = INDEX["conda"].get(name)
        if versions is None:
            fail(f"PackagesNotFoundError: {name} (in the local index)", 77)
        old = [n for n in os.listdir(meta) if n.endswith(".json") and n[:-5].rsplit("-", 2)[0] == name]
        builds = [n[:-5].rsplit("-", 2)[2] for n in old]
        parts = spec.split("=")
        wanted_build = parts.pop() if len(parts) == 3 and not spec.startswith("==") else None
        spec = "=".join(parts)
        known = [v for v in versions if fits(v.split(" ")[0], spec)]
        known = [v for v in known if wanted_build in (None, v.split(" ")[1])]
        # The solver keeps the CUDA that is there, of the package itself or of the others.
        cudas = {f"cuda{n[:-5].rsplit('-', 2)[1].split('.')[0]}_0" for n in os.listdir(meta) if n.startswith("cuda-")}
        known = [v for v in known if v.split(" ")[1] in (builds or cudas)] or known
        if command in ("install", "update") and not known:
            fail(f"PackagesNotFoundError: {word}")
        if command in ("install",) and old and "--force-reinstall" not in words:
            if any(fits(n[:-5].rsplit("-", 2)[1], spec) for n in old):
                print("# All requested packages already installed.")
                continue
        if "--download-only" in words:
            continue
        for entry in old:
            with open(os.path.join(meta, entry)) as text:
                for path in json.load(text)["files"]:
                    if os.path.lexists(os.path.join(prefix, path)):
                        os.unlink(os.path.join(prefix, path))
            os.unlink(os.path.join(meta, entry))
        if command in ("install", "update"):
            chosen = max(known, key=lambda v: (key(v.split(" ")[0]), v))
            version, build = chosen.split(" ")
            files = versions[chosen]["files"]
            for path, source in files.items():
                put(os.path.join(prefix, path), content(source))
            put(os.path.join(meta, f"{name}-{version}-{build}.json"), json.dumps({
                "name": name, "version": version, "build": build, "build_number": 0, "channel": "conda-forge",
                "depends": [], "files": list(files), "paths_data": {"paths_version": 1, "paths": [
                    {"_path": p, "path_type": "hardlink", "size_in_bytes": os.path.getsize(os.path.join(prefix, p))}
                    for p in files]}}).encode())


# ---- apt ------------------------------------------------------------------------------------------------

def apt(words):
    command, *words = words or [""]
    names = [w for w in words if not w.startswith("-")]
    lists, status = "/var/lib/dpkg/info", "/var/lib/dpkg/status"
    if command not in ("install", "remove", "purge"):
        fail(f"apt-get {command}: not known here", 77)
    # install NAME- removes that package in the same transaction.
    steps = [(command, w) if command != "install" or not w.endswith("-") else ("remove", w[:-1]) for w in names]
    for command, word in sorted(steps, key=lambda step: step[0] != "remove"):
        name, _, version = word.partition("=")
        with open(status) as text:
            stanzas = [s for s in text.read().split("\n\n") if s.strip()]
        now = next((s for s in stanzas if re.search(rf"^Package: {re.escape(name)}$", s, re.M)), None)
        have = now and re.search(r"^Version: (.*)$", now, re.M).group(1)
        known = {v: p for v, p in INDEX["apt"].get(name, {}).items() if version in ("", v)}
        if command == "install":
            if not known:
                fail(f"E: Unable to locate package {word} (in the local index)", 77)
            chosen = max(known, key=key)
            if have == chosen and "--reinstall" not in words:
                print(f"{name} is already the newest version ({have}).")
                continue
        elif not have:
            continue
        old = os.path.join(lists, f"{name}.list")
        if os.path.exists(old):
            with open(old) as text:
                for path in text.read().splitlines()[1:]:
                    if os.path.lexists(path) and not os.path.isdir(path):
                        os.unlink(path)
            os.unlink(old)
        stanzas = [s for s in stanzas if s is not now]
        if command == "install":
            listed = "/.\n"
            for path, source in known[chosen]["files"].items():
                listed += path + "\n"
                if source.startswith("link:"):
                    os.makedirs(os.path.dirname(path), exist_ok=True)
                    if os.path.lexists(path):
                        os.unlink(path)
                    os.symlink(source[5:], path)
                else:
                    put(path, content(source))
            put(old, listed.encode())
            stanzas.append(f"Package: {name}\nStatus: install ok installed\nArchitecture: amd64\nVersion: {chosen}")
        put(status, ("\n\n".join(stanzas) + "\n\n").encode())
    if os.path.exists("/etc/ld.so.cache"):
        os.system("/usr/sbin/ldconfig -X")


# ---- by hand --------------------------------------------------------------------------------------------

def place(words):
    """NAME SPEC DIRECTORY [CUDA]: an archive's libraries into a directory, in place of those of the same major. Any
    release of the set must do: which one is drawn."""
    name, spec, into, *cuda = words
    known = [p.split() for p in INDEX["archive"].get(name, {})]
    known = [p for p in known if fits(p[0], spec) and (not cuda or p[1] == cuda[0])]
    if not known:
        fail(f"no archive of {name} {spec} {' '.join(cuda)} here", 77)
    chosen = known[zlib.crc32(f"{into} {spec}".encode()) % len(known)]
    major = chosen[0].split(".")[0]
    for file in os.listdir(into):
        if name == "cudnn" and re.match(rf"libcudnn\w*\.so(\.{major}(\..*)?)?$", file):
            os.unlink(os.path.join(into, file))
    for file, source in INDEX["archive"][name][" ".join(chosen)]["files"].items():
        path = os.path.join(into, file)
        if source.startswith("link:"):
            if os.path.lexists(path):
                os.unlink(path)
            os.symlink(source[5:], path)
        else:
            put(path, content(source))
    if os.path.exists("/etc/ld.so.cache"):
        os.system("/usr/sbin/ldconfig -X")


def git(words):
    """git -C DIRECTORY lfs pull"""
    if words[:1] != ["-C"] or words[2:] != ["lfs", "pull"]:
        fail("git: not known here", 77)
    top = os.path.abspath(words[1])
    while top != "/" and not os.path.isdir(os.path.join(top, ".git")):
        top = os.path.dirname(top)
    objects = os.path.join(top, ".git", "lfs", "objects")
    if top == "/" or not os.path.isdir(objects):
        fail("fatal: not a git repository (or any of the parent directories): .git", 128)
    for name in os.listdir(objects):
        with open(os.path.join(objects, name), "rb") as file:
            put(os.path.join(words[1], name), file.read())


if __name__ == "__main__":
    {"pip": pip, "conda": conda, "apt": apt, "place": place, "git": git}[sys.argv[1]](sys.argv[2:])
