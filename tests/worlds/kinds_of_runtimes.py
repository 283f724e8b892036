# SPDX-License-Identifier: Apache-2.0
"""Kinds that are a sample of what people ask about programs and runtimes other than plain scripts of Python: the JVM,
.NET, R, Julia, Rust, Go, Node, C++, engines of games, TensorRT, OBS, frozen bundles, servers of speech. Twenty
searches, the first eight answers of each as they came: 152 answers, 144 threads, 60 of them used: where what a thread
shows tells its cause. Ten of these were met on Windows; their cause is of no system, and it is played as it would be on
Linux. Written by somebody who has not read the rules. As in kinds_of_threads.py a kind's weight is how many threads
it stands for, and both twins share what stands before `if not s.w.faulty: return None`."""
import hashlib
import os
import shutil
import subprocess

import stock
from kinds import LABELS, kind, lose, truth, uninstall, whole
from kinds_by_hand import companions
from kinds_of_applications import application, ctranslate2, cuda_of_the_system, image_of_nvidia, runtime_deb
from kinds_of_forums import without_the_toolkit
from kinds_of_machines import take_driver_away
from kinds_of_starts import library
from kinds_of_threads import before_calls, exports, goes_on, newer, without_cudnn, without_plain_name
from kinds_of_upgrades import FOR_TWO_CUDAS, OF_CUDA, started_by
from world import World

CUDA_MISSING = {"dependency-missing", "cuda-dependency-differs", "gpu-stack-not-reached"}
LABELS.update({
    "rt-nothing-leads-there": CUDA_MISSING | {"library-not-found", "search-path-suspect"},
    "rt-no-driver": {"driver-missing", "dependency-missing", "gpu-stack-not-reached"},
    "rt-does-not-see-cuda": CUDA_MISSING | {"library-not-found", "search-path-suspect"},
    "rt-build-for-the-processor": {"cpu-only-build", "gpu-stack-not-reached"},
    "rt-built-for-another-cuda": CUDA_MISSING | {"cuda-major-differs"},
    "rt-library-without-search-path": {"library-not-found", "search-path-suspect", "dependency-missing"},
    "rt-no-cudnn": {"library-not-found", "dependency-missing", "gpu-stack-not-reached"},
    "rt-another-major": {"library-not-found", "major-differs", "dependency-missing", "gpu-stack-not-reached"},
    "rt-library-of-its-own": {"dependency-missing", "library-not-found", "search-path-suspect",
                              "gpu-stack-not-reached"},
    "rt-compiled-with-a-later": {"runtime-too-old"},
    "rt-compiled-with-an-earlier": {"runtime-too-new"},
    "rt-cudnn-of-another-cuda": {"cuda-major-differs", "dependency-missing", "cuda-dependency-differs"},
    "rt-other-names": {"wrong-name", "library-not-found"},
    "rt-nvrtc-not-searched": {"dependency-missing", "cuda-dependency-differs"},
    "rt-card-of-before": {"gpu-unsupported"},
    "rt-bundle-lacks-parts": {"part-missing", "installation-incomplete", "library-not-found"},
    "rt-bundle-lacks-cuda": CUDA_MISSING | {"library-not-found"},
    "rt-parts-of-another-major": {"part-missing", "installation-incomplete", "library-not-found", "major-differs"},
    "rt-parts-nowhere": {"part-missing", "installation-incomplete", "library-not-found"},
    "rt-plain-driver-name": {"driver-missing", "dependency-missing", "library-not-found", "wrong-name"},
    "rt-parts-not-exported": {"part-missing", "library-not-found", "search-path-suspect"},
})

STEPS = ("harmless", "late", "workers", "wrapper")
USUAL = (*STEPS, "blame")
QUIET = ("harmless", "wrapper")  # the faulty program comes to none of its steps
PROGRAMS = ("linked", "named")

# ---- helpers --------------------------------------------------------------------------------------------

RUNTIME = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A runtime of another language: its first word that is no option is a file, which says what native libraries are
   loaded, and what is said where that fails. The last of them does the steps. */
static char words[1024] = "%s", falls[512] = "";

static int fails(const char *why) {
    fprintf(stderr, words, why);
    fputs("\n", stderr);
    if (!falls[0])
        exit(1);
    puts(falls);
    fflush(stdout);
    exit(0);
}

static void check(void *last, const char *style, size_t built) {
    size_t (*get)(void) = (size_t (*)(void))dlsym(last, "cudnnGetVersion");
    size_t got = get ? get() : 0, b = built < 10000 ? 1000 : 10000, g = got < 10000 ? 1000 : 10000;
    int older = got / g != built / b || got % g / 100 < built % b / 100;
    if (!strcmp(style, "exact") ? got == built : !older)
        return;
    if (!strcmp(style, "exact"))
        fprintf(stderr,
                "Loaded runtime CuDNN library: %zu (compatibility version %zu) but source was compiled with %zu "
                "(compatibility version %zu).  If using a binary install, upgrade your CuDNN library to match.  If "
                "building from sources, make sure the library loaded at runtime matches a compatible version "
                "specified during compile configuration.\n", got, got / 100 * 100, built, built / 100 * 100);
    else if (!strcmp(style, "caffe2"))
        fprintf(stderr,
                "terminate called after throwing an instance of 'caffe2::EnforceNotMet'\n  what():  [enforce fail at "
                "common_cudnn.h:108] version_match || backwards_compatible_7 || patch_compatible. cuDNN compiled (%zu) "
                "and runtime (%zu) versions mismatch \n", built, got), abort();
    else
        fprintf(stderr,
                "[W] [TRT] TensorRT was linked against cuDNN %zu.%zu.%zu but loaded cuDNN %zu.%zu.%zu\n"
                "[E] [TRT] safeContext.cpp (124) - Cudnn Error in initializeCommonContext: 1 (Could not initialize "
                "cudnn, please check cudnn installation.)\n", built / b, built % b / 100, built % 100, got / g,
                got % g / 100, got % 100);
    exit(1);
}

