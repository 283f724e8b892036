#include "process.h"

#include <sys/utsname.h>

#include "config.h"
#include "files.h"
#include "sys.h"
#include "whichcudnn/elf_image.h"

#define MOST_STRINGS 64

extern __attribute__((visibility("hidden"))) const ElfW(Ehdr) __ehdr_start;
static char shim_path[SYS_PATH];

struct string_list {
    const char *p[MOST_STRINGS];
    size_t n;
};

static void add_string(void *list, const char *s) {
    struct string_list *l = list;
    if (l->n < MOST_STRINGS)
        l->p[l->n++] = s;
}

static const struct utsname *kernel(void) {
    static struct utsname names;
    if (!names.release[0])
        sys_uname(&names, sizeof names);
    return &names;
}

static const char *or_null(const char *s) {
    return s[0] ? s : NULL;
}

/* Field 22 of /proc/self/stat; the second field, the command, may hold blanks and brackets. */
static int64_t start_ticks(void) {
    char text[1024];
    uint64_t value;
    if (!files_read_text("/proc/self/stat", text, sizeof text))
        return WC_NULL;
    const char *s = wc_str_find_last_char(text, ')');
    for (int field = 2; s && field < 22; field++)
        s = wc_str_find_char(s + 1, ' ');
    return s && wc_parse_number(s + 1, wc_str_length(s + 1), &value) ? (int64_t)value : WC_NULL;
}

static bool is_interpreter(const char *program) {
    const char *base = wc_base_name(program);
    return wc_str_starts(base, "python") || wc_str_starts(base, "pypy");
}

/* Program and script or module; what follows may be private. */
static void keep_arguments(struct string_list *list, const char *text, size_t size) {
    bool whole = config.whole_arguments, module = false;
    for (size_t at = 0; at < size; at += wc_str_length(text + at) + 1) {
        const char *s = text + at;
        if (at == 0) {
            add_string(list, s);
            if (!whole && !is_interpreter(s))
                return;
        } else if (whole) {
            add_string(list, s);
        } else if (module || s[0] != '-') {
            add_string(list, s);
            return;
        } else if (wc_str_compare(s, "-m") == 0 || wc_str_compare(s, "-c") == 0) {
            add_string(list, s);
            if (s[1] == 'c')
                return;
            module = true;
        }
    }
}

static void describe_arguments(struct wc_process_record *out) {
    static char text[8192];
    static struct string_list list;
    size_t n = 0;
    list.n = 0;
    shim_files.read(NULL, "/proc/self/cmdline", 0, text, sizeof text - 1, &n);
    text[n] = 0;
    keep_arguments(&list, text, n);
    out->arguments.p = list.p;
    out->arguments.n = list.n;
}

void process_describe(struct wc_process_record *out) {
    static char executable[SYS_PATH], directory[SYS_PATH];
    static struct string_list environment;
    out->node = or_null(kernel()->nodename);
    out->start_ticks = start_ticks();
    int parent = sys_getppid();
    out->parent_pid = parent < 0 ? WC_NULL : parent;
    if (files_read_link("/proc/self/exe", executable, sizeof executable))
        out->executable = executable;
    if (sys_getcwd(directory, sizeof directory) > 0)
        out->directory = directory;
    describe_arguments(out);
    environment.n = 0;
    config_each_logged(add_string, &environment);
    out->environment.p = environment.p;
    out->environment.n = environment.n;
    out->shim_version = WHICHCUDNN_VERSION;
    out->shim_path = shim_path[0] ? shim_path : NULL;
    out->run_pid = config.run_pid ? config.run_pid : WC_NULL;
    out->eager = config.run_pid == sys_getpid();
}

static uint64_t libc_base;
static const ElfW(Phdr) * libc_phdr;
static size_t libc_phnum;

static void note_own_path(const struct dl_phdr_info *info) {
    struct wc_text t;
    wc_text_begin(&t, shim_path, sizeof shim_path);
    wc_text_add(&t, info->dlpi_name);
}

void process_note_object(const struct dl_phdr_info *info) {
    if (!libc_phdr && wc_str_compare(wc_base_name(info->dlpi_name), "libc.so.6") == 0) {
        libc_base = info->dlpi_addr;
        libc_phdr = info->dlpi_phdr;
        libc_phnum = info->dlpi_phnum;
    } else if (!shim_path[0] && info->dlpi_addr == (uintptr_t)&__ehdr_start) {
        note_own_path(info);
    }
}

