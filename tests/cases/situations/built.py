# SPDX-License-Identifier: Apache-2.0
"""The wheel says nothing of the cuDNN that it was built with, or the major alone: the release does, by
what its makers published. And who knows the number says it in WHICHCUDNN_EXPECT."""

from harness.rows import case


@case("A60-tensorflow-1-of-5-1-gets-5-0", "tensorflow-old", "1.2.1", "", "5.0", "5.0", "5.1")
@case("A60-tensorflow-1-of-7-4-gets-less", "tensorflow-1.6", "1.14.0", "", "7.0", "7.3", "7.4")
@case("A60-tensorflow-1-15-of-7-6-gets-less", "tensorflow-1.6", "1.15.2", "", "7.0", "7.5", "7.6")
@case("A60-tensorflow-2-names-the-major-8", "tensorflow", "2.10.1", "8", "8.0", "8.0", "8.1")
@case("A60-tensorflow-2-13-names-the-major-8", "tensorflow", "2.13.0", "8", "8.1", "8.5", "8.6")
@case("A60-tensorflow-2-16-names-the-major-8", "tensorflow", "2.16.1", "8", "8.3", "8.8", "8.9")
@case("A60-tensorflow-2-20-names-the-major-9", "tensorflow", "2.20.0", "9", "9.0", "9.2", "9.3")
def a_wheel_that_does_not_say_it_prints_two_versions(w, kind, version, states, low, high, built):
    """TensorFlow's wheel has no number, or cuDNN's major: it prints two versions and ends."""
    older, compiled = w.release(low, high), w.release(built, built)
    lib = w.directory(older if w.faulty else compiled)
    w.known.append(compiled)
    host = w.host(kind, compiled, search=[lib], linked=False, requires=[], version=version,
                  states=states)
    host.does(f"open:{compiled.soname}", "create", host.checks)
    if kind == "tensorflow-old":
        w.says(f"Loaded runtime CuDNN library: {older.number} (compatibility version 5000) but "
               f"source was compiled with {compiled.number} (compatibility version 5100)", ends=1)
    else:
        w.says(f"Loaded runtime CuDNN library: {older} but source was compiled with: {compiled}",
               ends=1)
    w.finds("runtime-too-old", lib / compiled.soname, older, f"built with {built}")
    w.repairs("install", maps=lib / compiled.soname)


@case("A61")
def a_module_beats_what_tensorflow_2_was_built_with(w):
    """The right copy is there; a module's older one stands before it in LD_LIBRARY_PATH."""
    older, later = w.release("9.0", "9.2"), w.release("9.3", "9.9")
    right, module = w.directory(later), w.directory(older)
    tensorflow = w.host("tensorflow", w.release("9.3", "9.3"), linked=False, requires=[],
                        version="2.18.0", states="9")
    tensorflow.does("open:libcudnn.so.9", "create", tensorflow.checks)
    w.environment["LD_LIBRARY_PATH"] = f"{module}:{right}" if w.faulty else right
    w.says(f"Loaded runtime CuDNN library: {older} but source was compiled with: 9.3", ends=1)
    w.finds("runtime-too-old", module / "libcudnn.so.9", older, "built with 9.3")
    w.repairs("set-variable", maps=right / "libcudnn.so.9")


@case("A62-torch-of-cuda-11-8", "torch", "2.0.1+cu118", "8.5", "8.6", "8.7")
@case("A62-jax-without-its-requirement", "jax", "0.6.2", "9.1", "9.7", "9.8")
@case("A62-onnxruntime-of-cuda-11", "onnxruntime", "1.16.3", "8.0", "8.1", "8.2")
@case("A62-paddle-before-2", "paddle", "1.8.5", "7.1", "7.2", "7.3")
@case("A62-ctranslate2-of-cuda-12", "ctranslate2", "4.4.0", "8.3", "8.8", "8.9")
def a_wheel_without_a_word_of_its_cudnn(w, kind, version, low, high, built):
    """Nothing in the wheel names the cuDNN that its release was built with, and an older one is
    there: the framework's own check refuses it, or it has none."""
    older, compiled = w.release(low, high), w.release(built, built)
    place = w.wheel if kind in ("torch", "jax") else w.directory
    lib = place(older if w.faulty else compiled)
    w.known.append(compiled)
    host = w.host(kind, compiled, search=[lib], linked=False, requires=[], version=version,
                  states="")
    host.does(f"open:{compiled.soname}", "version", "create")
    w.says(f"version {older.number}", ends=0)
    w.finds("runtime-too-old", lib / compiled.soname, older, f"built with {built}")
    w.repairs("install", maps=lib / compiled.soname)


@case("A63-newer-by-a-patch", "7.6", 4, "runtime-too-new")
@case("A63-older-by-a-minor", "7.5", 1, "runtime-too-old")
def mxnet_wants_the_very_number(w, minor, patch, found):
    """MXNet's wheel says nothing, and its check stops at any other number."""
    release = type(w.release("7.6", "7.6"))
    compiled = release(7, 6, 0, 64)
    other = release(7, int(minor[2:]), patch, 30)
    lib = w.directory(other if w.faulty else compiled)
    w.known.append(compiled)
    mxnet = w.host("mxnet", compiled, search=[lib], version="1.5.1", requires=[])
    mxnet.does(mxnet.checks, "create")
    w.says(f"linked-against version {other.number} != compiled-against version "
           f"{compiled.number}", ends=1)
    w.finds(found, lib / "libcudnn.so.7", other, f"built with {compiled}")
    w.repairs("install", maps=lib / "libcudnn.so.7")