int main(int argc, char **argv) {
    int at = 1;
    char line[4096];
    void *last = NULL;
    while (at < argc && argv[at][0] == '-')
        at++;
    FILE *file = fopen(at < argc ? argv[at] : "", "r");
    if (!file)
        return fprintf(stderr, "%s: no such program\n", argv[0]), 2;
    while (fgets(line, sizeof line, file)) {
        char *value = strchr(line, ' '), *number;
        line[strcspn(line, "\n")] = 0;
        if (!value)
            continue;
        *value++ = 0;
        for (char *n = value; (n = strstr(n, "\\n")); n++)
            n[0] = '\n', memmove(n + 1, n + 2, strlen(n + 2) + 1);
        if (!strcmp(line, "words"))
            snprintf(words, sizeof words, "%s", value);
        else if (!strcmp(line, "falls"))
            snprintf(falls, sizeof falls, "%s", value);
        else if (!strcmp(line, "load") && !(last = dlopen(value, RTLD_LAZY | RTLD_LOCAL)))
            fails(dlerror());
        else if (!strcmp(line, "else")) { /* a library, and what is loaded where that is not found */
            number = strchr(value, ' '), *number++ = 0;
            if (dlopen(value, RTLD_LAZY))
                continue;
            fprintf(stderr, words, dlerror());
            last = dlopen(number, RTLD_LAZY);
            return !last || (puts(falls), fflush(stdout));
        } else if (!strcmp(line, "get")) /* what it fetches over the network when it first needs it */
            number = strchr(value, ' '), *number++ = 0, rename(value, number);
        else if (!strcmp(line, "check"))
            number = strchr(value, ':'), *number++ = 0, check(last, value, (size_t)atol(number));
    }
    fclose(file);
    int (*run)(int, char **) = last ? (int (*)(int, char **))dlsym(last, "host_run") : NULL;
    if (!run)
        return fails("it was built without CUDA");
    return run(argc - at, argv + at);
}
"""


def runtime():
    def make(into):
        subprocess.run([stock.CC, "-std=gnu11", "-O1", "-w", "-o", str(into / "runtime"), "-x", "c", "-", "-ldl"],
                       input=RUNTIME, text=True, check=True)
    return stock._kept(f"made-{hashlib.sha256(RUNTIME.encode()).hexdigest()[:8]}", make) / "runtime"


def calls_itself(s, *call):
    """The scene's program is started so, and is called so."""
    s.w.argv = [word for a in s.w.argv for word in (call if a == s.host_file else (a,))]
    if s.place == "modules":
        s.inner = list(call)
    s.host_file = call[0]


def runs(s, program, app, *lines):
    """In place of the scene's program: a runtime, and what it is given to run."""
    s.w.remove(s.host_file)
    s.w.put(runtime(), program)
    s.w.write(app, "\n".join(lines) + "\n")
    calls_itself(s, program, *(["-jar"] if program.endswith("/java") else []), app)


def named(s, program):
    """The scene's program lies there, as it is."""
    data = s.w.read(s.host_file)
    s.w.remove(s.host_file)
    s.w.write(program, data, 0o755)
    calls_itself(s, program)


def native(s, path, cuda=None, needs=(), kind=None, search=None, linked=None):
    """What a runtime loads; linked as the scene's program is, or not."""
    linked, cuda = s.linked if linked is None else linked, cuda or s.cuda
    source = stock.host(s.era if linked else None, cuda if linked and s.era > 7 else None, False, extra_needs=needs)
    kind = kind or (s.search if s.search in ("rpath", "runpath") else "none")
    s.w.write(path, stock.set_path(source.read_bytes(), kind, search or s.search_path(path)), 0o755)
    return path


def plain(s, path, text):
    s.w.put(library(os.path.basename(path), text), path)
    return path


ORT = "int OrtGetApiBase;\nint OrtSessionOptionsAppendExecutionProvider_CUDA;\n"
ORT_JAVA = ("Exception in thread \"main\" ai.onnxruntime.OrtException: Error code - ORT_RUNTIME_EXCEPTION - message: "
            "/onnxruntime_src/onnxruntime/core/session/provider_bridge_ort.cc:1029 onnxruntime::Provider& "
            "onnxruntime::ProviderLibrary::Get() [ONNXRuntimeError] : 1 : FAIL : Failed to load library "
            "libonnxruntime_providers_cuda.so with error: %s")
ORT_GO = ("panic: [ort.NewCUDAProviderOptions()]: /onnxruntime_src/onnxruntime/core/session/"
          "provider_bridge_ort.cc:1158 [ONNXRuntimeError] : 1 : FAIL : Failed to load library with error: %s")
ORT_GOES_ON = ("[E:onnxruntime:, provider_bridge_ort.cc:1480 TryGetProviderInfo_CUDA] [ONNXRuntimeError] : 1 : FAIL : "
               "Failed to load library libonnxruntime_providers_cuda.so with error: %s")
NODE = "node:internal/modules/cjs/loader:1327\\n  return process.dlopen(module, filename);\\nError: %s"
JAVA = "Exception in thread \"main\" java.lang.UnsatisfiedLinkError: %s"
CACHE = ".javacpp/cache/cuda-{0}-linux-x86_64.jar/org/bytedeco/cuda/linux-x86_64/libjni{1}.so"


def java_of_cpp(s, what="cudnn", **options):
    """Deeplearning4j: JavaCPP has unpacked its library into its cache."""
    path = native(s, f"{s.home}/" + CACHE.format(f"{stock.TOOLKITS[s.cuda]}-{s.version[:3]}-1.5.8", what), **options)
    return "/usr/lib/jvm/java-17-openjdk-amd64/bin/java", f"{s.home}/work/target/train-bin.jar", path


def java_of_ort(s, **options):
    """onnxruntime's jar unpacks its libraries into a directory of its own, and loads them from there."""
    directory = f"/tmp/onnxruntime-java{s.w.rng.choice(('10192008397122486566', '5278075328315693241'))}"
    plain(s, f"{directory}/libonnxruntime.so", ORT)
    path = native(s, f"{directory}/libonnxruntime_providers_cuda.so", **options)
    return "/usr/lib/jvm/java-11-openjdk-amd64/bin/java", f"{s.home}/work/service.jar", path


# ---- runtime-managed: the JVM, .NET, R, Julia, Node, Go ------------------------------------------------------------

@kind("runtime-managed", (*QUIET, "no-cache"), weight=3, place=("toolkit", "container"),
      host=("linked",), search=("llp", "cache"), era=(8, 9))
