# SPDX-License-Identifier: Apache-2.0
"""A file is damaged, of another kind, or gone from its package."""

from harness.rows import case


@case("A26")
def a_real_part_cut_in_half(w):
    """W5 on real files: an interrupted copy of a part kills the process inside dlopen, without a
    word."""
    release = w.real("nvidia-cudnn-cu12==9.1.0.70")
    w.needs_gpu = True
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
    if w.faulty:
        w.broken(lib / "libcudnn.so.7", "other-machine")
    host = w.host("plain", release, search=[lib])
    host.does("create")
    w.says("libcudnn.so.7: cannot open shared object file", ends=1)
    w.finds("bad-file", lib / "libcudnn.so.7", "aarch64")
    w.repairs("reinstall", maps=lib / "libcudnn.so.7", by=lambda: w.again(release, lib))


@case("C26-an-interrupted-copy", "empty", "file too short")
@case("C28-a-pointer-instead-of-the-file", "pointer", "invalid ELF header")
def the_file_is_no_library(w, kind, words):
    """An interrupted copy left a file of no bytes; a clone without Git LFS has the text of the
    pointer."""
    release = w.release("8.1", "8.9")
    lib = w.directory(release)
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


ENDS = {"cut": "SIGBUS", "zeros": "SIGSEGV"}  # of who maps it


@case("A70-a-copy-that-ended-early-opened-by-its-name", "cut", "name")
@case("A71-a-copy-that-ended-early-needed-by-the-program", "cut", "program")
@case("A72-a-copy-that-ended-early-needed-by-an-extension", "cut", "extension")
@case("A73-a-copy-full-of-zeros-opened-by-its-path", "zeros", "path")
@case("A74-a-copy-full-of-zeros-needed-by-the-program", "zeros", "program")
@case("A75-a-copy-full-of-zeros-needed-by-an-extension", "zeros", "extension")
def cudnn_was_not_copied_to_its_end(w, how, reached):
    """The loader maps the file, touches what is not there, and the process is gone without a word.
    """
    release = w.release(*w.rng.choice([("8.1", "8.9"), ("9.1", "9.20")]))
    lib = w.directory(release)
    if w.faulty:
        w.damage(lib / release.soname, how)
    host = w.host("plain", release, search=[lib], linked=reached in ("program", "extension"))
    if reached in ("name", "path"):
        host.does(f"open:{lib}/{release.soname}" if reached == "path" else
                  f"open:{release.soname}")
    host.does("version", "create")
    if reached == "program":
        w.program = w.start(linked_to=host)
    w.says("", ends=ENDS[how])
    w.finds("bad-file", lib / release.soname)
    w.repairs("reinstall", maps=lib / release.soname, by=lambda: w.again(release, lib))


@case("A212")
def what_is_put_back_is_of_the_release_of_the_other_files(w):
    """The files of a wheel were copied into a folder, one of them not to its end, and the facade
    does not tell its release."""
    release = w.release("8.6", "8.9")
    lib = w.directory(release)
    part = lib / "libcudnn_ops_infer.so.8"
    if w.faulty:
        w.damage(part, "zeros")
    host = w.host("plain", release, search=[lib], linked=False)
    host.does("open:libcudnn.so.8", "version", "create")
    w.says("", ends="SIGSEGV")
    w.finds("bad-file", part)
    w.repairs("reinstall", maps=part, by=lambda: w.again(release, lib), says=f"cuDNN {release}")


