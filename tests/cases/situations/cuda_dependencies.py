# SPDX-License-Identifier: Apache-2.0
"""cuDNN is sound; what it needs of CUDA is not: cuBLAS, nvrtc, another major."""

from harness.rows import case


@case("C10")
def made_for_cuda_12_where_there_is_13(w):
    """The package carries cuDNN for CUDA 12, the system has CUDA 13 alone: the look for cuBLASLt 12
    finds nothing, and the message names a function."""
    release = w.release("9.12", "9.20")
    old = ["--asks", "libcublasLt.so.12:cublasLtGetVersion"] if w.faulty else []
    cudart = w.nvidia("cu13", "libcudart.so.13")
    lib = w.wheel(release, cuda=12 if w.faulty else 13, options=old)
    host = w.host("onnxruntime", release, search=[lib, cudart], tag="rpath", cuda=13,
                  needs=["libcudart.so.13"])
    host.does("version", "create")
    w.says("Invalid handle. Cannot load symbol cublasLtGetVersion", ends="SIGABRT")
    w.finds("cuda-major-differs", lib / "libcudnn.so.9", "libcublasLt.so.12", "libcudart.so.13")
    w.repairs("install", maps=lib / "libcudnn.so.9")


@case("C11-cudnn-for-cuda-12-beside-cuda-11", "tensorflow")
@case("C12-a-cublas-of-cuda-12-is-wanted-and-11-is-there", "paddle")
def made_for_cuda_12_beside_cuda_11(w, framework):
    """The newest package of cuDNN 8 is for CUDA 12 and wants its cuBLAS; the computer has CUDA 11,
    and the user asks how to make it take that."""
    release = w.release("8.8", "8.9")
    cudart = w.nvidia("cuda_runtime", "libcudart.so.11.0")
    needs = ["--needs", "ops_infer=libcublasLt.so.12"] if w.faulty else []
    lib = w.wheel(release, cuda=12 if w.faulty else 11, options=needs)
    host = w.host(framework, release, search=[lib, cudart], tag="rpath", linked=False, cuda=11,
                  needs=["libcudart.so.11.0"])
    host.does("open:libcudnn.so.8", "version", "create")
    w.says("libcublasLt.so.12: cannot open shared object file", ends="SIGABRT")
    w.finds("cuda-major-differs", "libcublasLt.so.12", lib / "libcudnn.so.8", "libcudart.so.11.0")
    w.repairs("install", maps=lib / "libcudnn_ops_infer.so.8")


@case("C16")
def cublaslt_of_another_toolkit_comes_first(w):
    """A toolkit whose cuBLASLt lacks a function stands in LD_LIBRARY_PATH, before the wheel's own.
    """
    release = w.release("9.1", "9.11")
    own = w.nvidia("cublas", "libcublasLt.so.12", ["cublasLtCreate"])
    toolkit = w.cuda_dependency("libcublasLt.so.12", w.root / "usr/local/cuda-12.4/lib64").parent
    lib = w.wheel(release, options=["--asks", "libcublasLt.so.12:cublasLtCreate"])
    torch = w.host("torch", release, search=[lib, own], tag="runpath")
    torch.does("version", "open:libcublasLt.so.12", "try:libcudnn.so.9", "create")
    if w.faulty:
        w.environment["LD_LIBRARY_PATH"] = toolkit
    w.says("Invalid handle. Cannot load symbol cublasLtCreate", ends="SIGABRT")
    w.finds("cuda-dependency-differs", toolkit / "libcublasLt.so.12", lib)
    w.repairs("set-variable", maps=own / "libcublasLt.so.12")


@case("C17")
def cublaslt_cannot_give_a_function(w):
    """cuDNN asks for cuBLASLt, which is nowhere in its search; the message has no path."""
    release = w.release("9.1", "9.11")
    own = w.nvidia("cublas", "libcublasLt.so.12", ["cublasLtCreate"])
    lib = w.wheel(release, options=["--asks", "libcublasLt.so.12:cublasLtCreate"])
    host = w.host("ctranslate2", release, search=[lib], tag="rpath")
    host.does("version", "create")
    if not w.faulty:
        w.environment["LD_LIBRARY_PATH"] = own
    w.says("Invalid handle. Cannot load symbol cublasLtCreate", ends="SIGABRT")
    w.finds("cuda-dependency-differs", "libcublasLt.so.12", lib / "libcudnn.so.9")
    w.repairs("set-variable", maps=own / "libcublasLt.so.12")


@case("C18-a-leftover-error-is-taken-for-its-own", "8.7", "8.9")
@case("C20-a-fresh-image-without-nvrtc", "8.5", "8.7")
def nvrtc_is_missing_and_a_part_is_blamed(w, first, last):
    """cuDNN looks for libnvrtc.so, which may be absent, and takes the error that is left for one of
    its own: the message names a part of cuDNN that had loaded."""
    release = w.release(first, last)
    nvrtc = w.site / "nvidia/cuda_nvrtc/lib"
    lib = w.wheel(release, options=["--probes", "cnn_infer=libnvrtc.so"])
    if not w.faulty:
        w.nvidia("cuda_nvrtc", "libnvrtc.so")
    torch = w.host("torch", release, search=[lib], tag="rpath",
                   imports=["cudnnCnnInferVersionCheck"])
    torch.does("version", "create", "call:cudnnCnnInferVersionCheck")
    w.environment["LD_LIBRARY_PATH"] = nvrtc
    w.says("Could not load library libcudnn_cnn_infer.so.8. Error: libnvrtc.so: cannot open shared "
           "object file", ends="SIGABRT")
    w.finds("cuda-dependency-differs", "libnvrtc.so", lib / "libcudnn_cnn_infer.so.8", release)
    w.repairs("install", maps=nvrtc / "libnvrtc.so")