@case("A64-the-same-minor-is-older", "5.0", "5.0", "5.1", "5.1")
@case("A64-a-newer-minor-than-the-header", "5.1", "5.1", "5.0", "5.0")
@case("A64-an-older-minor-of-7", "7.0", "7.3", "7.4", "7.6")
def the_number_of_the_header_is_known(w, low, high, first, last):
    """Theano compiles with the header of one installation and finds the library of another; who
    knows the header's number says it. Before cuDNN 7 nothing was promised to fit."""
    other, header = w.release(low, high), w.release(first, last)
    right, wrong = w.directory(header), w.directory(other)
    host = w.host("plain", header, linked=False)
    host.does(f"open:{header.soname}", f"check:theano:{header.number}", "create")
    w.environment["LD_LIBRARY_PATH"] = f"{wrong}:{right}" if w.faulty else right
    w.environment["WHICHCUDNN_EXPECT"] = header.number
    w.says(f"The header is version {header.number} while the library is version {other.number}",
           ends=1)
    w.finds("expectation-not-met", wrong / header.soname, other, header)
    w.repairs("set-variable", maps=right / header.soname)


@case("A65")
def the_header_is_of_another_major(w):
    """The unversioned name leads to another major than the header."""
    other, header = w.release("5.0", "5.1"), w.release("6.0", "6.0")
    wrong, right = w.toolkit(other, cuda=7), w.toolkit(header, cuda=8)
    host = w.host("plain", header, linked=False)
    host.does("open:libcudnn.so", f"check:theano:{header.number}", "create")
    w.environment["LD_LIBRARY_PATH"] = f"{wrong}:{right}" if w.faulty else right
    w.environment["WHICHCUDNN_EXPECT"] = header.number
    w.says(f"The header is version {header.number} while the library is version {other.number}",
           ends=1)
    w.finds("expectation-not-met", wrong / "libcudnn.so", other, header)
    w.repairs("set-variable", maps=right / "libcudnn.so")


@case("A68-a-newer-header-over-an-older-library", "7.0", "7.3", "7.4", "7.6")
@case("A68-an-old-library-under-a-header-of-6", "5.0", "5.1", "6.0", "6.0")
def the_header_beside_it_is_of_another_release(w, low, high, first, last):
    """Header and library were copied into one toolkit from two releases: what is compiled there has
    the header's number."""
    older, header = w.release(low, high), w.release(first, last)
    lib = w.toolkit(older if w.faulty else header, cuda=8)
    w.known.append(header)
    w.header(header, lib)
    host = w.host("plain", header, linked=False)
    host.does("open:libcudnn.so", f"check:theano:{header.number}", "create")
    w.environment["LD_LIBRARY_PATH"] = lib
    w.environment["WHICHCUDNN_EXPECT"] = header.number
    w.says(f"The header is version {header.number} while the library is version {older.number}",
           ends=1)
    w.finds("expectation-not-met", lib / "libcudnn.so", older, f"header beside it: {header}")

    def library_of_the_header():
        for path in lib.glob("libcudnn*"):
            path.unlink()
        w.directory(header, lib)
        (lib / "libcudnn.so").symlink_to(header.soname)

    w.repairs("install", maps=lib / "libcudnn.so", by=library_of_the_header)


@case("A66")
def what_is_expected_is_no_version(w):
    """A word where a version should be: nothing can be compared, and nobody says so."""
    release = w.release("9.1", "9.9")
    lib = w.directory(release)
    host = w.host("plain", release, search=[lib])
    host.does("version", "create")

    def write_it_right():
        w.environment["WHICHCUDNN_EXPECT"] = f"9.{release.minor}"

    write_it_right()
    if w.faulty:
        w.environment["WHICHCUDNN_EXPECT"] = w.rng.choice(["foo", "latest", "v9", "9.x"])
    w.says(f"version {release.number}", ends=0)
    w.finds("expectation-not-met", "WHICHCUDNN_EXPECT", "not a version", severity="warning")
    w.repairs("set-variable", maps=lib / "libcudnn.so.9", by=write_it_right)


@case("A67-a-build-of-nvidia-s", "1.15.2+nv20.2", False)
@case("A67-a-build-of-one-s-own", "1.15.2", True)
@case("A67-a-release-whose-sources-disagree", "2.0.0", False)
@case("A67-a-candidate", "1.15.0rc3", False)
def other_builds_are_not_of_the_table(w, version, from_a_file):
    """A TensorFlow that somebody else built, with the cuDNN that is there: nothing is wrong."""
    release = w.release("7.0", "7.5")
    lib = w.directory(release)
    host = w.host("tensorflow-1.6", release, search=[lib], linked=False, requires=[],
                  version=version, states="")
    if from_a_file:
        info = next(w.site.glob("tensorflow_gpu-*.dist-info"))
        (info / "direct_url.json").write_text('{"url": "file:///tmp/a.whl"}')
    host.does("open:libcudnn.so.7", host.checks, "create")
    w.says("cudnnCreate 0", ends=0)
    w.finds(None)
