# SPDX-License-Identifier: Apache-2.0
"""A cuDNN of the wrong release is found: older, newer, of another major, or with a known defect."""

from harness.rows import case


@case("A12")
def pip_wrote_over_conda(w):
    """conda's environment has cuDNN in lib, pip brought another one into site-packages: PyTorch of
    pip, with conda's lib first in LD_LIBRARY_PATH, gets conda's."""
    older, built = w.two("8.5", "8.9")
    conda = w.conda(older, prefix=w.venv)
    wheel = w.wheel(built)
    torch = w.host("torch", built, search=[wheel])
    torch.does(torch.checks, "create")
    if w.faulty:
        w.environment["LD_LIBRARY_PATH"] = conda
    w.says(f"PyTorch was compiled  against {built.tuple} but found runtime version {older.tuple}")
    w.finds("runtime-too-old", conda / "libcudnn.so.8", older, built.wheel)
    w.repairs("set-variable", maps=wheel / "libcudnn.so.8")


@case("A32")
def a_package_manager_pulled_another_release(w):
    """An update of another package pulled a release with a documented defect."""
    bad, good = w.real("nvidia-cudnn-cu12==9.10.0.56"), w.real("nvidia-cudnn-cu12==9.10.2.21")
    w.needs_gpu = True
    lib = w.wheel(bad if w.faulty else good)
    w.known.append(good)
    jax = w.host("jax", w.release("9.8", "9.8"), search=[lib], cuda=12)
    jax.does("version")
    w.says("version 91000", ends=0)
    w.finds("known-bad-release", lib / "libcudnn.so.9", bad)
    w.repairs("install", maps=lib / "libcudnn.so.9")


@case("A33")
def a_name_without_a_number_leads_to_another_major(w):
    """A framework opens libcudnn.so, and the toolkit that comes first on the search path has the
    next major under that name."""
    built, newer = w.release("8.5", "8.9"), w.release("9.1", "9.9")
    old, new = w.toolkit(built, cuda=11), w.toolkit(newer, cuda=12)
    host = w.host("tensorflow", built, linked=False)
    host.does("open:libcudnn.so", host.checks, "create")
    w.environment["LD_LIBRARY_PATH"] = f"{new}:{old}" if w.faulty else old
    w.says(f"Loaded runtime CuDNN library: {newer}", ends=1)
    w.finds("major-differs", new / "libcudnn.so", newer, built)
    w.repairs("set-variable", maps=old / "libcudnn.so")


@case("A51-5005-found-5103-compiled-the-other-copy-is-there")
def the_other_copy_is_there(w):
    """The compatibility version of TensorFlow before 1.6: both numbers without their last two
    digits must be the same. An older copy of cuDNN 5 stands first in LD_LIBRARY_PATH."""
    built, older = w.release("5.1", "5.1"), w.release("5.0", "5.0")
    right, wrong = w.directory(built), w.directory(older)
    host = w.host("tensorflow-old", built, linked=False)
    host.does("open:libcudnn.so.5", "create", host.checks)
    w.environment["LD_LIBRARY_PATH"] = f"{wrong}:{right}" if w.faulty else right
    w.says(f"Loaded runtime CuDNN library: {older.number} (compatibility version 5000) but source "
           f"was compiled with {built.number} (compatibility version 5100)", ends=1)
    w.finds("runtime-too-old", wrong / "libcudnn.so.5", older, built, older.number, built.number)
    w.repairs("set-variable", maps=right / "libcudnn.so.5")


@case("A52-5005-found-5103-compiled-the-library-goes-up", "install", 0)
@case("A53-5005-found-5103-compiled-the-framework-goes-down", "upgrade-host", 1)
def found_5005_compiled_5103(w, action, road):
    """One copy of cuDNN 5.0 is there, TensorFlow was compiled with 5.1: the compatibility versions
    differ. The library goes up; or the framework goes down, or is built anew against what is
    there."""
    built, older = w.release("5.1", "5.1"), w.release("5.0", "5.0")
    lib = w.directory(older if w.faulty else built)
    w.known.append(built)
    host = w.host("tensorflow-old", built, search=[lib], linked=False)
    host.does("open:libcudnn.so.5", "create", host.checks)
    w.says(f"Loaded runtime CuDNN library: {older.number} (compatibility version 5000) but source "
           f"was compiled with {built.number} (compatibility version 5100)", ends=1)
    w.finds("runtime-too-old", lib / "libcudnn.so.5", older.number, built.number, 5000, 5100)
    w.repairs(action, maps=lib / "libcudnn.so.5", road=road)


