"""OpenCV reads 90101 as if major were thousands: the library is right, the check is not."""


def case(w):
    release = w.release("9.1", "9.8")
    lib = w.directory(release)
    opencv = w.host("plain", release, search=[lib])
    opencv.does("create", f"check:opencv-4.10:{release.number}" if w.faulty else "version")
    w.says(f"cuDNN reports version 90.{release.minor} which is not compatible with the version "
           f"9.{release.minor} with which OpenCV was built")
    w.finds(None)