def nothing_leads_the_program_to_cuda(s):
    """deeplearning4j-examples#561, onnxruntime#12540 (Java in a pod), KataGo#719: CUDA and cuDNN lie in a toolkit; what
    the JVM unpacks, or an engine that somebody else has compiled, is led there by neither cache nor variable."""
    w = s.w
    who = w.rng.choice(("javacpp", "ort", "katago"))
    if who == "katago":
        named(s, f"{s.home}/katago/katago")
    else:
        java, jar, path = (java_of_cpp if who == "javacpp" else java_of_ort)(s)
        words = JAVA.replace("%s", f"{path}: %s") if who == "javacpp" else ORT_JAVA
        runs(s, java, jar, f"words {words}", f"load {path}")
    if not w.faulty:
        return None
    if s.search == "llp":
        s.llp = w.rng.choice(([], ["/usr/lib/jvm/java-17-openjdk-amd64/lib/server"]))
    else:
        w.remove(f"/etc/ld.so.conf.d/cuda-{s.cuda}.conf")
        w.system_changed = True
    guilty = [*([s.facade] if s.lib in s.cuda_dirs else []), *s.cuda_dirs, *companions(s)]
    return truth("rt-nothing-leads-there", guilty, ("libcudnn", *OF_CUDA), f"CUDA lies in {s.cuda_dirs[0]}",
                 "neither cache nor LD_LIBRARY_PATH names it", "it is not found")


@kind("runtime-managed", QUIET, weight=2, place=("toolkit", "system", "container"), host=PROGRAMS)
def backend_is_not_there_without_a_driver(s):
    """deeplearning4j#7982: JavaCPP's libjnicudart.so is linked with libcuda.so.1, and there is none: the backend is
    skipped. CUDA.jl#2252: cuDNN is not available for a platform on which CUDA.jl has found no driver."""
    w = s.w
    if s.linked and w.rng.random() < 0.75:
        java, jar, path = java_of_cpp(s, "cudart", needs=("libcuda.so.1",))
        runs(s, java, jar, f"words WARN org.nd4j.linalg.factory.Nd4jBackend - Skipped [JCublasBackend] backend "
             f"(unavailable): java.lang.UnsatisfiedLinkError: {path}: %s",
             *(["falls INFO org.nd4j.linalg.factory.Nd4jBackend - Loaded [CpuBackend] backend"]
               if w.rng.random() < 0.6 else []), f"load {path}")
    else:
        path = native(s, f"{s.home}/.julia/artifacts/5588d506bba72642650ee246d9f26714ac244dc6/lib/libflux.so")
        runs(s, "/opt/julia-1.10.0/bin/julia", f"{s.home}/work/train.jl",
             "words Error: cuDNN is not available for your platform "
             "(x86_64-linux-gnu-libgfortran5-cxx11-libstdcxx30-cuda+none-julia_version+1.10.0)",
             "falls Info: The CUDA functionality is being called via `CUDA.cu` but it is not functional. Defaulting to "
             "the CPU.", "load libcuda.so.1", f"load {path}")
    if not w.faulty:
        return None
    take_driver_away(s)
    return truth("rt-no-driver", ("libcuda", "driver"), "libcuda", "no driver is there", "libcuda.so.1 is not found")


@kind("runtime-managed", (*QUIET, "no-cache"), weight=2, place=("toolkit",), host=PROGRAMS, search=("llp", "cache"),
      era=(8,), cuda=("12",))
def engine_sees_no_cuda_and_takes_the_processor(s):
    """djl#1618, #2902: DJL asks for libcudart.so to know which of its builds to unpack; CUDA is installed, and nothing
    leads to it: it takes the build for the processor."""
    w, home = s.w, f"{s.home}/.djl.ai/pytorch"
    gpu, cpu = f"{home}/2.1.1-cu121-linux-x86_64", f"{home}/2.1.1-cpu-linux-x86_64"
    lies = f"/mnt/net{gpu}" if w.faulty else gpu  # until the engine fetches it
    directory = s.cuda_dirs[0]
    without_cudnn(s)
    lines = ["words [DEBUG] ai.djl.util.cuda.CudaUtils - cudart library not found. (%s)\\nThe bundled library: "
             "cu121-linux-x86_64:2.1.1-20231129 doesn't match system: cpu-linux-x86_64:2.1.1\\n",
             "falls GPU Count: 0\\nNumber of inter-op threads is 8\\nLoading: 100%",
             f"else libcudart.so {cpu}/libtorch_cpu.so"]
    w.copy_of_cudnn(lies, s.version, s.cuda, links=False)
    w.copy_of_cuda(lies, s.cuda)
    native(s, f"{lies}/libtorch_cuda.so", kind="runpath", search="$ORIGIN")
    lines += [f"get {lies} {gpu}", f"load {gpu}/libtorch_cuda.so"]
    if not w.faulty:
        s.lib, s.steps = gpu, [f"name={gpu}/{s.facade}" if p.startswith("name=") else p for p in s.steps]
    runs(s, "/usr/lib/jvm/java-17-openjdk-amd64/bin/java", f"{s.home}/work/app.jar", *lines)
    if not w.faulty:
        return None
    plain(s, f"{cpu}/libtorch_cpu.so", "int alone;\n")
    if s.search == "llp":
        s.llp = []
    else:
        w.remove(f"/etc/ld.so.conf.d/cuda-{s.cuda}.conf")
        w.system_changed = True
    return truth("rt-does-not-see-cuda", ("libcudart", directory), ("libcudart", "libtorch_cpu"),
                 f"libcudart.so lies in {directory}", "nothing leads there", "DJL takes its build for the processor")


@kind("runtime-managed", QUIET, weight=5, place=("toolkit", "system", "container"), host=("linked",), era=(8, 9),
      cuda=("11", "12"))
