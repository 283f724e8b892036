# SPDX-License-Identifier: Apache-2.0
"""Nothing is found: not installed, elsewhere, by another name, or what it needs is missing."""

from harness.rows import case


@case("A21")
def nothing_of_cudnn_anywhere(w):
    """There is no cuDNN on the computer, and the host says which it wants."""
    release = w.release("9.12", "9.20")
    w.known.append(release)
    lib = w.site / "nvidia/cudnn/lib"
    if not w.faulty:
        w.wheel(release)
    host = w.host("torch", release, search=[lib], tag="rpath", linked=False)
    host.does("open:libcudnn.so.9", "create")
    w.says("libcudnn.so.9: cannot open shared object file", ends=1)
    w.finds("library-not-found", "libcudnn.so.9", release.wheel)
    w.repairs("install", maps=lib / "libcudnn.so.9")


@case("A22")
def a_function_of_a_newer_release_is_imported(w):
    """The program imports a function that came with 8.6 and finds an older library."""
    new = "cudnnGetMaxDeviceVersion"
    older, built = w.release("8.0", "8.4"), w.release("8.6", "8.9")
    lib = w.directory(older if w.faulty else built)
    w.known.append(built)
    host = w.host("plain", built, search=[lib], imports=[new])
    host.does("version", "create")
    w.says(f"undefined symbol: {new}", ends=1)
    w.finds("symbol-version-not-found", new, "8.6", lib / "libcudnn.so.8")
    w.repairs("install", maps=lib / "libcudnn.so.8")


@case("A23")
def the_shell_has_a_variable_that_the_process_has_not(w):
    """LD_LIBRARY_PATH was set in a shell, not exported: the process has it not, and a copy is
    there."""
    release = w.release("8.6", "8.9")
    lib = w.toolkit(release)
    w.environment["CUDA_HOME"] = lib.parent
    host = w.host("tensorflow", release, linked=False)
    host.does("open:libcudnn.so.8:Could not load dynamic library '{name}'; dlerror: {error}",
              "create")
    if not w.faulty:
        w.environment["LD_LIBRARY_PATH"] = lib
    w.says("Could not load dynamic library 'libcudnn.so.8'", ends=1)
    w.finds("library-not-found", "LD_LIBRARY_PATH: not set", lib)
    w.repairs("set-variable", maps=lib / "libcudnn.so.8")


@case("A24")
def a_nested_dependency_is_missing(w):
    """cuDNN is there; a library that its part needs is not, and the message names cuDNN's part
    first."""
    release = w.release("8.5", "8.7")
    needs = ["--needs", "ops_infer=libcublas.so.11"]
    cublas = w.site / "nvidia/cublas/lib"
    lib = w.wheel(release, options=needs)
    if not w.faulty:
        w.nvidia("cublas", "libcublas.so.11")
    torch = w.host("torch", release, search=[lib], tag="rpath")
    torch.does("version", "create")
    w.environment["LD_LIBRARY_PATH"] = cublas
    w.says("Could not load library libcudnn_ops_infer.so.8. Error: libcublas.so.11: cannot open",
           ends="SIGABRT")
    w.finds("dependency-missing", "libcublas.so.11", lib / "libcudnn.so.8", release)
    w.repairs("install", maps=cublas / "libcublas.so.11")


@case("C14")
def the_first_missing_name_hides_the_second(w):
    """The provider is made for CUDA 12; CUDA 13 is installed, and the cuDNN that it needs is
    missing, too. The loader names the first of the two; one repair brings both."""
    release = w.release("9.12", "9.19")
    w.known.append(release)
    lt12 = w.site / "nvidia/cublas/lib"
    if not w.faulty:
        w.nvidia("cublas", "libcublasLt.so.12")
        w.wheel(release, cuda=12)
    w.nvidia("cu13", "libcublasLt.so.13")
    host = w.host("onnxruntime", release, cuda=12, needs=["libcublasLt.so.12"],
                  search=[lt12, w.site / "nvidia/cudnn/lib"], tag="rpath")
    host.does("create")
    w.says("libcublasLt.so.12: cannot open shared object file", ends=1)
    w.finds("dependency-missing", "libcublasLt.so.12", host.library)
    w.repairs("install", maps=w.site / "nvidia/cudnn/lib/libcudnn.so.9")


