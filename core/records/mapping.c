/* SPDX-License-Identifier: Apache-2.0 */
#include "library.h"

#include "core/packages/installation.h"

enum { MIB = 1 << 20 };

/* "Max address space         409600000            409600000            bytes": the first number is
 * the limit; "unlimited" is none. */
static bool read_limit(struct wc_reading *r, uint64_t *out) {
    char line[128];
    const char *at = line;

    if (!wc_reading_value(r, "/proc/self/limits", "Max address space", line, sizeof line))
        return false;
    while (*at == ' ')
        at++;
    return wc_parse_number(at, wc_str_length(at), out) > 0;
}

void wc_check_mapping(const struct wc_reader *reader, const char *path, bool refused,
                      struct wc_file_check *check) {
    struct wc_reading reading;
    struct wc_mount mount;
    uint64_t limit;

    if (check->fault || !reader->scratch)
        return;
    wc_reading_begin(&reading, reader->files, reader->scratch, reader->scratch_size);
    (void)wc_mount_of(&reading, path, &mount);
    if (mount.no_execution) {
        check->fault = WC_file_fault_NO_EXECUTION;
        (void)wc_str_format(check->what, sizeof check->what,
                            "a library on a file system that is mounted noexec: %s", mount.point);
    } else if (read_limit(&reading, &limit) && (refused || check->maps > limit)) {
        check->fault = WC_file_fault_NO_ROOM;
        (void)wc_str_format(check->what, sizeof check->what,
                            "a library that takes %ju MiB of address space; the process may have "
                            "%ju MiB in all",
                            (uintmax_t)(check->maps / MIB), (uintmax_t)(limit / MIB));
    }
}
