# SPDX-License-Identifier: Apache-2.0
"""The driver, the GPU and what they can do."""

from harness.rows import case


@case("A41")
def no_driver_at_all(w):
    """A computer, or a container started without its GPUs: libcuda.so.1 is nowhere."""
    release = w.release("9.1", "9.9")
    lib, driver = w.wheel(release), w.root / "usr/lib/nvidia"
    w.create = () if w.faulty else w.create
    host = w.host("onnxruntime", release, search=[lib, driver], linked=False, tag="rpath")
    host.does("open:libcuda.so.1", "open:libcudnn.so.9", "create")
    if not w.faulty:
        w.cuda_dependency("libcuda.so.1", driver)
    w.says("libcuda.so.1: cannot open shared object file", ends=1)
    w.finds("driver-missing", "libcuda.so.1", host.library)
    w.repairs("driver", maps=driver / "libcuda.so.1",
              by=lambda: w.cuda_dependency("libcuda.so.1", driver))


@case("A44-the-job-goes-on-with-the-cpu", "try", 0, "warning")
@case("A44-the-job-fails", "open", 1, "error")
def a_driver_that_is_asked_for_in_vain(w, how, ends, severity):
    """A framework asks for libcuda and goes on without, or ends: only that is an error."""
    release = w.release("9.1", "9.9")
    lib, driver = w.wheel(release), w.root / "usr/lib/nvidia"
    host = w.host("tensorflow", release, search=[lib, driver], linked=False, tag="rpath")
    host.does("open:libcudnn.so.9", "version", f"{how}:libcuda.so.1")
    if not w.faulty:
        w.cuda_dependency("libcuda.so.1", driver)
    w.says(f"version {release.number}", ends=ends)
    w.finds("driver-missing", "libcuda.so.1", host.library, severity=severity)
    w.repairs("driver", maps=driver / "libcuda.so.1",
              by=lambda: w.cuda_dependency("libcuda.so.1", driver))


@case("A42")
def library_and_kernel_module_of_two_drivers(w):
    """The driver was updated and the computer not restarted: libcuda is newer than the kernel
    module."""
    release = w.release("9.1", "9.9")
    lib, driver = w.wheel(release), w.root / "usr/lib/nvidia"
    libcuda = driver / "libcuda.so.550.90.07"
    w.cuda_dependency("libcuda.so.1", driver).rename(libcuda)
    (driver / "libcuda.so.1").symlink_to(libcuda.name)
    w.driver("550.54.14" if w.faulty else "550.90.07")
    host = w.host("onnxruntime", release, search=[lib, driver], linked=False, tag="rpath")
    host.does("open:libcuda.so.1", "open:libcudnn.so.9", "version")
    w.says(f"version {release.number}", ends=0)
    w.finds("driver-mixed", "550.54.14", "550.90.07", driver)
    w.repairs("driver or remove", maps=libcuda, by=lambda: w.driver("550.90.07"))


@case("C90-the-gpu-is-too-old-to-initialise",
      "7.1", "7.6", "1", "CUDNN_STATUS_NOT_INITIALIZED in function 'UniqueHandle'")
@case("C95-arch-mismatch-on-an-old-gpu", "5.0", "5.1", "6", "CUDNN_STATUS_ARCH_MISMATCH")
def the_gpu_is_too_old(w, first, last, status, text):
    """cudnnCreate cannot make a handle: the GPU is below what any cuDNN of that time has code
    for."""
    release = w.release(first, last)
    w.gpu("GeForce GT 630", "2.1" if w.faulty else "6.1", driver="390.157")
    w.create = ("--create-status", status if w.faulty else "0")
    lib = w.directory(release)
    host = w.host("plain", release, search=[lib], refuses=text)
    host.does("version", "create")

    def another_gpu():
        w.gpu("GeForce GTX 1080", "6.1")
        w.again(release, lib)

    facade = lib / f"libcudnn.so.{release.major}"
    w.says(text, ends=1)
    w.finds("gpu-unsupported", facade, release, "2.1", "GeForce GT 630")
    w.repairs("upgrade-host", maps=facade, by=another_gpu)


@case("C96-a-new-image-has-no-code-for-the-gpu", "9.12", "9.28", "GeForce GTX 1080 Ti", "6.1")
@case("C97-an-unpinned-release-dropped-the-gpu", "9.11", "9.20", "Tesla V100", "7.0")
def a_new_release_has_no_code_for_the_gpu(w, first, last, gpu, capability):
    """An image that moved on, or nothing that pinned cuDNN: a release past the last that has code
    for the GPU."""
    newer, good = w.release(first, last), w.release("9.8", "9.10")
    w.known.append(good)
    w.gpu(gpu, capability)
    if w.faulty:
        w.create = ("--create-status", "0", "--status", "cudnnBackendFinalize=5000")
    lib = w.wheel(newer if w.faulty else good, cuda=12)
    host = w.host("onnxruntime", good, search=[lib], tag="rpath", cuda=12,
                  imports=["cudnnBackendFinalize"], refuses="CUDNN_STATUS_EXECUTION_FAILED")
    host.does("version", "create", "call:cudnnBackendFinalize")
    w.says("CUDNN_STATUS_EXECUTION_FAILED", ends=1)
    w.create = ("--create-status", "0")
    w.finds("gpu-unsupported", lib / "libcudnn.so.9", newer, capability, gpu)
    w.repairs("install", maps=lib / "libcudnn.so.9")


