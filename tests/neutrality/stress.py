#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""stress.py SHIM DIRECTORY --set SET [--seconds N] [--rounds N] [--seed N]: random dl calls, bare and with the shim.

Draws libraries (who needs whom, how each is linked, what its constructor does), some of which are hosts of
a stand-in of cuDNN, and lets stress.c make random calls over them. Status and output of both runs must be the
same. A new draw until the seconds are over, at least one; each seed is printed."""

import argparse
import os
import pathlib
import random
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
CC = os.environ.get("CC", "gcc")
LIBRARIES, HOSTS = 24, 4
FLAGS = [["-Wl,-z,lazy"], ["-Wl,-z,now"], ["-fno-plt"], ["-Wl,--hash-style=sysv"], ["-Wl,-z,nodelete"],
         ["-fuse-ld=gold"], ["-O0"], ["-Wl,-z,norelro"]]
CONSTRUCTORS = [
    "",
    "dlsym(RTLD_DEFAULT, \"nothing_here\"); dlerror();",
    "void *h = dlopen(\"libnowhere.so\", RTLD_LAZY); if (h) abort(); dlerror();",
    "void *h = dlopen(NULL, RTLD_LAZY); dlsym(h, \"main\"); dlclose(h);",
    "void *h = dlopen(\"{last}\", RTLD_LAZY); if (!h) abort(); dlclose(h);",
]


def compile_library(draw, directory, name, source, flags):
    file = directory / f"{name}.c"
    file.write_text(source)
    subprocess.run([CC, "-shared", "-fPIC", "-O1", "-o", directory / f"lib{name}.so", file,
                    f"-L{directory}", "-Wl,--no-as-needed,--enable-new-dtags,-rpath,$ORIGIN",
                    *flags, *draw.choice(FLAGS)], check=True)


def make_libraries(draw, directory, set_directory):
    """libs23.so needs nobody, libs0.so perhaps all others."""
    for i in reversed(range(LIBRARIES)):
        needs = draw.sample(range(i + 1, LIBRARIES), min(draw.randrange(3), LIBRARIES - 1 - i))
        last = directory / f"libs{LIBRARIES - 1}.so"
        act = draw.choice(CONSTRUCTORS[:4] if i == LIBRARIES - 1 else CONSTRUCTORS)
        act = act.replace("{last}", str(last))
        tls = "static __thread int mine = 1;" if draw.random() < 0.3 else "static int mine = 1;"
        source = "#define _GNU_SOURCE\n#include <dlfcn.h>\n#include <stdlib.h>\n" + tls
        source += "".join(f"int s{n}_value(void);\n" for n in needs)
        source += f"int s{i}_value(void) {{ return mine * {i}"
        source += "".join(f" + s{n}_value()" for n in needs) + "; }\n"
        if act:
            source += f"__attribute__((constructor)) static void woken(void) {{ {act} }}\n"
            source += "__attribute__((destructor)) static void ended(void) { dlsym(RTLD_DEFAULT, \"none\"); dlerror(); }\n"
        plain = ["-nostartfiles"] if not act and draw.random() < 0.2 else []
        compile_library(draw, directory, f"s{i}", source, [*(f"-ls{n}" for n in needs), *plain])
    for i in range(HOSTS):
        source = ("#include <stddef.h>\nsize_t cudnnGetVersion(void);\nint cudnnCreate(void **);\nint cudnnDestroy(void *);\n"
                  f"int host{i}_value(void) {{ void *h = NULL; int s = cudnnCreate(&h);"
                  " if (!s) cudnnDestroy(h); return s + (int)cudnnGetVersion(); }\n")
        compile_library(draw, directory, f"host{i}", source,
                        [f"-L{set_directory}", "-l:libcudnn.so.9", f"-Wl,-rpath,{set_directory}"])


def run(program, words, preload, directory, log):
    environment = {k: v for k, v in os.environ.items() if k != "LD_PRELOAD"}
    environment |= {"WHICHCUDNN_LOG": str(log), "WHICHCUDNN_STDERR": "off"}
    if preload:
        environment["LD_PRELOAD"] = preload
    done = subprocess.run([program, *map(str, words)], cwd=directory, env=environment,
                          stdin=subprocess.DEVNULL, capture_output=True)
    return done.returncode, done.stdout, done.stderr


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("shim")
    parser.add_argument("directory", type=pathlib.Path)
    parser.add_argument("--set", required=True, type=pathlib.Path, help="a stand-in of cuDNN 9")
    parser.add_argument("--seconds", type=int, default=0)
    parser.add_argument("--rounds", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10 ** 6))
    options = parser.parse_args()
    end = time.monotonic() + options.seconds
    program = options.directory / "stress"
    subprocess.run([CC, "-O1", "-pthread", "-rdynamic", "-o", program, HERE / "stress.c", "-ldl"], check=True)
    runs, wrong = 0, 0
    seed = options.seed
    while not runs or time.monotonic() < end:
        draw = random.Random(seed)
        here = options.directory / "libraries"
        here.mkdir(exist_ok=True)
        make_libraries(draw, here, options.set)
        words = seed, options.rounds, here, LIBRARIES, HOSTS
        log = options.directory / f"log-{seed}.jsonl"
        bare = run(program, words, None, options.directory, log)
        shimmed = run(program, words, options.shim, options.directory, log)
        runs += 1
        if bare != shimmed:
            wrong += 1
            print(f"seed {seed}: bare {bare}\n    shim {shimmed}")
        elif bare[0]:
            wrong += 1
            print(f"seed {seed}: both ended with {bare}")
        elif not log.exists():
            wrong += 1
            print(f"seed {seed}: no log, though hosts called cuDNN")
        seed += 1
        for file in options.directory.glob("log-*"):
            file.unlink()
    print(f"seeds {options.seed} to {seed - 1}, {options.rounds} rounds of 4 threads each: {runs} runs, "
          f"{wrong} differ")
    sys.exit(wrong > 0)


if __name__ == "__main__":
    main()