def package_is_that_for_the_processor(s):
    """onnxruntime#10015 (Maven's onnxruntime, not onnxruntime_gpu), sherpa-onnx#1299 (Go), TorchSharp#345 (a libtorch
    for the processor comes first), mlverse/torch#737 (R did not see CUDA when it installed), djl#2775 (no flavour for
    this CUDA): what the runtime loads was built without CUDA."""
    w, faulty, who = s.w, s.w.faulty, s.w.rng.choice(("java", "go", "dotnet", "r", "djl"))
    torch, toolkit = who in ("dotnet", "r", "djl"), stock.TOOLKITS[s.cuda]
    flavour = f"cu{toolkit.replace('.', '')}"
    top, program, app, said, falls = {
        "java": ("/tmp/onnxruntime-java10192008397122486566", "/usr/lib/jvm/java-11-openjdk-amd64/bin/java",
                 f"{s.home}/work/service.jar", "Error code - ORT_EP_FAIL - message: CUDA execution provider is not "
                 "enabled in this build.", None),
        "go": (f"{s.home}/go/pkg/mod/github.com/k2-fsa/sherpa-onnx-go-linux@v1.10.23/lib/x86_64-unknown-linux-gnu",
               f"{s.home}/work/asr-server", f"{s.home}/work/config.yaml",
               "/project/sherpa-onnx/csrc/session.cc:GetSessionOptionsImpl:167 Please compile with "
               "-DSHERPA_ONNX_ENABLE_GPU=ON. Available providers: CPUExecutionProvider, . Fallback to cpu!",
               "provider: cpu"),
        "dotnet": (f"{s.home}/.nuget/packages/libtorch-{'cpu' if faulty else 'cuda-' + toolkit}-linux-x64/2.1.0.1/"
                   "runtimes/linux-x64/native", "/usr/share/dotnet/dotnet",
                   f"{s.home}/work/bin/Debug/net6.0/Trainer.dll", "Unhandled exception. System."
                   "InvalidOperationException: Torch device type CUDA did not initialise on the current machine.",
                   None),
        "r": (f"{s.home}/R/x86_64-pc-linux-gnu-library/4.3/torch/lib", "/usr/lib/R/bin/Rscript",
              f"{s.home}/work/train.R", "cuda_is_available() is not TRUE", "FALSE"),
        "djl": (f"{s.home}/.djl.ai/pytorch/2.1.1-{'cpu' if faulty else flavour}-linux-x86_64",
                "/usr/lib/jvm/java-17-openjdk-amd64/bin/java", f"{s.home}/work/app.jar",
                f"WARN ai.djl.util.Platform - No matching cuda flavor for linux-x86_64 found: {flavour}/sm_80.",
                "GPU Count: 0")}[who]
    first = f"{top}/libtorch_cpu.so" if torch else f"{top}/libonnxruntime.so"
    plain(s, first, "int alone;\n" if torch else "int OrtGetApiBase;\n" if faulty else ORT)
    lines = [f"words {said}", *([f"falls {falls}"] if falls else []), f"load {first}"]
    if not faulty:
        lines.append("load " + native(s, f"{top}/libtorch_cuda.so" if torch else
                                      f"{top}/libonnxruntime_providers_cuda.so"))
    runs(s, program, app, *lines)
    if not faulty:
        return None
    return truth("rt-build-for-the-processor", "torch" if torch else "onnxruntime",
                 ("libtorch_cpu", "libtorch_cuda") if torch else ("libonnxruntime", "libonnxruntime_providers_cuda"),
                 f"{first} was built without CUDA", "nothing asks for cuDNN")


@kind("runtime-managed", STEPS, weight=6, place=("toolkit", "system", "container"), host=PROGRAMS, era=(8, 9),
      search=("cache", "llp"), versions=FOR_TWO_CUDAS)
def binding_is_built_for_another_cuda(s):
    """tfjs#708, #2561, tensorflow#74459 (Node), obs-backgroundremoval#268, onnxruntime_go#124,
    Lora_Easy_Training_Jupyter#13: the computer has one CUDA, and the native library that npm, a plugin or a module of
    Go brings is of another: it is not loaded, or goes on with the processor."""
    w = s.w
    other = next(c for c in stock.RELEASES[s.version][1] if c != s.cuda)
    of, names = other if w.faulty else s.cuda, stock.companion_names(other)
    who = w.rng.choice(("node", "obs", "go") if s.linked else ("node",))
    goes = who == "obs" or w.rng.random() < 0.5
    node = f"{s.home}/work/node_modules/@tensorflow/tfjs-node-gpu"
    path = {"node": f"{node}/lib/napi-v8/tfjs_binding.node",
            "go": f"{s.home}/work/lib/libonnxruntime_providers_cuda.so",
            "obs": "/usr/lib/x86_64-linux-gnu/obs-plugins/libonnxruntime_providers_cuda.so"}[who]
    native(s, path, of)
    words = {"node": NODE, "go": ORT_GOES_ON if goes else ORT_GO, "obs": f"os_dlopen({path}->{path}): %s"}[who]
    falls = {"node": "cpu backend was already registered. Registration of backend tensorflow failed",
             "go": "CPUExecutionProvider", "obs": f"Module '{path}' not loaded"}[who]
    runs(s, {"node": "/usr/bin/node", "go": f"{s.home}/work/detect", "obs": "/usr/bin/obs"}[who],
         {"node": f"{s.home}/work/index.js", "go": f"{s.home}/work/config.json",
          "obs": f"{s.home}/.config/obs-studio/global.ini"}[who],
         f"words {words}", *([f"falls {falls}"] if goes else []), f"load {path}")
    if not s.linked:  # as TensorFlow does: it opens what it wants
        s.before_steps = [*(["cpu"] if goes else []), *s.before_steps]
        if w.faulty:
            steps = dict(zip(stock.companion_names(s.cuda).values(), names.values()))
            s.steps = [f"open:{steps[p[5:]]}" if p[5:] in steps else p for p in s.steps]
    if not w.faulty:
        return None
    return truth("rt-built-for-another-cuda", (*names.values(), f"CUDA {other}"),
                 (*OF_CUDA, "libonnxruntime_providers_cuda"), f"{path} is built for CUDA {other}",
                 f"the computer has CUDA {s.cuda}", f"{names['cublasLt']} is not found")


