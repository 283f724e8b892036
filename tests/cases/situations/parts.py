# SPDX-License-Identifier: Apache-2.0
"""Facade and parts are of several releases or installations, or a part is missing."""

from harness.rows import case


@case("A11")
def two_directories_on_one_path(w):
    """Both wheel and module are found by LD_LIBRARY_PATH; facade and parts come from two of its
    directories, since the first has not all parts."""
    own, module = w.two("9.1", "9.20")
    first = w.directory(own, without=["ops"] if w.faulty else [])
    second = w.directory(module)
    host = w.host("plain", own, imports=["cudnnOpsVersionCheck"])
    host.does("version", "create", "call:cudnnOpsVersionCheck")
    w.environment["LD_LIBRARY_PATH"] = f"{first}:{second}"
    w.says(f"version {own.number}")
    w.finds("parts-differ", first, second, own, module)
    w.repairs("set-variable", maps=(second if w.faulty else first) / "libcudnn_ops.so.9")


@case("A13")
def the_libraries_of_the_image_over_those_of_the_wheel(w):
    """An image of CUDA with cuDNN 8 sets LD_LIBRARY_PATH to its own; the wheel's parts are never
    reached."""
    image, own = w.two("8.6", "8.9")
    wheel, system = w.wheel(own), w.toolkit(image)
    torch = w.host("torch", own, search=[wheel], tag="rpath")
    torch.does("version", "create")
    if w.faulty:
        w.environment["LD_LIBRARY_PATH"] = f"{w.root}/usr/local/nvidia/lib64:{system}"
    w.says(f"version {image.number}")
    w.finds("facade-and-parts-differ", wheel, system, own, image)
    w.repairs("set-variable", maps=wheel / "libcudnn_ops_infer.so.8")


@case("A14")
def a_half_upgraded_environment(w):
    """An upgrade was interrupted: the facade is the new release's, the parts are the old one's."""
    old, new = w.two("9.1", "9.20")
    lib = w.wheel(new)
    if w.faulty:
        w.directory(old, lib, without=["facade"])
    torch = w.host("torch", new, search=[lib], tag="rpath")
    torch.does("version", "create")
    w.says(f"version {old.number}")
    w.finds("facade-and-parts-differ", lib, f"nvidia-cudnn-cu{w.cuda(new)}", new, old)
    w.repairs("reinstall", maps=lib / "libcudnn_graph.so.9")


@case("A25")
def a_real_facade_without_its_parts(w):
    """W1 on real files: the facade alone was copied; even cudnnGetVersion aborts."""
    release = w.real(w.rng.choice(["nvidia-cudnn-cu12==9.1.0.70", "nvidia-cudnn-cu13==9.19.0.56",
                                   "nvidia-cudnn-cu12==9.28.0.42"]))
    w.needs_gpu = True
    lib = w.directory(release, without=["graph"] if w.faulty else [])
    host = w.host("plain", release, search=[lib])
    host.does("version", "create")
    w.says("Invalid handle. Cannot load symbol cudnnGetVersion", ends="SIGABRT")
    w.finds("part-missing", lib / "libcudnn.so.9", release, "libcudnn_graph.so")
    w.repairs("reinstall", maps=lib / "libcudnn_graph.so.9")


@case("A31")
def real_parts_of_two_releases(w):
    """W3 on real files: graph of one release, ops of another; only the check of ops tells."""
    first, second = w.real("nvidia-cudnn-cu13==9.19.0.56"), w.real("nvidia-cudnn-cu13==9.20.0.48")
    w.needs_gpu = True
    lib = w.directory(first, only=["facade", "graph", "ops"])
    if w.faulty:
        w.directory(second, lib, only=["ops"])
    host = w.host("plain", first, search=[lib], linked=False)
    host.does(f"open:{lib}/libcudnn.so.9", "version", "call:cudnnOpsVersionCheck")
    w.says("cudnnOpsVersionCheck 1002")
    w.finds("parts-differ", lib, first, second)
    w.repairs("reinstall", maps=lib / "libcudnn_ops.so.9", by=lambda: w.directory(
        first, lib, only=["facade", "graph", "ops"]))


@case("A34")
def the_part_of_another_installation_has_the_same_version(w):
    """The wheel lacks a part, and a toolkit has it in the very same release: all works by luck,
    until somebody upgrades one of the two."""
    release = w.release("9.12", "9.20")
    lib = w.wheel(release, without=["engines_precompiled"] if w.faulty else [])
    w.cache = [w.toolkit(release)]
    torch = w.host("torch", release, search=[lib], tag="rpath", imports=["cudnnBackendFinalize"])
    torch.does("version", "create", "call:cudnnBackendFinalize")
    w.says("done", ends=0)
    w.finds("part-from-other-installation", lib, w.cache[0])
    w.repairs("reinstall or install", maps=lib / "libcudnn_engines_precompiled.so.9", by=lambda: w.wheel(release))