@case("C98")
def a_gpu_newer_than_the_build(w):
    """The GPU is newer than the framework's build and its cuDNN."""
    older, newer = w.release("9.1", "9.5"), w.release("9.7", "9.9")
    w.known.append(newer)
    w.gpu("NVIDIA GeForce RTX 5090", "12.0")
    if w.faulty:
        w.create = ("--create-status", "0", "--status", "cudnnBackendFinalize=5000")
    lib = w.wheel(older if w.faulty else newer)
    torch = w.host("torch", older, search=[lib], tag="rpath", imports=["cudnnBackendFinalize"],
                   refuses="RuntimeError: CUDA error: no kernel image is available for execution "
                   "on the device", requires=["nvidia-cudnn-cu12>=9.1,<10"])
    torch.does("version", "create", "call:cudnnBackendFinalize")
    w.says("no kernel image is available for execution on the device", ends=1)
    w.create = ("--create-status", "0")
    w.finds("gpu-unsupported", lib / "libcudnn.so.9", older, "12.0", "RTX 5090")
    w.repairs("install", maps=lib / "libcudnn.so.9")


@case("C100-no-memory-left-on-the-gpu")
@case("C101-the-framework-has-reserved-all-memory")
@case("C102-dead-processes-hold-the-memory")
@case("C105-the-framework-guesses-at-the-driver")
def it_is_no_matter_of_loading(w):
    """cudnnCreate says NOT_INITIALIZED on a computer with a GPU and a driver, while all that was
    loaded is sound."""
    release = w.release("7.1", "7.6")
    w.create = ("--create-status", "1") if w.faulty else w.create
    lib = w.directory(release)
    w.driver("535.104.05")
    host = w.host("plain", release, search=[lib], refuses="CUDNN_STATUS_NOT_INITIALIZED")
    host.does("version", "create")
    w.says("CUDNN_STATUS_NOT_INITIALIZED", ends=1)
    w.finds("init-failed", lib / "libcudnn.so.7", release, "NOT_INITIALIZED", "535.104.05")
    w.repairs("check", maps=lib / "libcudnn.so.7", by=lambda: w.again(release, lib))


@case("C104")
def the_driver_is_too_old(w):
    """cudnnCreate says NOT_INITIALIZED, since the driver is older than this CUDA needs."""
    release = w.release("8.8", "8.9")
    w.gpu("NVIDIA GeForce RTX 2070", "7.5", driver="470.57.02" if w.faulty else "535.104.05")
    w.create = ("--create-status", "1" if w.faulty else "0")
    lib = w.wheel(release, cuda=12)
    cudart = w.nvidia("cuda_runtime", "libcudart.so.12")
    torch = w.host("torch", release, search=[lib, cudart], tag="rpath", cuda=12,
                   needs=["libcudart.so.12"], refuses="CUDNN_STATUS_NOT_INITIALIZED")
    torch.does("version", "create")

    def newer_driver():
        w.driver("535.104.05")
        w.again(release, lib)

    w.says("CUDNN_STATUS_NOT_INITIALIZED", ends=1)
    w.finds("driver-too-old", "470.57.02", "525.60.13", "libcudart.so.12")
    w.repairs("driver", maps=lib / "libcudnn.so.8", by=newer_driver)


@case("C107")
def an_old_gpu_keeps_its_last_driver(w):
    """The last driver for the GPU is too old for the CUDA that PyTorch brings: an older build of
    PyTorch works."""
    newer, older = w.release("8.9", "8.9"), w.release("8.5", "8.7")
    w.gpu("Tesla K80", "3.7", driver="470.256.02")
    w.create = ("--create-status", "1" if w.faulty else "0")
    cuda = 12 if w.faulty else 11
    lib = w.wheel(newer if w.faulty else older, cuda=cuda)
    cudart = "libcudart.so.12" if w.faulty else "libcudart.so.11.0"
    torch = w.host("torch", newer if w.faulty else older, tag="rpath", cuda=cuda, needs=[cudart],
                   search=[lib, w.nvidia("cuda_runtime", cudart)],
                   refuses="CUDNN_STATUS_NOT_INITIALIZED")
    torch.does("version", "create")

    def older_build():
        torch.cuda, w.create = 11, ("--create-status", "0")
        for info in w.site.glob("nvidia_cudnn*"):
            info.rename(w.scratch / info.name)
        w.wheel(older, cuda=11)
        torch.options["needs"] = ["libcudart.so.11.0"]
        w.nvidia("cuda_runtime", "libcudart.so.11.0")
        torch.rebuild(older)

    w.says("CUDNN_STATUS_NOT_INITIALIZED", ends=1)
    w.finds("driver-too-old", "470.256.02", "525.60.13")
    w.repairs("driver", maps=lib / "libcudnn.so.8", by=older_build)