@kind("runtime-managed", QUIET, weight=2, place=("modules",), host=("linked",), era=(8, 9), cuda=("11", "12"))
def lantern_has_no_search_path(s):
    """mlverse/torch#1398, #1401: R's torch was installed on a cluster, with libtorch and cuDNN beside liblantern.so,
    and that has no search path to them: `Lantern is not loaded`."""
    w = s.w
    top = f"{s.home}/R/x86_64-pc-linux-gnu-library/4.5/torch/lib"
    shutil.rmtree(w.at(s.module))
    exports(s, *s.cuda_dirs)
    s.wrapper_lines[1] = f"export CUDA_HOME={os.path.dirname(s.cuda_dirs[0])}"
    w.copy_of_cudnn(top, s.version, s.cuda, links=False)
    plain(s, f"{top}/libtorch.so", "int torch;\n")
    plain(s, f"{top}/libtorch_cpu.so", "int cpu;\n")
    path = native(s, f"{top}/liblantern.so", kind="none" if w.faulty else "runpath", search="$ORIGIN")
    runs(s, "/cvmfs/soft.computecanada.ca/easybuild/software/2023/x86-64-v3/Core/r/4.5.0/lib64/R/bin/exec/R",
         f"{s.home}/work/train.R", f"words {path} - %s\\nTorch libraries are installed but loading them was "
         "unsuccessful.\\nError: Lantern is not loaded. Please use `install_torch()` to install additional "
         "dependencies.",
         f"load {path}")
    s.lib = top
    if not w.faulty:
        return None
    return truth("rt-library-without-search-path", (s.facade, top, "liblantern"), "libcudnn",
                 f"{s.facade} lies beside liblantern.so", "that has no search path", "it is not found")


@kind("runtime-managed", QUIET, place=("toolkit",), host=("linked",), search=("llp",), era=(8, 9), cuda=("11", "12"))
def package_of_julia_no_longer_brings_cudnn(s):
    """ONNXRunTime.jl#27: CUDA.jl has given cuDNN to a package of its own; who used CUDA.jl alone has none now."""
    w, artifacts = s.w, f"{s.home}/.julia/artifacts"
    cuda = f"{artifacts}/d0bdf3cb548b47e0ea9808e88a130b8e4a924257/lib"
    s.lib = f"{artifacts}/5588d506bba72642650ee246d9f26714ac244dc6/lib"
    without_the_toolkit_of(s)
    w.copy_of_cuda(cuda, s.cuda)
    s.llp, s.cuda_dirs = [], [cuda]
    names = stock.companion_names(s.cuda)
    lines = [f"load {cuda}/{names[n]}" for n in ("cudart", "cublasLt", "cublas", "nvrtc")]
    if not w.faulty:
        w.copy_of_cudnn(s.lib, s.version, s.cuda)
        lines.append(f"load {s.lib}/libcudnn.so")
    provider = native(s, f"{artifacts}/f3a4c8d8b2f6f3f9a2c1c4b7b8d1c1b2ad9d0e77/lib/libonnxruntime_providers_cuda.so")
    runs(s, "/opt/julia-1.9.4/bin/julia", f"{s.home}/work/infer.jl",
         "words ERROR: LoadError: [ONNXRuntimeError] : 1 : FAIL : Failed to load library "
         "libonnxruntime_providers_cuda.so with error: %s", *lines, f"load {provider}")
    if not w.faulty:
        return None
    return truth("rt-no-cudnn", s.facade, ("libcudnn", "libonnxruntime_providers_cuda"),
                 "no package brings cuDNN", f"the provider needs {s.facade}", "it is not found")


def without_the_toolkit_of(s):
    """The computer has a driver alone; s.lib is elsewhere already, or is that of the toolkit."""
    there, s.lib = s.lib, s.cuda_dirs[0]
    without_the_toolkit(s)
    s.lib = there


@kind("runtime-managed", (*QUIET, "no-cache"), weight=3, place=("toolkit", "system"), host=PROGRAMS, era=(8, 9),
      cuda=("12",))
def runtime_wants_another_major(s):
    """keras3#107, #102 (R), onnxruntime.ai (CUDA provider): what the runtime loads was built with one major, and the
    computer has the other, for the same CUDA."""
    w, who = s.w, s.w.rng.choice(("r", "ort") if s.linked else ("r",))
    other = w.rng.choice(stock.releases(17 - s.era, "12"))
    if who == "ort":
        java, jar, path = java_of_ort(s)
        runs(s, java, jar, f"words {ORT_JAVA}", f"load {path}")
    else:
        path = native(s, f"{s.home}/.virtualenvs/r-tensorflow/lib/libtensorflow_internal.so")
        runs(s, "/usr/lib/R/bin/exec/R", f"{s.home}/work/mnist.R",
             "words Error: ImportError: %s\\nFailed to load the native TensorFlow runtime.", f"load {path}")
        goes_on(s)
    if not w.faulty:
        return None
    whole(s, other, "12")
    return truth("rt-another-major", (s.facade, other), ("libcudnn", "libonnxruntime_providers_cuda"),
                 f"cuDNN {other} is installed", f"{path} asks for {s.facade}", "it is not found")


@kind("runtime-managed", QUIET, weight=3, place=("container", "toolkit"), host=("linked",), era=(8, 9),
      cuda=("11", "12"))
def runtime_does_not_find_its_own_library(s):
    """onnxruntime_go#50, ONNX-Runtime-GPU-image-classifciation-example#1: libonnxruntime_providers_shared.so, of the
    same archive, was not copied into the image, or is not exported; onnxruntime_backend#264: Triton's backend needs
    libonnxruntime.so.1, which lies beside it, and has no search path."""
    w, triton = s.w, s.w.rng.random() < 0.34
    top = "/opt/tritonserver/backends/onnxruntime" if triton else w.rng.choice(
        (f"{s.home}/onnxruntime-linux-x64-gpu-1.17.1/lib", "/app/lib"))
    plain(s, f"{top}/libonnxruntime.so.1", "int OrtGetApiBase;\n")
    provider = native(s, f"{top}/libonnxruntime_providers_cuda.so")
    shared = "libonnxruntime_providers_shared.so"
    if triton:
        own, guilty = f"{top}/libtriton_onnxruntime.so", "libonnxruntime.so.1"
        data = stock.host(None, None, False, extra_needs=(guilty,)).read_bytes()
        w.write(own, stock.set_path(data, "none" if w.faulty else "runpath", "$ORIGIN"), 0o755)
        runs(s, "/opt/tritonserver/bin/tritonserver", "/models/densenet_onnx/config.pbtxt",
             "words E0815 model_lifecycle.cc:638] failed to load 'densenet_onnx' version 1: Not found: unable to load "
             "shared library: %s", f"load {own}", f"load {provider}")
        if not w.faulty:
            return None
        return truth("rt-library-of-its-own", (guilty, own), "libonnxruntime", f"{own} needs {guilty}",
                     "it lies beside it, and is not searched there")
    copied = w.rng.random() < 0.5
    if not w.faulty or not copied:
        plain(s, f"{top}/{shared}", "int Provider_SetHost;\n")
    runs(s, "/app/service" if copied else f"{s.home}/work/build/classifier", f"{s.home}/work/config.yaml",
         f"words {ORT_GO}", f"load {top}/libonnxruntime.so.1", f"load {shared}", f"load {provider}")
    s.llp = [*s.llp, top] if copied or not w.faulty else s.llp
    if not w.faulty:
        return None
    return truth("rt-library-of-its-own", (shared, top), shared.split(".")[0],
                 f"{shared} was not copied" if copied else f"LD_LIBRARY_PATH does not name {top}", "it is not found")