@case("C04")
def parts_of_two_patch_levels(w):
    """The facade is the wheel's, its parts are the toolkit's in LD_LIBRARY_PATH, which the facade's
    RUNPATH comes after. Whether and where that crashes is luck; nothing names cuDNN."""
    own, other = w.two("8.5", "8.9")
    wheel, toolkit = w.wheel(own), w.toolkit(other)
    torch = w.host("torch", own, search=[wheel], tag="rpath")
    torch.does("version", "create")
    if w.faulty:
        w.environment["LD_LIBRARY_PATH"] = toolkit
    w.says(f"version {other.number}")
    w.finds("facade-and-parts-differ", wheel, toolkit, own, other, "LD_LIBRARY_PATH")
    w.repairs("set-variable", maps=wheel / "libcudnn_ops_infer.so.8")


@case("A211")
def a_script_opens_a_part_that_its_facade_had_from_elsewhere(w):
    """The facade asks for its parts by name and gets the toolkit's; then the script opens the
    wheel's by its path."""
    own, other = w.two("9.1", "9.9")
    wheel, toolkit = w.wheel(own), w.toolkit(other)
    host = w.host("plain", own, linked=False)
    host.does(f"open:{wheel}/libcudnn.so.9", "version", f"open:{wheel}/libcudnn_graph.so.9",
              "create")
    if w.faulty:
        w.environment["LD_LIBRARY_PATH"] = toolkit
    w.says(f"version {other.number}")
    w.finds("parts-differ", wheel, toolkit, own, other)
    w.repairs("set-variable", maps=wheel / "libcudnn_graph.so.9")


@case("C05")
def a_part_that_the_wheel_lacks_comes_from_another_release(w):
    """The wheel omits an engine part, cuDNN asks for it by its bare name, and the loader goes on to
    a system copy of another release."""
    wheel, system = w.release("9.12", "9.20"), w.release("9.23", "9.28")
    lib = w.wheel(wheel, without=["engines_precompiled"] if w.faulty else [])
    elsewhere = w.toolkit(system)
    torch = w.host("torch", wheel, search=[lib], imports=["cudnnBackendFinalize"],
                   refuses="cudnnFinalize failed ... CUDNN_STATUS_SUBLIBRARY_VERSION_MISMATCH")
    torch.does(torch.checks, "call:cudnnBackendFinalize")
    w.cache = [elsewhere]
    w.says("CUDNN_STATUS_SUBLIBRARY_VERSION_MISMATCH", ends=1)
    w.finds("parts-differ", elsewhere, system, wheel, lib)
    # One whole set, whichever of them: the draw says which of the copies fit.
    w.repairs("reinstall or install or set-variable",
              maps=None if w.faulty else lib / "libcudnn_engines_precompiled.so.9")


@case("C07")
def a_bundle_with_parts_of_the_system(w):
    """An application brings its own cuDNN, but not all of its parts: the engines come from the
    system's."""
    own, system = w.two("9.12", "9.20")
    bundle = w.directory(own, without=["engines_precompiled"] if w.faulty else [])
    w.cache = [w.toolkit(system)]
    host = w.host("plain", own, search=[bundle], imports=["cudnnBackendFinalize"],
                  refuses="CUDNN_STATUS_SUBLIBRARY_VERSION_MISMATCH")
    host.does("create", "call:cudnnBackendFinalize")
    w.says("CUDNN_STATUS_SUBLIBRARY_VERSION_MISMATCH", ends=1)
    w.finds("parts-differ", bundle, w.cache[0], own, system)
    w.repairs("reinstall or set-variable",
              maps=None if w.faulty else bundle / "libcudnn_engines_precompiled.so.9")


@case("C08")
def a_bundle_made_before_a_part_existed(w):
    """A redistribution's list of files is older than a part of cuDNN, which is nowhere then."""
    release = w.release("9.1", "9.13")
    bundle = w.directory(release, without=["graph"] if w.faulty else [])
    host = w.host("onnxruntime", release, search=[bundle])
    host.does("version", "create")
    names = [f"libcudnn_graph.so.{n}" for n in (release, f"9.{release.minor}", 9)]
    w.says("Unable to load any of {" + ", ".join(names), ends="SIGABRT")
    w.finds("part-missing", bundle / "libcudnn.so.9", release, *names)
    wheel = w.site / "nvidia/cudnn/lib"
    w.repairs("install", maps=(wheel if w.faulty else bundle) / "libcudnn_graph.so.9")


