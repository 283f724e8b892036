# SPDX-License-Identifier: Apache-2.0
"""More kinds of fault, of machines and their drivers, of installers, of how programs come to a cuDNN, and of what becomes
of files on their way. Each names the thread where it happened. As in kinds.py, both twins share what stands before `if
not s.w.faulty: return None`."""
import os
import re
import shutil
import struct
import zipfile

import stock
from kinds import ALONE, HIDES_ABSENCE, LABELS, NOT_TWO, elsewhere, in_front, kind, told, truth, uninstall, whole
from kinds_by_hand import companions, host_data, rebuild
from scene import SYSTEM
from world import PYTHON, World, cuda_wheel_name

LABELS.update({
    "driver-empty": {"driver-missing", "bad-file"},
    "driver-name-only": {"driver-missing", "wrong-name"},
    "driver-of-linux-in-wsl": {"driver-missing", "driver-mixed", "init-failed"},
    "devices-refused": {"driver-missing", "init-failed", "refused-by-system"},
    "gpus-hidden": {"driver-missing", "init-failed"},
    "mixed-in-one-place": {"facade-and-parts-differ", "parts-differ", "installation-mixed",
                           "part-from-other-installation"},
    "older-by-half-an-upgrade": {"runtime-too-old", "installation-mixed", "installation-incomplete"},
    "older-in-another-place": {"runtime-too-old", "already-loaded-by-soname", "own-copy-unused", "shadowed-copy"},
    "nothing-installed": {"library-not-found", "gpu-stack-not-reached", "dependency-missing",
                          "cuda-dependency-differs"},
    "parts-from-where-it-was-sent": {"facade-and-parts-differ", "parts-differ", "part-from-other-installation",
                                     "installation-mixed"},
    "of-the-last-major": {"library-not-found", "dependency-missing", "major-differs"},
    "older-cublaslt": {"cuda-dependency-differs", "symbol-version-not-found"},
    "full-name-gone": {"library-not-found", "wrong-name"},
    "inside-an-archive": {"library-not-found", "bad-file", "refused-by-system"},
    "part-vanished": {"part-missing", "replaced-on-disk"},
})

WITHOUT_CACHE = ("harmless", "late", "blame", "workers", "wrapper")

# ---- helpers --------------------------------------------------------------------------------------------


def counts_gpus(s):
    """Half of the hosts count the GPUs before they call cuDNN."""
    if s.w.rng.random() < 0.5 and s.host != "ctypes":
        at = next((i + 1 for i, p in enumerate(s.steps) if p.startswith("name=")), 0)
        s.steps[at:at] = ["driver"]


def take_driver_away(s, kernel=True):
    """The system's libraries of the driver; kernel: what its module shows, too."""
    for name in s.w.names(SYSTEM):
        if name.startswith(("libcuda.so", "libnvidia-ml")):
            s.w.remove(f"{SYSTEM}/{name}")
    if kernel:
        for name in s.w.names("/dev"):
            if name.startswith("nvidia"):
                s.w.remove(f"/dev/{name}")
        shutil.rmtree(s.w.at("/.driver/nvidia"))
    s.w.system_changed = True


def state_of_driver(s, error):
    s.w.write("/.driver/nvidia/cuInit", f"{error}\n")


def move_site(s, to):
    """The environment's packages lie elsewhere, and PYTHONPATH says where."""
    w, old = s.w, s.site
    w.at(to).parent.mkdir(parents=True, exist_ok=True)
    w.at(old).rename(w.at(to))
    w.at(old).mkdir()
    s.site, s.lib, s.host_file = to, s.lib.replace(old, to), s.host_file.replace(old, to)
    s.cuda_dirs = [d.replace(old, to) for d in s.cuda_dirs]
    w.env["PYTHONPATH"] = to


def segments(data):
    """(where its header is, offset in the file) of each segment that is loaded."""
    (phoff,) = struct.unpack_from("<Q", data, 32)
    size, count = struct.unpack_from("<HH", data, 54)
    for at in range(phoff, phoff + size * count, size):
        if struct.unpack_from("<I", data, at)[0] == 1:
            yield at, struct.unpack_from("<Q", data, at + 8)[0]


# ---- machine: what a computer, its container or its job brings -----------------------------------------------

@kind("machine", ALONE, place=("container",))
def empty_files_of_the_runtime(s):
    """libnvidia-container#50, R3Det_Tensorflow#78: an image was committed from a container of NVIDIA's runtime, whose
    mounts left empty files behind; it is started without that runtime."""
    counts_gpus(s)
    if not s.w.faulty:
        return None
    take_driver_away(s)
    for name in ("libcuda.so", "libnvidia-ml.so"):
        s.w.write(f"{SYSTEM}/{name}.515.65.01", "")
        s.w.link(f"{SYSTEM}/{name}.1", f"{name}.515.65.01")
    return truth("driver-empty", "libcuda", "libcuda", "the image has empty files in place of the driver's libraries",
                 "the container was started without NVIDIA's runtime", "libcuda.so.1 is too short", "cudnnCreate fails")


