# SPDX-License-Identifier: Apache-2.0
"""By which way a copy comes in: a name without a number, the loader cache, LD_PRELOAD, a variable
that was set too late; and what comes in twice."""

from harness.rows import case


@case("A160-paddle-takes-the-next-major-without-a-word", "toolkit")
@case("A161-paddle-takes-the-next-major-from-a-directory", "directory")
def a_check_that_lets_another_major_pass(w, layout):
    """PaddlePaddle compares numbers alone: the next major, under the name without a number, is
    greater, and passes."""
    built, newer = w.release("8.1", "8.9"), w.release("9.1", "9.9")
    old = w.toolkit(built, cuda=11)
    new = w.toolkit(newer, cuda=12) if layout == "toolkit" else w.directory(newer)
    if layout == "directory":
        (new / "libcudnn.so").symlink_to("libcudnn.so.9")
    host = w.host("paddle", built, linked=False)
    host.does("open:libcudnn.so", host.checks, "version")
    w.environment["LD_LIBRARY_PATH"] = f"{new}:{old}" if w.faulty else old
    w.says(f"version {newer.number}", ends=0)
    w.finds("major-differs", new / "libcudnn.so", newer, built)
    w.repairs("set-variable", maps=old / "libcudnn.so")
