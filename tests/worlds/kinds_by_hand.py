# SPDX-License-Identifier: Apache-2.0
"""More kinds of fault, of how installations lie beside each other, what people do by hand and how hosts were built. Each
names the thread where it happened. As in kinds.py, both twins share what stands before `if not s.w.faulty: return
None`."""
import os
import re
import struct

import stock
from kinds import ALONE, HIDES_ABSENCE, LABELS, elsewhere, in_front, kind, truth, uninstall
from scene import SYSTEM
from world import PYTHON, World, deb_name, deb_packages

NEITHER_CACHE_NOR_SECOND = ("harmless", "late", "blame", "workers", "wrapper")  # the loader's cache stays as it is

LABELS.update({
    "older-by-cwd": {"runtime-too-old", "shadowed-copy", "own-copy-unused", "search-path-suspect"},
    "other-major": {"major-differs", "missing-symbols", "runtime-too-old"},
    "not-searched-as-written": {"library-not-found", "search-path-suspect", "dependency-missing",
                                "cuda-dependency-differs"},
    "links-lead-nowhere": {"bad-file", "installation-incomplete"},
    "newer-libc": {"symbol-version-not-found"},
    "nobody-provides": {"missing-symbols"},
    "part-not-searched": {"library-not-found", "dependency-missing", "part-missing"},
})

# ---- helpers --------------------------------------------------------------------------------------------


def host_data(s, path, flags=()):
    """The scene's host anew, with that search path. flags: other than by its own linking it comes to its functions."""
    linked = s.linked and not flags
    data = stock.host(s.era if linked else None, s.cuda if s.linked and s.era > 7 else None, s.host != "package",
                      flags=flags).read_bytes()
    return stock.set_path(data, s.search, path)


def rebuild(s, path, flags=(), init=None):
    """The host with that search path, in its package where it has one; init: what its package does first."""
    data = host_data(s, path, flags)
    if s.host != "package":
        s.w.write(s.host_file, data, 0o755)
        return
    files, requires = s.w.index[s.dist][s.dist_version]
    files = {**files, os.path.relpath(s.host_file, s.site): data}
    if init:
        name = f"{s.module_name}/__init__.py"
        files[name] = init.encode() + files[name]
    s.w.wheel(s.site, s.dist, s.dist_version, files, requires)


def companions(s):
    return tuple(stock.companion_names(s.cuda).values())


def another_libc(data):
    """data that needs a version of libc that is not out yet, and the version's name."""
    data = bytearray(data)
    entries, strings = stock._dynamic(data)
    values = {tag: value for _, tag, value in entries}
    need, best = values[0x6FFFFFFE], None  # DT_VERNEED
    while True:
        _, count, _, aux, following = struct.unpack_from("<HHIII", data, need)
        at = need + aux
        for _ in range(count):
            _, _, _, name, after = struct.unpack_from("<IHHII", data, at)
            text = data[strings + name:data.index(b"\0", strings + name)].decode()
            if re.fullmatch(r"GLIBC_2\.\d\d", text) or re.fullmatch(r"GLIBC_[\d.]+", text) and best is None:
                best = at, name, text
            at += after
        if not following:
            break
        need += following
    at, name, text = best
    new = re.sub(r"\d+$", lambda m: "9" * len(m[0]), text)
    value = 0
    for c in new.encode():
        value = (value << 4) + c
        value = (value ^ (value & 0xF0000000) >> 24) & 0x0FFFFFFF
    data[strings + name:strings + name + len(new)] = new.encode()
    struct.pack_into("<I", data, at, value)
    return bytes(data), new


# ---- arrangement: how installations lie beside each other -------------------------------------------------

@kind("arrangement", ALONE, place=("venv", "toolkit", "conda"), host=("linked", "named"), search=("runpath",),
      era=(8, 9), versions=("8.2.1", "8.5.0", "8.6.0", "8.9.2", "8.9.7", "9.1.0", "9.5.1", "9.8.0", "9.10.2", "9.13.0",
                            "9.19.0"))
