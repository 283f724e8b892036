# SPDX-License-Identifier: Apache-2.0
"""The files are sound: the system does not let the loader have them, or somebody put others in their
place while the process ran."""

from harness.rows import case


@case("A93-no-room-in-static-tls-for-what-is-opened-late", "opened")
@case("A94-no-room-in-static-tls-for-what-an-extension-needs", "needed")
def static_tls_is_full(w, reached):
    """The library has more thread-local data of the kind that must be there from the start than the
    loader keeps room for; who comes first gets it."""
    release = w.release(*w.rng.choice([("8.1", "8.9"), ("9.1", "9.20")]))
    lib = w.directory(release, options=["--wants", "tls"] if w.faulty else [])
    host = w.host("plain", release, linked=reached == "needed", search=[lib])
    if reached == "opened":
        host.does(f"open:{lib}/{release.soname}")
    host.does("version", "create")
    w.says(f"{release.soname}: cannot allocate memory in static TLS block", ends=1)
    w.finds("refused-by-system", lib / release.soname, "static TLS")
    w.repairs("set-variable", maps=lib / release.soname)


@case("A95-a-limit-on-address-space-and-the-facade", "facade")
@case("A96-a-limit-on-address-space-and-a-part", "graph")
@case("A193-a-limit-on-address-space-and-what-the-program-is-linked-with", "facade", "program")
@case("A207-a-limit-on-address-space-and-another-copy", "facade", "opened", True)
def the_address_space_is_limited(w, which, reached="opened", copied=False):
    """A batch system limits the address space (ulimit -v) to what the job is to use of memory; the
    libraries of CUDA map far more than they touch. Whether another copy takes less no file says."""
    release = w.release("9.1", "9.20")
    if copied:
        w.environment["CUDA_HOME"] = w.toolkit(release).parent
    lib = w.wheel(release, options=["--wants", f"{which}=room"])
    damaged = lib / release.file(which)
    host = w.host("torch", release, linked=reached == "program", search=[lib],
                  tag="runpath" if copied else "rpath")
    host.does(*([f"open:{release.soname}"] if reached == "opened" else []), "version", "create")
    if reached == "program":
        w.program = w.start(linked_to=host)
    if w.faulty:
        w.limits = "ulimit -v 400000"
    ends = {"opened": 1, "program": 127}[reached]
    w.says("failed to map segment from shared object" if which == "facade" else "",
           ends=ends if which == "facade" else "SIGABRT")
    w.finds("refused-by-system", damaged, "MiB of address space")
    w.repairs("allow", maps=damaged, by=lambda: setattr(w, "limits", None))


@case("A97")
@case("A194-a-noexec-mount-has-what-the-program-is-linked-with", "program")
@case("A195-a-noexec-mount-has-a-cuda-library-that-the-program-is-linked-with", "program",
      "libcudart.so.12")
def the_file_system_is_mounted_noexec(w, reached="opened", needs=None):
    """The environment lies where no code may be run: scratch space, a data volume."""
    release = w.release(*w.rng.choice([("8.1", "8.9"), ("9.1", "9.20")]))
    lib = w.directory(release)
    refused = lib / release.soname
    if needs:
        refused = w.cuda_dependency(needs, w.root / "scratch/lib")
    host = w.host("plain", release, linked=reached == "program", search=[lib, refused.parent],
                  needs=[needs] if needs else [])
    host.does(*([f"open:{release.soname}"] if reached == "opened" else []), "version", "create")
    if reached == "program":
        w.program = w.start(linked_to=host)
    if w.faulty:
        w.no_execution = refused.parent
    w.says("failed to map segment from shared object", ends=127 if reached == "program" else 1)
    w.finds("refused-by-system", refused, "noexec", refused.parent)
    w.repairs("allow", maps=refused, by=lambda: setattr(w, "no_execution", None))


@case("A196-the-directory-of-a-wheel-is-closed", "named", "wheel")
@case("A197-a-directory-above-a-module-is-closed-and-the-program-is-linked-with-it", "program",
      "above")