@case("A76-a-part-that-ended-early-opened-by-the-facade", "cut", "9.1", "9.20", "graph")
@case("A77-a-part-that-ended-early-needed-by-another-part", "cut", "8.1", "8.9", "ops_infer")
@case("A78-a-part-full-of-zeros-needed-by-another-part", "zeros", "9.1", "9.20", "ops")
def a_part_was_not_copied_to_its_end(w, how, first, last, part):
    """The facade is whole; a part of it, or one that a part needs, is not."""
    release = w.release(first, last)
    lib = w.wheel(release)
    damaged = lib / release.file(part)
    if w.faulty:
        w.damage(damaged, how)
    host = w.host("torch", release, search=[lib], tag="rpath", linked=False)
    nvrtc = w.nvidia("cuda_nvrtc", f"libnvrtc.so.{w.cuda(release)}", ["nvrtcCreateProgram"])
    w.nvidia("cuda_nvrtc", f"libnvrtc-builtins.so.{w.cuda(release)}.4")
    host.does(f"open:{nvrtc}/libnvrtc.so.{w.cuda(release)}")
    if part != "graph":
        host.does(f"open:{lib}/{release.file('cnn' + part[3:])}")
    host.does(f"open:{release.soname}", "version", "create")
    w.says("", ends=ENDS[how])
    w.finds("bad-file", damaged)
    w.repairs("reinstall", maps=damaged)


@case("A209-a-part-of-zeros-and-another-release", "zeros", "bad-file")
@case("A210-a-part-that-is-gone-and-another-release", "gone", "installation-incomplete")
def the_facade_takes_a_part_of_another_release_instead(w, how, cause):
    """It passes over what cannot be loaded; the program then opens that part by its path."""
    own, system = w.two("9.1", "9.20")
    lib = w.wheel(own)
    part = lib / "libcudnn_graph.so.9"
    w.cache = [w.toolkit(system)]
    if w.faulty:
        size = part.stat().st_size
        part.unlink()
        if how == "zeros":
            part.write_bytes(bytes(size))
    host = w.host("plain", own, linked=False)
    host.does(f"open:{lib}/libcudnn.so.9", "version", f"open:{part}", "create")
    w.says("libcudnn_graph.so.9: ", ends=1)
    w.finds(cause, part.name, f"nvidia-cudnn-cu{w.cuda(own)}")
    w.repairs("reinstall", maps=part)


@case("A79-nvrtc-was-not-copied-to-its-end", "asks", "libnvrtc.so.12", "nvrtcCreateProgram")
@case("A80-cublaslt-was-not-copied-to-its-end", "needs", "libcublasLt.so.12", "cublasLtCreate")
def a_cuda_library_was_not_copied_to_its_end(w, how, name, function):
    """cuDNN is whole; what it opens or needs of CUDA is not."""
    release = w.release("9.1", "9.11")
    wanted = f"{name}:{function}" if how == "asks" else f"graph={name}"
    own = w.nvidia(name[3:].partition(".")[0], name, [function])
    lib = w.wheel(release, options=[f"--{how}", wanted])
    if w.faulty:
        w.damage(own / name, "cut")
    host = w.host("torch", release, search=[lib, own], tag="rpath")
    host.does("version", "create")
    w.environment["LD_LIBRARY_PATH"] = own
    w.says("", ends="SIGBUS")
    w.finds("bad-file", own / name)
    w.repairs("reinstall or install or set-variable", maps=own / name,
              by=lambda: w.cuda_dependency(name, own, [function]))


@case("A81-a-dead-link-needed-by-the-program", "program")
@case("A82-a-dead-link-needed-by-an-extension", "extension")
@case("A83-a-dead-link-opened-by-its-name", "name")
def the_link_leads_nowhere(w, reached):
    """An upgrade took the file away and left the link; the loader says that there is none."""
    release = w.release(*w.rng.choice([("8.1", "8.9"), ("9.1", "9.20")]))
    lib = w.directory(release)
    if w.faulty:
        (lib / release.soname).unlink()
        (lib / release.soname).symlink_to(f"{release.soname}.{release.minor}.{release.patch}")
    host = w.host("plain", release, search=[lib], linked=reached != "name")
    if reached == "name":
        host.does(f"open:{release.soname}")
    host.does("version", "create")
    if reached == "program":
        w.program = w.start(linked_to=host)
    w.says(f"{release.soname}: cannot open shared object file",
           ends=127 if reached == "program" else 1)
    w.finds("bad-file", lib / release.soname, f"{release.soname}.{release.minor}")
    w.repairs("reinstall", maps=lib / release.soname, by=lambda: w.again(release, lib))
