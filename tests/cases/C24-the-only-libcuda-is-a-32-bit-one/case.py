"""By that name only a libcuda of the i386 driver package can be reached."""


def case(w):
    release = w.release("8.5", "8.9")
    lib, driver = w.wheel(release), w.root / "usr/lib/driver"
    if w.faulty:
        w.broken(driver / "libcuda.so", "32-bit")
    else:
        w.companion("libcuda.so.1", driver).rename(driver / "libcuda.so")
    host = w.host("torch", release, search=[lib, driver], tag="rpath")
    host.does("version", "open:libcuda.so:Could not load library libcudnn_cnn_infer.so.8. Error: "
              "{error}")
    w.says("libcuda.so: wrong ELF class: ELFCLASS32", ends=1)
    w.finds("bad-file", driver / "libcuda.so", "32")
    w.repairs("install", maps=driver / "libcuda.so",
              by=lambda: w.put(w.companion("libcuda.so.1", w.scratch), driver / "libcuda.so"))