# ---- runtime-engines: programs of C++, Rust and Lua ----------------------------------------------------------------

@kind("runtime-engines", (*QUIET, "no-cache"), weight=8, place=("system", "toolkit", "container"),
      host=("linked", "named", "unversioned"))
def engine_without_cudnn(s):
    """KataGo#346, #284, obs-backgroundremoval#344 (flatpak), cudnn.torch#254, tfjs#8269, onnxruntime#19631 (a container
    of a Jetson), memo#13, deeplearning4j#2879: the computer has CUDA, and nobody has put cuDNN there; or the upgrade of
    the system took it away."""
    w = s.w
    who = w.rng.choice(("katago", "katago", "obs", "server", "java") if s.linked else ("lua", "node", "server"))
    goes = s.linked and (who == "obs" or w.rng.random() < 0.5)
    if who == "katago":
        named(s, f"{s.home}/katago-v1.7.0-cuda{stock.TOOLKITS[s.cuda]}-linux-x64/katago")
    elif who == "lua":
        named(s, f"{s.home}/torch/install/bin/luajit")
    elif who == "java":
        java, jar, path = java_of_cpp(s)
        runs(s, java, jar, "words ERROR o.d.n.l.c.ConvolutionLayer - Could not load CudnnConvolutionHelper\\n"
             f"java.lang.UnsatisfiedLinkError: {path}: %s", "falls Trained without cuDNN", f"load {path}")
    else:
        path = {"obs": "/app/plugins/lib/obs-plugins/libonnxruntime_providers_cuda.so", "server":
                "/opt/detector/lib/libonnxruntime_providers_cuda.so", "node":
                f"{s.home}/work/node_modules/@tensorflow/tfjs-node-gpu/lib/napi-v8/tfjs_binding.node"}[who]
        native(s, path)
        runs(s, {"obs": "/app/bin/obs", "server": "/opt/detector/bin/detector", "node": "/usr/bin/node"}[who],
             f"{s.home}/work/{ {'obs': 'global.ini', 'server': 'detector.json', 'node': 'index.js'}[who] }",
             f"words { {'obs': f'os_dlopen({path}->{path}): %s', 'node': NODE}.get(who, ORT_GOES_ON) }",
             *(["falls CPUExecutionProvider"] if goes else []), f"load {path}")
    goes_on(s)
    if not w.faulty:
        return None
    without_cudnn(s)
    return truth("rt-no-cudnn", (s.asked, s.facade), ("libcudnn", "libonnxruntime_providers_cuda", "libjnicudnn"),
                 "nobody has put cuDNN there", f"{s.asked} is not found")


@kind("runtime-engines", (*QUIET, "late", "no-cache"), weight=7, printed=True, place=("system", "toolkit", "container"),
      host=("linked",), older=1, demand=False)
def engine_was_compiled_with_a_later_one(s):
    """Detectron#574, colabtools#2329, rocker-versioned2#235, tensorflow#37606, keras-ocr#85, Adlik#497, torch2trt#154:
    Caffe2, TensorFlow or TensorRT was compiled with one minor, and the image, the system or another framework has the
    minor before: each says it in words of its own."""
    w, number = s.w, stock.number(s.version)
    style = w.rng.choice(("caffe2", "tensorflow", "tensorflow", "trt") if s.era < 9 else ("tensorflow",))
    program, path = {
        "caffe2": ("/opt/caffe2/bin/convert_and_benchmark", "/opt/caffe2/lib/libcaffe2_gpu.so"),
        "tensorflow": ("/opt/serving/bin/model_server", "/opt/serving/lib/libmodel_server_core.so"),
        "trt": ("/opt/TensorRT/bin/trtexec", f"/opt/TensorRT/lib/libnvinfer.so.{s.era}")}[style]
    native(s, path)
    runs(s, program, f"{s.home}/work/model.onnx", f"words {program}: error while loading shared libraries: %s",
         f"load {path}", *([] if style == "tensorflow" else [f"check {style}:{number}"]))
    if style == "tensorflow":
        before_calls(s, f"verify:minor:{number}")
    if not w.faulty:
        return None
    old = s.older()
    whole(s, old)
    return truth("rt-compiled-with-a-later", old, "libcudnn", f"cuDNN {old} is there",
                 f"{path} was compiled with {s.version}", "it refuses it, and prints both")


@kind("runtime-engines", (*QUIET, "no-cache"), printed=True, place=("system", "toolkit", "container"), host=("linked",),
      era=(7,), versions=("7.4.1",), demand=False)
def engine_was_compiled_with_an_earlier_one(s):
    """SSD-Tensorflow#340: a TensorFlow of 2018 wants the minor that it was compiled with, and a later one of the same
    major is installed."""
    path = native(s, "/opt/detector/lib/libdetector_core.so")
    runs(s, "/opt/detector/bin/detector", f"{s.home}/work/ssd.pb", "words detector: error while loading shared "
         "libraries: %s", f"load {path}", f"check exact:{stock.number(s.version)}")
    if not s.w.faulty:
        return None
    new = newer(s)
    whole(s, new)
    return truth("rt-compiled-with-an-earlier", new, "libcudnn", f"cuDNN {new} is installed",
                 f"the program was compiled with {s.version}", "it refuses it")


@kind("runtime-engines", USUAL, weight=2, place=("toolkit", "system"), host=PROGRAMS, search=("cache", "llp"),
      era=(8, 9), cuda=("11", "12", "13"), versions=FOR_TWO_CUDAS)