def frozen_link_at_the_top(s):
    """pyinstaller#8758: a bundle has a link to the facade at its top, and $ORIGIN is where the link is."""
    top = f"{os.path.dirname(s.host_file)}/_internal"
    rebuild(s, f"$ORIGIN/_internal:{s.search_path(s.host_file)}")
    s.w.at(top).mkdir()
    if not s.w.faulty:
        return None
    s.w.link(f"{top}/{s.facade}", os.path.relpath(f"{s.lib}/{s.facade}", top))
    part = "ops_infer" if s.era == 8 else "graph"
    return truth("part-missing", (f"libcudnn_{part}", part), f"libcudnn_{part}",
                 f"{top}/{s.facade} is a link, found first", "its $ORIGIN is the link's directory",
                 f"libcudnn_{part} is not there")


@kind("arrangement", ALONE, place=("venv", "container"), host=("package",), framework=("torch", "visionkit"),
      linked=True, demand=True, older=1)
def leftover_beside_the_host(s):
    """pytorch#96595: a cuDNN in the framework's own directory, of an installation that bundled it."""
    rebuild(s, f"$ORIGIN:{s.search_path(s.host_file)}")
    if not s.w.faulty:
        return None
    old, here = s.older(), os.path.dirname(s.host_file)
    for name, source in World.cudnn_files(old, s.cuda).items():
        s.w.put(source, f"{here}/{name}")
    return truth("older-first", (here, old), "libcudnn", f"{old} was left in {here}",
                 f"the host looks beside itself before it looks into {s.package}", "the host refuses it")


@kind("arrangement", NEITHER_CACHE_NOR_SECOND, place=("system",), host=("linked", "named"), demand=True, older=1)
def local_copy_before_the_package(s):
    """openpose#153: one installed by apt, one by hand; ld.so.conf has /usr/local/lib in front."""
    if not s.w.faulty:
        return None
    old = s.older()
    s.w.copy_of_cudnn("/usr/local/lib", old, s.cuda)
    s.w.system_changed = True
    return truth("older-first-unsaid", ("/usr/local/lib", old), "libcudnn", f"/usr/local/lib has {old}",
                 f"the cache has it in front of {s.package}", "the host refuses it")


@kind("arrangement", ("harmless", "late", "wrapper"), place=("system",), host=("linked", "named"), era=(9,),
      cuda=("11", "12"))
def apt_has_the_next_major(s):
    """darknet#1744: cuDNN came by apt before the host did; apt's lists have the one that the host was built with."""
    s.w.write("/var/lib/apt/lists/developer.download.nvidia.com_compute_cuda_repos_debian12_x86%5f64_Packages", "".join(
        f"Package: {name}\nArchitecture: amd64\nVersion: {full}\n\n" for version in stock.releases(9, s.cuda)
        for name, full, _ in deb_packages(version, s.cuda, {})))
    old = s.w.rng.choice(stock.releases(8, s.cuda))
    if not s.w.faulty:
        return None
    for dev in (False, True):
        s.w.purge(deb_name(s.version, s.cuda, dev))
    s.w.debs(old, s.cuda, World.cudnn_files(old, s.cuda))
    return truth("major-gone", s.facade, "libcudnn", f"apt has installed {old}", f"{s.facade} is not found")


@kind("arrangement", ("harmless", "late", "wrapper"), place=("system",), host=("unversioned",), era=(9,), cuda=("12",),
      demand=False)