/* libc.so.6 defines a node for each release that changed it; the greatest number wins. */
static const char *newest_glibc_node(void) {
    static char newest[16];
    struct wc_elf_image image;
    uint64_t best = 0;
    if (!libc_phdr || wc_elf_from_memory(&image, libc_base, libc_phdr, libc_phnum) != WC_ELF_OK)
        return NULL;
    const uint64_t start = (uintptr_t)image.string_table - libc_base, end = start + image.strsz;
    uint64_t at = start, found;
    while (at < end && (found = wc_elf_find_bytes(&image, "GLIBC_2.", 8, &at, end - at))) {
        const char *s = wc_elf_string(&image, found - start);
        if (!s)
            break;
        uint64_t minor = 0;
        size_t digits = wc_parse_number(s + 8, wc_str_length(s + 8), &minor);
        if (digits && minor >= best && !s[8 + digits]) {
            struct wc_text t;
            best = minor;
            wc_text_begin(&t, newest, sizeof newest);
            wc_text_add(&t, s + 6);
        }
    }
    return newest[0] ? newest : NULL;
}

unsigned process_glibc_minor(void) {
    const char *node = newest_glibc_node();
    uint64_t minor = 0;
    if (node && wc_str_starts(node, "2."))
        wc_parse_number(node + 2, wc_str_length(node + 2), &minor);
    return (unsigned)minor;
}

/* The value of KEY="value" or KEY=value in os-release, put into to. */
static const char *os_release_value(const char *key, char *to, size_t cap) {
    static char text[4096];
    if (!files_read_text("/etc/os-release", text, sizeof text))
        return NULL;
    const char *s = text;
    while (s && !wc_str_starts(s, key)) {
        s = wc_str_find_char(s, '\n');
        s = s ? s + 1 : NULL;
    }
    if (!s)
        return NULL;
    s += wc_str_length(key);
    const char quote = *s == '"' ? '"' : '\n';
    s += *s == '"';
    size_t n = 0;
    while (s[n] && s[n] != quote && s[n] != '\n')
        n++;
    struct wc_text t;
    wc_text_begin(&t, to, cap);
    wc_text_add_n(&t, s, n);
    return to;
}

struct mark {
    const char *path, *kind;
};
static const struct mark container_marks[] = {
    {"/.dockerenv", "docker"},
    {"/run/.containerenv", "podman"},
    {"/var/run/secrets/kubernetes.io", "kubernetes"},
    {"/.singularity.d", "apptainer"},
};

static const char *container(void) {
    struct wc_file_facts facts;
    for (size_t i = 0; i < sizeof container_marks / sizeof *container_marks; i++)
        if (shim_files.facts(NULL, container_marks[i].path, &facts))
            return container_marks[i].kind;
    return NULL;
}

/* "NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.54.14  Thu ...": the first word that is a
 * dotted number. */
static const char *driver_release(void) {
    static char release[48];
    char text[512];
    if (!files_read_text("/proc/driver/nvidia/version", text, sizeof text))
        return NULL;
    for (const char *s = text; *s; s++) {
        size_t n = 0, dots = 0;
        while ((s[n] >= '0' && s[n] <= '9') || s[n] == '.')
            dots += s[n++] == '.';
        if (n && dots && (s == text || s[-1] == ' ')) {
            struct wc_text t;
            wc_text_begin(&t, release, sizeof release);
            wc_text_add_n(&t, s, n);
            return release;
        }
    }
    return NULL;
}

static bool count_gpu(void *count, const char *name) {
    uint64_t number;
    size_t n = wc_str_length(name);
    if (wc_str_starts(name, "nvidia") && n > 6 &&
        wc_parse_number(name + 6, n - 6, &number) == n - 6)
        ++*(int64_t *)count;
    return true;
}

void process_describe_machine(struct wc_machine_record *out) {
    static char operating_system[128];
    out->kernel = or_null(kernel()->release);
    out->architecture = ARCH_NAME;
    out->operating_system =
        os_release_value("PRETTY_NAME=", operating_system, sizeof operating_system);
    out->glibc = newest_glibc_node();
    out->container = container();
    out->driver = driver_release();
    out->gpu_devices = 0;
    if (!shim_files.list(NULL, "/dev", count_gpu, &out->gpu_devices))
        out->gpu_devices = WC_NULL;
}