@kind("machine", WITHOUT_CACHE, place=("container", "toolkit"), host=("linked", "named", "package"))
def directory_in_place_of_the_file(s):
    """isaac_ros_common#2: `docker run -v FILE:FILE`, and the computer has no such file: docker makes a directory."""
    if not s.w.faulty:
        return None
    s.w.finish()  # the loader's cache is the image's
    path = f"{s.lib}/{s.facade}"
    s.w.remove(path)
    s.w.at(path).mkdir()
    return truth("bad-file", (s.facade, "directory"), "libcudnn", f"{path} is a directory, made for a mount",
                 "the loader opens it and can read nothing", "the host is not started")


@kind("machine", ALONE, place=("container",), host=("linked", "named"), era=(8, 9))
def one_file_mounted_over_the_image(s):
    """As jetson-inference#915 and nvidia-container-toolkit#274: files of the computer's cuDNN come by mounts into an
    image that has its own; here one part alone."""
    other, name = s.other(), told(s)
    source = s.w.root.with_name(f"{s.w.root.name}-computer-{name}")
    shutil.copy(World.cudnn_files(other, s.cuda)[name], source)
    if not s.w.faulty:
        return None
    s.w.stage.append(f"bind={source}:{s.lib}/{name}")
    return truth("mixed-in-one-place", (name, name.split(".")[0].split("_", 1)[1], other), name.split(".")[0],
                 f"{name} of the computer, {other}, is mounted over the image's", f"the rest is of {s.version}",
                 "cuDNN is a mixed set")


@kind("machine", ALONE, place=("container", "venv"))
def driver_without_its_links(s):
    """nvidia-container-toolkit#128: CDI mounts libcuda.so.RELEASE, and nobody runs ldconfig in the container."""
    counts_gpus(s)
    if not s.w.faulty:
        return None
    names = [n for n in s.w.names(SYSTEM) if n.startswith(("libcuda.so", "libnvidia-ml"))]
    kept = {n: s.w.read(f"{SYSTEM}/{n}") for n in names if not s.w.at(f"{SYSTEM}/{n}").is_symlink()}
    take_driver_away(s, kernel=False)
    s.w.finish()
    for name, data in kept.items():
        s.w.put(data, f"{SYSTEM}/{name}")
    return truth("driver-name-only", ("libcuda.so.1", *kept), "libcuda", "only libcuda.so.580.82.07 was mounted",
                 "libcuda.so.1 would be made by ldconfig, which has not run", "cudnnCreate fails")


@kind("machine", ALONE, place=("container", "venv", "system"))
def driver_baked_into_the_image(s):
    """nvidia-docker#856: the image has libraries of the driver of the computer where it was built, and its link."""
    counts_gpus(s)
    release = s.w.rng.choice(("535.104.05", "550.90.07", "570.86.15"))
    s.w.put(stock.driver("CUDA", 803), f"{SYSTEM}/libcuda.so.{release}")
    if not s.w.faulty:
        return None
    s.w.link(f"{SYSTEM}/libcuda.so.1", f"libcuda.so.{release}")
    s.w.system_changed = True
    return truth("mixed-driver", (release,), "libcuda", f"libcuda.so.1 of the image leads to {release}",
                 "the module is 580.82.07", "cuInit fails", "cudnnCreate fails")


@kind("machine", ALONE, place=NOT_TWO)
def module_not_built(s):
    """libnvidia-container#3: after an update of the kernel, or on a new instance, the driver's module is not loaded."""
    counts_gpus(s)
    if not s.w.faulty:
        return None
    take_driver_away(s)
    for name, data in (("libcuda.so", stock.driver("CUDA", 100)), ("libnvidia-ml.so", stock.driver("NVML"))):
        s.w.put(data, f"{SYSTEM}/{name}.580.82.07")
        s.w.link(f"{SYSTEM}/{name}.1", f"{name}.580.82.07")
    return truth("driver-unusable", ("/dev/nvidia", "/proc/driver/nvidia", "kernel module"), "libcuda",
                 "the module nvidia is not loaded", "cuInit finds no device", "cudnnCreate fails")