def alternatives_turned(s):
    """cudarc#433: two majors beside each other, and the plain name is that of the one that the host does not know."""
    at = next(i for i, p in enumerate(s.steps) if p.startswith("name=")) + 1
    s.steps[at:at] = ["wants:cudnnGraphVersionCheck"]
    old = s.w.rng.choice(stock.releases(8, s.cuda))
    name, full, laid = next(deb_packages(old, s.cuda, World.cudnn_files(old, s.cuda)))
    s.w.deb(name, full, laid)
    s.w.purge(deb_name(s.version, s.cuda, True))
    s.w.link(f"{SYSTEM}/libcudnn.so", "/etc/alternatives/libcudnn_so")
    s.w.link("/etc/alternatives/libcudnn_so", f"{SYSTEM}/libcudnn.so.{8 if s.w.faulty else 9}")
    if not s.w.faulty:
        return None
    return truth("other-major", ("cudnnGraphVersionCheck", old, "libcudnn.so.8"), "libcudnn",
                 f"/etc/alternatives has libcudnn.so of {old}", "the host asks for libcudnn.so and knows 9",
                 "cudnnGraphVersionCheck is not there")


@kind("arrangement", NEITHER_CACHE_NOR_SECOND, place=("container",))
def driver_of_the_machine_that_built_the_image(s):
    """nvidia-docker#1488: the image has the libcuda of where it was built, beside what the machine's driver brings."""
    release = s.w.rng.choice(("580.95.05", "590.44.01"))
    s.w.put(stock.driver("CUDA", 803), f"{SYSTEM}/libcuda.so.{release}")
    if not s.w.faulty:
        return None
    s.w.remove(f"{SYSTEM}/libcuda.so.1")
    s.w.link(f"{SYSTEM}/libcuda.so.1", f"libcuda.so.{release}")
    return truth("mixed-driver", (release, "libcuda.so.1"), "libcuda", f"libcuda.so.1 leads to {release} of the image",
                 "the module is 580.82.07", "cuInit fails", "cudnnCreate fails")


@kind("arrangement", ALONE, place=("venv",), host=("package",), framework=("torch", "visionkit"), demand=True, older=1,
      era=(8, 9), cuda=("11", "12"))
def toolkit_by_the_wrong_link(s):
    """Paddle#34987: /usr/local/cuda leads to the toolkit before the last, which has an older cuDNN."""
    old, root = s.older(), "/usr/local"
    s.w.copy_of_cudnn(f"{root}/cuda-{stock.TOOLKITS[s.cuda]}/lib64", s.version, s.cuda)
    s.w.copy_of_cudnn(f"{root}/cuda-{s.cuda}.0/lib64", old, s.cuda)
    s.w.link(f"{root}/cuda", f"cuda-{s.cuda}.0" if s.w.faulty else f"cuda-{stock.TOOLKITS[s.cuda]}")
    uninstall(s, s.package)
    rebuild(s, ":".join((f"{root}/cuda/lib64", *s.cuda_dirs)))
    if not s.w.faulty:
        return None
    return truth("older-first", (f"{root}/cuda", old), "libcudnn", f"{root}/cuda leads to {old}",
                 f"{s.version} lies in the toolkit beside it", "the host refuses it")


@kind("arrangement", ALONE, place=("container", "venv", "toolkit", "modules", "conda"))
def compat_driver_in_front(s):
    """nvidia-docker#1256: the image's forward-compatible libcuda, beside a driver that it does not fit."""
    release, directory = s.w.rng.choice((("575.57.08", "12.9"), ("550.54.15", "12.4"), ("535.104.05", "12.2")))
    directory = f"/usr/local/cuda-{directory}/compat"
    s.w.put(stock.driver("CUDA", 803), f"{directory}/libcuda.so.{release}")
    s.w.link(f"{directory}/libcuda.so.1", f"libcuda.so.{release}")
    if not s.w.faulty:
        return None
    in_front(s, directory)
    return truth("mixed-driver", (release, directory), "libcuda", f"LD_LIBRARY_PATH begins with {directory}",
                 f"libcuda is {release}, the module 580.82.07", "cuInit fails", "cudnnCreate fails")


@kind("arrangement", ALONE, place=("venv",), host=("package",), framework=("jax_plugin", "lensflow"), era=(9,),
      cuda=("12",), demand=True, older=1)