@case("C01")
def a_module_on_the_search_path_beats_the_runpath_of_the_wheel(w):
    """A directory in LD_LIBRARY_PATH holds an older cuDNN; the wheel's libraries have DT_RUNPATH,
    which comes after it."""
    older, built = w.two("8.0", "8.9")
    own = w.directory(built, w.site / "torch/lib")
    module = w.directory(older)
    torch = w.host("torch", built, search=[own], requires=[])
    torch.does(torch.checks, "create")
    if w.faulty:
        w.environment["LD_LIBRARY_PATH"] = module
    w.says(f"PyTorch was compiled  against {built.tuple} but found runtime version {older.tuple}")
    w.finds("runtime-too-old", module / "libcudnn.so.8", older, "LD_LIBRARY_PATH")
    w.repairs("set-variable", maps=own / "libcudnn.so.8")


@case("C02")
def the_search_tag_decides_whether_the_variable_counts(w):
    """With DT_RPATH the wheel's own cuDNN wins over LD_LIBRARY_PATH, with DT_RUNPATH the toolkit's
    does."""
    built, other = w.two("7.1", "7.6")
    own, toolkit = w.directory(built, w.site / "torch/lib"), w.toolkit(other, cuda=10)
    torch = w.host("torch", built, search=[own], requires=[],
                   tag="runpath" if w.faulty else "rpath")
    torch.does("version", "create")
    w.environment["LD_LIBRARY_PATH"] = toolkit
    w.says(f"version {other.number}", ends=0)
    w.finds("shadowed-copy", toolkit / "libcudnn.so.7", own / "libcudnn.so.7", other, built)
    w.repairs("set-variable", maps=own / "libcudnn.so.7")


@case("C39")
def a_helper_chose_the_file_by_its_path(w):
    """A helper asks ldconfig and opens what it says by its path: the module's copy in
    LD_LIBRARY_PATH is never looked at."""
    older, module = w.two("9.22", "9.28")
    system, wanted = w.directory(older), w.directory(module)
    host = w.host("plain", module, linked=False)
    chosen = system if w.faulty else wanted
    host.does(f"open:{chosen}/libcudnn.so.9", f"check:dlib:{module.number}", "create")
    w.environment["LD_LIBRARY_PATH"] = wanted
    w.environment["WHICHCUDNN_EXPECT"] = f">=9.{module.minor}"
    w.known.append(module)
    w.says(f"cudnnGetVersion() : {older.number}", ends=1)
    w.finds("expectation-not-met", system / "libcudnn.so.9", older)
    w.repairs("install", maps=chosen / "libcudnn.so.9")


@case("C52")
def one_copy_serves_a_host_that_was_built_with_more(w):
    """PaddlePaddle wants the system's cuDNN and gets the older one that PyTorch has loaded."""
    older, built = w.two("7.1", "7.6")
    bundled, system = w.directory(older, w.site / "torch/lib"), w.directory(built)
    torch = w.host("torch", older, search=[bundled], tag="rpath", requires=[])
    torch.does("version")
    paddle = w.host("paddle", built, search=[system])
    paddle.does("create", paddle.checks)
    if not w.faulty:
        w.hosts.remove(torch)
    w.says(f"compiled with CUDNN 7.{built.minor}, but CUDNN version in your machine is "
           f"7.{older.minor}")
    w.finds("runtime-too-old", bundled / "libcudnn.so.7", older, built, paddle.library)
    w.repairs("load-order or set-variable", maps=system / "libcudnn.so.7")


@case("C54")
def one_framework_compiled_with_what_another_replaced(w):
    """Theano compiled its extension with one header; the other framework put a newer cuDNN in
    front."""
    built, newer = w.release("5.0", "5.0"), w.release("5.1", "5.1")
    right, wrong = w.directory(built), w.directory(newer)
    theano = w.host("plain", built, linked=False)
    theano.does("open:libcudnn.so.5", f"check:theano:{built.number}", "create")
    w.environment["LD_LIBRARY_PATH"] = f"{wrong}:{right}" if w.faulty else right
    w.environment["WHICHCUDNN_EXPECT"] = "5.0"
    w.says(f"The header is version {built.number} while the library is version {newer.number}",
           ends=1)
    w.finds("expectation-not-met", wrong / "libcudnn.so.5", newer)
    w.repairs("set-variable", maps=right / "libcudnn.so.5")