@case("C44")
def nvrtc_is_wanted_late(w):
    """Long after a good start cuDNN asks for libnvrtc.so.12, which lies in a wheel that nobody
    searches."""
    release = w.release("9.5", "9.9")
    nvrtc = w.nvidia("cuda_nvrtc", "libnvrtc.so.12", ["nvrtcCreateProgram"])
    lib = w.wheel(release, options=["--asks", "libnvrtc.so.12:nvrtcCreateProgram"])
    host = w.host("onnxruntime", release, search=[lib])
    host.does("version", "create")
    if not w.faulty:
        w.environment["LD_LIBRARY_PATH"] = nvrtc
    w.says("Cannot load symbol nvrtcCreateProgram", ends="SIGABRT")
    w.finds("cuda-dependency-differs", "libnvrtc.so.12", lib / "libcudnn.so.9")
    w.repairs("set-variable", maps=nvrtc / "libnvrtc.so.12")


@case("C117")
def cudnn_is_right_and_cublas_is_not(w):
    """cuDNN is the wheel's own, cuBLAS comes from a toolkit in LD_LIBRARY_PATH; looking at cuDNN
    alone gives a clean bill."""
    release = w.release("9.1", "9.11")
    own = w.nvidia("cublas", "libcublas.so.12")
    toolkit = w.cuda_dependency("libcublas.so.12", w.root / "usr/local/cuda-12.1/lib64").parent
    lib = w.wheel(release)
    torch = w.host("torch", release, search=[lib, own], needs=["libcublas.so.12"])
    torch.does("version", "create")
    if w.faulty:
        w.environment["LD_LIBRARY_PATH"] = toolkit
    w.says(f"version {release.number}", ends=0)
    w.finds("cuda-dependency-differs", toolkit / "libcublas.so.12", lib)
    w.repairs("set-variable", maps=own / "libcublas.so.12")


COMPILER = """
#include <dlfcn.h>
int nvrtcCompileProgram(void) { return dlopen("libnvrtc-builtins.so.12.4", RTLD_NOW) ? 0 : 7; }
"""


@case("A89-the-compiler-is-preloaded-its-builtins-are-not", "beside")
@case("A90-the-compiler-was-copied-without-its-builtins", "nowhere")
def nvrtc_has_no_builtins(w, where):
    """NVRTC opens its builtins by name at the first compilation; nothing searches the directory
    that it was opened from by its path. All engines that are compiled at run time fail."""
    release = w.release("9.1", "9.11")
    nvrtc, builtins = w.site / "nvidia/cuda_nvrtc/lib", "libnvrtc-builtins.so.12.4"
    w.cuda_dependency("libnvrtc.so.12", nvrtc, text=COMPILER)
    if where == "beside" or not w.faulty:
        w.cuda_dependency(builtins, nvrtc)
    if not w.faulty:
        w.environment["LD_LIBRARY_PATH"] = nvrtc
    lib = w.wheel(release)
    torch = w.host("torch", release, search=[lib], refuses="cuDNN Frontend error: [cudnn_frontend] "
                   "Error: No valid execution plans built.")
    torch.does("version", f"open:{nvrtc}/libnvrtc.so.12", "call:nvrtcCompileProgram")
    w.says("No valid execution plans built.", ends=1)
    w.finds("cuda-dependency-differs", builtins, nvrtc / "libnvrtc.so.12")

    def put_it_there():
        w.cuda_dependency(builtins, nvrtc)
        w.environment["LD_LIBRARY_PATH"] = nvrtc
    w.repairs("set-variable" if where == "beside" else "install", maps=nvrtc / builtins,
              by=None if where == "beside" else put_it_there)


@case("A91-cudart-is-asked-for-by-name-and-lies-in-a-wheel", "wheel")
@case("A92-cudart-is-asked-for-by-name-and-is-nowhere", "nowhere")
def a_host_asks_for_cudart(w, where):
    """A binding opens the CUDA runtime by its name before all else, and gives up without it."""
    release = w.release("9.1", "9.11")
    runtime = w.site / "nvidia/cuda_runtime/lib"
    lib = w.wheel(release, cuda=12)
    if where == "wheel" or not w.faulty:
        w.nvidia("cuda_runtime", "libcudart.so.12")
    if not w.faulty:
        w.environment["LD_LIBRARY_PATH"] = runtime
    host = w.host("cupy", release, search=[lib], linked=False, cuda=12)
    host.does("open:libcudart.so.12:CUDA runtime not found: {error}", f"open:{release.soname}",
              "version", "create")
    w.says("CUDA runtime not found: libcudart.so.12", ends=1)
    w.finds("cuda-dependency-differs", "libcudart.so.12", host.library)

    def put_it_there():
        w.nvidia("cuda_runtime", "libcudart.so.12")
        w.environment["LD_LIBRARY_PATH"] = runtime
    w.repairs("set-variable" if where == "wheel" else "install", maps=runtime / "libcudart.so.12",
              by=None if where == "wheel" else put_it_there)
