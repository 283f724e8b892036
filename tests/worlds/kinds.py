# SPDX-License-Identifier: Apache-2.0
"""Kinds of fault, in groups, each drawn from reports of the field. A kind is called for both twins: what stands before
`if not s.w.faulty: return None` they share, what follows is the fault. It returns the truth: what was planted."""
import os
from dataclasses import dataclass, field

import stock
from scene import SYSTEM, WAYS
from world import World, deb_name

# What a finding must be to name each cause: by the meaning of the findings as `whichcudnn explain` tells it.
LABELS = {
    "older-first": {"runtime-too-old"},
    "older-first-unsaid": {"runtime-too-old", "shadowed-copy", "own-copy-unused"},  # the host alone knows its number
    "older-preloaded": {"runtime-too-old", "already-loaded-by-soname"},
    "other-first": {"shadowed-copy", "own-copy-unused"},
    "newer-refused": {"runtime-too-new"},
    "not-found": {"library-not-found"},
    "not-found-nor-cuda": {"library-not-found", "dependency-missing", "cuda-dependency-differs",
                           "gpu-stack-not-reached"},
    "not-found-relative": {"library-not-found", "search-path-suspect", "dependency-missing", "cuda-dependency-differs"},
    "name-only": {"wrong-name", "library-not-found"},
    "package-without-files": {"installation-incomplete"},
    "package-lost-part": {"installation-incomplete", "part-missing"},
    "part-missing": {"part-missing"},
    "packages-share-files": {"installation-mixed", "cuda-major-differs"},
    "set-mixed": {"facade-and-parts-differ", "parts-differ", "installation-mixed"},
    "set-mixed-elsewhere": {"facade-and-parts-differ", "parts-differ", "part-from-other-installation",
                            "installation-incomplete"},
    "parts-do-not-fit": {"parts-differ", "facade-and-parts-differ", "symbol-version-not-found", "installation-mixed"},
    "major-gone": {"library-not-found", "major-differs"},
    "bad-file": {"bad-file"},
    "false-name": {"wrong-name"},
    "false-major": {"wrong-name", "major-differs"},
    "companion-missing": {"cuda-dependency-differs", "dependency-missing"},
    "companion-elsewhere": {"cuda-dependency-differs"},
    "cuda-major": {"cuda-major-differs"},
    "extension-of-other-cuda": {"dependency-missing", "cuda-major-differs"},
    "function-missing": {"missing-symbols", "symbol-version-not-found", "runtime-too-old"},
    "gpu": {"gpu-unsupported"},
    "create-failed": {"init-failed"},
    "call-failed": {"call-failed"},
    "no-driver": {"driver-missing"},
    "driver-unusable": {"driver-missing", "init-failed"},
    "old-driver": {"driver-too-old"},
    "mixed-driver": {"driver-mixed"},
    "loaded-before": {"already-loaded-by-soname", "runtime-too-old", "demands-conflict"},
    "no-parts-of-its-own": {"part-missing", "facade-and-parts-differ"},
    "refused": {"refused-by-system"},
    "refused-or-lost": {"refused-by-system", "library-not-found"},
    "replaced": {"replaced-on-disk", "parts-differ", "facade-and-parts-differ"},
    "cpu-build": {"cpu-only-build"},
    "nobody-opened": {"missing-symbols"},
    "of-another-maker-missing": {"dependency-missing", "cuda-dependency-differs"},
    "package-removed": {"library-not-found", "wrong-name", "bad-file"},
    "function-done-without": {"missing-symbols"},
}

KEPT = ("site-images", "site-notebooks", "site-drivers", "site-stores", "site-clusters")


@dataclass
class Truth:
    label: str
    guilty: tuple        # a finding must say one of these: a library, a package, a directory
    libraries: tuple     # what a baseline must name: file names, without their numbers
    path: tuple          # from the cause to the symptom


@dataclass
class Kind:
    name: str
    group: str
    want: dict
    plant: object
    masks: tuple = field(default=("harmless", "late", "blame", "workers", "wrapper", "toolkit", "no-cache", "two"))
    root: bool = False      # only root can make it
    printed: bool = False   # what is wrong stands in what the program prints, and nowhere else
    changes: bool = False   # its program changes its world: each play needs one of its own
    weight: int = 1         # how often it is drawn, beside others


KINDS = {}


def kind(group, masks=None, printed=False, root=False, changes=False, weight=1, **want):
    def register(function):
        assert function.__name__ not in KINDS, f"two kinds are called {function.__name__}"
        KINDS[function.__name__] = k = Kind(function.__name__, group, want, function, root=root, printed=printed,
                                            changes=changes or group == "change", weight=weight)
        if masks is not None:
            k.masks = masks
        if printed:  # other words in their place would leave nothing
            k.masks = tuple(m for m in k.masks if m != "blame")
        return function
    return register


def truth(label, guilty, libraries, *path):
    guilty = (guilty,) if isinstance(guilty, str) else tuple(guilty)
    libraries = (libraries,) if isinstance(libraries, str) else tuple(libraries)
    assert label in LABELS, label
    return Truth(label, guilty, libraries, path)


HIDES_ABSENCE = ("harmless", "late", "blame", "workers", "wrapper", "no-cache",
                 "two")  # all but a toolkit that would fill the gap
ALONE = ("harmless", "blame", "workers", "wrapper")

# ---- helpers --------------------------------------------------------------------------------------------


def in_front(s, directory):
    """In front of LD_LIBRARY_PATH, wherever that is set."""
    if s.place == "modules":
        s.wrapper_lines.append(f"export LD_LIBRARY_PATH={directory}:$LD_LIBRARY_PATH")
    else:
        s.llp = [directory, *s.llp]


def elsewhere(s, version, **options):
    """A whole set of another release, in a directory of its own."""
    directory = s.w.rng.choice((f"/opt/cudnn-{version}/lib", f"/data/shared/cudnn/{version}/lib64",
                                f"{s.home}/Downloads/cudnn-linux-x86_64-{version}/lib", "/usr/local/cuda-old/lib64"))
    s.w.copy_of_cudnn(directory, version, s.cuda, **options)
    return directory


def replace(s, name, version, cuda=None, *options):
    """The file of that name in cuDNN's directory is that of another release, as somebody would copy it there."""
    source = World.cudnn_files(version, cuda or s.cuda, *options)[name]
    if s.owner in ("wheel", "conda"):
        s.w.put(source, s.file(name))
    else:
        lose(s, name)
        s.w.place_files(s.w.versioned(s.lib, name, source, version))


def whole(s, version, cuda=None, *options):
    """Another release lies in cuDNN's directory, by whatever brought the first."""
    w, cuda = s.w, cuda or s.cuda
    if s.owner == "wheel":
        uninstall(s, s.package)
        w.wheel(s.site, *World.cudnn_wheel(version, cuda, *options), own=bool(options))
        return
    if s.owner == "deb":
        for dev in (False, True):
            w.purge(deb_name(s.version, s.cuda, dev))
    for name in [n for n in w.names(s.lib) if n.startswith("libcudnn")]:
        w.remove(f"{s.lib}/{name}")
    files = World.cudnn_files(version, cuda, *options)
    if options:
        w.releases[version, cuda] = files
    if s.owner == "conda":
        w.remove(f"{s.prefix}/conda-meta/cudnn-{stock.wheel_version(s.version)}-cuda{s.cuda}_0.json")
        w.conda_package(s.prefix, "cudnn", stock.wheel_version(version), f"cuda{cuda}_0",
                        {f"lib/{n}": p for n, p in files.items()})
    elif s.owner == "deb":
        w.debs(version, cuda, files)
    else:
        w.copy_of_cudnn(s.lib, version, cuda, *options)
        w.system_changed = w.system_changed or s.search == "cache"


def lose(s, name):
    """The file of that name, and the links to it."""
    w = s.w
    stem = name.split(".so")[0] + ".so"
    for other in w.names(s.lib):
        if other.startswith(stem) and not (s.owner == "deb" and other == stem):  # that is the other package's
            w.remove(f"{s.lib}/{other}")