def namespace_package_in_front(s):
    """As jax and TransformerEngine#2297 do: the package nvidia.cudnn is asked where it is, and there are two of it."""
    rebuild(s, s.search_path(s.host_file), init="import ctypes, os\nimport nvidia.cudnn\nctypes.CDLL(os.path.join(list("
            f"nvidia.cudnn.__path__)[0], 'lib', '{s.facade}'))\n")
    old = s.older()
    site = s.w.rng.choice((f"/opt/shared/lib/{PYTHON}/site-packages", f"{s.home}/.local/lib/{PYTHON}/site-packages"))
    s.w.wheel(site, *World.cudnn_wheel(old, s.cuda))
    if not s.w.faulty:
        return None
    s.w.env["PYTHONPATH"] = site
    return truth("older-preloaded", (site, old), "libcudnn", f"PYTHONPATH has {site}, where {s.package} is {old}",
                 "nvidia.cudnn is that one first", "the host refuses it")


# ---- hand: what people do by hand -------------------------------------------------------------------------

@kind("hand", NEITHER_CACHE_NOR_SECOND, place=("toolkit",), search=("cache",))
def cache_not_made_anew(s):
    """mind/wheels#20: cuDNN was copied to where the cache is of, and ldconfig has not run."""
    if not s.w.faulty:
        return None
    w, away = s.w, f"{s.lib}/../.new"
    w.at(away).mkdir()
    names = [n for n in w.names(s.lib) if n.startswith("libcudnn")]
    for n in names:
        w.at(f"{s.lib}/{n}").rename(w.at(f"{away}/{n}"))
    w.finish()
    for n in names:
        w.at(f"{away}/{n}").rename(w.at(f"{s.lib}/{n}"))
    w.at(away).rmdir()
    return truth("not-found", s.asked, "libcudnn", f"cuDNN was copied to {s.lib} and ldconfig has not run",
                 f"the cache has no {s.asked}")


@kind("hand", HIDES_ABSENCE, search=("llp",), place=("venv", "toolkit", "modules"))
def variable_not_expanded(s):
    """tensorflow#20271 and its like: what a shell would have expanded, or should not have seen, is in the variable."""
    if not s.w.faulty:
        return None
    how = s.w.rng.choice(("dollar", "tilde", "quotes", "escaped", "return", *(("comma",) if len(s.llp) > 1 else ())))
    if how in ("dollar", "tilde"):
        top, name = (s.prefix, "VIRTUAL_ENV") if s.prefix else (s.module, "CUDNN_HOME") if s.place == "modules" else \
            (f"/usr/local/cuda-{stock.TOOLKITS[s.cuda]}", "CUDA_HOME")
        top, name = (s.home, "~") if how == "tilde" and top.startswith(s.home) else (top, f"${name}")
        value = ":".join(d.replace(top, name) for d in s.llp)
    else:
        value = {"quotes": ":".join(f'"{d}"' for d in s.llp), "return": "\r:".join(s.llp) + "\r",
                 "escaped": ":".join(d + "${LD_LIBRARY_PATH:+" for d in s.llp), "comma": ", ".join(s.llp)}[how]
    s.llp = [value]
    if s.place == "modules":
        s.wrapper_lines[0] = f"export LD_LIBRARY_PATH='{value}'"
    return truth("not-searched-as-written", (s.asked, "LD_LIBRARY_PATH", *companions(s)), ("libcudnn", "libcudart"),
                 f"LD_LIBRARY_PATH has {value!r}, as it was written", "there is no such directory",
                 f"{s.asked} is not searched where it lies")


@kind("hand", ALONE, search=("llp",), place=("venv", "toolkit", "modules"), host=("linked", "named", "ctypes"),
      demand=True, older=1)
def empty_element_finds_a_copy(s):
    """CUDA.jl#1896: an empty element is the current directory, and somebody is where an older one was unpacked."""
    if s.place == "modules":
        s.wrapper_lines[0] = f"export LD_LIBRARY_PATH=$NOTHING:{':'.join(s.llp)}"
    else:
        s.llp = ["", *s.llp]
    if not s.w.faulty:
        return None
    old = s.older()
    s.w.cwd = elsewhere(s, old)
    return truth("older-by-cwd", (s.w.cwd, old, "LD_LIBRARY_PATH"), "libcudnn",
                 "LD_LIBRARY_PATH begins with an empty element", f"the command is started in {s.w.cwd}, where {old} is",
                 "the host refuses it")


