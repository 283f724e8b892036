# SPDX-License-Identifier: Apache-2.0
"""By which way a copy comes in: a name without a number, the loader cache, LD_PRELOAD, a variable
that was set too late; and what comes in twice."""

from harness.rows import case


@case("A160-paddle-takes-the-next-major-without-a-word", "toolkit")
@case("A161-paddle-takes-the-next-major-from-a-directory", "directory")
def a_check_that_lets_another_major_pass(w, layout):
    """PaddlePaddle compares numbers alone: the next major, under the name without a number, is
    greater, and passes."""
    built, newer = w.release("8.1", "8.9"), w.release("9.1", "9.9")
    old = w.toolkit(built, cuda=11)
    new = w.toolkit(newer, cuda=12) if layout == "toolkit" else w.directory(newer)
    if layout == "directory":
        (new / "libcudnn.so").symlink_to("libcudnn.so.9")
    host = w.host("paddle", built, linked=False)
    host.does("open:libcudnn.so", host.checks, "version")
    w.environment["LD_LIBRARY_PATH"] = f"{new}:{old}" if w.faulty else old
    w.says(f"version {newer.number}", ends=0)
    w.finds("major-differs", new / "libcudnn.so", newer, built)
    w.repairs("set-variable", maps=old / "libcudnn.so")


@case("A162-preloaded-by-its-path", "path", False)
@case("A163-preloaded-by-its-name", "name", False)
@case("A164-preloaded-before-a-linked-host", "path", True)
def preloaded_for_another_program(w, how, linked):
    """LD_PRELOAD names an older cuDNN, as a remedy of another time: it comes before whatever the
    framework looks for."""
    older, built = w.two("9.1", "9.9")
    wheel, kept = w.wheel(built), w.directory(older)
    host = w.host("torch", built, search=[wheel], linked=linked)
    host.does(*([] if linked else ["open:libcudnn.so.9"]), host.checks, "create")
    if w.faulty:
        w.environment["LD_PRELOAD"] = kept / "libcudnn.so.9" if how == "path" else "libcudnn.so.9"
    if w.faulty and how == "name":
        w.environment["LD_LIBRARY_PATH"] = kept
    w.says(f"PyTorch was compiled  against {built.tuple} but found runtime version {older.tuple}")
    w.finds("runtime-too-old", kept / "libcudnn.so.9", older, "LD_PRELOAD")
    w.repairs("set-variable", maps=wheel / "libcudnn.so.9")


@case("A206-preloaded-beside-the-copy-that-a-wheel-opens-by-its-path")
def preloaded_beside_another_copy(w):
    """LD_PRELOAD names a cuDNN that the framework accepts, and its wheel opens its own by path: two
    facades, of which only the first one is used."""
    older, built = w.two("9.1", "9.9")
    wheel, kept = w.wheel(built), w.directory(older)
    host = w.host("jax", older, search=[wheel], linked=False)
    host.does(f"open:{wheel}/libcudnn.so.9", "open:libcudnn.so.9", "version", "create", "call:cudnnOpsVersionCheck")
    if w.faulty:
        w.environment["LD_PRELOAD"] = kept / "libcudnn.so.9"
    w.says(f"version {older.number}", ends=0)
    w.finds("two-copies-loaded", kept / "libcudnn.so.9", older, "LD_PRELOAD")
    w.repairs("set-variable", maps=wheel / "libcudnn.so.9")


@case("A165-changed-in-a-running-program", "change", False, "search-path-suspect")
@case("A166-set-in-a-running-program", "set", False, "search-path-suspect")
@case("A167-set-in-a-running-program-and-the-check-refuses", "set", True, "expectation-not-met")
def the_variable_is_changed_too_late(w, how, checked, found):
    """A script sets LD_LIBRARY_PATH to the right directory and opens cuDNN: the loader goes by what
    the variable was at the start."""
    older, built = w.two("9.1", "9.9")
    right, wrong = w.directory(built), w.directory(older)
    host = w.host("plain", built, linked=False)
    host.does(f"set:LD_LIBRARY_PATH={right}", "open:libcudnn.so.9", "version",
              *([f"check:dlib:{built.number}"] if checked else []))
    if how == "change" or not w.faulty:
        w.environment["LD_LIBRARY_PATH"] = wrong if w.faulty else right
    else:
        w.cache = [wrong]
    if checked:
        w.environment["WHICHCUDNN_EXPECT"] = f">=9.{built.minor}"
    w.says(f"version {older.number}", ends=1 if checked else 0)
    w.finds(found, wrong / "libcudnn.so.9", older, f"LD_LIBRARY_PATH={right}",
            right / "libcudnn.so.9", built)
    w.repairs("set-variable", maps=right / "libcudnn.so.9")