def lose_companion(s, what):
    name = stock.companion_names(s.cuda)[what]
    stem = name.split(".so")[0] + ".so"
    for d in s.cuda_dirs:
        for other in s.w.names(d):
            if other.startswith(stem):
                s.w.remove(f"{d}/{other}")
    s.w.system_changed = s.w.system_changed or s.search == "cache"
    return name


def uninstall(s, name):
    """As pip does it."""
    w = s.w
    for entry in w.names(s.site):
        if entry.startswith(name.replace("-", "_") + "-") and entry.endswith(".dist-info"):
            for line in w.read(f"{s.site}/{entry}/RECORD").decode().splitlines():
                path = line.rsplit(",", 2)[0]
                if w.exists(f"{s.site}/{path}"):
                    w.remove(f"{s.site}/{path}")
            w.at(f"{s.site}/{entry}").rmdir()


def vital(s):
    """A part without which the host's calls fail."""
    return s.part_name(s.w.rng.choice(("ops_infer", "cnn_infer") if s.era == 8 else
                                      ("graph", "cnn", "engines_precompiled")))


def told(s):
    """A part whose release shows in what the host prints."""
    return s.part_name("ops_infer" if s.era == 8 else s.w.rng.choice(("graph", "engines_precompiled")))


OWN = {"rpath", "runpath"}
NOT_TWO = tuple(p for p in WAYS if p != "two")

# ---- variables ------------------------------------------------------------------------------------------


@kind("variable", search=("runpath", "cache", "llp"), demand=True, older=1)
def older_directory_in_front(s):
    if not s.w.faulty:
        return None
    old = s.older()
    directory = elsewhere(s, old)
    in_front(s, directory)
    said = s.framework and s.requires  # a build of conda's says nothing
    return truth("older-first" if said else "older-first-unsaid", (directory, old), "libcudnn",
                 f"LD_LIBRARY_PATH begins with {directory}", f"{s.facade} is {old} in place of {s.version}",
                 "the host refuses it")


@kind("variable", search=("runpath", "cache"), demand=False, framework=("visionkit", "lensflow"))
def other_directory_in_front(s):
    if not s.w.faulty:
        return None
    other = s.other()
    directory = elsewhere(s, other)
    in_front(s, directory)
    return truth("other-first", (directory, other), "libcudnn", f"LD_LIBRARY_PATH begins with {directory}",
                 f"{s.facade} is {other} in place of {s.version}")


@kind("variable", HIDES_ABSENCE, search=("llp",))
def variable_not_handed_on(s):
    """sudo, a unit, a job: the variable is not there."""
    if not s.w.faulty:
        return None
    if s.place == "modules":
        s.wrapper_lines.append("unset LD_LIBRARY_PATH")
    s.llp = []
    return truth("not-found-nor-cuda", (s.asked, *stock.companion_names(s.cuda).values()), ("libcudnn", "libcudart"),
                 "LD_LIBRARY_PATH is not set", f"{s.facade} is not searched where it lies")


@kind("variable", HIDES_ABSENCE, search=("llp",), host=("ctypes",), place=("venv", "toolkit"))
def variable_set_in_python(s):
    if not s.w.faulty:
        return None
    text = s.w.read(s.script).decode()
    s.w.write(s.script, f'import os\nos.environ["LD_LIBRARY_PATH"] = "{":".join(s.llp)}"\n' + text)
    s.llp = []
    return truth("not-found", s.facade, "libcudnn", "os.environ sets LD_LIBRARY_PATH in the process",
                 "the loader has read it before", f"{s.facade} is not found")


@kind("variable", HIDES_ABSENCE, search=("llp",), place=("venv", "toolkit"))
def variable_misspelt(s):
    if not s.w.faulty:
        return None
    s.llp = [d.replace("lib64", "lib") if "lib64" in d else d + "64" if d == s.lib else d for d in s.llp]
    return truth("not-found-nor-cuda", (s.asked, *stock.companion_names(s.cuda).values()), "libcudnn",
                 "LD_LIBRARY_PATH names a directory that is not there", f"{s.facade} is not found")


@kind("variable", HIDES_ABSENCE, search=("llp",), place=("venv", "toolkit"))
def path_in_place_of_variable(s):
    if not s.w.faulty:
        return None
    s.w.env["PATH"] = s.lib + ":" + s.w.env["PATH"]
    s.llp = [d for d in s.llp if d != s.lib]
    return truth("not-found-nor-cuda", (s.asked, *stock.companion_names(s.cuda).values()), "libcudnn",
                 "PATH has cuDNN's directory, LD_LIBRARY_PATH has not", f"{s.facade} is not found")


@kind("variable", HIDES_ABSENCE, search=("llp",), place=("venv", "toolkit"))
def relative_directory(s):
    s.llp = [os.path.relpath(d, s.w.cwd) for d in s.llp]
    if not s.w.faulty:
        return None
    s.w.cwd += "/runs/7"
    s.w.at(s.w.cwd).mkdir(parents=True)
    return truth("not-found-relative", (s.asked, "LD_LIBRARY_PATH"), "libcudnn", "LD_LIBRARY_PATH is relative",
                 "the command is started elsewhere", f"{s.facade} is not found")


@kind("variable", place=("venv", "system", "two", "conda"), demand=True, older=1, host=("linked", "package"))
def older_one_preloaded(s):
    if not s.w.faulty:
        return None
    old = s.older()
    directory = elsewhere(s, old)
    s.w.env["LD_PRELOAD"] = f"{directory}/{s.facade}"
    return truth("older-preloaded", (directory, old), "libcudnn", f"LD_PRELOAD names {s.facade} {old}",
                 "it is there before the host's own search", "the host refuses it")


# ---- packages -------------------------------------------------------------------------------------------

@kind("package", place=("venv",), host=("package",), demand=True, older=1)
def wheel_downgraded(s):
    """Another package's requirement brought an older one."""
    if not s.w.faulty:
        return None
    old = s.older()
    whole(s, old)
    s.w.wheel(s.site, "otherkit", "0.3", {"otherkit/__init__.py": b"\n"},
              [f"{s.package}=={stock.wheel_version(old)}"])
    return truth("older-first", (old, s.package), "libcudnn", f"otherkit brought {s.package} {old}",
                 f"{s.facade} is older than the host accepts")


@kind("package", ("harmless", "no-cache"), place=("venv", "toolkit", "modules", "conda"), demand=True, older=1,
      host=("linked", "ctypes"), printed=True)
def older_than_the_number_printed(s):
    """The host alone knows its number: it stands in what it prints."""
    if not s.w.faulty:
        return None
    old = s.older()
    whole(s, old)
    return truth("older-first", (old, s.lib), "libcudnn", f"{s.lib} has {old}", "the host refuses it, and prints both")


@kind("package", ("harmless", "blame", "no-cache"), place=("venv",), host=("package", "linked", "ctypes", "path"))
def install_killed(s):
    """The list of files is there, the files are not."""
    if not s.w.faulty:
        return None
    for name in s.w.names(s.lib):
        s.w.remove(f"{s.lib}/{name}")
    return truth("package-without-files", s.package, "libcudnn", f"{s.package} has a RECORD and no files",
                 f"{s.facade} is not found")


@kind("package", HIDES_ABSENCE, place=("venv", "conda", "system"), era=(8, 9))
def package_lost_a_part(s):
    if not s.w.faulty:
        return None
    name = vital(s)
    lose(s, name)
    s.w.system_changed = s.place == "system"
    return truth("package-lost-part", (name, s.package), name.split(".")[0], f"{name} of {s.package} was deleted",
                 "cuDNN asks for it in vain")


@kind("package", ALONE, place=("venv",), host=("package", "linked"), era=(9,), cuda=("12",),
      versions=("9.13.0", "9.19.0", "9.26.0"))