@kind("machine", ALONE, place=("venv", "conda", "toolkit"))
def driver_of_linux_inside_wsl(s):
    """numba#7106, cuml#6218: in WSL the driver is /usr/lib/wsl/lib; apt brought another libcuda, which finds no GPU."""
    w = s.w
    counts_gpus(s)
    take_driver_away(s)
    w.write("/dev/dxg", "", 0o666)
    for name in ("libcuda.so", "libcuda.so.1", "libcuda.so.1.1"):
        w.put(stock.driver("CUDA"), f"/usr/lib/wsl/lib/{name}")
    w.put(stock.driver("NVML"), "/usr/lib/wsl/lib/libnvidia-ml.so.1")
    w.write("/etc/ld.so.conf.d/ld.wsl.conf", "/usr/lib/wsl/lib\n")
    in_front(s, SYSTEM)
    if not w.faulty:
        return None
    w.put(stock.driver("CUDA", 100), f"{SYSTEM}/libcuda.so.535.183.01")
    w.link(f"{SYSTEM}/libcuda.so.1", "libcuda.so.535.183.01")
    return truth("driver-of-linux-in-wsl", ("/usr/lib/wsl/lib", f"{SYSTEM}/libcuda.so", "535.183.01"), "libcuda",
                 "apt has installed a driver for Linux in WSL", f"LD_LIBRARY_PATH begins with {SYSTEM}",
                 "its libcuda finds no device", "cudnnCreate fails")


@kind("machine", ALONE, place=("container", "venv", "conda"))
def device_not_passed_on(s):
    """lxd#5618, llama.cpp#7218: a container has /dev/nvidia0 and /dev/nvidiactl; nvidia-uvm is not there."""
    counts_gpus(s)
    s.w.write("/dev/nvidia-uvm", "", 0o666)
    if not s.w.faulty:
        return None
    s.w.remove("/dev/nvidia-uvm")
    state_of_driver(s, 999)
    return truth("driver-unusable", "nvidia-uvm", "libcuda", "/dev/nvidia-uvm is not there", "cuInit fails",
                 "cudnnCreate fails")


@kind("machine", ALONE, root=True, place=("venv", "toolkit", "modules", "conda"))
def devices_of_root(s):
    """tkDNN#282: the device files may be opened by root and a group, and the user is in none of them."""
    counts_gpus(s)
    s.w.stage = ["uid=1000"]
    s.w.at("/log").chmod(0o777)
    if not s.w.faulty:
        return None
    for name in s.w.names("/dev"):
        if name.startswith("nvidia"):
            s.w.at(f"/dev/{name}").chmod(0o660)
    return truth("devices-refused", "/dev/nvidia", "libcuda", "/dev/nvidia0 is of mode 0660, root's", "cuInit fails",
                 "cudnnCreate fails")


@kind("machine", ALONE, place=NOT_TWO)
def gpus_hidden(s):
    """ray#28215: a scheduler sets CUDA_VISIBLE_DEVICES to nothing; or it names a GPU of another machine."""
    counts_gpus(s)
    s.w.env["CUDA_VISIBLE_DEVICES"] = "0"
    if not s.w.faulty:
        return None
    s.w.env["CUDA_VISIBLE_DEVICES"] = value = s.w.rng.choice(("", "-1", "64"))
    return truth("gpus-hidden", "CUDA_VISIBLE_DEVICES", "libcuda", f"CUDA_VISIBLE_DEVICES is {value!r}",
                 "cuInit finds no device", "cudnnCreate fails")


# ---- managers: installers that do not know of each other, or of what they did before ---------------------------

@kind("managers", ALONE, place=("venv",), host=("package",), framework=("torch", "visionkit"), demand=True, older=1)
def target_not_replaced(s):
    """pip#13763, #13224: `pip install --target` leaves directories that are there; nvidia/ is of the last release."""
    w = s.w
    move_site(s, "/opt/app/python")
    if not w.faulty:
        return None
    old = s.older()
    info = next(n for n in w.names(s.site) if n.startswith("nvidia_cudnn") and n.endswith(".dist-info"))
    kept = {n: w.read(f"{s.site}/{info}/{n}") for n in w.names(f"{s.site}/{info}")}
    whole(s, old)
    for name, data in kept.items():
        w.write(f"{s.site}/{info}/{name}", data)
    return truth("older-by-half-an-upgrade", (old, s.package), "libcudnn", f"{s.site}/nvidia was there, of {old}",
                 f"pip added the metadata of {s.version} and left the files", "the host refuses it")


@kind("managers", ALONE, printed=True, place=("conda",), host=("package",), framework=("torch", "visionkit"),
      era=(8, 9), demand=True, older=1)
def home_in_front_of_conda(s):
    """pytorch#91067, sdnext#913: ~/.local has the same framework, of `pip install --user`, and comes before conda's."""
    w, old = s.w, s.older()
    user = f"{s.home}/.local/lib/{PYTHON}/site-packages"
    inside = os.path.relpath(s.host_file, s.site)
    here = os.path.dirname(f"{user}/{inside}")
    dirs = ["nvidia/cudnn/lib", *World.cuda_dirs(s.cuda)]
    data = host_data(s, ":".join("$ORIGIN/" + os.path.relpath(f"{user}/{d}", here) for d in dirs))
    init = f"{s.module_name}/__init__.py"
    w.wheel(user, s.dist, s.dist_version, {inside: data, init: w.read(f"{s.site}/{init}")})
    w.wheel(user, *World.cudnn_wheel(old, s.cuda))
    for wheel in World.cuda_wheels(s.cuda):
        w.wheel(user, *wheel)
    if not w.faulty:
        w.env["PYTHONNOUSERSITE"] = "1"
        return None
    return truth("older-first-unsaid", (user, old), "libcudnn", f"{s.module_name} is imported from {user}",
                 f"{old} is there, {s.version} in conda's environment", "the host refuses it")


