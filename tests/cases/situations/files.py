# SPDX-License-Identifier: Apache-2.0
"""A file is damaged, of another kind, or gone from its package."""

from harness.rows import case


@case("A26")
def a_real_part_cut_in_half(w):
    """W5 on real files: an interrupted copy of a part kills the process inside dlopen, without a
    word."""
    release = w.real("nvidia-cudnn-cu12==9.1.0.70")
    w.needs_gpu, w.whole = True, release
    lib = w.directory(release)
    part = lib / "libcudnn_graph.so.9"
    if w.faulty:
        part.write_bytes(part.read_bytes()[:part.stat().st_size // 2])
    host = w.host("plain", release, search=[lib])
    host.does("version", "create")
    w.says("", ends="SIGBUS")
    w.finds("bad-file", part)
    w.repairs("reinstall", maps=part, by=lambda: w.directory(release, lib))


@case("A43")
def two_flavours_in_one_directory(w):
    """The wheels for CUDA 11 and 12 put their files into one directory; both are installed."""
    wanted, other = w.two("9.1", "9.9")
    lib = w.wheel(wanted, cuda=12)
    if w.faulty:
        w.wheel(other, cuda=11)
    torch = w.host("torch", wanted, search=[lib], tag="rpath", cuda=12)
    torch.does("version", "create")
    w.says(f"version {other.number}", ends=0)
    w.finds("installation-mixed", "nvidia-cudnn-cu12", "nvidia-cudnn-cu11", wanted, other)
    w.repairs("reinstall", maps=lib / "libcudnn.so.9")


@case("A44")
def a_file_of_the_wheel_is_gone(w):
    """Somebody slimmed the image: a part of the wheel is gone, and its list of files still has it.
    """
    release = w.release("9.1", "9.9")
    lib = w.wheel(release)
    if w.faulty:
        (lib / "libcudnn_graph.so.9").unlink()
    torch = w.host("torch", release, search=[lib], tag="rpath")
    torch.does("version", "create")
    w.says(f"Unable to load any of {{libcudnn_graph.so.{release}", ends="SIGABRT")
    w.finds("installation-incomplete", "libcudnn_graph.so.9", f"nvidia-cudnn-cu{w.cuda(release)}")
    w.repairs("reinstall", maps=lib / "libcudnn_graph.so.9")


@case("C24")
def the_only_libcuda_is_a_32_bit_one(w):
    """By that name only a libcuda of the i386 driver package can be reached."""
    release = w.release("8.5", "8.9")
    lib, driver = w.wheel(release), w.root / "usr/lib/driver"
    if w.faulty:
        w.broken(driver / "libcuda.so", "32-bit")
    else:
        w.cuda_dependency("libcuda.so.1", driver).rename(driver / "libcuda.so")
    host = w.host("torch", release, search=[lib, driver], tag="rpath")
    host.does("version", "open:libcuda.so:Could not load library libcudnn_cnn_infer.so.8. Error: "
              "{error}")
    w.says("libcuda.so: wrong ELF class: ELFCLASS32", ends=1)
    w.finds("bad-file", driver / "libcuda.so", "32")
    w.repairs("install", maps=driver / "libcuda.so",
              by=lambda: w.put(w.cuda_dependency("libcuda.so.1", w.scratch), driver / "libcuda.so"))


@case("C25")
def a_library_for_another_processor(w):
    """The file is for another processor: the loader passes over it and says that there is none."""
    release = w.release("7.2", "7.6")
    lib = w.directory(release)
    w.whole = release
    if w.faulty:
        w.broken(lib / "libcudnn.so.7", "other-machine")
    host = w.host("plain", release, search=[lib])
    host.does("create")
    w.says("libcudnn.so.7: cannot open shared object file", ends=1)
    w.finds("bad-file", lib / "libcudnn.so.7", "aarch64")
    w.repairs("install", maps=lib / "libcudnn.so.7", by=lambda: w.again(release, lib))


@case("C26-an-interrupted-copy", "empty", "file too short")
@case("C28-a-pointer-instead-of-the-file", "pointer", "invalid ELF header")
def the_file_is_no_library(w, kind, words):
    """An interrupted copy left a file of no bytes; a clone without Git LFS has the text of the
    pointer."""
    release = w.release("8.1", "8.9")
    lib = w.directory(release)
    w.whole = release
    if w.faulty:
        w.broken(lib / "libcudnn.so.8", kind)
    host = w.host("plain", release, search=[lib])
    host.does("create")
    w.says(f"libcudnn.so.8: {words}", ends=1)
    w.finds("bad-file", lib / "libcudnn.so.8")
    w.repairs("reinstall", maps=lib / "libcudnn.so.8", by=lambda: w.again(release, lib))


@case("C113")
def the_metadata_says_installed_and_the_files_are_gone(w):
    """A killed pip left the wheel's dist-info without its files; pip says that it is installed."""
    release = w.release("9.12", "9.20")
    lib = w.wheel(release)
    if w.faulty:
        for path in lib.glob("libcudnn*"):
            path.unlink()
    torch = w.host("torch", release, search=[lib], tag="rpath")
    torch.does("create")
    w.says("libcudnn.so.9: cannot open shared object file", ends=1)
    w.finds("installation-incomplete", "libcudnn.so.9", f"nvidia-cudnn-cu{w.cuda(release)}",
            release)
    w.repairs("reinstall", maps=lib / "libcudnn.so.9")