@kind("hand", ALONE, place=("venv", "toolkit", "modules", "conda"), host=("linked", "named"), search=("rpath",),
      era=(8,), older=1)
def part_in_the_working_directory(s):
    """CUDA.jl#1896: LD_LIBRARY_PATH begins with ":", and a part of another release lies where the command is started."""
    s.llp = ["", *(s.llp or [f"{s.home}/.mujoco/mujoco210/bin"])]
    if not s.w.faulty:
        return None
    old, s.w.cwd = s.older(), f"{s.home}/rl-project"
    name = s.part_name("ops_infer")
    s.w.put(World.cudnn_files(old, s.cuda)[name], f"{s.w.cwd}/{name}")
    return truth("set-mixed-elsewhere", (name, s.w.cwd, old, "LD_LIBRARY_PATH"), "libcudnn_ops_infer",
                 "LD_LIBRARY_PATH begins with an empty element", f"{name} of {old} lies in {s.w.cwd}")


@kind("hand", HIDES_ABSENCE, place=("venv",), host=("package", "linked", "ctypes", "path"))
def wheels_linked_to_a_cache(s):
    """uv#12003: the environment is of links into the installer's cache, and the cache was pruned."""
    w, cache = s.w, f"{s.home}/.cache/uv/archive-v0/q3vWm0XqNfCyt7HcQ9JrB"
    for name in w.names(s.lib):
        inside = f"{cache}/nvidia/cudnn/lib/{name}"
        w.put(w.read(f"{s.lib}/{name}"), inside)
        w.link(f"{s.lib}/{name}", inside)
    info = next(n for n in w.names(s.site) if n.startswith("nvidia_cudnn") and n.endswith(".dist-info"))
    w.write(f"{s.site}/{info}/INSTALLER", "uv\n")
    if not s.w.faulty:
        return None
    for name in w.names(f"{cache}/nvidia/cudnn/lib"):
        w.remove(f"{cache}/nvidia/cudnn/lib/{name}")
    return truth("links-lead-nowhere", (s.facade, s.package), "libcudnn", "`uv cache prune` has emptied the cache",
                 f"the files of {s.package} are links into it", f"{s.facade} cannot be opened")


# ---- build: how hosts and their packages were built --------------------------------------------------------

@kind("build", HIDES_ABSENCE, place=("venv", "conda"), host=("package", "linked", "named"), search=("runpath", "rpath"),
      framework=("torch", "visionkit", "lensflow", "jax_plugin"))
def origin_was_eaten(s):
    """native-toolchain#48, OpenTimelineIO#899, mistral.rs#2411: make or cmake made something else of $ORIGIN."""
    if s.place == "venv" and s.host != "package":  # a host in the environment itself
        path = f"{s.prefix}/bin/{os.path.basename(s.host_file)}"
        s.w.at(s.host_file).rename(s.w.at(path))
        s.w.argv = [path if a == s.host_file else a for a in s.w.argv]
        s.host_file = path
    path = s.search_path(s.host_file)
    rebuild(s, path)
    if not s.w.faulty:
        return None
    path = s.w.rng.choice((path.replace("$ORIGIN", "RIGIN"), path.replace("$ORIGIN", "\\$ORIGIN"),
                           path.replace("$ORIGIN", "$$ORIGIN"), path.replace("$ORIGIN", "@loader_path"),
                           "libcudart-c3a75b33.so.12.8.90"))
    rebuild(s, path)
    return truth("not-searched-as-written", (s.facade, *companions(s)), ("libcudnn", "libcudart"),
                 f"the host's search path is {path}", "there is no such directory", f"{s.facade} is not found")