@kind("managers", HIDES_ABSENCE, place=("venv",), host=("package", "linked", "ctypes", "path"), era=(8, 9))
def other_flavour_uninstalled(s):
    """As pytorch#104259: -cu11, -cu12 and -cu13 own the same files; who uninstalls one takes those of the other."""
    if not s.w.faulty:
        return None
    other = next(c for c in s.w.rng.sample(("11", "12", "13"), 3) if c != s.cuda and stock.releases(s.era, c))
    name, full, files, requires = World.cudnn_wheel(s.w.rng.choice(stock.releases(s.era, other)), other)
    s.w.wheel(s.site, name, full, files, requires)
    uninstall(s, name)
    return truth("package-without-files", s.package, "libcudnn", f"{name} was installed over {s.package}",
                 "with it the files went that both own", f"{s.facade} is not found")


@kind("managers", ALONE, place=("conda",), host=("package", "linked", "named"), era=(8, 9), demand=True, older=1)
def two_packages_own_the_files(s):
    """cudf#13233, COMEBin#7: conda's ClobberError: packages of two channels have the same paths."""
    if not s.w.faulty:
        return None
    old = s.older()
    s.w.conda_package(s.prefix, "libcudnn", stock.wheel_version(old), f"cuda{s.cuda}_1",
                      {f"lib/{n}": p for n, p in World.cudnn_files(old, s.cuda).items()})
    return truth("older-by-half-an-upgrade", (old, "libcudnn-"), "libcudnn",
                 f"libcudnn {old} of another channel lies over cudnn {s.version}", "the host refuses it")


@kind("managers", HIDES_ABSENCE, place=("venv",), host=("package",), framework=("tensorflow", "jax_plugin"))
def extra_not_asked_for(s):
    """sleap-nn#632, pytorch#100974: the packages of CUDA come by an extra; without it the framework goes on by CPU."""
    s.steps = ["cpu", *s.steps]
    if not s.w.faulty:
        return None
    names = [s.package, *(wheel[0] for wheel in World.cuda_wheels(s.cuda))]
    for name in names:
        uninstall(s, name)
    return truth("nothing-installed", (s.facade, s.package, *companions(s)), ("libcudnn", "libcudart"),
                 f"{s.dist} was installed without its extra", "no package of CUDA or cuDNN is there",
                 "the framework goes on without a GPU")


@kind("managers", HIDES_ABSENCE, place=("venv",), host=("package", "linked", "ctypes"))
def pip_of_another_python(s):
    """ComfyUI-Docker#41: there are several site-packages, and `pip` is another Python's than the one that runs."""
    if not s.w.faulty:
        return None
    uninstall(s, s.package)
    other = s.w.rng.choice(("/usr/local/lib/python3.8/dist-packages", f"{s.home}/.local/lib/python3.8/site-packages",
                            f"{s.prefix}/lib/python3.8/site-packages"))
    s.w.wheel(other, *World.cudnn_wheel(s.version, s.cuda))
    return truth("not-found", (s.facade, s.package, other), "libcudnn", f"{s.package} was installed into {other}",
                 f"the program is run by {PYTHON}", f"{s.facade} is not found")


@kind("managers", ALONE, place=("system", "toolkit"), host=("linked", "named", "unversioned", "ctypes"), era=(8,),
      versions=("8.2.1", "8.5.0", "8.6.0", "8.9.2"))
def leftover_gets_the_link(s):
    """As tensorflow#15236, caffe2#2108: `rm libcudnn.so*` leaves the parts of a newer one, an older one is installed;
    and ldconfig turns each name to the file with the highest number. (A facade of 9 asks for its own numbers first.)"""
    known = stock.releases(s.era, s.cuda)
    new = s.w.rng.choice(known[known.index(s.version) + 1:])
    files = World.cudnn_files(new, s.cuda)
    parts = {n: f"{n.split('.so')[0]}.so.{new}" for n in files if n != s.facade}
    for name, full in parts.items():
        s.w.put(files[name], f"{s.lib}/{full}")
    if not s.w.faulty:
        return None
    for name, full in parts.items():
        s.w.link(f"{s.lib}/{name}", full)
    s.w.system_changed = s.w.system_changed or s.search == "cache"
    return truth("mixed-in-one-place", new, ("libcudnn_graph", "libcudnn_ops_infer", "libcudnn"),
                 f"parts of {new} were left in {s.lib}", "ldconfig has turned their names to them",
                 f"{s.facade} is of {s.version}")


