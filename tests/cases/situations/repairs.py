# SPDX-License-Identifier: Apache-2.0
"""Repairs that were printed once and repaired nothing, or did harm: the situation of each, and what
must not be printed of it."""

from harness.rows import case
from harness.world import place


@case("A183-the-wheel-behind-a-variable-is-not-installed-once-more", "wheel")
@case("A184-what-the-pin-allows-is-there-and-is-not-installed", "range")
def the_right_wheel_stands_behind_a_variable(w, pin):
    """The wheel fits and is installed. LD_LIBRARY_PATH wins over it, and goes on winning whatever
    pip does."""
    older, own = w.two("9.1", "9.9")
    wheel, module = w.wheel(own), w.directory(older)
    torch = w.host("torch" if pin == "wheel" else "jax", own, search=[wheel])
    torch.does(torch.checks, "create")
    if w.faulty:
        w.environment["LD_LIBRARY_PATH"] = module
    w.says(older.tuple if pin == "wheel" else f"Loaded runtime CuDNN library: {older}", ends=1)
    w.finds("runtime-too-old", module / "libcudnn.so.9", older, wheel)
    w.never("install", "reinstall")
    w.repairs("set-variable", maps=wheel / "libcudnn.so.9")


@case("A185")
def the_list_of_the_package_never_had_the_file(w):
    """The wheel came without its facade, and its list says nothing of it: to install it once more
    brings what the list has. A toolkit has a whole one."""
    release = w.release("9.1", "9.9")
    lib = w.wheel(release, without=["facade"] if w.faulty else [])
    toolkit = w.toolkit(release)
    w.environment["CUDA_HOME"] = toolkit.parent
    torch = w.host("torch", release, search=[lib])
    torch.does("version", "create")
    w.says("libcudnn.so.9: cannot open shared object file", ends=1)
    w.finds("library-not-found", "libcudnn.so.9", torch.library)
    w.never("install", "reinstall")
    w.repairs("set-variable", maps=(toolkit if w.faulty else lib) / "libcudnn.so.9")


@case("A186")
def nothing_is_installed_where_the_host_never_looks(w):
    """ONNX Runtime has no search path into site-packages: a wheel alone, wherever pip puts it, is
    never found."""
    release = w.release("9.5", "9.9")
    host = w.host("onnxruntime", release, linked=False)
    host.does("open:libcudnn.so.9", "version", "create")
    lib = w.site / "nvidia/cudnn/lib"
    if not w.faulty:
        w.wheel(release)
        w.environment["LD_LIBRARY_PATH"] = lib
    w.known.append(release)
    w.says("libcudnn.so.9: cannot open shared object file", ends=1)
    w.finds("library-not-found", "libcudnn.so.9", host.library)
    w.never("install")
    w.repairs("install", maps=lib / "libcudnn.so.9")


@case("A187")
def a_wheel_for_another_cuda_goes_before_the_right_one_comes(w):
    """Both wheels put their files into one folder: beside the one for CUDA 13 the one for CUDA 12
    would be a mixture, whose repair is to remove one of them."""
    release = w.release("9.12", "9.20")
    needs = ["--asks", "libcublasLt.so.13:cublasLtGetVersion"] if w.faulty else []
    cudart = w.nvidia("cuda_runtime", "libcudart.so.12")
    lib = w.wheel(release, cuda=13 if w.faulty else 12, options=needs)
    host = w.host("torch", release, search=[lib, cudart], tag="rpath", cuda=12,
                  needs=["libcudart.so.12"])
    host.does("version", "create")
    w.says("Invalid handle. Cannot load symbol cublasLtGetVersion", ends="SIGABRT")
    w.finds("cuda-major-differs", lib / "libcudnn.so.9", "libcublasLt.so.13", "libcudart.so.12")
    w.never("install", "nvidia-cudnn-cu11")
    w.repairs("install", maps=lib / "libcudnn.so.9")


@case("A188")
def the_pin_of_the_package_comes_first(w):
    """JAX takes any newer release, PyTorch beside it exactly one: that one is right for both."""
    older, own = w.two("9.1", "9.9")
    lib = w.wheel(older if w.faulty else own)
    jax = w.host("jax", own, search=[lib])
    jax.does("version")
    torch = w.host("torch", own, search=[lib])
    torch.does(torch.checks, "create")
    w.known.append(own)
    w.says(f"PyTorch was compiled  against {own.tuple} but found runtime version {older.tuple}")
    w.finds("runtime-too-old", lib / "libcudnn.so.9", older)
    w.repairs("install", maps=lib / "libcudnn.so.9", says=f"=={own.wheel}")