@case("A208")
def a_missing_package_hides_that_another_lacks_a_part(w):
    """Once the first is installed, the second fault shows: both go into one repair."""
    release = w.release("9.1", "9.9")
    lib, blas = w.wheel(release), w.site / "nvidia/cublas/lib"
    if w.faulty:
        (lib / "libcudnn_graph.so.9").unlink()
    else:
        w.nvidia("cublas", "libcublasLt.so.12")
    host = w.host("torch", release, cuda=12, needs=["libcublasLt.so.12"], search=[blas, lib], tag="rpath")
    host.does("version", "create")
    w.says("libcublasLt.so.12: cannot open shared object file", ends=1)
    w.finds("dependency-missing", "libcublasLt.so.12", host.library)
    w.repairs("install", maps=lib / "libcudnn_graph.so.9", says="nvidia-cudnn-cu12")


@case("C21")
def nothing_that_was_required_is_installed(w):
    """The resolver saw metadata without the nvidia wheels: neither cuDNN nor nvrtc is installed."""
    release = w.release("8.5", "8.9")
    w.known.append(release)
    lib = w.site / "nvidia/cudnn/lib"
    if not w.faulty:
        w.wheel(release)
    torch = w.host("torch", release, search=[lib], tag="rpath")
    torch.does("create")
    w.says("libcudnn.so.8: cannot open shared object file", ends=1)
    w.finds("library-not-found", "libcudnn.so.8", f"nvidia-cudnn-cu11=={release.wheel}")
    w.repairs("install", maps=lib / "libcudnn.so.8")


@case("C22")
def only_the_numbered_name_of_the_driver(w):
    """Under WSL the driver's libraries are copies, not links: the loader's cache has them by their
    SONAME libcuda.so.1 alone, and libcuda.so is asked for."""
    release = w.release("8.5", "8.9")
    wsl = w.root / "usr/lib/wsl/lib"
    numbered = w.cuda_dependency("libcuda.so.1", wsl)
    w.put(numbered, wsl / "libcuda.so")
    w.cache = [wsl]
    if not w.faulty:
        w.environment["LD_LIBRARY_PATH"] = wsl
    host = w.host("plain", release, search=[w.directory(release)], linked=False)
    host.does("open:libcuda.so", "open:libcudnn.so.8", "create")
    w.says("libcuda.so: cannot open shared object file", ends=1)
    w.finds("wrong-name", "libcuda.so", numbered)
    w.repairs("set-variable", maps=wsl / "libcuda.so")


@case("C23")
def libcuda_is_missing_and_a_part_is_blamed(w):
    """cuDNN's part asks for libcuda.so, which WSL has under another name; the message blames the
    part."""
    release = w.release("8.5", "8.7")
    wsl = w.root / "usr/lib/wsl/lib"
    w.cuda_dependency("libcuda.so.1", wsl)
    if not w.faulty:
        (wsl / "libcuda.so").symlink_to("libcuda.so.1")
    lib = w.wheel(release, options=["--probes", "cnn_infer=libcuda.so"])
    torch = w.host("torch", release, search=[lib], tag="rpath",
                   imports=["cudnnCnnInferVersionCheck"])
    torch.does("version", "create", "call:cudnnCnnInferVersionCheck")
    w.environment["LD_LIBRARY_PATH"] = wsl
    w.says("Could not load library libcudnn_cnn_infer.so.8. Error: libcuda.so: cannot open",
           ends="SIGABRT")
    w.finds("wrong-name", "libcuda.so", wsl / "libcuda.so.1")
    w.repairs("link", maps=wsl / "libcuda.so.1")