@kind("managers", ALONE, printed=True, place=("modules",), demand=True, older=1)
def view_of_two_packages(s):
    """spack#51519, #12482: a view is one directory of links into packages; of two that have the same name one wins."""
    w, old = s.w, s.older()
    top = s.module.rsplit("/cudnn/", 1)[0]
    view, other = f"{top}/views/ml/lib", f"{top}/cudnn/{old}-cuda-{s.cuda}/lib"
    w.copy_of_cudnn(other, old, s.cuda)
    for package in (s.lib, other) if w.faulty else (other, s.lib):
        for name in w.names(package):
            w.link(f"{view}/{name}", f"{package}/{name}")
    s.llp = [view, *s.cuda_dirs]
    s.wrapper_lines[0] = f"export LD_LIBRARY_PATH={':'.join(s.llp)}"
    if not w.faulty:
        return None
    return truth("older-first-unsaid", (view, other, old), "libcudnn", f"{view} has links into two cuDNN",
                 f"{s.facade} there is that of {old}", "the host refuses it")


@kind("managers", ALONE, place=("venv",), host=("package", "linked"), era=(9,), search=("runpath", "rpath"))
def facade_sent_elsewhere(s):
    """As dream2nix#698 and EasyBuild's and Alliance's wrappers do: patchelf gives all of an environment's libraries the
    path of the site's own, and $ORIGIN is lost."""
    other, directory = s.other(), "/opt/dl"
    s.w.copy_of_cudnn(directory, other, s.cuda)
    if not s.w.faulty:
        return None
    data = bytearray(s.w.read(s.file(s.facade)))
    entries, strings = stock._dynamic(data)
    for _, tag, value in entries:
        if tag in (stock.DT_RPATH, stock.DT_RUNPATH):
            end = data.index(b"\0", strings + value)
            data[strings + value:end] = directory.encode().ljust(end - strings - value, b"\0")
    s.w.put(bytes(data), s.file(s.facade))
    return truth("parts-from-where-it-was-sent", (directory, other, s.package), ("libcudnn_graph", "libcudnn"),
                 f"the search path of {s.facade} is {directory}", f"its parts are those of {other} there")


@kind("managers", ALONE, place=("venv", "modules"), era=(8, 9), search=("runpath", "llp"),
      host=("package", "linked", "named"))
def cublas_of_two_releases(s):
    """ChatGLM-6B#921, pytorch#88882, #91067: libcublas of a wheel, and the libcublasLt of an older toolkit in front."""
    w, names = s.w, stock.companion_names(s.cuda)
    lt, blas = names["cublasLt"], names["cublas"]

    def make(into):
        (into / "old").mkdir()
        node = into / "node"
        node.write_text(f"{lt} {{ global: *; }};\n")
        version = f"-Wl,--version-script={node}"
        common = ("-shared", "-fPIC", "-Wl,-rpath,$ORIGIN")
        for place, more in ((into / "old", ()), (into, ("-DNEWER_LT",))):
            stock._compile("companion.c", place / lt, *common, f"-DCUBLASLT={s.cuda}0400", f"-Wl,-soname,{lt}", version,
                           *more)
        stock._compile("companion.c", into / blas, *common, "-DCUBLAS", "-DNEWER_LT", f"-Wl,-soname,{blas}",
                       "-Wl,--no-as-needed", str(into / lt))
    made = stock._kept(f"cublas-newer-{s.cuda}", make)
    if s.owner == "wheel":
        name, full, files, requires = next(World.cuda_wheels(s.cuda))
        uninstall(s, name)
        w.wheel(s.site, name, full, {path: made / os.path.basename(path) for path in files}, requires, own=True)
    else:
        for name in (lt, blas):
            w.place_files(w.versioned(s.cuda_dirs[0], name, made / name, stock.FULL[s.cuda]))
    if not w.faulty:
        return None
    directory = f"/usr/local/cuda-{s.cuda}.0/lib64"
    w.place_files(w.versioned(directory, lt, made / "old" / lt, f"{s.cuda}.0.1.189"))
    in_front(s, directory)
    return truth("older-cublaslt", (directory, lt), ("libcublasLt", "libcublas"),
                 f"LD_LIBRARY_PATH begins with {directory}, which has an older {lt}",
                 f"{blas} imports what that has not", "it cannot be loaded")


# ---- program: how programs come to a cuDNN -----------------------------------------------------------------------