def two_flavours_in_one_directory(s):
    """nvidia-cudnn-cu12 and -cu13 own the same files: who came last has them."""
    if not s.w.faulty:
        return None
    version = s.w.rng.choice(stock.releases(9, "13"))
    s.w.wheel(s.site, *World.cudnn_wheel(version, "13"))
    return truth("packages-share-files", "nvidia-cudnn-cu13", ("libcudnn", "libcublasLt"),
                 f"nvidia-cudnn-cu13 {version} was installed over {s.package}", "it asks for CUDA 13's libraries")


@kind("package", HIDES_ABSENCE, place=("venv",), host=("package", "linked", "ctypes", "path"))
def wheel_not_installed(s):
    if not s.w.faulty:
        return None
    uninstall(s, s.package)
    return truth("not-found", (s.facade, s.package), "libcudnn", f"{s.package} is not installed",
                 f"{s.facade} is not found")


@kind("package", ALONE, place=("venv",), host=("package", "linked"), era=(8, 9))
def files_copied_over_a_package(s):
    if not s.w.faulty:
        return None
    other, name = s.other(), told(s)
    replace(s, name, other)
    return truth("set-mixed", (name, name.split(".")[0].split("_", 1)[1], other, s.package), name.split(".")[0],
                 f"{name} of {other} was copied over that of {s.package} {s.version}", "cuDNN is a mixed set")


@kind("package", HIDES_ABSENCE, place=("venv",), host=("package",))
def two_library_folders(s):
    """lib64 is no link to lib: the host is in the one, nvidia/ in the other."""
    if not s.w.faulty:
        return None
    w = s.w
    other = s.site.replace("/lib/", "/lib64/")
    w.at(other).mkdir(parents=True)
    for name in w.names(s.site):
        if name == "nvidia" or name.startswith("nvidia_cudnn") and name.endswith(".dist-info"):
            continue
        w.at(f"{s.site}/{name}").rename(w.at(f"{other}/{name}"))
    w.env["PYTHONPATH"] = other
    return truth("not-found-nor-cuda", (s.facade, *stock.companion_names(s.cuda).values()), "libcudnn",
                 "the host lies in lib64, nvidia/ in lib", "its search path leads nowhere")


@kind("package", HIDES_ABSENCE, place=("venv",), era=(8,), cuda=("12",), host=("package", "linked", "ctypes"))
def wheel_of_the_next_major(s):
    if not s.w.faulty:
        return None
    new = s.w.rng.choice(stock.releases(9, s.cuda))
    whole(s, new)
    return truth("major-gone", "libcudnn.so.8", "libcudnn", f"{s.package} was upgraded to {new}",
                 "libcudnn.so.8 is gone")


# ---- sets -----------------------------------------------------------------------------------------------

@kind("set", ALONE, place=("toolkit", "modules", "conda"), era=(8, 9))
def part_of_another_release(s):
    if not s.w.faulty:
        return None
    other, name = s.other(), told(s)
    replace(s, name, other)
    return truth("set-mixed", (name, name.split(".")[0].split("_", 1)[1], other), name.split(".")[0],
                 f"{name} is of {other}, the rest of {s.version}", "cuDNN is a mixed set")


@kind("set", ALONE, place=("two",), era=(9,))
def part_lost_and_found_elsewhere(s):
    if not s.w.faulty:
        return None
    name = s.part_name(s.w.rng.choice(("engines_precompiled", "graph")))
    lose(s, name)
    return truth("set-mixed-elsewhere", (name, s.second, "/usr/local/cuda"), name.split(".")[0],
                 f"{name} of {s.package} was deleted", f"the loader takes that of {s.second} in the toolkit")


@kind("set", HIDES_ABSENCE, place=("toolkit", "modules"), era=(8, 9))
def part_not_copied(s):
    if not s.w.faulty:
        return None
    name = vital(s)
    lose(s, name)
    s.w.system_changed = s.w.system_changed or s.search == "cache"
    return truth("part-missing", (name, name.split(".")[0].split("_", 1)[1]), name.split(".")[0],
                 f"{name} was not copied", "cuDNN asks for it in vain")


@kind("set", HIDES_ABSENCE, place=("venv", "toolkit"), era=(9,), search=("path", "runpath"))
def facade_without_search_path(s):
    """Stripped of its RUNPATH: it no longer finds its parts beside it."""
    if not s.w.faulty:
        return None
    s.w.put(stock.without_path(s.w.read(s.file(s.facade))), s.file(s.facade))
    return truth("part-missing", ("graph", "libcudnn_graph"), "libcudnn_graph", f"{s.facade} has lost its RUNPATH",
                 "its parts, beside it, are not found")


@kind("set", ALONE, place=("venv", "conda"), era=(9,), search=("runpath",), host=("package", "linked"),
      versions=("9.1.0", "9.5.1", "9.8.0", "9.10.2", "9.13.0", "9.19.0"))
def parts_of_another_release_in_front(s):
    if not s.w.faulty:
        return None
    other = s.other()
    directory = f"/opt/leftover-{other}/lib"
    s.w.copy_of_cudnn(directory, other, s.cuda, only=[n for n in s.parts if n in World.cudnn_files(other, s.cuda)])
    in_front(s, directory)
    return truth("set-mixed-elsewhere", (directory, other), "libcudnn_graph",
                 f"LD_LIBRARY_PATH begins with {directory}, which has parts of {other}",
                 "the facade's RUNPATH comes behind it")


JOIN = "_ZN5cudnn3ops26JoinInternalPriorityStreamEP12cudnnContexti"


@kind("set", ALONE, place=("venv", "toolkit", "modules", "conda"), era=(8,), cuda=("11",),
      options=("--internal", f"ops_infer={JOIN}", "--imports", f"cnn_infer={JOIN}"))
def part_wants_what_the_other_has_not(s):
    if not s.w.faulty:
        return None
    other = s.other()
    replace(s, "libcudnn_ops_infer.so.8", other)
    return truth("parts-do-not-fit", ("ops_infer", other), ("libcudnn_ops_infer", "libcudnn_cnn_infer"),
                 f"libcudnn_ops_infer.so.8 is of {other}", "libcudnn_cnn_infer.so.8 imports what that has not")


# ---- files ----------------------------------------------------------------------------------------------

def _damage(s, how, what, where=None):
    """A file of cuDNN's that cannot be loaded, in its own place or in a directory in front of it."""
    name = where or s.w.rng.choice([s.facade] if s.era == 7 else [s.facade, s.facade, vital(s)])
    s.w.finish()  # the loader's cache is of before
    path = s.file(name)
    data = how(s.w.read(path))
    if data is None:
        s.w.link(path, f"{name}.gone")
    else:
        s.w.write(path, data, 0o755)
    return truth("bad-file", (name, name.split(".so")[0]), name.split(".")[0], f"{name} is {what}",
                 "it cannot be loaded")


@kind("file", HIDES_ABSENCE, place=NOT_TWO)
def file_empty(s):
    return _damage(s, lambda d: b"", "empty") if s.w.faulty else None


@kind("file", HIDES_ABSENCE, place=NOT_TWO)
def file_is_a_pointer(s):
    text = b"version https://git-lfs.github.com/spec/v1\noid sha256:" + b"4d" * 32 + b"\nsize 124952\n"
    if s.owner == "none":  # somebody's repository of binaries
        for name in s.w.names(s.lib):
            if name.startswith("libcudnn") and ".so" in name:
                s.w.put(s.w.read(s.file(name)), f"{s.lib}/.git/lfs/objects/{name}")
    return _damage(s, lambda d: text, "a pointer of git-lfs") if s.w.faulty else None


@kind("file", HIDES_ABSENCE, place=NOT_TWO)
def file_is_a_page(s):
    text = b"<!DOCTYPE html>\n<html><head><title>404 Not Found</title></head><body>" + b"<p>gone</p>" * 40
    return _damage(s, lambda d: text, "a page of a server") if s.w.faulty else None