@case("A205-parts-are-searched-by-a-variable-that-was-set-too-late")
def the_variable_for_the_parts_is_set_too_late(w):
    """A package has a facade and no parts (coiled/feedback#320); the script names the directory of a
    whole set in LD_LIBRARY_PATH before its imports, which the loader no longer reads."""
    release = w.release("9.1", "9.20")
    whole = w.directory(release)
    alone = {"only": ["facade"], "options": ["--no-path"]} if w.faulty else {}
    bundle = w.directory(release, w.site / "bundle/lib", **alone)
    host = w.host("plain", release, linked=False)
    host.does(f"set:LD_LIBRARY_PATH={whole}", f"open:{bundle}/libcudnn.so.9", "version", "create")
    w.says("Cannot load symbol cudnn", ends="SIGABRT")
    w.finds("part-missing", "graph", bundle, f"LD_LIBRARY_PATH={whole}",
            whole / "libcudnn_graph.so.9")
    w.repairs("set-variable", maps=bundle / "libcudnn.so.9")
    w.leaves("part-from-other-installation")


@case("A168-a-package-for-cuda-11-has-no-blackwell", "9.7", "9.10", 11, "NVIDIA GeForce RTX 5090",
      "12.0")
@case("A169-a-package-for-cuda-10-has-no-ampere", "8.0", "8.4", 10, "NVIDIA A100-SXM4-40GB", "8.0")
@case("A170-a-package-for-cuda-12-has-no-kepler", "8.8", "8.8", 12, "Tesla K80", "3.7")
def made_for_a_cuda_that_has_no_code_for_the_gpu(w, first, last, cuda, gpu, capability):
    """The release knows the GPU; the package of it that was installed is made for a CUDA that does
    not."""
    release = w.release(first, last)
    good = {11: 12, 10: 11, 12: 11}[cuda]
    w.gpu(gpu, capability)
    function = "cudnnBackendFinalize" if release.major > 8 else "cudnnOpsInferVersionCheck"
    if w.faulty:
        w.create = ("--create-status", "0", "--status", f"{function}=5000")
    lib = w.wheel(release, cuda=cuda if w.faulty else good)
    host = w.host("plain", release, search=[lib], tag="rpath", imports=[function],
                  refuses="no kernel image is available for execution on the device")
    host.does("version", "create", f"call:{function}")

    def another_build():
        w.create = ("--create-status", "0")
        for info in w.site.glob("nvidia_cudnn*"):
            info.rename(w.scratch / info.name)
        w.wheel(release, cuda=good)

    w.says("no kernel image is available", ends=1)
    w.finds("gpu-unsupported", release.soname, release, capability, gpu, f"CUDA {cuda}")
    w.repairs("upgrade-host", maps=lib / release.soname, by=another_build)


@case("A171-two-runtimes-of-cuda-and-a-crash", "cuda_runtime", "libcudart.so.12", "other", True)
@case("A172-two-compilers-of-cuda-and-a-crash", "cuda_nvrtc", "libnvrtc.so.12", "other", True)
@case("A173-the-same-bytes-twice-and-a-crash", "cublas", "libcublas.so.12", "same", True)
@case("A174-two-runtimes-of-cuda-side-by-side", "cuda_runtime", "libcudart.so.12", "other", False)
@case("A175-a-runtime-that-a-wheel-grafted", "cuda_runtime", "libcudart.so.12", "grafted", False)
def a_cuda_library_comes_in_twice(w, package, soname, build, crashes):
    """PyTorch brings a library of CUDA's; another package opens one of its own by its path, where
    its name alone would have led to the one that is there."""
    release = w.release("9.1", "9.9")
    lib, own = w.wheel(release), w.nvidia(package, soname)
    functions = [] if build == "same" else ["of_another_build"]
    toolkit, grafted = w.root / "usr/local/cuda-12.4/lib64", w.site / "torchvision.libs"
    if build == "grafted":
        other = w.cuda_dependency(soname.replace(".so", "-41118559.so"), grafted, functions)
    else:
        other = w.cuda_dependency(soname, toolkit, functions)
    torch = w.host("torch", release, search=[lib, own], needs=[soname])
    torch.does("version", "create")
    second = w.host("plain", release, search=[lib], site=w.root / "opt/second", linked=False)
    second.does(f"open:{other if w.faulty else soname}",
                *(["abort"] if crashes and w.faulty else []))

    w.says(f"version {release.number}", ends="SIGABRT" if crashes else 0)
    w.finds("two-cuda-copies", other, own / soname, second.library, torch.library)
    w.repairs("upgrade-host", maps=own / soname, says=second.library.name)


