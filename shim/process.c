/* SPDX-License-Identifier: Apache-2.0 */
#include "process.h"

#include <sys/utsname.h>

#include "auxv.h"
#include "config.h"
#include "core/knowledge/programs.h"
#include "core/packages/identify.h"
#include "files.h"
#include "listed.h"
#include "next.h"
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

static const char *executable(void) {
    static char path[SYS_PATH];
    return path[0] || files_read_link("/proc/self/exe", path, sizeof path) ? path : NULL;
}

bool process_is_eager(void) {
    return config.run_pid && self_enter() && self_process() == 1 && config.run_pid == self_pid();
}

void process_describe(struct wc_process *out) {
    static char directory[SYS_PATH], arguments[8192], parent_name[32];
    char comm[32], text[1024];
    int parent = sys_getppid();
    bool is_read = files_read_text("/proc/self/stat", text, sizeof text);
    size_t n = 0;
    wc_str_format(comm, sizeof comm, "/proc/%d/comm", parent);
    if (parent <= 0 || !files_read_text(comm, parent_name, sizeof parent_name))
        parent_name[0] = 0;
    char *end = (char *)wc_str_find_char(parent_name, '\n');
    if (end)
        *end = 0;
    *out = (struct wc_process){.r.node = wc_str_or_null(kernel()->nodename),
                               .r.parent_pid = parent < 0 ? WC_NULL : parent,
                               .r.parent_name = wc_str_or_null(parent_name),
                               .r.start_ticks = is_read ? wc_start_ticks(text) : WC_NULL,
                               .r.forked = is_read && wc_is_forked(text),
                               .r.executable = executable(),
                               .arguments = arguments,
                               .all_arguments = config.whole_arguments,
                               .environment = config_logged(),
                               .r.shim_version = WHICHCUDNN_VERSION,
                               .r.shim_path = wc_str_or_null(shim_path),
                               .r.eager = process_is_eager(),
                               .r.run_pid = config.run_pid ? config.run_pid : WC_NULL};
    if (sys_getcwd(directory, sizeof directory) > 0)
        out->r.directory = directory;
    shim_files.read(NULL, "/proc/self/cmdline", 0, arguments, sizeof arguments - 1, &n);
    arguments[n] = 0;
    out->arguments_size = n;
}

const char *process_site(void) {
    static char site[SYS_PATH], started[SYS_PATH];
    static bool asked;
    if (!asked) {
        asked = true;
        /* The absolute path that was passed to execve. */
        const char *path = (const char *)auxv_value(AT_EXECFN);
        if (path && path[0] != '/' && sys_getcwd(started, sizeof started) > 0) {
            size_t n = wc_str_length(started);
            path = wc_str_format(started + n, sizeof started - n, "/%s", path) ? started : NULL;
        }
        if (!wc_program_is(executable(), WC_PROGRAM_PYTHON) ||
            !wc_process_site(&shim_files, path, config_variable("VIRTUAL_ENV"), site, sizeof site))
            site[0] = 0;
    }
    return wc_str_or_null(site);
}

static struct dl_phdr_info libc; /* dlpi_phdr NULL: not seen yet */

void process_note_object(const struct dl_phdr_info *info) {
    if (!libc.dlpi_phdr && wc_str_compare(wc_base_name(info->dlpi_name), "libc.so.6") == 0)
        libc = *info;
    else if (!shim_path[0] && info->dlpi_addr == (uintptr_t)&__ehdr_start)
        wc_str_copy(shim_path, sizeof shim_path, info->dlpi_name);
}

const char *process_glibc(void) {
    static char newest[16];
    struct wc_elf_image image;
    if (newest[0])
        return newest;
    return libc.dlpi_phdr && listed_image(&libc, &image) ? wc_glibc_release(&image, newest) : NULL;
}

void process_emit_machine(const struct wc_sink *to) {
    static struct wc_machine machine;
    machine.r.kernel = wc_str_or_null(kernel()->release);
    machine.r.architecture = ARCH_NAME;
    machine.r.glibc = process_glibc();
    wc_emit_machine(to, &shim_files, &machine);
}

/* ---- variables as they were set since the start ---- */

#define LATER_MOST (16 << 10)
#define VARIABLES_MOST 65536

#define NO_PAGE UINTPTR_MAX

/* Is p[0..n) readable? Another thread may set variables meanwhile, and a text may be unmapped with
 * its library. So each page is asked about when it is reached, and not by readable.h, whose answers
 * may be older; at the wanted word, because valgrind takes the beginning of a stack page for
 * unallocated. */
static bool is_there(const void *p, size_t n, uintptr_t *last) {
    uintptr_t size = auxv_page_size(), at = (uintptr_t)p & ~(uintptr_t)3, end = (uintptr_t)p + n;
    for (; at < end; at = (at / size + 1) * size) {
        if (at / size != *last && !sys_is_readable((const void *)at))
            return false;
        *last = at / size;
    }
    return true;
}

const char *process_later_variable(const char *name) {
    static char variable[64 + LATER_MOST]; /* the name, and the value */
    const char *const *list = next_environment(), *was = config_variable(name);
    uintptr_t of_list = NO_PAGE, of_text = NO_PAGE;
    const size_t n = wc_str_length(name);
    bool found = false;
    size_t i;
    for (i = 0; list && !found && i < VARIABLES_MOST; i++, list++) {
        if (!is_there(list, sizeof *list, &of_list))
            return NULL;
        const char *text = *list;
        if (!text)
            break;
        found = is_there(text, 1, &of_text) && text[0] == name[0] &&
                is_there(text, n + 1, &of_text) && wc_mem_compare(text, name, n) == 0 &&
                text[n] == '=';
        for (size_t k = 0; found; k++) {
            if (k == n + 1 + LATER_MOST || !is_there(text + k, 1, &of_text))
                return NULL;
            if (!(variable[k] = text[k]))
                break;
        }
    }
    if (!list || (!found && i == VARIABLES_MOST))
        return NULL;
    if (!found)
        return was ? name : NULL;
    return was && wc_str_same(variable + n + 1, was) ? NULL : variable;
}

static char visible_devices[256];

void process_note_visible_devices(void) {
    const char *later = process_later_variable("CUDA_VISIBLE_DEVICES");
    if (!later || !wc_str_copy(visible_devices, sizeof visible_devices, later))
        visible_devices[0] = 0;
}

const char *process_visible_devices(void) {
    return wc_str_or_null(visible_devices);
}
