# SPDX-License-Identifier: Apache-2.0
"""What pip, and uv where it is there, make of environments of small wheels with the names of real ones:
pip_oracle.py DIRECTORY STEPS. STEPS is a file, each line: NUMBER, a tab, the commands of a shell that come first, a
tab, the command that is judged. In DIRECTORY then lie NUMBER/before and NUMBER/after, an environment each; all of it
twice where there is uv, then as NUMBER.uv."""
import base64
import hashlib
import os
import shutil
import subprocess
import sys
import zipfile
from concurrent.futures import ThreadPoolExecutor

PYTHON = f"python{sys.version_info[0]}.{sys.version_info[1]}"
PARTS = ("", "_graph", "_ops", "_cnn", "_adv", "_heuristic", "_engines_precompiled", "_engines_runtime_compiled")


def wheel(directory, name, version, files, requires=()):
    stem = f"{name.replace('-', '_')}-{version}"
    info, record = stem + ".dist-info", []
    texts = {path: f"{name} {version} {path}\n" for path in files}
    texts[f"{info}/METADATA"] = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n" + \
        "".join(f"Requires-Dist: {r}\n" for r in requires)
    texts[f"{info}/WHEEL"] = "Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    with zipfile.ZipFile(f"{directory}/{stem}-py3-none-any.whl", "w") as archive:
        for path, text in texts.items():
            archive.writestr(path, text)
            digest = base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=").decode()
            record.append(f"{path},sha256={digest},{len(text)}")
        archive.writestr(f"{info}/RECORD", "\n".join([*record, f"{info}/RECORD,,"]) + "\n")


def wheels(directory):
    os.makedirs(directory)
    for name, releases in (("nvidia-cudnn-cu12", ("9.1.0.70", "9.5.1.17", "9.8.0.87")),
                           ("nvidia-cudnn-cu13", ("9.13.0.50",))):
        for release in releases:
            wheel(directory, name, release, [f"nvidia/cudnn/lib/libcudnn{p}.so.9" for p in PARTS],
                  ["nvidia-cublas-cu12" if name.endswith("12") else "nvidia-cublas"])
    for name, release, folder, major in (("nvidia-cublas-cu12", "12.4.5.8", "cublas", 12),
                                         ("nvidia-cublas", "13.0.0.19", "cu13", 13)):
        wheel(directory, name, release,
              [f"nvidia/{folder}/lib/lib{n}.so.{major}" for n in ("cublas", "cublasLt", "nvblas")])


def play(directory, number, setup, command):
    prefix = f"{directory}/{number}"
    env = f"{prefix}/env"
    site = f"{env}/lib/{PYTHON}/site-packages"
    os.makedirs(site)
    os.makedirs(f"{env}/bin")
    os.symlink(os.path.realpath(sys.executable), f"{env}/bin/python")
    home = os.path.dirname(os.path.realpath(sys.executable))
    with open(f"{env}/pyvenv.cfg", "w") as text:
        text.write(f"home = {home}\ninclude-system-site-packages = false\nversion = {sys.version.split()[0]}\n")
    where = f"--no-index --find-links {directory}/wheels"
    pip = f'"{sys.executable}" -m pip --disable-pip-version-check --python {env}/bin/python'
    force = "--force-reinstall"
    if number.endswith(".uv"):
        pip, force = f"uv --offline pip --python {env}/bin/python", "--reinstall"
    script = (f'install() {{ {pip} install -q {where} "$@"; }}\n'
              f'again() {{ install {force} --no-deps "$@"; }}\n'
              f'over() {{ install {"--reinstall" if number.endswith(".uv") else "--ignore-installed"} --no-deps "$@"; }}\n'
              f'uninstall() {{ {pip} uninstall {"" if number.endswith(".uv") else "-y"} -q "$@"; }}\n'
              f"cd {site}\n")
    if number.endswith(".uv"):
        script = script.replace(f"--python {env}/bin/python install", f"install --python {env}/bin/python")
        script = script.replace(f"--python {env}/bin/python uninstall", f"uninstall --python {env}/bin/python")
    said = open(f"{prefix}/said", "w")
    quiet = {"stdout": said, "stderr": said, "env": {**os.environ, "PIP_NO_CACHE_DIR": "1"}}
    subprocess.run(["sh", "-ec", script + setup], check=True, **quiet)
    shutil.copytree(site, f"{prefix}/before", symlinks=True)
    subprocess.run(["sh", "-ec", script + command], check=False, **quiet)
    shutil.copytree(site, f"{prefix}/after", symlinks=True)


def main(directory, steps):
    wheels(f"{directory}/wheels")
    with open(steps) as text:
        rows = [line.rstrip("\n").split("\t") for line in text]
    if shutil.which("uv"):
        rows += [(number + ".uv", *rest) for number, *rest in rows]
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda row: play(directory, *row), rows))


if __name__ == "__main__":
    main(*sys.argv[1:])
