#include "process.h"

#include <sys/utsname.h>

#include "config.h"
#include "core/model/process_facts.h"
#include "files.h"
#include "sys.h"

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

static int64_t start_ticks(void) {
    char text[1024];
    return files_read_text("/proc/self/stat", text, sizeof text) ? wc_start_ticks(text) : WC_NULL;
}

static void describe_arguments(struct wc_process_record *out) {
    static char text[8192];
    static const char *list[MOST_STRINGS];
    size_t n = 0;
    shim_files.read(NULL, "/proc/self/cmdline", 0, text, sizeof text - 1, &n);
    text[n] = 0;
    out->arguments.p = list;
    out->arguments.n = wc_arguments_kept(text, n, config.whole_arguments, list, MOST_STRINGS);
}

void process_describe(struct wc_process_record *out) {
    static char executable[SYS_PATH], directory[SYS_PATH];
    static struct string_list environment;
    out->node = wc_str_or_null(kernel()->nodename);
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

static const char *newest_glibc_version(void) {
    static char newest[16];
    struct wc_elf_image image;
    if (!libc_phdr || wc_elf_from_memory(&image, libc_base, libc_phdr, libc_phnum) != WC_ELF_OK)
        return NULL;
    return wc_glibc_release(&image, newest);
}

unsigned process_glibc_minor(void) {
    return wc_glibc_minor(newest_glibc_version());
}

void process_describe_machine(struct wc_machine_record *out) {
    static struct wc_machine_texts texts;
    out->kernel = wc_str_or_null(kernel()->release);
    out->architecture = ARCH_NAME;
    out->glibc = newest_glibc_version();
    wc_machine_read(&shim_files, &texts, out);
}