@kind("build", ALONE, place=("venv", "toolkit", "modules"), era=(8, 9))
def built_for_a_newer_libc(s):
    """pytorch#137978: a release of cuDNN was built where the system's libraries are newer."""
    if not s.w.faulty:
        return None
    name = s.w.rng.choice((s.facade, s.facade, s.part_name("ops_infer" if s.era == 8 else "graph")))
    data, version = another_libc(s.w.read(s.file(name)))
    if s.owner == "wheel":
        uninstall(s, s.package)
        package, full, files, requires = World.cudnn_wheel(s.version, s.cuda)
        s.w.wheel(s.site, package, full, {**files, f"nvidia/cudnn/lib/{name}": data}, requires, own=True)
    else:
        s.w.put(data, s.file(name))
    return truth("newer-libc", (name, version, "libc.so.6"), (name.split(".")[0], "libc"),
                 f"{name} was built with a newer libc", f"it wants {version}, which libc.so.6 has not",
                 "the loader refuses it")


@kind("build", ALONE, place=("venv", "container"), host=("package",), framework=("torch", "visionkit"),
      era=(8, 9))
def loaded_for_itself_alone(s):
    """pytorch#43006, #189043: a module leaves it to another to load cuDNN for all; it is loaded for itself alone."""
    mode = "" if s.w.faulty else ", mode=ctypes.RTLD_GLOBAL"
    init = ("import ctypes, os\nctypes.CDLL(os.path.join(os.path.dirname(__file__), "
            f"'../nvidia/cudnn/lib/{s.facade}'){mode})\n")
    rebuild(s, s.search_path(s.host_file), ("-DLINKED",), init)
    if not s.w.faulty:
        return None
    functions = ("cudnnGetVersion", "cudnnCreate", "cudnnConvolutionForward", "cudnnBackendFinalize")
    return truth("nobody-provides", functions, ("_engine", "libtorch_cuda", "libcudnn"),
                 f"{s.facade} is opened with RTLD_LOCAL",
                 f"{s.module_name} names no library for cuDNN's functions", "they are not found")


@kind("build", HIDES_ABSENCE, place=("venv",), host=("package",), framework=("torch", "visionkit"), era=(9,),
      cuda=("13",))
def wheels_laid_out_otherwise(s):
    """cuml#7304: built for nvidia/cublas/lib and its like; from CUDA 13 on all of it is in nvidia/cu13/lib."""
    dirs = [s.lib, *(s.cuda_dirs if not s.w.faulty else
                     [f"{s.site}/{d}" for d in World.cuda_dirs("12")])]
    rebuild(s, ":".join("$ORIGIN/" + os.path.relpath(d, os.path.dirname(s.host_file)) for d in dirs))
    if not s.w.faulty:
        return None
    return truth("companion-missing", companions(s), ("libcudart", "libcublas", "libcublasLt", "libnvrtc"),
                 "the host looks into nvidia/cublas/lib and its like", "CUDA 13's wheels are in nvidia/cu13/lib",
                 "the first of CUDA's libraries is not found")


@kind("build", ("harmless", "late", "workers", "wrapper", "no-cache"), place=("venv",), era=(9,),
      search=("runpath", "path"))
def part_needed_by_an_extension(s):
    """TransformerEngine#1853, onnxruntime#23643: an extension is linked with a part, which it does not find."""
    ext = f"{s.site}/fusedattn/_C.so"
    data = stock.host(None, None, False, extra_needs=("libcudnn_adv.so.9",)).read_bytes()
    path = "$ORIGIN/../nvidia/cudnn/lib" if not s.w.faulty else "$ORIGIN/../torch/lib"
    s.w.wheel(s.site, "fusedattn", "2.3.0", {"fusedattn/__init__.py": b"\n",
                                             "fusedattn/_C.so": stock.set_path(data, "runpath", path)})
    s.before_steps = [*s.before_steps, f"open:{ext}"]
    if not s.w.faulty:
        return None
    return truth("part-not-searched", "libcudnn_adv.so.9", "libcudnn_adv", "fusedattn is linked with libcudnn_adv.so.9",
                 f"its search path is {path}", f"{s.package}'s is not searched")