@case("C09")
def a_part_that_the_host_links_itself(w):
    """The host NEEDs a part, which only the facade should load: it comes in before the facade, from
    where the host looks."""
    older, release = w.two("9.12", "9.20")
    lib, elsewhere = w.directory(release), w.directory(older)
    search = [elsewhere, lib] if w.faulty else [lib]
    host = w.host("plain", release, search=search, needs=["libcudnn_graph.so.9"], linked=False)
    host.does(f"open:{lib}/libcudnn.so.9", "create", "version")
    w.says(f"version {older.number}", ends=0)
    w.finds("facade-and-parts-differ", lib, elsewhere, release, older, host.library)
    w.repairs("set-variable", maps=lib / "libcudnn_graph.so.9")


@case("C47")
def a_bundled_facade_serves_a_framework_whose_parts_lie_elsewhere(w):
    """torch bundles a facade without the cnn part, which its build has elsewhere; CTranslate2,
    imported second, gets that facade."""
    release = w.release("9.1", "9.3")
    bundled = w.directory(release, w.site / "torch/lib", without=["cnn"])
    own = w.directory(release, w.site / "ctranslate2.libs")
    torch = w.host("torch", release, search=[bundled], tag="rpath", requires=[])
    torch.does("version")
    second = w.host("ctranslate2", release, search=[own], imports=["cudnnCnnVersionCheck"])
    second.does("create", "call:cudnnCnnVersionCheck")
    if not w.faulty:
        w.hosts.remove(torch)
    w.says("Cannot load symbol cudnnCnnVersionCheck", ends="SIGABRT")
    w.finds("part-missing", bundled / "libcudnn.so.9", release, f"libcudnn_cnn.so.{release}")
    w.repairs("load-order or set-variable", maps=own / "libcudnn_cnn.so.9")


@case("C48")
def the_first_facade_wins_and_looks_from_its_own_place(w):
    """torch's facade came first; its directory lacks what the second framework uses, whose own
    wheel has all of it. Each works alone."""
    first, wheel_release = w.two("9.1", "9.9")
    system = w.directory(first, without=["cnn"])
    wheel = w.wheel(wheel_release)
    torch = w.host("torch", first, search=[system], tag="rpath", requires=[])
    torch.does("version")
    second = w.host("ctranslate2", first, search=[wheel], imports=["cudnnCnnVersionCheck"])
    second.does("create", "call:cudnnCnnVersionCheck")
    if not w.faulty:
        w.hosts.remove(torch)
    w.says(f"Unable to load any of {{libcudnn_cnn.so.{first}", ends="SIGABRT")
    w.finds("part-missing", system / "libcudnn.so.9", f"libcudnn_cnn.so.{first}")
    w.leaves("already-loaded-by-soname")  # the wheel is still not what it gets
    w.repairs("load-order or set-variable", maps=wheel / "libcudnn_cnn.so.9")


@case("C57")
def the_parts_of_the_image_under_the_facade_of_the_wheel(w):
    """The image has cuDNN 8.8 in LD_LIBRARY_PATH, the wheel of PyTorch a newer one; only what is
    rarely used meets the difference."""
    image, own = w.two("8.6", "8.9")
    wheel, system = w.wheel(own), w.directory(image)
    torch = w.host("torch", own, search=[wheel], tag="rpath",
                   imports=["cudnnCnnInferVersionCheck", "cudnnOpsTrainVersionCheck"])
    torch.does("version", "create", "call:cudnnCnnInferVersionCheck")
    if w.faulty:
        w.environment["LD_LIBRARY_PATH"] = system
    w.says(f"version {image.number}")
    w.finds("facade-and-parts-differ", wheel, system, own, image)
    w.repairs("set-variable", maps=wheel / "libcudnn_cnn_infer.so.8")


@case("C64-a-function-that-the-other-part-lacks",
      "conda", "8.2", "_ZN5cudnn3ops26JoinInternalPriorityStreamEP12cudnnContexti",
      "facade-and-parts-differ")
@case("C65-parts-of-two-releases-after-an-upgrade",
      "directory", "8.6", "_Z22cudnnGenericOpTensorNdILi3EE", "parts-differ")
@case("C67-the-pip-package-on-an-image-that-has-cudnn",
      "wheel", "8.2", "_ZN11nvrtcHelper4loadEb", "facade-and-parts-differ")
@case("C69-a-cluster-module-with-an-old-cudnn",
      "wheel", "8.2", "_ZN10cask_cudnn2kr8isAmpereEPNS0_5spa_tERKi",
      "facade-and-parts-differ")