@case("C29")
def the_drivers_library_under_the_name_of_cudnn(w):
    """A circulating remedy links libcuda under cuDNN's name: it opens, and has none of its
    functions."""
    release = w.release("8.1", "8.9")
    lib = w.root / "usr/lib/x86_64-linux-gnu"
    w.known.append(release)
    if w.faulty:
        w.cuda_dependency("libcuda.so.1", lib).rename(lib / "libcuda.so.515.43.04")
        (lib / "libcudnn.so.8").symlink_to("libcuda.so.515.43.04")
    else:
        w.directory(release, lib)
    tensorflow = w.host("tensorflow", release, search=[lib], linked=False)
    tensorflow.does("open:libcudnn.so.8", "create")
    w.says("could not find cudnnCreate in cudnn DSO", ends=1)
    w.finds("wrong-name", lib / "libcudnn.so.8", "libcuda.so.1")
    w.repairs("install", maps=lib / "libcudnn.so.8")


@case("C31")
def one_major_under_the_name_of_another(w):
    """cuDNN 7 was linked as libcudnn.so.5, since that was asked for."""
    wanted, other = w.release("5.1", "5.1"), w.release("7.0", "7.6")
    lib = w.directory(other if w.faulty else wanted)
    w.known.append(wanted)
    if w.faulty:
        (lib / "libcudnn.so.5").symlink_to("libcudnn.so.7")
    host = w.host("tensorflow-old", wanted, search=[lib], linked=False)
    host.does("open:libcudnn.so.5", "create", host.checks)
    w.says(f"Loaded runtime CuDNN library: {other.number}", ends=1)
    w.finds("wrong-name", lib / "libcudnn.so.5", "libcudnn.so.7", other)
    w.repairs("install", maps=lib / "libcudnn.so.5")


@case("C32")
def only_the_unversioned_link_is_there(w):
    """The linker recorded the SONAME, and the directory holds a file of another name."""
    release = w.release("5.1", "5.1")
    lib = w.directory(release)
    if w.faulty:
        (lib / "libcudnn.so.5").rename(lib / "libcudnn.so")
    host = w.host("plain", release, search=[lib])
    host.does("create")
    w.says("libcudnn.so.5: cannot open shared object file", ends=1)
    w.finds("wrong-name", "libcudnn.so.5", lib / "libcudnn.so", release)
    w.repairs("link", maps=lib / "libcudnn.so.5")


@case("C33")
def a_name_without_a_number_in_a_runtime_image(w):
    """TensorFlow asks for libcudnn.so; runtime images have the numbered name alone. What is
    reported is a symbol, and the blame is put on TensorFlow's own library."""
    release = w.release("5.1", "5.1")
    image = w.directory(release)
    w.cache = [image]
    if not w.faulty:
        (image / "libcudnn.so").symlink_to("libcudnn.so.5")
    tensorflow = w.host("tensorflow-old", release, linked=False)
    tensorflow.does("try:libcudnn.so", "create")
    w.says("could not find cudnnCreate in cudnn DSO; dlerror:", ends=1)
    w.finds("wrong-name", "libcudnn.so", image / "libcudnn.so.5", release)
    w.repairs("link", maps=image / "libcudnn.so.5")


@case("C34")
def wheels_have_no_name_without_a_number(w):
    """NVIDIA's wheels hold libcudnn.so.9 alone; the extension opens libcudnn.so."""
    release = w.release("9.1", "9.9")
    lib = w.wheel(release)
    if not w.faulty:
        (lib / "libcudnn.so").symlink_to("libcudnn.so.9")
    host = w.host("plain", release, search=[lib], linked=False)
    host.does("open:libcudnn.so", "create")
    w.says("libcudnn.so: cannot open shared object file", ends=1)
    w.finds("wrong-name", "libcudnn.so", lib / "libcudnn.so.9", release)
    w.repairs("link", maps=lib / "libcudnn.so.9")