@kind("program", HIDES_ABSENCE, place=("venv",), era=(8, 9), host=("package", "linked", "ctypes"))
def extension_of_the_last_major(s):
    """onnxruntime-genai#694, FRNN#18, triton#37: something beside the framework was built before the upgrade."""
    where = s.w.rng.choice(("installed", "editable", "cache"))
    last = s.era - 1 if s.w.faulty else s.era
    data = stock.host(None, None, False, extra_needs=(f"libcudnn.so.{last}",)).read_bytes()
    path = {"installed": f"{s.site}/genairt/capi/libgenairt_providers_cuda.so",
            "editable": f"{s.home}/src/genairt/genairt/_C.so",
            "cache": f"{s.home}/.cache/torch_extensions/py3_cu/genairt/_C.so"}[where]
    data = stock.set_path(data, "runpath", "$ORIGIN/" + os.path.relpath(s.lib, os.path.dirname(path)))
    if where == "installed":
        s.w.wheel(s.site, "genairt", "0.3.0", {"genairt/__init__.py": b"\n", os.path.relpath(path, s.site): data})
    else:
        s.w.write(path, data, 0o755)
    if where == "editable":
        s.w.write(f"{s.home}/src/genairt/genairt/__init__.py", "\n")
        s.w.wheel(s.site, "genairt", "0.3.0", {"__editable__.genairt.pth": f"{s.home}/src/genairt\n".encode()})
    if s.host == "ctypes":
        s.steps = [f"open:{path}", *s.steps]
    else:
        s.before_steps = [*s.before_steps, f"open:{path}"]
    if not s.w.faulty:
        return None
    return truth("of-the-last-major", f"libcudnn.so.{last}", "libcudnn", f"{path} was built for cuDNN {last}",
                 f"the environment has {s.version}", f"libcudnn.so.{last} is not found")


@kind("program", HIDES_ABSENCE, place=("venv",), host=("package",), framework=("lensflow",), era=(8, 9))
def relied_on_another_import(s):
    """onnxruntime#21684, #23643: it has no search path of its own; what was imported before it had loaded cuDNN."""
    rebuild(s, "$ORIGIN")
    files = [f"{d}/{n}" for n in companions(s) for d in s.cuda_dirs if s.w.exists(f"{d}/{n}")]
    files = [f for f in files if "builtins" not in f] + [f"{s.lib}/{s.facade}"]
    s.w.wheel(s.site, "bigtorch", "2.4.1", {"bigtorch/__init__.py": (
        "import ctypes, os\nfor name in " + repr([os.path.relpath(f, s.site) for f in files]) + ":\n"
        "    ctypes.CDLL(os.path.join(os.path.dirname(os.path.dirname(__file__)), name))\n").encode()})
    s.steps = [p for p in s.steps if not p.startswith("open:")]
    first = "" if s.w.faulty else "import bigtorch\n"
    s.w.write(s.script, f"import sys\n{first}import {s.module_name}\nsys.exit({s.module_name}.run(sys.argv[1:]))\n")
    if not s.w.faulty:
        return None
    return truth("not-found", s.facade, "libcudnn", "`import bigtorch` was taken out of the script",
                 f"{s.module_name} looks nowhere but where the loader does", f"{s.facade} is not found")


@kind("program", ALONE, place=("venv",), host=("package",), framework=("visionkit", "lensflow"), demand=True, older=1)
def variable_of_the_framework(s):
    """TransformerEngine#2373, torch7's CUDNN_PATH: a package asks a variable of its own where cuDNN is."""
    name = s.w.rng.choice(("CUDNN_PATH", "CUDNN_HOME"))
    rebuild(s, s.search_path(s.host_file), init="import ctypes, os\n_home = os.environ.get(" + repr(name) + ")\n"
            "if _home:\n    for _lib in ('lib', 'lib64'):\n        _path = os.path.join(_home, _lib, "
            f"{s.facade!r})\n        if os.path.exists(_path):\n            ctypes.CDLL(_path)\n            break\n")
    if not s.w.faulty:
        return None
    old = s.older()
    directory = elsewhere(s, old)
    s.w.env[name] = os.path.dirname(directory)
    return truth("older-in-another-place", (directory, old), "libcudnn", f"{name} leads to {old}",
                 f"{s.module_name} opens it by its path", "the host refuses it")


@kind("program", ("harmless", "blame", "workers", "wrapper"), place=("venv",), host=("package",),
      framework=("visionkit", "lensflow"), demand=True, older=1)
def asks_ldconfig(s):
    """TransformerEngine#2373: cuDNN is looked for in what `ldconfig -p` prints, before all else."""
    rebuild(s, s.search_path(s.host_file), init="import ctypes, subprocess\n_said = subprocess.run(['/sbin/ldconfig', "
            "'-p'], capture_output=True, text=True).stdout\nfor _line in _said.splitlines():\n"
            f"    if _line.split(' ')[0].strip() == {s.facade!r}:\n        ctypes.CDLL(_line.split(' => ')[1])\n"
            "        break\n")
    if not s.w.faulty:
        return None
    old = s.older()
    s.w.debs(old, s.cuda, World.cudnn_files(old, s.cuda))
    return truth("older-in-another-place", (f"{SYSTEM}/libcudnn", old), "libcudnn", f"the system has {old}",
                 f"{s.module_name} takes what ldconfig names", f"{s.package} {s.version} is not asked for",
                 "the host refuses it")