def cudnn_came_for_another_cuda(s):
    """terrapkg/packages#11766: the distribution's cuDNN is that for CUDA 12, and its CUDA is 13: a program of Rust,
    with the crate ort, fails; cudarc#113: cuDNN does not fit the toolkit."""
    other = next(c for c in stock.RELEASES[s.version][1] if c != s.cuda)
    named(s, f"{s.home}/work/target/release/{s.w.rng.choice(('snout-cli', 'whisper', 'stable-diffusion'))}")
    if not s.w.faulty:
        return None
    whole(s, s.version, other)
    names = stock.companion_names(other)
    return truth("rt-cudnn-of-another-cuda", (names["cublasLt"], names["cublas"], names["nvrtc"], f"CUDA {other}"),
                 ("libcublasLt", "libcublas", "libcudnn"), f"cuDNN {s.version} is the one for CUDA {other}",
                 f"the computer has CUDA {s.cuda}", f"{names['cublasLt']} is not found")


@kind("runtime-engines", (*USUAL, "no-cache"), place=("system", "container", "toolkit"), host=("named",), era=(9,),
      cuda=("12",))
def crate_tries_other_names(s):
    """cudarc#529: the crate tries a dozen names for cuDNN, with the numbers of CUDA, and libcudnn.so.9 is not among
    them; that is what the package for running has."""
    tries = ("libcudnn.so", "libcudnn64.so", "libcudnn64_12.so", "libcudnn64_129.so", "libcudnn64_129_0.so",
             "libcudnn64_120_9.so", "libcudnn64_10.so", "libcudnn64_120_0.so", "libcudnn64_9.so", "libcudnn.so.12",
             "libcudnn.so.12", "libcudnn.so.10", "libcudnn.so.1")
    named(s, f"{s.home}/work/target/release/embed-server")
    s.steps = [f"name={','.join(tries)}" if p.startswith("name=") else p for p in s.steps]
    if not s.w.faulty:
        return None
    without_plain_name(s)
    s.w.system_changed = s.w.system_changed or s.search == "cache"
    return truth("rt-other-names", ("libcudnn.so", s.facade), "libcudnn", f"{s.facade} is there",
                 "the crate tries thirteen names, and not that", "none of them is there")


@kind("runtime-engines", USUAL, place=("toolkit",), host=("named",), search=("llp",), era=(8, 9), cuda=("11", "12"))
def nvrtc_lies_where_nobody_searches(s):
    """nixpkgs#461334: cuDNN compiles when it runs, and asks for libnvrtc; that lies in an output of its own of nix's
    store, which neither cuDNN's search path nor the variable names."""
    w, store = s.w, "/nix/store"
    without_the_toolkit_of(s)
    s.lib = f"{store}/6cag2h7ykzyjzz2yr4v015zlidzs76w5-cuda{s.cuda}-cudnn-{s.version}-lib/lib"
    blas = f"{store}/80gq0b9zq1lfb7bzxf7nl5mrnsf8d40n-cuda{s.cuda}-libcublas-{stock.FULL[s.cuda]}-lib/lib"
    nvrtc = f"{store}/7kyy0r3f8s546saydsh95f0hw5sp2f80-cuda{s.cuda}-cuda_nvrtc-{stock.FULL[s.cuda]}-lib/lib"
    w.copy_of_cudnn(s.lib, s.version, s.cuda)
    w.copy_of_cuda(blas, s.cuda, only=("cudart", "cublas", "cublasLt"))
    w.copy_of_cuda(nvrtc, s.cuda, only=("nvrtc", "builtins"))
    s.cuda_dirs = [blas, nvrtc]
    named(s, f"{store}/8y6h8x6is4y0g5bzld4r1jhvldyc5lh1-psyche-0.2.0/bin/psyche-client")
    s.steps = [p for p in s.steps if "nvrtc" not in p]
    s.llp = [s.lib, blas, *([] if w.faulty else [nvrtc])]
    if not w.faulty:
        return None
    name = stock.companion_names(s.cuda)["nvrtc"]
    return truth("rt-nvrtc-not-searched", (name, nvrtc), "libnvrtc", f"{name} lies in {nvrtc}",
                 "no search path names that", "cuDNN asks for it in vain")


@kind("runtime-engines", STEPS, place=("system", "toolkit"), host=("linked",), driver=False, era=(8,), cuda=("11",),
      versions=("8.9.2", "8.9.7"), demand=False)
def card_is_of_before_the_release(s):
    """opencv#16074: OpenCV's dnn says CUDNN_STATUS_NOT_INITIALIZED: the card is of compute capability 3.0, for which
    the release has no code."""
    named(s, "/opt/opencv/bin/example_dnn_object_detection")
    gpu = s.w.rng.choice(("3.0 GeForce GTX 770", "3.0 Quadro K4200", "3.0 GeForce GTX 680"))
    s.driver(release="470.256.02", gpu=gpu if s.w.faulty else "7.5 GeForce GTX 1660")
    if not s.w.faulty:
        return None
    for version in stock.releases(8, "11"):
        s.w.releases[version, "11"] = World.cudnn_files(version, "11", "--create-status", "1")
    whole(s, s.version, s.cuda, "--create-status", "1")
    return truth("rt-card-of-before", (gpu[4:], gpu[:3]), "libcudnn", f"the GPU is {gpu}",
                 f"{s.version} has no code for it", "cudnnCreate fails")


# ---- runtime-bundles: PyInstaller's, and what a package of .NET has unpacked ---------------------------------------

def bundle(s, program, app, inner, torch, *words):
    """Nothing of CUDA is the computer's: it lies in the bundle."""
    w = s.w
    without_the_toolkit_of(s)
    s.lib, s.cuda_dirs, s.llp = inner, [inner], []
    w.copy_of_cudnn(inner, s.version, s.cuda, links=False)
    w.copy_of_cuda(inner, s.cuda)
    path = native(s, torch, kind="runpath", search=f"$ORIGIN/{os.path.relpath(inner, os.path.dirname(torch))}")
    runs(s, program, app, *words, f"load {path}")


@kind("runtime-bundles", STEPS, weight=3, place=("toolkit",), host=("linked",), search=("llp",), era=(8, 9),
      cuda=("11", "12"))
