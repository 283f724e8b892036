# SPDX-License-Identifier: Apache-2.0
"""What is played must be the same on each computer, with a CUDA toolkit of its own and without one."""

import os
import subprocess
import sys

ALONE = "WC_WITHOUT_CUDA"
CUDA = ("libcudnn", "libcublas", "libcudart", "libnvrtc", "libcuda.so", "libnvidia-ml")


def clean_directories():
    """The loader's directories that hold nothing of CUDA: this computer's own would fill the gaps
    that cases make."""
    printed = subprocess.run(["ldconfig", "-vNX"], capture_output=True, text=True,
                             env={"PATH": "/sbin:/usr/sbin:/bin:/usr/bin"}).stdout
    directory, found = None, {}
    for line in printed.splitlines():
        if not line.startswith("\t"):
            directory = line.partition(":")[0]
            found.setdefault(directory, True)  # one may be listed twice
        elif line.strip().startswith(CUDA):
            found[directory] = False
    return [directory for directory, clean in found.items() if clean]


def enter(work):
    """Starts this program again in a mount namespace in which the loader's cache knows nothing of
    CUDA; `work` is a directory for what that takes. Exits where there is no such namespace."""
    if os.environ.get(ALONE):
        return
    work.mkdir(parents=True, exist_ok=True)
    (work / "conf").write_text("\n".join(clean_directories()) + "\n")
    subprocess.run(["/sbin/ldconfig", "-X", "-C", f"{work}/cache", "-f", f"{work}/conf"],
                   capture_output=True)
    alone = ["unshare", "--mount"] + (["--map-root-user"] if os.getuid() else [])
    if subprocess.run([*alone, "true"], capture_output=True).returncode or \
            not os.path.exists("/etc/ld.so.cache"):
        print("Bail out! no mount namespace to be had")
        sys.exit(1)
    # Toolkits are known by their places, too.
    script = """mount --bind "$0/cache" /etc/ld.so.cache && mount --bind "$0/conf" /etc/ld.so.conf
        for toolkit in /usr/local/cuda*; do
            [ ! -d "$toolkit" ] || [ -h "$toolkit" ] || mount -t tmpfs none "$toolkit"
        done
        exec "$@" """
    os.environ[ALONE] = "1"
    os.execvp(alone[0], [*alone, "bash", "-c", script, str(work), sys.executable, *sys.argv])