@case("C55")
def the_older_copy_of_another_wheel_came_first(w):
    """Another wheel carries an older cuDNN 7 and was imported first; its SONAME serves TensorFlow,
    too."""
    older, built = w.two("7.3", "7.6")
    own = w.directory(built)
    other = w.directory(older, w.site / "cupy/.data/lib")
    cupy = w.host("cupy", older, search=[other], tag="rpath")
    cupy.does("version")
    tensorflow = w.host("tensorflow-1.6", built, search=[own])
    tensorflow.does("create", tensorflow.checks)
    if not w.faulty:
        w.hosts.remove(cupy)
    w.says(f"Loaded runtime CuDNN library: {older} but source was compiled with: {built}", ends=1)
    w.finds("runtime-too-old", other / "libcudnn.so.7", older, built, tensorflow.library)
    w.repairs("load-order or set-variable", maps=own / "libcudnn.so.7")


@case("C58-the-copy-that-pytorch-loaded-serves-tensorrt", "8.5", "8.9")
@case("C59-the-right-one-is-installed-and-an-older-one-was-loaded-first", "7.1", "7.6")
def the_copy_of_pytorch_serves_tensorrt(w, first, last):
    """PyTorch's own cuDNN came first and satisfies the SONAME; TensorRT was linked against a newer
    one, which is installed, and never looked for."""
    older, built = w.two(first, last)
    bundled = w.directory(older, w.site / "torch/lib")
    system = w.directory(built)
    torch = w.host("torch", older, search=[bundled], tag="rpath", requires=[])
    torch.does("version")
    tensorrt = w.host("plain", built, search=[system])
    tensorrt.does(f"check:tensorrt:{built.number}", "create")
    if not w.faulty:
        w.hosts.remove(torch)
    w.says(f"[TRT] TensorRT was linked against cuDNN {built} but loaded cuDNN {older}")
    facade = f"libcudnn.so.{built.major}"
    w.finds("already-loaded-by-soname", bundled / facade, system)
    w.repairs("load-order or set-variable", maps=system / facade)


@case("C60")
def a_lower_minor_than_tensorrt_was_linked_with(w):
    """TensorRT warns of a lower minor than it was linked with, and goes on; its owner says which.
    """
    older, built = w.two("8.0", "8.9")
    lib = w.directory(older if w.faulty else built)
    w.known.append(built)
    tensorrt = w.host("plain", built, search=[lib])
    tensorrt.does("create", f"check:tensorrt:{built.number}")
    w.environment["WHICHCUDNN_EXPECT"] = f">=8.{built.minor},<9"
    w.says(f"[TRT] TensorRT was linked against cuDNN {built} but loaded cuDNN {older}")
    w.finds("expectation-not-met", lib / "libcudnn.so.8", older, f">=8.{built.minor},<9")
    w.repairs("install", maps=lib / "libcudnn.so.8")


@case("C61")
def the_header_says_one_version_the_process_loads_another(w):
    """The toolkit's header is of the release that Paddle wants; LD_LIBRARY_PATH leads to an older
    copy."""
    older, built = w.two("7.1", "7.6")
    toolkit, wrong = w.toolkit(built, cuda=10), w.directory(older)
    paddle = w.host("paddle", built, linked=False)
    paddle.does("open:libcudnn.so.7", "create", paddle.checks)
    w.environment["LD_LIBRARY_PATH"] = f"{wrong}:{toolkit}" if w.faulty else toolkit
    w.says(f"is compiled with CUDNN 7.{built.minor}, but CUDNN version in your machine is "
           f"7.{older.minor}")
    w.finds("runtime-too-old", wrong / "libcudnn.so.7", older, built)
    w.repairs("set-variable", maps=toolkit / "libcudnn.so.7")


@case("C63")
def conda_brings_an_older_cudnn_than_the_build_had(w):
    """The conda recipe's dependency resolves to a cuDNN that is older than the one of the build."""
    older, built = w.two("7.3", "7.6")
    lib = w.conda(older if w.faulty else built, build="cuda10.0_0")
    host = w.host("plain", built, search=[lib], site=lib, refuses="Hint: CUDNN_STATUS_BAD_PARAM")
    w.conda_record(lib.parent, f"paddlepaddle-gpu-1.7.1-py37_cuda10.0_cudnn{built}",
                   [host.library.name])
    host.does(f"check:paddle:{built.number}")
    w.says(f"is compiled with CUDNN 7.{built.minor}, but CUDNN version in your machine is")
    w.finds("runtime-too-old", lib / "libcudnn.so.7", older, built)
    w.repairs("install", maps=lib / "libcudnn.so.7")


