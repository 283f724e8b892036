# SPDX-License-Identifier: Apache-2.0
"""The stack is sound, or nothing of it is reached: the cause is elsewhere."""

from harness.rows import case


@case("A45")
def the_stack_is_sound_and_cudnn_is_not_the_cause(w):
    """Everything fits and works; what fails is the application, after its last call of cuDNN."""
    release = w.release("9.12", "9.20")
    lib = w.wheel(release)
    torch = w.host("torch", release, search=[lib], tag="rpath")
    torch.does(torch.checks, "create", "version", "exit:3")
    w.says("cudnnCreate 0", ends=3)
    w.finds(None)


@case("A46")
def a_build_without_gpu_code(w):
    """The framework that was installed is its CPU build: nothing of CUDA is ever asked for."""
    release = w.release("9.12", "9.20")
    lib = w.wheel(release)
    host = w.host("torch", release, search=[lib], tag="rpath", linked=not w.faulty,
                  requires=[] if w.faulty else None)
    cuda, cpu = host.library, host.library.with_name("libtorch_cpu.so")

    def build_with_cuda():
        cpu.unlink()
        host.library, host.options["linked"], host.options["requires"] = cuda, True, None
        host.make()
        host.does("create")

    if w.faulty:
        host.library = cuda.rename(cpu)
    else:
        host.does("create")
    w.says("done", ends=0)
    w.finds("cpu-only-build", cpu)
    w.repairs("install", maps=lib / "libcudnn.so.9", by=build_with_cuda)


@case("A47")
def the_framework_goes_on_without_cuda(w):
    """TensorFlow looks for CUDA's runtime library first. Where that is not found it never asks for
    cuDNN, says one line and goes on with the CPU."""
    stubs = "int cudnnCreate(void **h) { *h = 0; return 1; }\n" \
            "long cudnnGetVersion(void) { return 0; }\n"
    release = w.release("8.6", "8.9")
    cudart = w.site / "nvidia/cuda_runtime/lib"
    lib = w.wheel(release, cuda=12)
    host = w.host("tensorflow", release, search=[lib, cudart], linked=False,
                  binding=["-w", w.source("stubs.c", stubs)])
    if w.faulty:
        host.does("try:libcudart.so.12")
    else:
        w.nvidia("cuda_runtime", "libcudart.so.12")
        host.does("open:libcudart.so.12", "open:libcudnn.so.8", "create")
    w.says("done", ends=0)
    w.finds("gpu-stack-not-reached", "libcudart.so.12", host.library)
    w.repairs("install", maps=cudart / "libcudart.so.12")


@case("C89")
def a_check_that_misreads_the_numbers_of_nine(w):
    """OpenCV reads 90101 as if major were thousands: the library is right, the check is not."""
    release = w.release("9.1", "9.8")
    lib = w.directory(release)
    opencv = w.host("plain", release, search=[lib])
    opencv.does("create", f"check:opencv-4.10:{release.number}" if w.faulty else "version")
    w.says(f"cuDNN reports version 90.{release.minor} which is not compatible with the version "
           f"9.{release.minor} with which OpenCV was built")
    w.finds(None)


@case("C125")
def a_clean_bill(w):
    """One directory, one version, all parts: the failure is none of loading, and nothing is told.
    """
    release = w.release("9.5", "9.9")
    lib = w.wheel(release)
    w.create = ("--create-status", "0", "--status", "cudnnBackendFinalize=3000")
    host = w.host("onnxruntime", release, search=[lib], imports=["cudnnBackendFinalize"])
    host.does("create", "version")
    w.says(f"version {release.number}", ends=0)
    w.finds(None)


@case("C128")
def a_preloaded_library_needs_what_cannot_be_found(w):
    """Another tool is preloaded, too, and needs a libcudart that the search has not: no program
    starts."""
    release = w.release("9.1", "9.9")
    lib = w.wheel(release)
    cudart = w.nvidia("cuda_runtime", "libcudart.so.12")
    hook = w.needing("libmemoryhook.so", ["libcudart.so.12"])
    torch = w.host("torch", release, search=[lib], tag="rpath")
    torch.does("version", "create")
    w.preload = hook
    w.environment["LD_LIBRARY_PATH"] = w.root if w.faulty else cudart
    w.says("error while loading shared libraries: libcudart.so.12: cannot open", ends=127)
    w.finds(None)
