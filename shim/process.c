/* SPDX-License-Identifier: Apache-2.0 */
#include "process.h"

#include <sys/utsname.h>

#include "auxv.h"
#include "config.h"
#include "core/knowledge/programs.h"
#include "core/packages/identify.h"
#include "files.h"
#include "self.h"
#include "start.h"
#include "sys.h"

static char shim_path[SYS_PATH];

static const struct utsname *kernel(void) {
    static struct utsname names;
    if (!names.release[0])
        sys_uname(&names, sizeof names);
    return &names;
}

static void read_stat(struct wc_process *out) {
    char text[1024];
    bool is_read = files_read_text("/proc/self/stat", text, sizeof text);
    out->start_ticks = is_read ? wc_start_ticks(text) : WC_NULL;
    out->forked = is_read && wc_is_forked(text);
}

static const char *name_of(int process) {
    static char name[32];
    char path[32];
    wc_str_format(path, sizeof path, "/proc/%d/comm", process);
    if (!files_read_text(path, name, sizeof name))
        return NULL;
    for (char *s = name; *s; s++)
        if (*s == '\n')
            *s = 0;
    return wc_str_or_null(name);
}

static const char *executable(void) {
    static char path[SYS_PATH];
    return path[0] || files_read_link("/proc/self/exe", path, sizeof path) ? path : NULL;
}

bool process_is_eager(void) {
    return config.run_pid && self_enter() && self_process() == 1 && config.run_pid == self_pid();
}

void process_describe(struct wc_process *out) {
    static char directory[SYS_PATH], arguments[8192];
    int parent = sys_getppid();
    size_t n = 0;
    *out = (struct wc_process){.node = wc_str_or_null(kernel()->nodename),
                               .parent_pid = parent < 0 ? WC_NULL : parent,
                               .parent_name = parent > 0 ? name_of(parent) : NULL,
                               .executable = executable(),
                               .arguments = arguments,
                               .all_arguments = config.whole_arguments,
                               .environment = config_logged(),
                               .shim_version = WHICHCUDNN_VERSION,
                               .shim_path = wc_str_or_null(shim_path),
                               .eager = process_is_eager(),
                               .run_pid = config.run_pid ? config.run_pid : WC_NULL};
    read_stat(out);
    if (sys_getcwd(directory, sizeof directory) > 0)
        out->directory = directory;
    shim_files.read(NULL, "/proc/self/cmdline", 0, arguments, sizeof arguments - 1, &n);
    arguments[n] = 0;
    out->arguments_size = n;
}

/* The absolute path that was passed to execve. */
static const char *started_by(char *to, size_t cap) {
    const char *given = (const char *)auxv_value(AT_EXECFN);
    long n = given && given[0] != '/' ? sys_getcwd(to, cap) : 0;
    if (n <= 0)
        return given;
    size_t length = wc_str_length(to);
    return wc_str_format(to + length, cap - length, "/%s", given) ? to : NULL;
}

const char *process_site(void) {
    static char site[SYS_PATH], started[SYS_PATH];
    static bool asked;
    if (!asked) {
        asked = true;
        if (!wc_program_is(executable(), WC_PROGRAM_PYTHON) ||
            !wc_process_site(&shim_files, started_by(started, sizeof started),
                             config_variable("VIRTUAL_ENV"), site, sizeof site))
            site[0] = 0;
    }
    return site[0] ? site : NULL;
}

static uint64_t libc_base;
static const ElfW(Phdr) * libc_phdr;
static size_t libc_phnum;

void process_note_object(const struct dl_phdr_info *info) {
    if (!libc_phdr && wc_str_compare(wc_base_name(info->dlpi_name), "libc.so.6") == 0) {
        libc_base = info->dlpi_addr;
        libc_phdr = info->dlpi_phdr;
        libc_phnum = info->dlpi_phnum;
    } else if (!shim_path[0] && info->dlpi_addr == (uintptr_t)&__ehdr_start) {
        wc_str_copy(shim_path, sizeof shim_path, info->dlpi_name);
    }
}

static const char *newest_glibc_version(void) {
    static char newest[16];
    struct wc_elf_image image;
    if (newest[0])
        return newest;
    if (!libc_phdr || wc_elf_from_memory(&image, libc_base, libc_phdr, libc_phnum) != WC_ELF_OK)
        return NULL;
    return wc_glibc_release(&image, newest);
}

unsigned process_glibc_minor(void) {
    return wc_glibc_minor(newest_glibc_version());
}

void process_emit_machine(const struct wc_sink *to) {
    static struct wc_machine machine;
    machine.kernel = wc_str_or_null(kernel()->release);
    machine.architecture = ARCH_NAME;
    machine.glibc = newest_glibc_version();
    wc_emit_machine(to, &shim_files, &machine);
}