@case("C73")
def an_older_copy_than_jax_was_built_with(w):
    """A copy on the computer is found before the one that JAX was built with."""
    older, built = w.two("9.1", "9.20")
    lib = w.wheel(built, cuda=12)
    wrong = w.directory(older)
    jax = w.host("jax", built, cuda=12, linked=False, search=[lib])
    jax.does("open:libcudnn.so.9", jax.checks, "create")
    if w.faulty:
        w.environment["LD_LIBRARY_PATH"] = wrong
    w.says(f"Loaded runtime CuDNN library: {older} but source was compiled with: 9.{built.minor}",
           ends=1)
    w.finds("runtime-too-old", wrong / "libcudnn.so.9", older, f">=9.{built.minor}")
    w.repairs("set-variable", maps=lib / "libcudnn.so.9")


@case("C75")
def the_documentation_allows_what_the_check_refuses(w):
    """PyTorch's pin brought an older minor than the one that JAX was built with."""
    older, built = w.two("9.5", "9.11")
    lib = w.wheel(older if w.faulty else built)
    w.known.append(built)
    jax = w.host("jax", built, search=[lib])
    jax.does("create", jax.checks)
    w.says(f"Loaded runtime CuDNN library: {older} but source was compiled with: 9.{built.minor}",
           ends=1)
    w.finds("runtime-too-old", lib / "libcudnn.so.9", older, f">=9.{built.minor}")
    w.repairs("install", maps=lib / "libcudnn.so.9")


@case("C76")
def conda_allows_less_than_the_build_demands(w):
    """The recipe's constraint is looser than the build; who knows what it was built with says so in
    WHICHCUDNN_EXPECT."""
    older, built = w.two("9.8", "9.20")
    lib = w.conda(older if w.faulty else built)
    w.known.append(built)
    host = w.host("plain", built, search=[lib], site=lib)
    w.conda_record(lib.parent, "jaxlib-0.5.3-cuda126py312h0", [host.library.name],
                   depends=["cudnn >=9.0,<10.0a0"])
    host.does(f"check:xla:{built.number}", "create")
    w.environment["WHICHCUDNN_EXPECT"] = f">=9.{built.minor},<10"
    w.says(f"Loaded runtime CuDNN library: {older} but source was compiled with: {built}", ends=1)
    w.finds("expectation-not-met", lib / "libcudnn.so.9", older, f">=9.{built.minor}")
    w.repairs("install", maps=lib / "libcudnn.so.9")


@case("C77")
def built_against_less_than_jax_accepts(w):
    """jaxlib of conda was built against 8.9, the Python side of JAX accepts nothing below 9.1."""
    older, least = w.release("8.9", "8.9"), w.release("9.1", "9.9")
    lib = w.conda(older if w.faulty else least)
    w.known.append(least)
    host = w.host("plain", older, search=[lib], site=lib, linked=False)
    host.does("try:libcudnn.so.8", "try:libcudnn.so.9", f"check:jax:{least.number}", "create")
    w.environment["WHICHCUDNN_EXPECT"] = f">={least.major}.{least.minor}"
    w.says(f"Minimum supported: {least.number} Installed version: {older.number}", ends=1)
    w.finds("expectation-not-met", lib / "libcudnn.so.8", older)
    w.repairs("install", maps=lib / "libcudnn.so.9")


@case("C80")
def pip_brought_a_newer_tensorflow_into_an_image(w):
    """The image has cuDNN in a directory that the loader knows; pip brought a TensorFlow built with
    a newer minor."""
    older, built = w.two("8.0", "8.6")
    image = w.directory(older if w.faulty else built)
    w.cache = [image]
    tensorflow = w.host("tensorflow", built, linked=False)
    tensorflow.does("open:libcudnn.so.8", "create", tensorflow.checks)
    w.says(f"Loaded runtime CuDNN library: {older} but source was compiled with: {built}", ends=1)
    w.finds("runtime-too-old", image / "libcudnn.so.8", older, built)
    w.repairs("install", maps=image / "libcudnn.so.8")