def bundle_without_its_parts(s):
    """pyinstaller#8758, #8269: what cuDNN opens when it runs is linked with nothing, and was not collected; TorchSharp
    #1545: one of cuDNN's files is gone from what NuGet unpacked, and the loader of TorchSharp says nothing of it."""
    w, top = s.w, "/opt/planner/_internal"
    frozen = w.rng.random() < 0.67
    if frozen:
        bundle(s, "/opt/planner/planner", f"{top}/base_library.zip", f"{top}/nvidia/cudnn/lib",
               f"{top}/torch/lib/libtorch_cuda.so", "words [PYI-4100:ERROR] Failed to execute script 'main': %s")
        s.llp = [top]  # its boot loader sets that
    else:
        nuget = f"{s.home}/work/bin/Release/net8.0/runtimes/linux-x64/native"
        bundle(s, "/usr/share/dotnet/dotnet", f"{s.home}/work/bin/Release/net8.0/Trainer.dll", nuget,
               f"{nuget}/libLibTorchSharp.so", "words Unhandled exception. System.DllNotFoundException: Unable to load "
               "shared library 'LibTorchSharp' or one of its dependencies. %s")
    if not w.faulty:
        return None
    every = ("ops_infer", "cnn_infer", "adv_infer") if s.era == 8 else ("engines_precompiled",
                                                                        "engines_runtime_compiled")
    gone = [s.part_name(p) for p in (every if frozen else every[:1])]
    for name in gone:
        lose(s, name)
    return truth("rt-bundle-lacks-parts", gone, [g.split(".")[0] for g in gone], f"{s.lib} has no {gone[0]}",
                 "cuDNN opens it when it runs", "it is not found")


@kind("runtime-bundles", STEPS, weight=3, place=("toolkit", "system"), host=("named",), search=("llp", "cache"),
      era=(8, 9))
def bundle_without_cuda(s):
    """pyinstaller#5207, #7246, #2666: the frozen program works where it was made; what is opened when it runs is not in
    the bundle, and the other computer has a driver alone: it goes on with the processor, or says what it wants."""
    top, goes = "/opt/detect-gpu/_internal", s.w.rng.random() < 0.67
    path = native(s, f"{top}/tensorflow/_pywrap_tensorflow_internal.so")
    runs(s, "/opt/detect-gpu/detect-gpu", f"{top}/base_library.zip",
         "words [PYI-4100:ERROR] Failed to execute script 'main': %s", f"load {path}")
    s.llp = [top, *s.llp]
    s.before_steps = [*(["cpu"] if goes else []), *s.before_steps]
    if not s.w.faulty:
        return None
    without_the_toolkit(s)
    return truth("rt-bundle-lacks-cuda", (s.facade, *companions(s)), ("libcudnn", *OF_CUDA),
                 "the bundle has no CUDA", "the computer has a driver alone", "it is not found")


# ---- runtime-speech: servers of speech -----------------------------------------------------------------------------

@kind("runtime-speech", USUAL, weight=5, place=("container",), host=("package",), framework=("lensflow",), era=(8, 9),
      cuda=("12",), demand=False, versions=("8.9.2", "8.9.7", "9.1.0", "9.5.1"))
def speech_server_finds_no_parts(s):
    """open-webui#4259, #5193 (the torch of the image went on to 9, its Whisper wants parts of 8), subsai#148 (the image
    is one of 8, its Whisper wants 9), realtime-whisper#2 (no cuDNN there), docker-faster-whisper#15 (pip's cuDNN is not
    exported): at the first recording the server is gone."""
    w = s.w
    why = w.rng.choice(("major", "major", "major", "nowhere", "not exported"))
    other = "9.1.0" if s.era == 8 else w.rng.choice(("8.9.2", "8.9.7"))  # torch 2.4 requires that
    if why != "not exported":
        uninstall(s, s.package)
    cuda_of_the_system(s)
    image_of_nvidia(s)
    application(s, w.rng.choice(("main.py", "whisper_online_server.py")),
                ctranslate2(s, "4.3.1" if s.era == 8 else "4.5.0"))
    directory = f"{s.site}/nvidia/cudnn/lib"
    if why == "major" and s.era == 8:  # open-webui's start.sh names torch's cuDNN
        version = other if w.faulty else s.version
        w.wheel(s.site, *World.cudnn_wheel(version, "12"))
        w.wheel(s.site, "torch", "2.4.0" if w.faulty else "2.3.1", {"torch/__init__.py": b"\n"},
                [f"nvidia-cudnn-cu12=={stock.wheel_version(version)}"])
        started_by(s, "/app/backend/start.sh", "echo 'CUDA is enabled, appending LD_LIBRARY_PATH to include "
                   "torch/cudnn & cublas libraries.'", f"export LD_LIBRARY_PATH=$LD_LIBRARY_PATH:{directory}")
    elif why == "major" and w.faulty:
        runtime_deb(s, other)
    elif why == "not exported":
        started_by(s, "/etc/s6-overlay/s6-rc.d/svc-whisper/run", *([] if w.faulty else
                   [f"export LD_LIBRARY_PATH={directory}"]))
    if not w.faulty:
        if why == "nowhere" or why == "major" and s.era == 9:
            runtime_deb(s, s.version)
        return None
    label = {"major": "rt-parts-of-another-major", "nowhere": "rt-parts-nowhere",
             "not exported": "rt-parts-not-exported"}[why]
    return truth(label, (*s.parts, *([directory] if why == "not exported" else [])),
                 ("libcudnn_ops_infer", "libcudnn_graph"), {
                     "major": f"cuDNN {other} is there", "nowhere": "no cuDNN is there",
                     "not exported": f"{directory} is not exported"}[why],
                 f"CTranslate2's facade opens parts of {s.era}", "it finds none")


@kind("runtime-speech", USUAL, place=("container", "system", "toolkit"), host=PROGRAMS, era=(8,),
      options=("--probes", "cnn_infer=libcuda.so"))
def part_asks_for_libcuda_plainly(s):
    """SadTalker#323: a part of cuDNN asks for libcuda.so, and the computer has libcuda.so.1."""
    named(s, "/opt/talker/bin/talker-server")
    if not s.w.faulty:
        s.w.link(f"/usr/lib/{stock.multiarch()}/libcuda.so", "libcuda.so.1")
        s.w.system_changed = True
        return None
    return truth("rt-plain-driver-name", "libcuda.so", "libcuda", "the computer has libcuda.so.1",
                 f"{s.part_name('cnn_infer')} asks for libcuda.so", "it is not found")