@case("C35")
def a_list_of_names_that_ends_too_early(w):
    """The program knows the names of cuDNN 7 and 8 and libcudnn.so; what is installed is 9."""
    release = w.release("9.14", "9.20")
    lib = w.directory(release)
    if not w.faulty:
        (lib / "libcudnn.so").symlink_to("libcudnn.so.9")
    w.environment["LD_LIBRARY_PATH"] = lib
    host = w.host("plain", release, linked=False)
    host.does("try:libcudnn.so.7", "try:libcudnn.so.8", "open:libcudnn.so:Unable to dynamically "
              'load the "cudnn" shared library - searched for library names: ["{name}"]', "create")
    w.says('Unable to dynamically load the "cudnn" shared library', ends=1)
    w.finds("wrong-name", "libcudnn.so", lib / "libcudnn.so.9", release)
    w.repairs("link", maps=lib / "libcudnn.so.9")


@case("C36-a-part-without-a-search-path")
@case("C38-a-builder-that-leaves-parts-without-a-search-path")
def only_the_facade_has_a_search_path(w):
    """CuPy's wheel, or a package builder's: only the facade has a RUNPATH. A part that is opened by
    its path finds the part that it needs only where somebody has loaded that before."""
    release = w.release("8.1", "8.5")
    lib = w.directory(release, options=["--parts-no-path"] if w.faulty else [])
    host = w.host("plain", release, linked=False)
    host.does(f"open:{lib}/libcudnn_cnn_infer.so.8:ImportError: {{error}}",
              f"open:{lib}/libcudnn.so.8", "create")
    w.says("libcudnn_ops_infer.so.8: cannot open shared object file", ends=1)
    w.finds("dependency-missing", "libcudnn_ops_infer.so.8", lib / "libcudnn_cnn_infer.so.8")
    w.repairs("set-variable", maps=lib / "libcudnn_ops_infer.so.8")


@case("C41")
def the_wheel_is_installed_where_nobody_looks(w):
    """cuDNN's wheel lies in site-packages, and the extension that needs it has no search path to
    it."""
    release = w.release("9.5", "9.9")
    lib = w.wheel(release)
    host = w.host("onnxruntime", release, linked=False)
    host.does("open:libcudnn.so.9", "version", "create")
    if not w.faulty:
        w.environment["LD_LIBRARY_PATH"] = lib
    w.says("libcudnn.so.9: cannot open shared object file", ends=1)
    w.finds("library-not-found", "libcudnn.so.9", lib)
    w.repairs("set-variable", maps=lib / "libcudnn.so.9")


@case("C42")
def the_first_framework_loads_no_adv_part(w):
    """Importing torch first brings libcudnn.so.9 into the process, but not the part that the second
    framework's library needs by DT_NEEDED."""
    release = w.release("9.1", "9.9")
    lib = w.wheel(release)
    torch = w.host("torch", release, search=[lib], tag="rpath")
    torch.does("version")
    needs = ["libcudnn_adv.so.9"]
    second = w.host("onnxruntime", release, needs=needs, search=[] if w.faulty else [lib])
    second.does("create")
    w.says("libcudnn_adv.so.9: cannot open shared object file", ends=1)
    w.finds("dependency-missing", "libcudnn_adv.so.9", lib)
    w.repairs("set-variable", maps=lib / "libcudnn_adv.so.9")


@case("C43")
def installed_and_in_nobodys_search(w):
    """The wheels are installed, nothing adds their directory to the search, and the framework falls
    back to the CPU without more words than these."""
    release = w.release("9.1", "9.9")
    lib = w.wheel(release)
    host = w.host("onnxruntime", release, search=[] if w.faulty else [lib])
    host.does("create")
    w.says("libcudnn.so.9: cannot open shared object file", ends=1)
    w.finds("library-not-found", "libcudnn.so.9", lib)
    w.repairs("set-variable", maps=lib / "libcudnn.so.9")