@case("C81")
def the_environment_stands_before_the_wheel(w):
    """A recipe puts the conda environment's lib before the wheel's directory into LD_LIBRARY_PATH,
    and the environment has an older cuDNN."""
    older, built = w.two("8.1", "8.6")
    lib, conda = w.wheel(built), w.conda(older)
    tensorflow = w.host("tensorflow", built, linked=False)
    tensorflow.does("open:libcudnn.so.8", "create", tensorflow.checks)
    w.environment["LD_LIBRARY_PATH"] = f"{conda}:{lib}" if w.faulty else f"{lib}:{conda}"
    w.says(f"Loaded runtime CuDNN library: {older} but source was compiled with: {built}", ends=1)
    w.finds("runtime-too-old", conda / "libcudnn.so.8", older, built, lib)
    w.repairs("set-variable", maps=lib / "libcudnn.so.8")


@case("C82")
def another_framework_replaced_the_shared_wheel(w):
    """Two frameworks share NVIDIA's wheel; installing the second one put an older release into it.
    """
    older, built = w.two("8.5", "8.9")
    lib = w.wheel(older if w.faulty else built)
    w.known.append(built)
    package = f"nvidia-cudnn-cu11=={built.wheel}"
    tensorflow = w.host("tensorflow", built, search=[lib], linked=False, requires=[package])
    tensorflow.does("open:libcudnn.so.8", "create", tensorflow.checks)
    w.says(f"Loaded runtime CuDNN library: {older} but source was compiled with: {built}", ends=1)
    w.finds("runtime-too-old", lib / "libcudnn.so.8", older, package)
    w.repairs("install", maps=lib / "libcudnn.so.8")


@case("C83")
def a_moving_image_tag_under_a_fixed_wheel(w):
    """The image's tag moved to a newer minor; TensorFlow before 1.6 wants the very same."""
    built, newer = w.two("7.0", "7.6")
    image = w.directory(newer if w.faulty else built)
    w.cache = [image]
    tensorflow = w.host("tensorflow-old", built, linked=False)
    tensorflow.does("open:libcudnn.so.7", "create", tensorflow.checks)
    w.says(f"Loaded runtime CuDNN library: {newer.number} (compatibility version 7{newer.minor}00) "
           f"but source was compiled with {built.number} (compatibility version 7{built.minor}00)",
           ends=1)
    w.finds("runtime-too-new", image / "libcudnn.so.7", newer.number, built.number)
    w.repairs("install", maps=image / "libcudnn.so.7")


@case("C85")
def compiled_and_runtime_versions_mismatch(w):
    """Caffe2 of conda's PyTorch package was compiled with a newer cuDNN than the one that is found.
    """
    older, built = w.two("7.0", "7.4")
    lib = w.conda(older if w.faulty else built, build="cuda9.0_0")
    w.known.append(built)
    host = w.host("plain", built, search=[lib], site=lib)
    w.conda_record(lib.parent, f"pytorch-0.4.1-py36_cuda9.0_cudnn{built}_1", [host.library.name])
    host.does("create", f"check:caffe2:{built.number}")
    w.says(f"cuDNN compiled ({built.number}) and runtime ({older.number}) versions mismatch",
           ends=1)
    w.finds("runtime-too-old", lib / "libcudnn.so.7", older, built)
    w.repairs("install", maps=lib / "libcudnn.so.7")


@case("C86")
def a_newer_minor_that_pytorch_refused(w):
    """PyTorch before 1.0 wanted the very minor that it was compiled with; a newer one is found."""
    built, newer = w.two("7.1", "7.6")
    lib = w.conda(newer if w.faulty else built, build="cuda9.0_0")
    w.known.append(built)
    host = w.host("plain", built, search=[lib], site=lib)
    w.conda_record(lib.parent, f"pytorch-0.4.0-py36_cuda9.0_cudnn{built}_1", [host.library.name])
    host.does("create", f"check:torch-old:{built.number}")
    w.says(f"PyTorch was compiled against {built.number} but linked against {newer.number}", ends=1)
    w.finds("runtime-too-new", lib / "libcudnn.so.7", newer, built)
    w.repairs("install", maps=lib / "libcudnn.so.7")


@case("C87")
def a_launcher_keeps_the_search_path_of_an_old_toolkit(w):
    """LD_LIBRARY_PATH, kept by the launcher, leads to the cuDNN of an old toolkit."""
    older, built = w.two("8.2", "8.9")
    own, toolkit = w.wheel(built), w.toolkit(older)
    torch = w.host("torch", built, search=[own])
    torch.does(torch.checks, "create")
    if w.faulty:
        w.environment["LD_LIBRARY_PATH"] = f"{w.root}/nothing:{toolkit}"
    w.says(f"PyTorch was compiled  against {built.tuple} but found runtime version {older.tuple}")
    w.finds("runtime-too-old", toolkit / "libcudnn.so.8", older, built.wheel, "LD_LIBRARY_PATH")
    w.repairs("set-variable", maps=own / "libcudnn.so.8")