@case("A189")
def the_name_that_is_asked_for_is_not_taken_away(w):
    """The library was copied under its name for developers alone. One host asks for the name with a
    number, another one for that one: to rename the file takes its name away from the second."""
    release = w.release("9.1", "9.9")
    lib = w.directory(release)
    (lib / "libcudnn.so.9").rename(lib / "libcudnn.so")
    if not w.faulty:
        (lib / "libcudnn.so.9").symlink_to("libcudnn.so")
    first = w.host("plain", release, linked=False)
    first.does("open:libcudnn.so.9", "version")
    second = w.host("plain", release, site=w.root / "opt/second", linked=False)
    second.does("open:libcudnn.so", "create")
    w.environment["LD_LIBRARY_PATH"] = lib
    w.says("libcudnn.so.9: cannot open shared object file", ends=1)
    w.finds("wrong-name", "libcudnn.so.9", lib / "libcudnn.so")
    w.never("delete")
    w.repairs("link", maps=lib / "libcudnn.so.9")


@case("A192")
def an_archive_without_its_links(w):
    """Each file stands there with its full number alone: one link is not enough, as the parts need
    one another by the names that are lost."""
    release = w.release("9.1", "9.9")
    lib = w.directory(release)
    if w.faulty:
        for path in lib.glob("libcudnn*.so.9"):
            path.rename(path.with_name(f"{path.name.removesuffix('.9')}.{release}"))
    host = w.host("plain", release, linked=False)
    host.does("open:libcudnn.so.9", "version", "create")
    w.environment["LD_LIBRARY_PATH"] = lib
    w.says("libcudnn.so.9: cannot open shared object file", ends=1)
    w.finds("wrong-name", "libcudnn.so.9", lib / f"libcudnn.so.{release}")
    w.never("delete", "link")
    w.repairs("link", maps=lib / "libcudnn.so.9", says="/sbin/ldconfig -n")


@case("A213")
def links_still_lead_to_the_release_before(w):
    """deeplab2#66: the newer release was unpacked beside the older one, and the links of all libraries
    were left as they were. To turn the facade's alone would mix the two."""
    older, own = w.two("8.2", "8.9")
    lib = w.toolkit(own)
    for source in w.files(older).values():
        stem = source.name.partition(".so")[0]
        place(source, lib / f"{stem}.so.{older}")
        if w.faulty:
            (lib / source.name).unlink()
            (lib / source.name).symlink_to(f"{stem}.so.{older}")
    torch = w.host("torch", own, search=[lib])
    torch.does(torch.checks, "create")
    w.says(older.tuple, ends=1)
    w.finds("runtime-too-old", lib / "libcudnn.so.8", older)
    w.never("install", "reinstall")
    w.repairs("link", maps=lib / "libcudnn.so.8", says="/sbin/ldconfig -n")


@case("A190")
def a_note_takes_nothing_from_a_program_that_works(w):
    """Two copies would do, and the first of them is taken. Its directory in the variable has what
    the program lives on, too."""
    other, own = w.two("9.1", "9.9")
    wheel, module = w.wheel(other), w.directory(own)
    w.cuda_dependency("libplugin.so", module)
    host = w.host("paddle", other, search=[wheel], needs=["libplugin.so"])
    host.does("version", "create")
    w.environment["LD_LIBRARY_PATH"] = module
    if not w.faulty:
        w.hosts[0].options["search"] = []
        host.make()
    w.says(f"version {own.number}", ends=0)
    w.finds("shadowed-copy", module / "libcudnn.so.9", own, other, severity="note")
    w.never("unset", "set", "unset LD_LIBRARY_PATH")
    w.repairs("set-variable", maps=module / "libcudnn.so.9")


@case("A191")
def two_libraries_of_one_package_have_no_order(w):
    """Both hosts come with one import: nobody can import one of them first."""
    older, built = w.two("9.1", "9.9")
    bundled, own = w.directory(older, w.site / "torch/lib"), w.directory(built)
    first = w.host("torch", older, search=[bundled], tag="rpath", requires=[])
    first.does("version")
    second = w.host("plain", built, search=[own], site=w.site / "torch")
    second.does(f"check:dlib:{built.number}", "create")
    if not w.faulty:
        w.hosts.remove(first)
    w.environment["WHICHCUDNN_EXPECT"] = f">=9.{built.minor}"
    w.says(f"cudnnGetVersion() : {older.number}", ends=1)
    w.finds("expectation-not-met", bundled / "libcudnn.so.9", older)
    w.never("import-first")
    w.repairs("install or set-variable", maps=own / "libcudnn.so.9")