@case("C46")
def the_variable_is_set_too_late(w):
    """LD_LIBRARY_PATH is set inside the process; the loader reads what it was at the start."""
    release = w.release("9.1", "9.9")
    lib = w.wheel(release)
    host = w.host("plain", release, linked=False)
    host.does(f"set:LD_LIBRARY_PATH={lib}", "open:libcudnn.so.9:Invalid handle. Cannot load symbol "
              "cudnnGetVersion", "version", "create")
    if not w.faulty:
        w.environment["LD_LIBRARY_PATH"] = lib
    w.says("Invalid handle. Cannot load symbol cudnnGetVersion", ends=1)
    w.finds("library-not-found", "libcudnn.so.9", "LD_LIBRARY_PATH: not set", lib)
    w.repairs("set-variable", maps=lib / "libcudnn.so.9")


@case("C50")
def nine_is_installed_and_eight_is_wanted(w):
    """The user has cuDNN 9, the consumer is built for 8, whose files have other names."""
    wanted, installed = w.release("8.9", "8.9"), w.release("9.1", "9.9")
    lib = w.wheel(installed if w.faulty else wanted)
    w.known.append(wanted)
    host = w.host("ctranslate2", wanted, linked=False, search=[lib])
    host.does("open:libcudnn.so.8:Could not load library {name}. Error: {error}", "create")
    w.says("Could not load library libcudnn.so.8. Error: libcudnn.so.8: cannot open", ends=1)
    w.finds("library-not-found", "libcudnn.so.8", lib / "libcudnn.so.9", installed)
    w.repairs("install", maps=lib / "libcudnn.so.8")


@case("C51")
def the_directory_was_put_into_path(w):
    """cuDNN's directory is in PATH, which is not where libraries are looked for."""
    release = w.release("8.6", "8.9")
    lib = w.wheel(release)
    host = w.host("ctranslate2", release, linked=False)
    host.does("open:libcudnn.so.8:Could not load library {name}. Error: {error}", "create")
    w.environment["PATH" if w.faulty else "LD_LIBRARY_PATH"] = lib
    w.says("Could not load library libcudnn.so.8. Error: libcudnn.so.8: cannot open", ends=1)
    w.finds("library-not-found", "libcudnn.so.8", lib, "PATH")
    w.repairs("set-variable", maps=lib / "libcudnn.so.8")


@case("C78")
def unable_to_load_cudnn(w):
    """JAX says that cuDNN cannot be loaded, and neither a path nor the loader's words."""
    release = w.release("8.9", "8.9")
    w.known.append(release)
    lib = w.site / "nvidia/cudnn/lib"
    if not w.faulty:
        w.wheel(release, cuda=12)
    jax = w.host("jax", release, linked=False, search=[lib], cuda=12)
    jax.does("open:libcudnn.so.8:CUDA backend failed to initialize: Unable to load cuDNN. Is it "
             "installed?", "create")
    w.says("Unable to load cuDNN. Is it installed?", ends=1)
    w.finds("library-not-found", "libcudnn.so.8", f">=8.{release.minor}")
    w.repairs("install", maps=lib / "libcudnn.so.8")


@case("C91")
def a_function_that_the_older_library_lacks(w):
    """PyTorch is built with the header of 7, and the linker takes the 6 that a package has put in
    front: what comes out asks for libcudnn.so.6 and calls what came with 7.0.1, the first 7."""
    missing = "cudnnSetConvolutionGroupCount"
    older, header = w.release("6.0", "6.0"), w.release("7.1", "7.3")
    package, toolkit = w.conda(older), w.toolkit(header)
    torch = w.host("plain", older if w.faulty else header, search=[package, toolkit],
                   imports=[missing])
    torch.does("version", "create")
    w.says(f"undefined symbol: {missing}", ends=1)
    w.finds("missing-symbols", missing, package / "libcudnn.so.6", older, "7.0")
    w.repairs("upgrade-host", maps=toolkit / "libcudnn.so.7")


@case("C93")
def a_stale_build_needs_the_previous_major(w):
    """The binary still needs libcudnn.so.5, and 6 is installed."""
    old, installed = w.release("5.1", "5.1"), w.release("6.0", "6.0")
    lib = w.directory(installed if w.faulty else old)
    w.known += [old, installed]
    host = w.host("plain", old, search=[lib])
    host.does("create")
    w.says("libcudnn.so.5: cannot open shared object file", ends=1)
    w.finds("library-not-found", "libcudnn.so.5", lib / "libcudnn.so.6", host.library)
    w.repairs("install", maps=lib / "libcudnn.so.5")


