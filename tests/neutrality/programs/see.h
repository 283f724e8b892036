/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the programs of the neutrality matrix see, a line each: "channel: text" on stdout, which the
 * runner compares channel by channel (matrix/compare.py). Lines go out by one write(2) each, so
 * that their order holds with threads, in constructors and before a crash. Never print addresses:
 * they differ from run to run. For C and C++.
 *
 *   see("channel", "format", ...)     any line
 *   see_open(name, flags)             dlopen: "open: NAME yes", or "noload: NAME yes" for
 * RTLD_NOLOAD; "no" and a line "dlerror: TEXT" where it fails; "errno: TEXT" see_sym(handle, name)
 * dlsym: "sym: NAME yes"; "no" and "dlerror: TEXT"; "errno: TEXT" see_close(label, handle) dlclose:
 * "close: LABEL 0"; "dlerror: TEXT" where it fails; "errno: TEXT" see_dlerror() "dlerror: TEXT", or
 * "dlerror: nothing" see_address(label, p)             dladdr: "dladdr: LABEL FILE SYMBOL" ("+"
 * behind it where p is not the symbol's own address), or "dladdr: LABEL nothing" see_target(label,
 * p)              "binding-target: LABEL FILE", the library that p leads into see_mapped(file)
 * "references: FILE held|unheld mapped|gone": does RTLD_NOLOAD find it (it is closed again), is it
 * in /proc/self/maps
 *
 * Lines "errno: ..." are compared between the runs always, and with what a case expects only if the
 * case expects any: after a call that succeeds its value means nothing.
 */
#ifndef NEUTRALITY_SEE_H
#define NEUTRALITY_SEE_H

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define SEE_UNUSED __attribute__((unused))

/* errno is what it was. */
__attribute__((format(printf, 2, 3))) SEE_UNUSED static void see(const char *channel,
                                                                 const char *format, ...) {
    char line[1024];
    va_list arguments;
    int before = errno;
    int length = snprintf(line, sizeof line - 1, "%s: ", channel);
    va_start(arguments, format);
    length += vsnprintf(line + length, sizeof line - 1 - (size_t)length, format, arguments);
    va_end(arguments);
    if (length > (int)sizeof line - 2)
        length = (int)sizeof line - 2;
    line[length++] = '\n';
    if (write(1, line, (size_t)length) != length)
        _exit(120);
    errno = before;
}

SEE_UNUSED static const char *see_base_name(const char *path) {
    const char *slash = path ? strrchr(path, '/') : NULL;
    return slash ? slash + 1 : path ? path : "-";
}

SEE_UNUSED static void see_dlerror(void) {
    const char *text = dlerror();
    see("dlerror", "%s", text ? text : "nothing");
}

SEE_UNUSED static void see_errno(int number) {
    see("errno", "%s", number ? strerror(number) : "as before");
}

SEE_UNUSED static void *see_open(const char *name, int flags) {
    errno = 0;
    void *handle = dlopen(name, flags);
    int number = errno;
    see(flags & RTLD_NOLOAD ? "noload" : "open", "%s %s", name ? name : "NULL",
        handle ? "yes" : "no");
    see_errno(number);
    if (!handle && !(flags & RTLD_NOLOAD))
        see_dlerror();
    return handle;
}

SEE_UNUSED static void *see_sym(void *handle, const char *name) {
    errno = 0;
    void *found = dlsym(handle, name);
    int number = errno;
    see("sym", "%s %s", name, found ? "yes" : "no");
    see_errno(number);
    if (!found)
        see_dlerror();
    return found;
}

SEE_UNUSED static int see_close(const char *label, void *handle) {
    errno = 0;
    int result = dlclose(handle);
    int number = errno;
    see("close", "%s %d", label, result);
    see_errno(number);
    if (result)
        see_dlerror();
    return result;
}

SEE_UNUSED static void see_address(const char *label, const void *p) {
    Dl_info info;
    memset(&info, 0, sizeof info);
    if (!dladdr(p, &info))
        see("dladdr", "%s nothing", label);
    else
        see("dladdr", "%s %s %s%s", label, see_base_name(info.dli_fname),
            info.dli_sname ? info.dli_sname : "-",
            info.dli_sname && info.dli_saddr != p ? "+" : "");
}

SEE_UNUSED static void see_target(const char *label, const void *p) {
    Dl_info info;
    memset(&info, 0, sizeof info);
    see("binding-target", "%s %s", label,
        dladdr(p, &info) ? see_base_name(info.dli_fname) : "nothing");
}

/* Does a line of /proc/self/maps end with that name, after a slash? Told without a function of libc
 * for each line: how many lines there are, and how long, differs from run to run, and the loader
 * would bind more or fewer functions, or bind them more often. */
SEE_UNUSED static int see_in_maps(const char *file) {
    static char text[1 << 16];
    size_t matched = 0; /* 0: no slash before; 1 + n: a slash and n characters of the name */
    int found = 0, fd = open("/proc/self/maps", O_RDONLY);
    for (ssize_t n; fd >= 0 && (n = read(fd, text, sizeof text)) > 0;)
        for (ssize_t i = 0; i < n; i++) {
            found |= text[i] == '\n' && matched && !file[matched - 1];
            if (text[i] == '/')
                matched = 1;
            else if (matched)
                matched = file[matched - 1] && text[i] == file[matched - 1] ? matched + 1 : 0;
        }
    if (fd >= 0)
        close(fd);
    return found;
}

SEE_UNUSED static void see_mapped(const char *file) {
    int before = errno;
    void *held = dlopen(file, RTLD_LAZY | RTLD_NOLOAD);
    if (held)
        dlclose(held);
    else
        dlerror();
    see("references", "%s %s %s", see_base_name(file), held ? "held" : "unheld",
        see_in_maps(see_base_name(file)) ? "mapped" : "gone");
    errno = before;
}

#endif