@kind("program", ("harmless", "blame", "wrapper"), place=("venv",), host=("package",),
      framework=("torch", "visionkit"), demand=True, older=1)
def worker_in_another_environment(s):
    """ray#17086, vllm#50413: workers have an environment of their own, made from another list of packages."""
    w = s.w
    prefix = "/tmp/ray/session_2026-01-01/runtime_resources/pip/5d41402a/virtualenv"
    site = w.venv(prefix)
    shutil.rmtree(w.at(site))
    shutil.copytree(w.at(s.site), w.at(site), symlinks=True)
    worker = f"{s.home}/work/worker.py"
    w.write(worker, w.read(s.script))
    w.write(s.script, "import os\nimport subprocess\nimport sys\n"
            f"env = dict(os.environ, VIRTUAL_ENV='{prefix}')\n"
            f"sys.exit(subprocess.run(['{prefix}/bin/python', '{worker}', *sys.argv[1:]], env=env).returncode)\n")
    if not w.faulty:
        return None
    old, mine = s.older(), s.site
    s.site = site
    whole(s, old)
    s.site = mine
    return truth("older-first", (prefix, old), "libcudnn", f"{prefix} has {s.package} {old}",
                 f"the parent's environment has {s.version}", "the worker's host refuses it")


@kind("program", HIDES_ABSENCE, place=("toolkit",), search=("llp", "runpath"))
def toolkit_link_turned(s):
    """tensorflow#20: another toolkit was installed, and /usr/local/cuda leads to it; cuDNN is in the first."""
    top = f"/usr/local/cuda-{stock.TOOLKITS[s.cuda]}"
    if s.llp:
        s.llp = [d.replace(top, "/usr/local/cuda") for d in s.llp]
    else:
        rebuild(s, s.search_path(s.host_file).replace(top, "/usr/local/cuda"))
    if not s.w.faulty:
        return None
    other = {"10": "11", "11": "12", "12": "13", "13": "12"}[s.cuda]
    s.w.copy_of_cuda(f"/usr/local/cuda-{stock.TOOLKITS[other]}/lib64", other)
    s.w.link("/usr/local/cuda", f"/usr/local/cuda-{stock.TOOLKITS[other]}")
    return truth("not-found-nor-cuda", (s.asked, *companions(s)), ("libcudnn", "libcudart"),
                 f"/usr/local/cuda leads to CUDA {stock.TOOLKITS[other]}", "/usr/local/cuda/lib64 is searched",
                 f"cuDNN is in {top}/lib64")


@kind("program", ALONE, place=("toolkit",), host=("path",), era=(8, 9))
def path_written_down_when_built(s):
    """CUDAapi.jl#85: a file made when the program was built has the library's path, with its number."""
    full = f"{s.lib}/libcudnn.so.{s.version}"
    s.steps = [f"name={full}" if p.startswith("name=") else p for p in s.steps]
    if not s.w.faulty:
        return None
    whole(s, s.other())
    return truth("full-name-gone", f"libcudnn.so.{s.version}", "libcudnn", "cuDNN was upgraded",
                 f"the program asks for {full}", "that name is gone")


@kind("program", ALONE, place=("venv",), host=("package",), framework=("visionkit", "lensflow", "torch"), era=(8, 9))
def inside_a_zip(s):
    """pex#1035, pyephem#169: the packages were sent to the workers as one archive, and the loader opens no archives."""
    w = s.w
    rebuild(s, s.search_path(s.host_file), init="import ctypes, os\nctypes.CDLL(os.path.join(os.path.dirname("
            f"os.path.dirname(__file__)), 'nvidia/cudnn/lib/{s.facade}'))\n")
    move_site(s, "/data/jobs/17/deps")
    if not w.faulty:
        return None
    top = w.at(s.site)
    with zipfile.ZipFile(w.at(s.site + ".zip"), "w") as archive:
        for directory, _, names in sorted(os.walk(top)):
            for name in sorted(names):
                path = os.path.join(directory, name)
                archive.write(path, os.path.relpath(path, top))
    shutil.rmtree(top)
    w.env["PYTHONPATH"] = s.site + ".zip"
    return truth("inside-an-archive", "deps.zip", ("libcudnn",), f"PYTHONPATH is {s.site}.zip",
                 f"{s.facade} is asked for inside it", "the loader cannot open that")


@kind("program", ("harmless", "blame", "no-cache"), changes=True, place=("toolkit",), host=("linked",),
      search=("runpath",), era=(9,))
def cleaned_while_it_runs(s):
    """pyinstaller#5843, #4821: a bundle of one file unpacks into /tmp, which is tidied up after some days."""
    w, bundle = s.w, "/tmp/_MEIp84zQM"
    w.at(s.lib).rename(w.at(bundle))
    s.lib, s.cuda_dirs = bundle, [bundle]
    rebuild(s, bundle)
    if not w.faulty:
        return None
    at = s.steps.index("finalize")
    s.steps[at:at] = [f"move:{bundle}:/tmp/.cleaned"]
    return truth("part-vanished", ("engines_precompiled", bundle), "libcudnn_engines_precompiled",
                 f"{bundle} was cleaned away while the process ran", "a part is asked for late",
                 "it is not there any more")