@case("A176-two-facades-and-a-crash", True)
@case("A177-two-facades-side-by-side", False)
def a_second_facade_is_opened_by_its_path(w, crashes):
    """Two frameworks have a cuDNN of their own each, and each uses it; then the process dies."""
    older, newer = w.two("7.1", "7.6")
    first, other = w.directory(newer, w.site / "torch/lib"), w.directory(older)
    torch = w.host("torch", newer, search=[first], requires=[])
    torch.does("version", "create")
    second = w.host("plain", older, site=w.root / "opt/second", linked=False)
    second.does(f"open:{other if w.faulty else first}/libcudnn.so.7", "version",
                *(["abort"] if crashes and w.faulty else []))

    def one_copy():
        second.words = [f"open:{first}/libcudnn.so.7", "version"]

    w.says(f"version {older.number}", ends="SIGABRT" if crashes else 0)
    w.finds("two-copies-loaded", first / "libcudnn.so.7", other / "libcudnn.so.7", second.library)
    w.repairs("remove", maps=first / "libcudnn.so.7", by=one_copy)


@case("A178-a-bare-name-leads-out-of-the-environment", "variable")
@case("A179-a-bare-name-leads-to-the-system-by-the-cache", "cache")
def a_name_without_a_number_leads_past_the_wheel(w, way):
    """A script opens libcudnn.so. The wheel in its environment has the numbered name alone, so the
    system's copy comes in, of the major before."""
    older, own = w.release("8.5", "8.9"), w.release("9.1", "9.9")
    wheel, system = w.wheel(own), w.toolkit(older, cuda=11)
    script = w.host("plain", own, linked=False)
    script.does("open:libcudnn.so" if w.faulty else "open:libcudnn.so.9", "version")
    if not w.faulty:
        w.environment["LD_LIBRARY_PATH"] = wheel
    elif way == "cache":
        w.cache = [system]
    else:
        w.environment["LD_LIBRARY_PATH"] = system
    w.says(f"version {older.number}", ends=0)
    w.finds("own-copy-unused", system / "libcudnn.so", older, own.wheel, wheel, script.library.name)
    w.repairs("link", maps=wheel / "libcudnn.so.9")


@case("A180")
def the_loader_cache_has_another_release_than_the_environment(w):
    """Nothing leads into the environment, whose wheel is the right one: an older copy comes in
    through the loader's cache, and the script ends."""
    older, own = w.two("9.1", "9.9")
    wheel, system = w.wheel(own), w.directory(older)
    script = w.host("plain", own, linked=False)
    script.does("open:libcudnn.so.9", "version", f"check:dlib:{own.number}")
    w.cache = [system]
    if not w.faulty:
        w.environment["LD_LIBRARY_PATH"] = wheel
    w.says(f"cudnnGetVersion() : {older.number} , CUDNN_VERSION from cudnn.h : {own.number}",
           ends=1)
    w.finds("own-copy-unused", system / "libcudnn.so.9", older, own.wheel, wheel)
    w.repairs("set-variable", maps=wheel / "libcudnn.so.9")


@case("A181-the-cache-beats-what-is-installed", True)
@case("A182-the-cache-beats-what-is-installed-for-a-linked-host", False)
def what_is_installed_need_not_be_installed_once_more(w, by_name):
    """The wheel that PyTorch pins is there, and PyTorch has lost its search path: to install the
    wheel once more changes nothing."""
    older, own = w.two("9.1", "9.9")
    wheel, system = w.wheel(own), w.directory(older)
    torch = w.host("torch", own, linked=not by_name, search=[] if w.faulty else [wheel])
    torch.does(*(["open:libcudnn.so.9"] if by_name else []), torch.checks, "create")
    w.cache = [system]
    w.says(f"PyTorch was compiled  against {own.tuple} but found runtime version {older.tuple}")
    w.finds("runtime-too-old", system / "libcudnn.so.9", older, own.wheel, wheel)
    w.repairs("set-variable", maps=wheel / "libcudnn.so.9")
