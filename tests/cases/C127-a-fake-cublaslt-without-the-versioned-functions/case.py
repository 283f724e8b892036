"""A tool took the name of cuBLASLt, and lacks a function that cuBLAS imports by its version."""

SYMBOL = "free_gemm_select"


def case(w):
    release = w.release("9.1", "9.11")
    true, fake = w.versioned("libcublasLt.so.12", [SYMBOL]), w.versioned("libcublasLt.so.12", [])
    own = w.site / "nvidia/cublas/lib"
    w.put(true, own / "libcublasLt.so.12")
    w.put(w.versioned("libcublas.so.12", [], imports=[SYMBOL], of=true), own / "libcublas.so.12")
    tool = w.root / "opt/hook/lib"
    w.put(fake, tool / "libcublasLt.so.12")
    lib = w.wheel(release)
    torch = w.host("torch", release, search=[lib, own])
    torch.does("version", f"open:{own}/libcublas.so.12:dlopen({{name}}) failed, {{error}}",
               "try:libcudnn.so.9", "create")
    w.environment["LD_LIBRARY_PATH"] = f"{tool}:{own}" if w.faulty else own
    w.says(f"{SYMBOL}, version libcublasLt.so.12", ends=1)
    w.finds("version-node-not-found", SYMBOL, tool / "libcublasLt.so.12")
    w.repairs("set-variable", maps=own / "libcublasLt.so.12")