STORE = "/nix/store/9y8pmvk8gdwwznmkzxa6pwyah52xy3nk-glibc-2.40"
DRIVER_OF_THE_STORE = "/nix/store/wl3m0ydbqzy8g5hfcwv1v6bqgqkz4cin-nvidia-x11-580.82.07/lib"


@kind("program", ("harmless", "blame", "workers", "wrapper"), place=("toolkit", "conda"), host=("linked",),
      search=("runpath",), era=(8, 9))
def loader_of_its_own(s):
    """nixpkgs#75079, #46032: a program of nix on another system has nix's loader, which knows neither the system's
    cache nor its directories: the driver must come by LD_LIBRARY_PATH."""
    w = s.w
    loader = next(n for n in w.names(SYSTEM) if n.startswith("ld-"))
    data = w.read(f"{SYSTEM}/{loader}").replace(b"/etc/ld.so.cache\0", b"/nix/ld.so.cache\0")
    data, made = re.subn(rb"(?:/(?:usr/)?lib\w*/(?:[\w-]+/)?\0){2,}", lambda m: m[0].replace(b"/lib", b"/nix"), data)
    assert made, "the loader's own directories"
    w.put(data, f"{STORE}/lib/{loader}")
    for name in w.names(SYSTEM):
        if name.startswith(("libc.so", "libdl.so", "libpthread.so")):
            w.put(w.read(f"{SYSTEM}/{name}"), f"{STORE}/lib/{name}")
    path = f"{s.search_path(s.host_file)}:{STORE}/lib"
    source = stock.host(s.era, s.cuda, True, flags=(f"-Wl,--dynamic-linker={STORE}/lib/{loader}",))
    w.write(s.host_file, stock.set_path(source.read_bytes(), s.search, path), 0o755)
    counts_gpus(s)
    w.put(stock.driver("CUDA"), f"{DRIVER_OF_THE_STORE}/libcuda.so.1")
    w.put(stock.driver("NVML"), f"{DRIVER_OF_THE_STORE}/libnvidia-ml.so.1")
    if not w.faulty:
        s.llp = [DRIVER_OF_THE_STORE]
        return None
    return truth("no-driver", ("driver", "libcuda"), "libcuda", f"the program's loader is {STORE}/lib/{loader}",
                 f"it does not look into {SYSTEM}, where libcuda.so.1 is", "cudnnCreate fails")


# ---- bytes: what becomes of files on their way -------------------------------------------------------------------

@kind("bytes", WITHOUT_CACHE, place=("toolkit", "modules"))
def links_became_text(s):
    """tensorrt-insight#38: copied by way of a file system or an archive that knows no links: each is a short text."""
    if not s.w.faulty:
        return None
    s.w.finish()
    for name in s.w.names(s.lib):
        path = s.w.at(f"{s.lib}/{name}")
        if name.startswith("libcudnn") and path.is_symlink():
            s.w.write(f"{s.lib}/{name}", str(path.readlink()), 0o644)
    return truth("bad-file", (s.asked, s.facade), "libcudnn", f"{s.asked} in {s.lib} is a text with the name of a file",
                 "it cannot be loaded")


@kind("bytes", WITHOUT_CACHE, place=("venv", "toolkit", "modules", "conda"), era=(8, 9))
def segments_not_aligned(s):
    """auditwheel#716, patchelf#528: strip behind patchelf, or patchelf 0.18: the loader refuses the file's layout."""
    if not s.w.faulty:
        return None
    s.w.finish()
    name = s.w.rng.choice((s.facade, s.facade, s.part_name("ops_infer" if s.era == 8 else "graph")))
    data = bytearray(s.w.read(s.file(name)))
    for at, offset in list(segments(data))[1:]:
        struct.pack_into("<Q", data, at + 8, offset - 0x40)
    s.w.put(bytes(data), s.file(name))
    return truth("bad-file", (name, name.split(".so")[0]), name.split(".")[0],
                 f"{name} was stripped after patchelf had changed it", "its segments do not lie on pages",
                 "it cannot be loaded")


@kind("bytes", WITHOUT_CACHE, place=("toolkit", "modules"))
def link_to_itself(s):
    """dorado#723: `ln -sf libcudnn.so.9 libcudnn.so.9`, by a script that makes links for all names that it finds."""
    if not s.w.faulty:
        return None
    s.w.finish()
    s.w.link(f"{s.lib}/{s.facade}", s.facade)
    return truth("bad-file", (s.facade, s.asked), "libcudnn", f"{s.lib}/{s.facade} is a link to itself",
                 "there are too many levels of links", "it cannot be opened")