@case("C109")
def an_image_that_takes_cuda_from_its_host(w):
    """The image expects CUDA and cuDNN from mounts of the host, and this host has another release.
    """
    release = w.release("8.2", "8.6")
    lib = w.root / "usr/lib/aarch64-linux-gnu"
    w.known.append(release)
    if not w.faulty:
        w.directory(release, lib)
    host = w.host("plain", release, search=[lib])
    host.does("create")
    w.says("libcudnn.so.8: cannot open shared object file", ends=1)
    w.finds("library-not-found", "libcudnn.so.8", host.library)
    w.repairs("install", maps=lib / "libcudnn.so.8")


@case("C111")
def an_image_with_the_cudnn_of_another_cuda(w):
    """A wrong package slipped into the image: its cuDNN is for CUDA 8, the image's CUDA is 7.5."""
    release = w.release("5.1", "5.1")
    cuda = w.cuda_dependency("libcudart.so.7.5", w.root / "usr/local/cuda-7.5/lib64").parent
    needs = ["--needs", "libcublas.so.8.0"] if w.faulty else []
    lib = w.directory(release, options=needs)
    host = w.host("plain", release, search=[lib, cuda], linked=False, needs=["libcudart.so.7.5"])
    host.does("open:libcudnn.so.5:libcudnn initialization failure", "create")
    w.says("libcudnn initialization failure", ends=1)
    w.finds("dependency-missing", "libcublas.so.8.0", lib / "libcudnn.so.5")
    w.repairs("reinstall or install", maps=lib / "libcudnn.so.5", by=lambda: w.again(release, lib))


@case("C121")
def workers_start_with_another_environment(w):
    """The worker's LD_LIBRARY_PATH is an old one, in which there is no cuDNN."""
    release = w.release("8.1", "8.9")
    lib, old = w.toolkit(release), w.cuda_dependency("libcufft.so.11", w.root / "old/lib64").parent
    w.environment["CUDA_HOME"] = lib.parent
    host = w.host("plain", release, linked=False)
    host.does("open:libcudnn.so.8:Could not load dynamic library '{name}'; dlerror: {error}",
              "create")
    w.environment["LD_LIBRARY_PATH"] = old if w.faulty else f"{old}:{lib}"
    w.says("Could not load dynamic library 'libcudnn.so.8'; dlerror: libcudnn.so.8: cannot", ends=1)
    w.finds("library-not-found", "libcudnn.so.8", f"LD_LIBRARY_PATH: {old}")
    w.repairs("set-variable", maps=lib / "libcudnn.so.8")


@case("C127")
def a_fake_cublaslt_without_the_versioned_functions(w):
    """A tool took the name of cuBLASLt, and lacks a function that cuBLAS imports by its version."""
    symbol = "free_gemm_select"
    release = w.release("9.1", "9.11")
    true, fake = w.versioned("libcublasLt.so.12", [symbol]), w.versioned("libcublasLt.so.12", [])
    own = w.site / "nvidia/cublas/lib"
    w.put(true, own / "libcublasLt.so.12")
    w.put(w.versioned("libcublas.so.12", [], imports=[symbol], of=true), own / "libcublas.so.12")
    tool = w.root / "opt/hook/lib"
    w.put(fake, tool / "libcublasLt.so.12")
    lib = w.wheel(release)
    torch = w.host("torch", release, search=[lib, own])
    torch.does("version", f"open:{own}/libcublas.so.12:dlopen({{name}}) failed, {{error}}",
               "try:libcudnn.so.9", "create")
    w.environment["LD_LIBRARY_PATH"] = f"{tool}:{own}" if w.faulty else own
    w.says(f"{symbol}, version libcublasLt.so.12", ends=1)
    w.finds("symbol-version-not-found", symbol, tool / "libcublasLt.so.12")
    w.repairs("set-variable", maps=own / "libcublasLt.so.12")