@case("A198-the-directory-of-a-cuda-library-is-closed", "program", "cuda")
@case("A199-the-directory-of-a-wheel-is-closed-and-it-is-asked-for-by-its-path", "path", "wheel")
def the_directory_is_closed(w, reached, what):
    """Somebody installed under a umask that lets nobody else in: what cannot be looked at is not
    missing, and no installer could put it there."""
    release = w.release("9.1", "9.20")
    lib = w.wheel(release) if what == "wheel" else w.directory(release)
    wanted, closed = lib / release.soname, {"above": lib.parent, "wheel": lib}.get(what)
    if what == "cuda":
        wanted = w.cuda_dependency("libcudart.so.12", w.root / "opt/closed/lib")
        closed = wanted.parent
    host = w.host("plain", release, linked=reached == "program", search=[lib, wanted.parent],
                  needs=["libcudart.so.12"] if what == "cuda" else [])
    words = {"named": [f"open:{release.soname}"], "path": [f"open:{wanted}"]}.get(reached, [])
    host.does(*words, "version", "create")
    if reached == "program":
        w.program = w.start(linked_to=host)
    if w.faulty:
        w.closed = closed
    w.says(f"{wanted.name}: cannot open shared object file", ends=127 if reached == "program" else 1)
    w.finds("refused-by-system", wanted, closed, "not enter")
    w.never("reinstall", "place", "install")
    w.repairs("allow", maps=wanted, by=lambda: setattr(w, "closed", None), says="enter")


@case("A200-a-facade-for-a-newer-libc-is-opened", "facade", "opened")
@case("A201-a-facade-for-a-newer-libc-and-a-linked-program", "facade", "program")
@case("A202-a-part-for-a-newer-libc", "graph", "opened")
@case("A203-a-part-for-a-newer-libc-and-a-linked-program", "graph", "program")
@case("A204-a-cuda-library-for-a-newer-libc-and-a-linked-program", "cudart", "program")
def it_is_built_for_a_newer_libc(w, which, reached):
    """A release was built on a newer system than the job's: the loader finds it and refuses it. The
    facade asks nobody why it got no part; a linked program has not begun yet."""
    release = w.release("9.1", "9.20")
    lib = w.directory(release)
    wanted = lib / release.file(which) if which != "cudart" else w.cuda_dependency(
        "libcudart.so.12", w.root / "opt/newer/lib", text="int puts(const char *); "
        "int print(void) { return puts(\"\"); }\n")
    host = w.host("plain", release, linked=reached == "program", search=[lib, wanted.parent],
                  needs=["libcudart.so.12"] if which == "cudart" else [])
    host.does(*([f"open:{release.soname}"] if reached == "opened" else []), "version", "create")
    if reached == "program":
        w.program = w.start(linked_to=host)
    version = w.newer_libc(wanted) if w.faulty else ""
    w.says(f"version `{version}' not found" if which != "graph" else "",
           ends=1 if which != "graph" else "SIGABRT")
    w.finds("symbol-version-not-found", wanted.name, version, "libc.so.6")
    w.repairs("reinstall" if which == "graph" else "install", maps=wanted)


@case("A98")
def another_release_is_installed_while_the_process_runs(w):
    """Facade and process live on while a package manager puts other files in place; the parts, which
    are opened when they are needed, are those of the new release."""
    release, new = w.two("9.1", "9.20")
    lib, beside = w.directory(release), w.root / "opt/new"
    host = w.host("plain", release, linked=False, search=[lib])
    swap = [f"swap:{beside}={lib}"] if w.faulty else []  # the second one is for the next run
    host.does(f"open:{lib}/{release.soname}", *swap, "version", "create", *swap)
    w.directory(new, beside)
    w.finds("replaced-on-disk", lib / release.soname, release, new)
    w.repairs("restart", maps=lib / release.soname, by=lambda: [host.words.remove(*swap) for _ in "12"])


@case("A99")
def a_path_out_of_the_memory_map_of_a_file_that_is_gone(w):
    """A framework looks for the CUDA runtime in its own memory map, and opens what stands there; the
    file was replaced, and the kernel says so behind its name."""
    release = w.release("9.1", "9.11")
    lib = w.wheel(release)
    runtime = w.nvidia("cuda_runtime", "libcudart.so.12") / "libcudart.so.12"
    host = w.host("torch", release, search=[lib], tag="rpath")
    host.does("version", "create", f"open:{runtime}{' (deleted)' if w.faulty else ''}")
    w.says(f"{runtime} (deleted): cannot open shared object file", ends=1)
    w.finds("replaced-on-disk", f"{runtime} (deleted)")
    w.repairs("restart", maps=runtime, by=lambda: host.words.__setitem__(2, f"open:{runtime}"))
