# SPDX-License-Identifier: Apache-2.0
"""What the stand-ins of pip and conda do to files and lists, beside what the real ones do."""
import os
import random
import tempfile
import unittest
from pathlib import Path

import repairs
import stock
from scene import Scene
from world import World


class Installers(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.TemporaryDirectory(dir=stock.BUILD / "worlds")
        self.addCleanup(self.directory.cleanup)

    def world(self, place):
        w = World(Path(self.directory.name) / place, random.Random(3), False)
        s = Scene(w, {"place": (place,), "host": ("linked",), "era": (9,), "cuda": ("12",), "versions": ("9.8.0",)})
        s.finish()
        repairs.stand_ins(w)
        return w, s

    def run_in(self, w, command):
        return w.play(["/bin/bash", "-c", command])

    def distributions(self, w, s):
        return sorted(n for n in w.names(s.site) if n.startswith("nvidia_cudnn"))

    def test_pip_takes_for_installed_what_the_list_says(self):
        w, s = self.world("venv")
        w.remove(f"{s.lib}/libcudnn_graph.so.9")
        status, out, _ = self.run_in(w, "pip install nvidia-cudnn-cu12==9.8.0.87")
        self.assertEqual((status, "already satisfied" in out), (0, True))
        self.assertFalse(w.exists(f"{s.lib}/libcudnn_graph.so.9"))
        self.run_in(w, "pip install --force-reinstall --no-deps nvidia-cudnn-cu12==9.8.0.87")
        self.assertTrue(w.exists(f"{s.lib}/libcudnn_graph.so.9"))

    def test_pip_brings_what_the_installed_one_requires(self):
        w, s = self.world("venv")
        self.run_in(w, "pip uninstall -y nvidia-cublas-cu12")
        status, out, _ = self.run_in(w, "pip install nvidia-cudnn-cu12==9.8.0.87")
        self.assertEqual((status, "already satisfied" in out), (0, True))
        self.assertTrue(w.exists(f"{s.site}/nvidia/cublas/lib/libcublasLt.so.12"))

    def test_pip_takes_the_newest_that_fits(self):
        w, s = self.world("venv")
        self.run_in(w, "pip install 'nvidia-cudnn-cu12>=9.1,<9.6'")
        self.assertEqual(self.distributions(w, s), ["nvidia_cudnn_cu12-9.5.1.17.dist-info"])
        self.run_in(w, "pip install --upgrade 'nvidia-cudnn-cu12==9.*'")
        version, build = next(n[:2] for n in repairs.newest() if n[2] == "12" and n[0].startswith("9."))
        self.assertEqual(self.distributions(w, s), [f"nvidia_cudnn_cu12-{version}.{build}.dist-info"])

    def test_pip_removes_what_another_package_owns_too(self):
        w, s = self.world("venv")
        self.run_in(w, "pip install nvidia-cudnn-cu13==9.13.0.50")
        self.assertEqual(len(self.distributions(w, s)), 2)
        self.run_in(w, "pip uninstall -y nvidia-cudnn-cu13")
        self.assertEqual(self.distributions(w, s), ["nvidia_cudnn_cu12-9.8.0.87.dist-info"])
        self.assertFalse(w.exists(f"{s.lib}/libcudnn.so.9"))

    def test_pip_without_an_environment(self):
        w, _ = self.world("system")
        self.assertEqual(self.run_in(w, "pip install nvidia-cudnn-cu12")[0], 1)

    def test_pip_for_an_environment_that_is_named(self):
        w, s = self.world("venv")
        w.remove(f"{s.lib}/libcudnn_graph.so.9")
        elsewhere = "unset VIRTUAL_ENV; PATH=/usr/local/bin:/usr/bin:/bin "
        for command, version in ((f"pip --python {s.prefix}/bin/python install nvidia-cudnn-cu12==9.5.1.17", "9.5.1.17"),
                                 (f"uv pip install --python {s.prefix}/bin/python nvidia-cudnn-cu12==9.8.0.87",
                                  "9.8.0.87")):
            status, _, err = self.run_in(w, elsewhere + command)
            self.assertEqual((status, err), (0, ""))
            self.assertEqual(self.distributions(w, s), [f"nvidia_cudnn_cu12-{version}.dist-info"])
        self.assertTrue(w.exists(f"{s.lib}/libcudnn_graph.so.9"))

    def test_pip_of_what_nobody_has(self):
        w, _ = self.world("venv")
        self.assertEqual(self.run_in(w, "pip install frob")[0], 77)
        self.assertEqual(self.run_in(w, "pip install nvidia-cudnn-cu12==99")[0], 1)

    def test_conda_keeps_the_build_for_its_cuda(self):
        w, s = self.world("conda")
        self.run_in(w, "conda install -y 'cudnn>=9.10,<9.14'")
        self.assertTrue(w.exists(f"{s.prefix}/conda-meta/cudnn-9.13.0.50-cuda12_0.json"))
        self.assertFalse(w.exists(f"{s.prefix}/conda-meta/cudnn-9.8.0.87-cuda12_0.json"))
        self.assertEqual(os.path.getsize(w.at(f"{s.lib}/libcudnn.so.9")),
                         os.path.getsize(stock.cudnn("9.13.0", "12") / "libcudnn.so.9"))

    def test_conda_keeps_the_cuda_of_other_packages(self):
        w, s = self.world("conda")
        self.run_in(w, "conda remove -y cudnn")
        self.run_in(w, "conda install -y 'cudnn>=9,<10'")
        builds = [n for n in w.names(f"{s.prefix}/conda-meta") if n.startswith("cudnn-")]
        self.assertEqual([n.rsplit("-", 1)[1] for n in builds], ["cuda12_0.json"])

    def test_an_archive_replaces_its_major_alone(self):
        w, s = self.world("system")
        w.copy_of_cudnn("/opt/lib", "9.1.0", "12")
        w.copy_of_cudnn("/opt/lib", "8.9.7", "12", links=False)
        status, _, err = self.run_in(w, "place cudnn '>=9.9,<9.12' /opt/lib 12")
        self.assertEqual((status, err), (0, ""))
        self.assertTrue(w.exists("/opt/lib/libcudnn.so.9.10.2") and w.exists("/opt/lib/libcudnn_graph.so.9"))
        self.assertFalse(w.exists("/opt/lib/libcudnn.so.9.1.0"))
        self.assertTrue(w.exists("/opt/lib/libcudnn.so.8.9.7"))
        self.assertEqual(self.run_in(w, "place cudnn '>=9.9,<9.12' /opt/lib 13")[0], 77)

    def test_apt_puts_files_back(self):
        w, s = self.world("system")
        w.remove(f"{s.lib}/libcudnn_graph.so.9")
        status, _, err = self.run_in(w, "apt-get install --reinstall libcudnn9-cuda-12=9.8.0.87-1")
        self.assertEqual((status, err), (0, ""))
        self.assertTrue(w.exists(f"{s.lib}/libcudnn_graph.so.9"))