@case("C130")
def sudo_drops_the_search_path(w):
    """The program finds cuDNN by LD_LIBRARY_PATH of a conda shell; sudo, which keeps the rest of
    the environment, starts it without."""
    release = w.release("8.2", "8.4")
    lib = w.conda(release)
    w.environment["CONDA_PREFIX"] = w.conda_prefix
    host = w.host("plain", release)
    host.does("create")
    w.program = w.start(linked_to=host)
    if not w.faulty:
        w.environment["LD_LIBRARY_PATH"] = lib
    w.says("error while loading shared libraries: libcudnn.so.8: cannot open shared object file",
           ends=127)
    w.finds("library-not-found", "libcudnn.so.8", lib)
    w.repairs("set-variable", maps=lib / "libcudnn.so.8")


@case("A84-a-loader-for-eight-asks-for-its-parts-by-their-names", "after", "libcudnn_ops_infer.so")
@case("A85-a-loader-for-eight-asks-for-a-part-by-its-path", "path", "libcudnn_cnn_infer.so.8")
def parts_of_eight_are_asked_of_a_nine(w, reached, name):
    """The host knows the parts of cuDNN 8 by name and asks for them itself; from 9 on they are
    called otherwise, and no package brings these names back."""
    release, old = w.release("9.1", "9.20"), w.release("8.5", "8.9")
    lib = w.directory(release if w.faulty else old)
    if not w.faulty and not (lib / name).exists():
        (lib / name).symlink_to(f"{name}.8")
    host = w.host("plain", release, linked=False, search=[lib])
    facade = (release if w.faulty else old).soname
    if reached == "after":
        host.does(f"open:{facade}", "version", f"open:{name}")
    else:
        host.does(f"open:{lib}/{name}:ImportError: {{error}}", f"open:{lib}/{facade}")
    host.does("create")
    w.says(f"{name}: cannot open shared object file", ends=1)
    w.finds("library-not-found", name, "part of cuDNN 8", release)
    w.repairs("upgrade-host", maps=lib / facade,
              by=lambda: w.hosts[0].words.__setitem__(
                  slice(None), [word for word in host.words if name not in word]))


@case("A86")
def a_host_asks_for_a_part_that_was_left_out(w):
    """The image was slimmed; the host opens the facade, then each part that it uses."""
    release = w.release("9.1", "9.20")
    lib = w.directory(release, without=["adv"] if w.faulty else [])
    host = w.host("plain", release, linked=False, search=[lib])
    host.does(f"open:{release.soname}", "version", "open:libcudnn_adv.so.9")
    w.says("libcudnn_adv.so.9: cannot open shared object file", ends=1)
    w.finds("library-not-found", "libcudnn_adv.so.9", lib)
    w.repairs("reinstall", maps=lib / "libcudnn_adv.so.9")


@case("A87-a-name-of-nine-is-looked-up-in-an-eight", "cudnnGraphVersionCheck", "8.5", "8.9", "9.0")
@case("A88-a-function-of-a-later-minor-is-looked-up", "cudnnBackendUpdateCudaGraph", "9.1", "9.4",
      "9.5")
def a_function_is_looked_up_that_came_later(w, function, first, last, since):
    """All functions are looked up at once in whatever opens; the panic comes without another word to
    the loader."""
    old = w.release(first, last)
    new = w.release("9.5", "9.20")
    lib = w.directory(old if w.faulty else new)
    w.known.append(new)
    host = w.host("plain", new, linked=False, search=[lib])
    host.does(f"open:{lib}/{(old if w.faulty else new).soname}", "version", "need:cudnnCreate",
              f"need:{function}")
    w.says(f"panic: Expected symbol in library: {function}", ends="SIGABRT")
    w.finds("missing-symbols", function, lib / old.soname, f"came with {since}")

    def put_the_newer():
        w.directory(new, lib)
        host.words[0] = f"open:{lib}/{new.soname}"
    w.repairs("install", maps=lib / new.soname, by=put_the_newer)
