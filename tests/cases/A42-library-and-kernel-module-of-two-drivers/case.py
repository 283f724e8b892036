"""The driver was updated and the computer not restarted: libcuda is newer than the kernel
module."""


def case(w):
    release = w.release("9.1", "9.9")
    lib, driver = w.wheel(release), w.root / "usr/lib/nvidia"
    libcuda = driver / "libcuda.so.550.90.07"
    w.companion("libcuda.so.1", driver).rename(libcuda)
    (driver / "libcuda.so.1").symlink_to(libcuda.name)
    w.driver("550.54.14" if w.faulty else "550.90.07")
    host = w.host("onnxruntime", release, search=[lib, driver], linked=False, tag="rpath")
    host.does("open:libcuda.so.1", "open:libcudnn.so.9", "version")
    w.says(f"version {release.number}", ends=0)
    w.finds("driver-mixed", "550.54.14", "550.90.07", driver)
    w.repairs("driver or remove", maps=libcuda, by=lambda: w.driver("550.90.07"))