@kind("file", HIDES_ABSENCE, place=NOT_TWO)
def file_of_32_bits(s):
    return _damage(s, stock.other_class, "of 32 bits") if s.w.faulty else None


@kind("file", HIDES_ABSENCE, place=NOT_TWO)
def file_of_another_processor(s):
    return _damage(s, stock.other_machine, "for aarch64") if s.w.faulty else None


@kind("file", HIDES_ABSENCE, place=NOT_TWO)
def file_cut_in_half(s):
    return _damage(s, lambda d: d[:len(d) // 3], "cut short") if s.w.faulty else None


@kind("file", HIDES_ABSENCE, place=("toolkit", "modules"))
def link_leads_nowhere(s):
    return _damage(s, lambda d: None, "a link that leads nowhere") if s.w.faulty else None


# ---- names ----------------------------------------------------------------------------------------------

@kind("name", tuple(m for m in HIDES_ABSENCE if m != "two"), place=("toolkit", "modules", "conda"), era=(8, 9),
      search=("llp", "runpath", "rpath", "path"))  # as a second fault, the driver may be the one that went
def driver_under_the_name(s):
    """ln -s libcuda.so.1 libcudnn.so.8, as forums advise."""
    if not s.w.faulty:
        return None
    s.w.put(stock.driver("CUDA"), f"{SYSTEM}/libcuda.so.515.43.04")
    lose(s, s.facade)
    for name in (s.facade, "libcudnn.so"):
        s.w.link(f"{s.lib}/{name}", f"{SYSTEM}/libcuda.so.515.43.04")
    s.w.system_changed = s.w.system_changed or s.search == "cache"
    return truth("false-name", (s.facade, "libcudnn.so"), "libcudnn", f"{s.facade} is a link to the driver's library",
                 "it has no function of cuDNN")


@kind("name", HIDES_ABSENCE, place=("toolkit", "modules"), era=(8,), cuda=("12",), host=("linked", "named", "ctypes"),
      search=("llp", "runpath"))
def link_to_another_major(s):
    if not s.w.faulty:
        return None
    new = s.w.rng.choice(stock.releases(9, s.cuda))
    whole(s, new)
    s.w.link(f"{s.lib}/libcudnn.so.8", "libcudnn.so.9")
    s.w.system_changed = s.w.system_changed or s.search == "cache"
    return truth("false-major", "libcudnn.so.8", "libcudnn", f"libcudnn.so.8 is a link to {new}",
                 "calls of 8 go to 9, or are refused")


@kind("name", HIDES_ABSENCE, place=("toolkit", "modules"), host=("linked", "named", "ctypes", "path"),
      search=("llp", "path", "runpath"))
def full_name_alone(s):
    """An archive without its links: libcudnn.so.9.1.0 and no libcudnn.so.9."""
    if not s.w.faulty:
        return None
    for name in s.w.names(s.lib):
        if name.startswith("libcudnn") and s.w.at(f"{s.lib}/{name}").is_symlink():
            s.w.remove(f"{s.lib}/{name}")
    return truth("name-only", s.facade, "libcudnn",
                 f"the links are gone: only {s.facade} with its full number is there",
                 f"{s.facade} is not found")


def _no_plain_names(s):
    """As where the package for developers is not installed."""
    if s.owner == "deb":
        s.w.purge(deb_name(s.version, s.cuda, True))
    for name in s.w.names(s.lib):
        if name.startswith("libcudnn") and name.endswith(".so"):
            s.w.remove(f"{s.lib}/{name}")
    s.w.system_changed = s.w.system_changed or s.search == "cache"


@kind("name", HIDES_ABSENCE, host=("unversioned",))
def no_name_without_number(s):
    """A runtime image: the name for developers is not there."""
    if not s.w.faulty:
        return None
    _no_plain_names(s)
    return truth("name-only", "libcudnn.so", "libcudnn", "only names with a number are there",
                 "libcudnn.so is asked for and not found")


@kind("name", HIDES_ABSENCE, host=("named",), place=("toolkit", "system"), era=(9,))
def number_that_nobody_has(s):
    """A list of names that the host tries, without the one that is there."""
    s.steps = ["name=libcudnn.so,libcudnn.so.12,libcudnn.so.11,libcudnn.so.10,libcudnn.so.1" if p.startswith("name=")
               else p for p in s.steps]
    if not s.w.faulty:
        return None
    _no_plain_names(s)
    return truth("name-only", ("libcudnn.so.9", "libcudnn.so"), "libcudnn",
                 "the host asks for numbers that cuDNN never had, and for none", "libcudnn.so.9 is asked for by nobody")


@kind("name", HIDES_ABSENCE, place=("venv",), host=("named", "package"), era=(8,), cuda=("12",), linked=False,
      framework=("lensflow",))
def part_of_the_last_major(s):
    s.demand = False
    s.steps = [*s.cuda_first(), "name=libcudnn_ops_infer.so.8", "version", "create"]
    if not s.w.faulty:
        return None
    uninstall(s, s.package)
    s.w.wheel(s.site, *World.cudnn_wheel(s.w.rng.choice(stock.releases(9, s.cuda)), s.cuda))
    return truth("not-found", "libcudnn_ops_infer", "libcudnn_ops_infer", f"{s.package} was upgraded to 9",
                 "libcudnn_ops_infer.so.8 is a name of 8 alone")


@kind("name", ALONE, place=("toolkit", "modules", "venv"), era=(9,))
def part_under_the_name_of_another(s):
    if not s.w.faulty:
        return None
    s.w.put(s.w.read(s.file("libcudnn_adv.so.9")), s.file("libcudnn_cnn.so.9"))
    return truth("false-name", ("libcudnn_cnn", "libcudnn_adv"), "libcudnn_cnn",
                 "libcudnn_cnn.so.9 is a copy of libcudnn_adv.so.9", "the functions of cnn are not in it")


# ---- CUDA beside it -------------------------------------------------------------------------------------

@kind("cuda", HIDES_ABSENCE, place=NOT_TWO, era=(8, 9))
def cublaslt_missing(s):
    if not s.w.faulty:
        return None
    name = lose_companion(s, "cublasLt")
    return truth("companion-missing", name, "libcublasLt", f"{name} is not there", "who needs it cannot be loaded")


@kind("cuda", HIDES_ABSENCE, place=("toolkit", "modules", "system", "venv"), era=(8, 9), search=("llp", "cache"),
      host=("named", "ctypes", "unversioned"))
def nvrtc_missing(s):
    s.steps = [p for p in s.steps if "nvrtc" not in p]
    if not s.w.faulty:
        return None
    name = lose_companion(s, "nvrtc")
    return truth("companion-missing", name, "libnvrtc", f"{name} is not there", "cuDNN asks for it late, and in vain")


@kind("cuda", HIDES_ABSENCE, place=NOT_TWO, era=(8, 9))
def nvrtc_without_builtins(s):
    if not s.w.faulty:
        return None
    name = lose_companion(s, "builtins")
    return truth("companion-missing", name, "libnvrtc-builtins", f"{name} is not there",
                 "nvrtc asks for it when it compiles", "a call of cuDNN fails")


@kind("cuda", ALONE, place=("venv", "conda"), era=(8, 9), search=("runpath",))
def other_cublaslt_in_front(s):
    if not s.w.faulty:
        return None
    name = stock.companion_names(s.cuda)["cublasLt"]
    directory = f"/usr/local/cuda-{s.cuda}.0/lib64"
    for path, source in s.w.versioned(directory, name, stock.companion("cublasLt", s.cuda, "-DWITHOUT_CREATE"),
                                      f"{s.cuda}.0.1.189").items():
        s.w.place_files({path: source})
    in_front(s, directory)
    return truth("companion-elsewhere", (directory, name), "libcublasLt",
                 f"LD_LIBRARY_PATH begins with {directory}, which has {name} of an older release",
                 "cuDNN finds no cublasLtCreate in it")


@kind("cuda", ALONE, place=("venv", "system", "toolkit"), era=(9,), cuda=("12",), host=("linked", "package", "named"),
      versions=("9.13.0", "9.19.0", "9.26.0"))
def cudnn_for_another_cuda(s):
    if not s.w.faulty:
        return None
    whole(s, s.version, "13")
    return truth("cuda-major", ("CUDA 13", "libcublasLt.so.13"), ("libcublasLt", "libcudnn"),
                 f"cuDNN {s.version} is made for CUDA 13, the rest for 12", "it asks for libcublasLt.so.13")


@kind("cuda", HIDES_ABSENCE, place=("venv",), host=("package",), era=(9,), cuda=("12",))
def extension_for_another_cuda(s):
    wants = ("libcudart.so.13",) if s.w.faulty else ()
    ext = f"{s.site}/fastkernels/_C.so"
    data = stock.host(None, None, False, extra_needs=wants).read_bytes()
    s.w.wheel(s.site, "fastkernels", "0.9.1", {"fastkernels/__init__.py": b"\n",
                                               "fastkernels/_C.so": stock.set_path(data, "none", "")})
    s.before_steps = [*s.before_steps, f"open:{ext}"]
    if not s.w.faulty:
        return None
    return truth("extension-of-other-cuda", ("libcudart.so.13", "fastkernels"), "libcudart",
                 "fastkernels was built for CUDA 13", "libcudart.so.13 is not there")


# ---- functions ------------------------------------------------------------------------------------------

NEWER = {8: ("cudnnGetMaxDeviceVersion", ("8.6.0",), "8.5.0"),
         9: ("cudnnBackendPopulateCudaGraph", ("9.5.1", "9.8.0", "9.10.2", "9.13.0"), "9.1.0")}


def _older_without(s):
    function, _, old = NEWER[s.era]
    whole(s, old)
    return function, old


def _imports_newer(s):
    s.steps = [*s.steps[:-1], "extra", *s.steps[-1:]]
    if not s.w.faulty:
        return None
    function, old = _older_without(s)
    return truth("function-missing", (function, old), ("libcudnn", "engine"), f"{s.lib} has {old}",
                 f"the host imports {function}", "the process ends at the call")


@kind("symbols", ALONE, place=("toolkit", "modules", "conda"), host=("linked",), era=(8,), cuda=("11",),
      versions=("8.6.0",), demand=False, binary={"imports": "cudnnGetMaxDeviceVersion", "built": "8.6.0"})
def function_of_a_newer_8(s):
    return _imports_newer(s)


@kind("symbols", ALONE, place=("toolkit", "modules", "conda"), host=("linked",), era=(9,), cuda=("12",),
      versions=NEWER[9][1], demand=False, binary={"imports": NEWER[9][0], "built": "9.8.0"})
def function_of_a_newer_9(s):
    return _imports_newer(s)


@kind("symbols", ALONE, place=("toolkit", "modules", "system"), host=("named", "unversioned"), era=(9,), cuda=("12",),
      versions=NEWER[9][1], demand=False)
def function_looked_up(s):
    s.steps = [s.steps[0], *s.steps[1:]]
    at = next(i for i, p in enumerate(s.steps) if p.startswith("name=")) + 1
    s.steps[at:at] = [f"wants:{NEWER[9][0]}"]
    if not s.w.faulty:
        return None
    function, old = _older_without(s)
    return truth("function-missing", (function, old), ("libcudnn",), f"{s.lib} has {old}",
                 f"the host looks {function} up", "it aborts")


@kind("symbols", ALONE, place=("venv",), host=("package",), linked=True, era=(9,), cuda=("12",), versions=NEWER[9][1],
      framework=("visionkit",), demand=False, binary={"imports": NEWER[9][0], "built": "9.8.0"})
def function_of_a_newer_wheel(s):
    if not s.w.faulty:
        return None
    whole(s, "9.1.0")
    return truth("function-missing", (NEWER[9][0], "9.1.0"), ("libcudnn", "_engine"), f"{s.package} is 9.1.0",
                 f"the host imports {NEWER[9][0]}", "the import fails")


# ---- GPU and calls --------------------------------------------------------------------------------------

def _files_that(s, *options):
    whole(s, s.version, s.cuda, *options)


@kind("gpu", ALONE, era=(9,), versions=("9.13.0", "9.19.0", "9.26.0"), demand=False)  # no release has both
def gpu_dropped(s):
    if not s.w.faulty:
        return None
    _files_that(s, "--status", "cudnnConvolutionForward=5000")
    gpu = s.w.rng.choice(("6.1 NVIDIA GeForce GTX 1080 Ti", "5.2 NVIDIA GeForce GTX 970", "7.0 Tesla V100-SXM2-16GB"))
    s.driver(gpu=gpu, release="580.82.07")
    return truth("gpu", (gpu[4:], gpu[:3]), "libcudnn", f"the GPU is {gpu}", f"{s.version} has no code for it")


@kind("gpu", ALONE, era=(8,), versions=("8.9.2", "8.9.7"))
def gpu_too_new(s):
    if not s.w.faulty:
        return None
    _files_that(s, "--create-status", "6")
    gpu = s.w.rng.choice(("12.0 NVIDIA GeForce RTX 5090", "10.0 NVIDIA B200"))
    s.driver(gpu=gpu, release="580.82.07")
    return truth("gpu", (gpu[5:], gpu[:4]), "libcudnn", f"the GPU is {gpu}", f"{s.version} has no code for it")


@kind("gpu", ALONE, era=(8, 9))
def no_memory_left(s):
    if not s.w.faulty:
        return None
    _files_that(s, "--create-status", "2" if s.era < 9 else "4003")
    return truth("create-failed", "cudnnCreate", "libcudnn", "another process holds the GPU's memory",
                 "cudnnCreate fails")


@kind("gpu", ALONE, era=(8, 9))
def execution_failed(s):
    if not s.w.faulty:
        return None
    _files_that(s, "--status", "cudnnConvolutionForward=" + ("8" if s.era < 9 else "5000"))
    return truth("call-failed", "cudnnConvolutionForward", "libcudnn", "a kernel fails", "the convolution returns it")


@kind("gpu", ALONE, place=("venv",), host=("package",), era=(9,), cuda=("12",), framework=("visionkit",), demand=True,
      versions=("9.1.0", "9.5.1", "9.8.0"))
def newer_than_accepted(s):
    s.steps = [p.replace("verify:minor", "verify:exact") for p in s.steps]
    if not s.w.faulty:
        return None
    new = s.w.rng.choice(("9.10.2", "9.13.0"))
    whole(s, new)
    return truth("newer-refused", (new, s.package), "libcudnn", f"{s.package} was upgraded to {new}",
                 f"the host wants {s.version} exactly")


# ---- driver ---------------------------------------------------------------------------------------------

def _no_driver(s):
    for name in s.w.names(SYSTEM):
        if name.startswith(("libcuda.so", "libnvidia-ml")):
            s.w.remove(f"{SYSTEM}/{name}")
    for name in s.w.names("/dev"):
        if name.startswith("nvidia"):
            s.w.remove(f"/dev/{name}")
    for name in s.w.names("/.driver/nvidia"):
        s.w.remove(f"/.driver/nvidia/{name}")
    s.w.at("/.driver/nvidia").rmdir()
    s.w.system_changed = True


@kind("driver", ALONE, place=NOT_TWO)
def no_driver(s):
    if s.w.rng.random() < 0.5 and s.host != "ctypes":
        at = next((i + 1 for i, p in enumerate(s.steps) if p.startswith("name=")), 0)
        s.steps[at:at] = ["driver"]
    if not s.w.faulty:
        return None
    _no_driver(s)
    return truth("no-driver", ("driver", "libcuda"), "libcuda", "no driver is there",
                 "cudnnCreate has nothing to work with")


@kind("driver", ALONE, place=("container", "venv"))
def driver_where_nobody_looks(s):
    if s.host != "ctypes":
        at = next((i + 1 for i, p in enumerate(s.steps) if p.startswith("name=")), 0)
        s.steps[at:at] = ["driver"]
    directory = s.w.rng.choice(("/usr/local/nvidia/lib64", "/.singularity.d/libs", "/usr/lib/wsl/lib"))
    _no_driver(s)
    s.driver(directory=directory, release="580.82.07")
    if not s.w.faulty:
        s.w.write("/etc/ld.so.conf.d/nvidia.conf", f"{directory}\n")
        s.w.system_changed = True
        return None
    return truth("no-driver", (directory, "libcuda"), "libcuda", f"libcuda.so.1 lies in {directory}",
                 "the loader does not look there", "cudnnCreate fails")


@kind("driver", ALONE, place=NOT_TWO, era=(9,))
def driver_too_old(s):
    if not s.w.faulty:
        return None
    release = s.w.rng.choice(("470.57.02", "460.91.03", "450.80.02"))
    _no_driver(s)
    s.driver(release=release, state=35)
    return truth("old-driver", (release, f"CUDA {s.cuda}"), "libcuda", f"the driver is {release}",
                 f"CUDA {s.cuda} needs a newer one", "cudnnCreate fails")


@kind("driver", ALONE, place=NOT_TWO)
def driver_updated_without_restart(s):
    if not s.w.faulty:
        return None
    _no_driver(s)
    s.driver(release="580.82.07", module="580.65.06", state=803)
    return truth("mixed-driver", ("580.65.06", "580.82.07"), "libcuda", "libcuda is 580.82.07, the module 580.65.06",
                 "cuInit fails", "cudnnCreate fails")


@kind("driver", ALONE, place=("venv", "system", "conda"))
def stub_in_front(s):
    """The libcuda to link with, of a toolkit's directory stubs."""
    if not s.w.faulty:
        return None
    directory = f"/usr/local/cuda-{stock.TOOLKITS[s.cuda]}/lib64/stubs"
    s.w.put(stock.driver("CUDA", 34), f"{directory}/libcuda.so")
    s.w.link(f"{directory}/libcuda.so.1", "libcuda.so")
    in_front(s, directory)
    return truth("no-driver", (directory, "stub"), "libcuda", f"LD_LIBRARY_PATH begins with {directory}",
                 "its libcuda does nothing", "cudnnCreate fails")


@kind("driver", ALONE, place=("container", "system", "venv"))
def container_without_devices(s):
    if not s.w.faulty:
        return None
    for name in s.w.names("/dev"):
        if name.startswith("nvidia"):
            s.w.remove(f"/dev/{name}")
    s.w.write("/.driver/nvidia/cuInit", "100\n")
    return truth("driver-unusable", ("/dev/nvidia", "cudnnCreate", "GPU"), "libcuda",
                 "no device file of the GPU is there",
                 "cuInit finds no device", "cudnnCreate fails")


@kind("driver", ALONE, place=("system", "toolkit"), host=("named", "linked"))
def driver_by_another_name(s):
    """WSL: libcuda.so is asked for, the cache has libcuda.so.1 alone."""
    s.before_steps = ["open:libcuda.so"]
    if not s.w.faulty:
        s.w.link(f"{SYSTEM}/libcuda.so", "libcuda.so.1")
        return None
    return truth("false-name", "libcuda.so", "libcuda", "only libcuda.so.1 is there", "libcuda.so is asked for",
                 "the host gives up")


# ---- several in one process, or several processes --------------------------------------------------

@kind("process", ("harmless", "blame", "no-cache"), place=("venv",), host=("package",), linked=True, demand=True,
      older=1, search=("rpath", "runpath"))
def other_framework_first(s):
    """Two packages, one SONAME: the one that is imported first brings an older one."""
    old = s.older()
    bundle = f"{s.site}/imagekit.libs"
    files = {f"imagekit.libs/{n}": p for n, p in World.cudnn_files(old, s.cuda).items()}
    files["imagekit/__init__.py"] = (f"import ctypes\nctypes.CDLL('{bundle}/{s.facade}')\n").encode()
    s.w.wheel(s.site, "imagekit", "3.1", files)
    first = "imagekit\nimport " if s.w.faulty else ""
    last = "" if s.w.faulty else "\nimport imagekit"
    s.w.write(s.script,
                 f"import sys\nimport {first}{s.module_name}{last}\nsys.exit({s.module_name}.run(sys.argv[1:]))\n")
    if not s.w.faulty:
        return None
    return truth("loaded-before", (bundle, old, "imagekit"), "libcudnn", f"imagekit is imported first and brings {old}",
                 f"{s.facade} is satisfied by it", f"{s.module_name} refuses it")


@kind("process", ("harmless", "blame", "no-cache"), place=("venv",), host=("package",), era=(9,),
      framework=("lensflow",), linked=False, versions=("9.1.0",), cuda=("12",))
def grafted_facade(s):
    """A wheel into which the facade alone was grafted, under a name of its own."""
    name = "libcudnn-74a4c495.so.9.1.0"
    grafted = World.cudnn_files("9.1.0", "12", "--soname", name, "--node", "libcudnn.so.9",
                                "--only", "facade")[name]
    s.demand = False
    s.w.put(grafted, f"{s.site}/lensflow.libs/{name}")
    s.steps = [*s.cuda_first(), f"name={s.site}/lensflow.libs/{name}", "version", "create", "conv"]
    if not s.w.faulty:
        s.llp = [s.lib]
        return None
    return truth("no-parts-of-its-own", ("graph", name), ("libcudnn_graph", "libcudnn"),
                 "the wheel brought a facade and no parts", "no directory that is searched has them")


@kind("process", HIDES_ABSENCE, search=("llp",), host=("ctypes",), place=("venv", "toolkit"))
def worker_with_another_environment(s):
    """The parent finds its cuDNN, the worker is started with another environment."""
    worker = f"{s.home}/work/worker.py"
    s.w.write(worker, s.w.read(s.script))
    keep = "" if s.w.faulty else ', LD_LIBRARY_PATH=os.environ["LD_LIBRARY_PATH"]'
    s.w.write(s.script, "import os\nimport subprocess\nimport sys\n"
              'names = ("PATH", "HOME", "LD_PRELOAD", *(n for n in os.environ if n.startswith("WHICHCUDNN")))\n'
              f"env = dict({{n: os.environ[n] for n in names if n in os.environ}}{keep})\n"
              f'sys.exit(subprocess.run([sys.executable, "{worker}", *sys.argv[1:]], env=env).returncode)\n')
    if not s.w.faulty:
        return None
    return truth("not-found", s.facade, "libcudnn", "the worker is started without LD_LIBRARY_PATH",
                 f"{s.facade} is not found there")


@kind("process", HIDES_ABSENCE, era=(8, 9), host=("linked", "package", "named"), place=("toolkit", "modules", "conda"))
def part_wanted_by_workers_alone(s):
    at = max(i for i, p in enumerate(s.steps) if p == "create") + 1
    s.steps[at:at] = ["fork:2"]
    if not s.w.faulty:
        return None
    name = s.part_name("cnn_infer" if s.era == 8 else "cnn")
    lose(s, name)
    s.w.system_changed = s.w.system_changed or s.search == "cache"
    return truth("package-lost-part", (name, name.split(".")[0].split("_", 1)[1]), name.split(".")[0],
                 f"{name} is gone",
                 "the workers ask for it", "they die")


@kind("process", ("harmless", "blame"), place=("venv",), host=("package",), linked=True, era=(9,), cuda=("12",),
      older=1,
      demand=True, framework=("torch", "visionkit"))
def worker_by_spawn_with_older(s):
    """multiprocessing's spawn, with a variable that the parent sets for its children."""
    old = s.older()
    directory = elsewhere(s, old)
    body = (f"import multiprocessing\nimport os\nimport sys\n\n\ndef work(steps):\n    import {s.module_name}\n"
            f"    sys.exit({s.module_name}.run(steps))\n\n\nif __name__ == '__main__':\n"
            f"    multiprocessing.set_start_method('spawn')\n    os.environ['{{name}}'] = '{directory}/{s.facade}'\n"
            "    p = multiprocessing.Process(target=work, args=(sys.argv[1:],))\n    p.start()\n    p.join()\n"
            "    sys.exit(p.exitcode)\n")
    # The shim is preloaded by then, and stays so.
    name = "LD_PRELOAD" if s.w.faulty else "CUDNN_LIBRARY"
    body = body.replace("{name}", name)
    if s.w.faulty:
        body = body.replace(f"= '{directory}", f"= os.environ.get('LD_PRELOAD', '') + ':{directory}")
    s.w.write(s.script, body)
    if not s.w.faulty:
        return None
    return truth("loaded-before", (directory, old), "libcudnn", f"LD_PRELOAD of the workers names {old}",
                 "it is there before the host's own search", "the host refuses it")


# ---- what the system refuses ---------------------------------------------------------------------

@kind("limits", ALONE, place=("venv", "toolkit", "modules", "conda"))
def address_space_limited(s):
    name = s.facade
    whole(s, s.version, s.cuda, "--wants", "room")
    if not s.w.faulty:
        return None
    s.w.limits = "ulimit -S -v 450000"
    return truth("refused", (name, "address space"), "libcudnn", "the job's address space is limited",
                 f"{name} cannot be mapped")


@kind("limits", ALONE, place=("venv", "toolkit", "modules"), era=(9,), host=("named", "ctypes"))
def no_room_for_a_part(s):
    """cuDNN asks nobody why it got none."""
    whole(s, s.version, s.cuda, "--wants", "graph=room")
    if not s.w.faulty:
        return None
    s.w.limits = "ulimit -S -v 450000"
    return truth("refused", ("libcudnn_graph", "address space"), "libcudnn_graph",
                 "the job's address space is limited", "libcudnn_graph.so.9 cannot be mapped")


@kind("limits", ALONE, place=("venv", "toolkit", "conda"), host=("named", "path", "package"), linked=False)
def no_room_for_tls(s):
    if not s.w.faulty:
        return None
    name = s.facade
    whole(s, s.version, s.cuda, "--wants", "tls")
    return truth("refused", (name, "TLS"), "libcudnn", f"{name} wants 64 KiB of static TLS",
                 "who is loaded late gets none")


@kind("limits", ALONE, place=("venv", "modules"), era=(8, 9))
def mounted_noexec(s):
    if not s.w.faulty:
        return None
    s.w.stage = [f"noexec={s.lib}"]
    return truth("refused", (s.facade, "noexec"), "libcudnn", f"{s.lib} is mounted noexec",
                 "nothing there can be mapped")


def _closed(path):
    """The user's own, and closed to the user."""
    path.chmod(0)
    os.chown(path, 1000, 1000)


@kind("limits", ALONE, root=True, place=("venv", "toolkit", "modules", "conda"))
def not_readable(s):
    s.w.stage = ["uid=1000"]
    s.w.at("/log").chmod(0o777)
    if not s.w.faulty:
        return None
    _closed(s.w.at(s.file(s.facade)))
    return truth("refused", s.facade, "libcudnn", f"{s.facade} may be read by nobody", "the loader is refused")


@kind("limits", ALONE, host=("named", "path"))
def descriptors_used_up(s):
    s.before_steps = ["fd:40"]
    if not s.w.faulty:
        return None
    s.w.limits = "ulimit -S -n 40"
    return truth("refused", ("descriptor", "open files", s.facade, *stock.companion_names(s.cuda).values()),
                 ("libcudnn", "libcudart"), "all descriptors are in use", "the loader can open no file")


@kind("limits", ALONE, root=True, place=("venv", "toolkit", "modules"), host=("linked", "named", "ctypes", "path"))
def directory_closed(s):
    s.w.stage = ["uid=1000"]
    s.w.at("/log").chmod(0o777)
    if not s.w.faulty:
        return None
    _closed(s.w.at(s.lib))
    return truth("refused-or-lost", (s.facade, s.lib, *stock.companion_names(s.cuda).values()), "libcudnn",
                 f"{s.lib} may be entered by nobody", f"{s.facade} is not found")


# ---- what changes ---------------------------------------------------------------------------------

@kind("change", ("harmless", "blame", "no-cache"), era=(9,), host=("linked", "named", "package"), place=("venv",
      "toolkit"))
def upgraded_while_it_runs(s):
    other = s.other()
    at = s.steps.index("finalize")
    steps = []
    for name, source in World.cudnn_files(other, s.cuda).items():
        s.w.put(source, f"{s.lib}/.new-{name}")
        target = s.file(name) if name in s.w.names(s.lib) else f"{s.lib}/{name}"
        steps.append(f"move:{s.lib}/.new-{name}:{target if s.w.faulty else s.lib + '/.unused-' + name}")
    s.steps[at:at] = steps
    if not s.w.faulty:
        return None
    return truth("replaced", (s.facade, "engines_precompiled", other), ("libcudnn_engines_precompiled", "libcudnn"),
                 f"{other} was installed while the process ran", "the part that it opens late is of the new release")


@kind("change", ("harmless", "no-cache"), host=("linked", "package", "named"), place=("venv", "toolkit", "conda"),
      era=(9,))
def opens_what_was_mapped(s):
    s.w.put(World.cudnn_files(s.version, s.cuda)[s.facade], f"{s.lib}/.new")
    target = s.file(s.facade) if s.w.faulty else f"{s.lib}/.unused"
    at = s.steps.index("create") + 1
    s.steps[at:at] = [f"move:{s.lib}/.new:{target}", "maps:/libcudnn.so"]
    if not s.w.faulty:
        return None
    return truth("replaced", (s.facade, "(deleted)"), "libcudnn",
                 f"{s.facade} was installed anew while the process ran",
                 "the host asks for the name that its memory map has, which ends in (deleted)")


@kind("change", ALONE, place=("venv",), host=("package",), framework=("torch",), era=(9,))
def build_for_the_cpu(s):
    if not s.w.faulty:
        return None
    w = s.w
    uninstall(s, "torch")
    data = stock.set_path(stock.host(None, None, False).read_bytes(), "none", "")
    w.wheel(s.site, "torch", "2.5.1+cpu", {
        "torch/lib/libtorch_cpu.so": data, "torch/version.py": b"__version__ = '2.5.1+cpu'\ncuda = None\n",
        "torch/__init__.py": b"import ctypes, os\nctypes.CDLL(os.path.join(os.path.dirname(__file__), "
                             b"'lib/libtorch_cpu.so'))\n\n\ndef run(steps):\n    print('device cpu')\n    return 0\n"})
    return truth("cpu-build", ("torch", "+cpu"), ("libtorch_cuda", "libtorch_cpu"),
                 "torch was replaced by its build for "
                 "the CPU", "it never asks for cuDNN")


@kind("change", ("harmless", "late", "blame", "no-cache"), place=("venv", "toolkit"), host=("linked",),
      search=("runpath", "rpath"))
def environment_moved(s):
    """The host has the absolute path of an environment that was renamed."""
    if not s.w.faulty:
        return None
    top = s.prefix or f"/usr/local/cuda-{stock.TOOLKITS[s.cuda]}"
    s.w.at(top).rename(s.w.at(top + ".bak"))
    if s.prefix:
        s.w.env["PATH"] = s.w.env["PATH"].replace(s.prefix, s.prefix + ".bak")
        s.w.env["VIRTUAL_ENV"] = s.prefix + ".bak"
    return truth("not-found-nor-cuda", (s.facade, *stock.companion_names(s.cuda).values()), "libcudnn",
                 f"{top} was renamed",
                 "the host's search path names it by its old name", f"{s.facade} is not found")


@kind("change", HIDES_ABSENCE, place=("system", "container"), host=("linked", "named", "ctypes"), era=(8,),
      cuda=("12",))
def system_upgraded(s):
    if not s.w.faulty:
        return None
    new = s.w.rng.choice(stock.releases(9, "12"))
    whole(s, new)
    return truth("major-gone", "libcudnn.so.8", "libcudnn", f"the image was rebuilt with cuDNN {new}",
                 "libcudnn.so.8 is gone")


# ---- what a program says of it, and what nobody says -------------------------------------------------

QUIET = ("harmless",)


def _swallow(s):
    """A script that hands on no status."""
    path = f"{s.home}/work/serve.sh"
    s.w.write(path, "#!/bin/bash\n\"$@\" || echo 'goes on without'\nexit 0\n", 0o755)
    if s.place == "modules":
        s.inner = [path, *s.inner]
    else:
        s.w.argv = [path, *s.w.argv]


@kind("silence", HIDES_ABSENCE, place=("venv", "toolkit", "modules"), host=("named",), search=("llp",), era=(8, 9))
def goes_on_without_cuda(s):
    """The program finds nothing of CUDA, works on the CPU and ends well."""
    s.before_steps = ["cpu", *s.before_steps]
    if not s.w.faulty:
        return None
    s.llp = ["/opt/intel/lib/intel64"]
    if s.place == "modules":
        s.wrapper_lines.append("unset LD_LIBRARY_PATH")
    return truth("not-found-nor-cuda", (s.asked, *stock.companion_names(s.cuda).values()), ("libcudnn", "libcudart"),
                 "LD_LIBRARY_PATH names another directory", "the program goes on with the CPU")


@kind("silence", QUIET, place=("toolkit", "modules", "system"), host=("named", "unversioned"), era=(9,), cuda=("12",),
      versions=NEWER[9][1], demand=False)
def function_looked_up_behind_a_script(s):
    at = next(i for i, p in enumerate(s.steps) if p.startswith("name=")) + 1
    s.steps[at:at] = [f"wants:{NEWER[9][0]}"]
    _swallow(s)
    if not s.w.faulty:
        return None
    function, old = _older_without(s)
    return truth("function-missing", (function, old), ("libcudnn",), f"{s.lib} has {old}",
                 f"the host looks {function} up and aborts", "the script says nothing of it")


@kind("silence", QUIET, place=("toolkit", "modules", "venv"), host=("ctypes",), era=(9,), cuda=("12",),
      versions=NEWER[9][1], demand=False)
def does_without_a_function(s):
    function, old = NEWER[9][0], NEWER[9][2]
    text = s.w.read(s.script).decode()
    s.w.write(s.script, text.replace('    elif step == "version":', f'''\
    elif step == "graphs" and not hasattr(cudnn, "{function}"):
        sys.exit(print("works without cuDNN"))
    elif step == "version":'''))
    s.steps[1:1] = ["graphs"]
    if not s.w.faulty:
        return None
    whole(s, old)
    return truth("function-done-without", (function, old), "libcudnn", f"{s.lib} has {old}",
                 f"the host finds no {function} in it, and works without")


@kind("silence", QUIET, place=("venv",), host=("package",), era=(9,), cuda=("12",), framework=("visionkit",), demand=True,
      versions=("9.1.0", "9.5.1", "9.8.0"))
def newer_than_accepted_behind_a_script(s):
    s.steps = [p.replace("verify:minor", "verify:exact") for p in s.steps]
    _swallow(s)
    if not s.w.faulty:
        return None
    new = s.w.rng.choice(("9.10.2", "9.13.0"))
    whole(s, new)
    return truth("newer-refused", (new, s.package), "libcudnn", f"{s.package} was upgraded to {new}",
                 f"the host wants {s.version} exactly", "the script says nothing of it")


@kind("silence", QUIET, host=("ctypes",), place=("venv", "toolkit", "system"))
def functions_of_the_process_at_large(s):
    """A binding leaves it to others to open cuDNN for all, and looks its functions up in the program."""
    for_all = "" if s.w.faulty else ", mode=ctypes.RTLD_GLOBAL"
    text = s.w.read(s.script).decode()
    s.w.write(s.script, text.replace("cudnn = ctypes.CDLL(step[5:])",
                                     f"opened, cudnn = ctypes.CDLL(step[5:]{for_all}), ctypes.CDLL(None)"))
    if not s.w.faulty:
        return None
    return truth("nobody-opened", "cudnnGetVersion", "libcudnn", f"{s.facade} is opened with RTLD_LOCAL",
                 "its functions are looked up in the program", "they are not found")


@kind("silence", ALONE, place=("venv", "modules"), era=(9,))
def cuda_mounted_noexec(s):
    """cuDNN asks nobody why there is no cuBLASLt."""
    if not s.w.faulty:
        return None
    s.w.stage = [f"noexec={s.cuda_dirs[0]}"]
    return truth("refused", ("noexec", *stock.companion_names(s.cuda).values()), "libcublasLt",
                 f"{s.cuda_dirs[0]} is mounted noexec", "nothing there can be mapped")


@kind("silence", ALONE, place=("toolkit", "modules"), era=(8, 9))
def cudnn_needs_what_is_not_installed(s):
    """A build that needs a library of another maker; cuDNN asks nobody why a part did not come in."""
    name = s.w.rng.choice(("libgomp.so.1", "libnuma.so.1", "libgfortran.so.5", "libnvJitLink.so.12"))
    if not s.w.faulty:
        return None
    part = s.w.rng.choice(("", "ops_infer=" if s.era == 8 else "graph="))
    whole(s, s.version, s.cuda, "--needs", part + name)
    return truth("of-another-maker-missing", name, name.split(".")[0], f"cuDNN needs {name}", "it is not there")


@kind("silence", HIDES_ABSENCE, place=("system",))
def package_removed(s):
    """Its package for developers, which has links alone, stays."""
    if not s.w.faulty:
        return None
    s.w.purge(deb_name(s.version, s.cuda))
    return truth("package-removed", (s.asked, s.facade), "libcudnn", f"{s.package} was removed",
                 f"{s.facade} is not found")


@kind("silence", ALONE, place=("toolkit",), host=("linked",), search=("runpath",), demand=True, older=1)
def older_first_in_the_search_path(s):
    """The directory in which the host was built stands before that of cuDNN; the host alone knows its number."""
    old, first = s.older(), "/home/ci/build/cudnn/lib"
    data = stock.host(s.era, s.cuda if s.era > 7 else None).read_bytes()
    s.w.write(s.host_file, stock.set_path(data, "runpath", f"{first}:{s.search_path(s.host_file)}"), 0o755)
    if not s.w.faulty:
        return None
    s.w.copy_of_cudnn(first, old, s.cuda)
    return truth("older-first-unsaid", (first, old), "libcudnn", f"{first} has {old}",
                 "it is searched first", "the host refuses it")


import kept_sites  # noqa: E402,F401
import kinds_by_hand  # noqa: E402,F401
import kinds_of_applications  # noqa: E402,F401
import kinds_of_builders  # noqa: E402,F401
import kinds_of_changes  # noqa: E402,F401
import kinds_of_forums  # noqa: E402,F401
import kinds_of_frameworks  # noqa: E402,F401
import kinds_of_machines  # noqa: E402,F401
import kinds_of_messages  # noqa: E402,F401
import kinds_of_routes  # noqa: E402,F401
import kinds_of_runtimes  # noqa: E402,F401
import kinds_of_science  # noqa: E402,F401
import kinds_of_starts  # noqa: E402,F401
import kinds_of_surroundings  # noqa: E402,F401
import kinds_of_symptoms  # noqa: E402,F401
import kinds_of_threads  # noqa: E402,F401
import kinds_of_upgrades  # noqa: E402,F401

GROUPS = list(dict.fromkeys(k.group for k in KINDS.values()))