def a_part_imports_what_the_older_part_lacks(w, installed, first, symbol, finding):
    """Parts of two sets (of conda, a directory, a wheel, and of the system, the image, a cluster's
    module): cnn_infer imports a function that the older ops_infer, which stands before it in
    LD_LIBRARY_PATH, does not have."""
    older, newer = w.two(first, "8.9")
    own = getattr(w, installed)(newer, options=["--internal", f"ops_infer={symbol}",
                                                "--imports", f"cnn_infer={symbol}"])
    module = w.directory(older, only=["ops_infer"])
    host = w.host("plain", newer, search=[own], tag="rpath", imports=["cudnnCnnInferVersionCheck"])
    host.does("version", "call:cudnnCnnInferVersionCheck", "create")
    if w.faulty:
        w.environment["LD_LIBRARY_PATH"] = module
    w.says(f"undefined symbol: {symbol}, version libcudnn_ops_infer.so.8", ends="SIGABRT")
    w.finds(finding, own, module, older, *([newer] if finding != "parts-differ" else []))
    w.repairs("set-variable", maps=own / "libcudnn_ops_infer.so.8")


@case("C68")
def a_lazily_bound_function_ends_the_process(w):
    """As with other mixed sets, but bound when it is called: the loader ends the process with
    status 127 and no traceback."""
    symbol = "_Z20traceback_iretf_implPKcRKN5cudnn16InternalStatus_tEb"
    older, newer = w.two("8.2", "8.9")
    own = w.wheel(newer, options=["--internal", f"ops_infer={symbol}",
                                  "--imports-lazily", f"cnn_infer={symbol}"])
    system = w.directory(older, only=["ops_infer"])
    torch = w.host("torch", newer, search=[own], tag="rpath", imports=["cudnnCnnInferVersionCheck"])
    torch.does("version", "call:cudnnCnnInferVersionCheck", "create")
    if w.faulty:
        w.environment["LD_LIBRARY_PATH"] = system
    w.says(f"undefined symbol: {symbol}, version libcudnn_ops_infer.so.8", ends=127)
    w.finds("parts-differ", own, system, older, newer)
    w.repairs("set-variable", maps=own / "libcudnn_ops_infer.so.8")


@case("C71")
def pip_says_one_version_and_the_message_another(w):
    """The version in the failing file names is not the one that pip lists: the facade that runs is
    another copy, which has no engines."""
    other, listed = w.release("9.1", "9.2"), w.release("9.5", "9.8")
    wheel = w.wheel(listed)
    module = w.directory(other, without=["engines_precompiled"] if w.faulty else [])
    jax = w.host("jax", other, search=[module], linked=False)
    jax.does("open:libcudnn.so.9", "create", "call:cudnnBackendFinalize")
    jax.options["refuses"] = "CUDNN_STATUS_SUBLIBRARY_LOADING_FAILED"
    jax.make()
    w.says("CUDNN_STATUS_SUBLIBRARY_LOADING_FAILED", ends=1)
    w.finds("part-missing", module, other, "engines_precompiled")
    w.repairs("set-variable",
              maps=(wheel if w.faulty else module) / "libcudnn_engines_precompiled.so.9")


@case("C72")
def a_frozen_application_without_its_parts(w):
    """The packager followed DT_NEEDED, so that parts that are only opened are not in the
    application."""
    release = w.release("9.1", "9.13")
    inside = w.directory(release, w.root / "dist/app/_internal",
                         only=["facade"] if w.faulty else [])
    host = w.host("plain", release, search=[inside], site=inside)
    host.does("create")
    w.says(f"Unable to load any of {{libcudnn_graph.so.{release}", ends="SIGABRT")
    w.finds("part-missing", inside / "libcudnn.so.9", release, "libcudnn_graph.so.9")
    w.repairs("reinstall", maps=inside / "libcudnn_graph.so.9")


@case("C115")
def the_parts_of_the_system_shadow_those_of_the_wheel(w):
    """The image's system cuDNN 8 shadows parts of the wheel; the message speaks of an engine."""
    system, own = w.two("8.5", "8.9")
    wheel, shadow = w.wheel(own), w.directory(system)
    torch = w.host("torch", own, search=[wheel], tag="rpath", imports=["cudnnCnnInferVersionCheck"],
                   refuses="RuntimeError: GET was unable to find an engine to execute this "
                   "computation")
    torch.does("version", "create", "call:cudnnCnnInferVersionCheck")
    if w.faulty:
        w.create = ("--create-status", "0", "--status", "cudnnCnnInferVersionCheck=3007")
        shadow = w.directory(system, shadow)
        w.environment["LD_LIBRARY_PATH"] = shadow
    w.says("GET was unable to find an engine to execute this computation", ends=1)
    w.finds("facade-and-parts-differ", wheel, shadow, own, system)
    w.repairs("set-variable", maps=wheel / "libcudnn_cnn_infer.so.8")