@case("C112")
def an_empty_element_is_the_current_directory(w):
    """LD_LIBRARY_PATH has an empty element: the loader looks into the directory that the process is
    in, and a cuDNN lies there."""
    older, wanted = w.two("7.1", "7.6")
    right, here = w.directory(wanted), w.directory(older)
    host = w.host("plain", wanted, linked=False)
    host.does("open:libcudnn.so.7", f"check:dlib:{wanted.number}", "create")
    w.folder = here
    w.environment["LD_LIBRARY_PATH"] = f":{right}" if w.faulty else right
    w.environment["WHICHCUDNN_EXPECT"] = f">=7.{wanted.minor}"
    w.says(f"cudnnGetVersion() : {older.number}", ends=1)
    w.finds("expectation-not-met", here / "libcudnn.so.7", older)
    w.repairs("set-variable", maps=right / "libcudnn.so.7")


@case("C116")
def another_search_path_in_another_terminal(w):
    """The same command works in one terminal; in the other, LD_LIBRARY_PATH leads to a system's
    cuDNN."""
    older, built = w.two("8.1", "8.9")
    own, system = w.wheel(built), w.directory(older)
    torch = w.host("torch", built, search=[own], refuses="RuntimeError: GET was unable to find an "
                   "engine to execute this computation", imports=["cudnnCnnInferVersionCheck"])
    torch.does("version", "call:cudnnCnnInferVersionCheck", "create")
    if w.faulty:
        w.environment["LD_LIBRARY_PATH"] = system
    w.says(f"version {older.number}")
    w.finds("runtime-too-old", system / "libcudnn.so.8", older, built.wheel)
    w.repairs("set-variable", maps=own / "libcudnn.so.8")


@case("C118")
def upgrading_the_wheel_changes_nothing(w):
    """PyTorch's own copy in torch/lib is found first: the wheel beside it was upgraded without
    effect."""
    own, upgraded = w.two("8.5", "8.9")
    bundled = w.site / "torch/lib"
    if w.faulty:
        w.directory(own, bundled)
    wheel = w.wheel(upgraded) if w.faulty else w.wheel(own)
    torch = w.host("torch", own, search=[bundled, wheel], tag="rpath", requires=[])
    torch.does("version", "create")
    w.says(f"version {own.number}", ends=0)
    w.finds("shadowed-copy" if w.faulty else None, bundled, wheel, upgraded, own)
    w.repairs("remove", maps=wheel / "libcudnn.so.8")


@case("C120")
def a_system_copy_before_the_bundled_one(w):
    """cuDNN was opened by name: an older system copy comes before the bundled one, which has 5.1.
    """
    older, wanted = w.release("5.0", "5.0"), w.release("5.1", "5.1")
    system, bundled = w.directory(older), w.directory(wanted, w.site / "torch/lib")
    torch = w.host("plain", wanted, search=[bundled], linked=False)
    torch.does("open:libcudnn.so.5:RuntimeError: {error}", f"check:theano:{wanted.number}",
               "create")
    w.environment["WHICHCUDNN_EXPECT"] = ">=5.1,<6"
    if w.faulty:
        w.environment["LD_LIBRARY_PATH"] = system
    w.says(f"library is version {older.number}", ends=1)
    w.finds("expectation-not-met", system / "libcudnn.so.5", older, ">=5.1")
    w.repairs("set-variable", maps=bundled / "libcudnn.so.5")


@case("C123")
def library_and_header_of_two_installations(w):
    """dlib was compiled with the header of one installation and finds the library of the other. A
    plain program says nowhere what it was built with: its owner does."""
    older, built = w.two("7.1", "7.6")
    old, new = w.toolkit(older, cuda=9), w.toolkit(built, cuda=10)
    host = w.host("plain", built, linked=False)
    host.does("open:libcudnn.so.7", f"check:dlib:{built.number}", "create")
    w.environment["LD_LIBRARY_PATH"] = f"{old}:{new}" if w.faulty else new
    w.environment["WHICHCUDNN_EXPECT"] = built.number
    w.says(f"cudnnGetVersion() : {older.number} , CUDNN_VERSION from cudnn.h : {built.number} "
           f"({built})", ends=1)
    w.finds("expectation-not-met", old / "libcudnn.so.7", older)
    w.repairs("set-variable", maps=new / "libcudnn.so.7")
