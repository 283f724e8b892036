/* SPDX-License-Identifier: Apache-2.0 */
#include "loader_words.h"

/* glibc's words after the name of a file that it refuses because of the file's contents
 * (elf/dl-load.c, elf/dl-open.c). */
static const char *const refusals[] = {
    ": file too short",
    ": invalid ELF header",
    ": cannot read file data",
    ": wrong ELF class: ELFCLASS32",
    ": wrong ELF class: ELFCLASS64",
    ": ELF file data encoding not little-endian",
    ": ELF file data encoding not big-endian",
    ": ELF file version ident does not match current one",
    ": ELF file version does not match current one",
    ": ELF file OS ABI invalid",
    ": ELF file ABI version invalid",
    ": ELF file's phentsize not the expected size",
    ": nonzero padding in e_ident",
    ": only ET_DYN and ET_EXEC can be loaded",
    ": cannot dynamically load executable",
    ": cannot dynamically load position-independent executable",
    ": object file has no dynamic section",
    ": object file has no loadable segments",
    ": ELF load command past end of file",
    ": ELF load command alignment not page-aligned",
    ": ELF load command address/offset not properly aligned",
    ": ELF load command address/offset not page-aligned",
};

/* Its words where the system refused something. A longer row is before the rows that it begins
 * with. */
static const struct {
    const char *words;
    enum wc_system_refusal what;
} system_words[] = {
    {": cannot allocate memory in static TLS block", WC_SYSTEM_STATIC_TLS},
    {": cannot enable executable stack as shared object requires", WC_SYSTEM_EXECUTABLE_STACK},
    {": failed to map segment from shared object", WC_SYSTEM_MAPPING},
    {": cannot map zero-fill pages", WC_SYSTEM_MAPPING},
    {": cannot change memory protections", WC_SYSTEM_MAPPING},
    {": cannot allocate ", WC_SYSTEM_MAPPING},
    {": cannot create shared object descriptor", WC_SYSTEM_MAPPING},
    {": cannot open shared object file: Cannot allocate memory", WC_SYSTEM_MAPPING},
    {": cannot make segment writable for relocation", WC_SYSTEM_MAPPING},
    {": cannot restore segment prot after reloc", WC_SYSTEM_MAPPING},
    {": cannot open shared object file: Permission denied", WC_SYSTEM_RIGHTS},
    {": cannot open shared object file: Operation not permitted", WC_SYSTEM_RIGHTS},
    {": cannot open shared object file: Too many open files", WC_SYSTEM_DESCRIPTORS},
    {": cannot open shared object file: Input/output error", WC_SYSTEM_READING},
    {": cannot open shared object file: Stale file handle", WC_SYSTEM_READING},
    {": cannot open shared object file: Transport endpoint is not connected", WC_SYSTEM_READING},
    {": cannot read file data: Input/output error", WC_SYSTEM_READING},
    {": cannot stat shared object", WC_SYSTEM_READING},
};

static bool copy_part(char *to, size_t cap, const char *from, const char *end) {
    return end > from && wc_str_format(to, cap, "%.*s", (int)(end - from), from);
}

static enum wc_system_refusal refused_by_system(const char *at) {
    WC_EACH_ROW(row, system_words)
        if (wc_str_starts(at, row->words))
            return row->what;
    return WC_SYSTEM_NOTHING;
}

enum wc_system_refusal wc_text_system(const char *text, char *out, size_t cap) {
    const char *end = text ? wc_str_find_char(text, ':') : NULL;

    for (; end; end = wc_str_find_char(end + 1, ':')) {
        enum wc_system_refusal what = refused_by_system(end);
        if (what)
            return copy_part(out, cap, text, end) ? what : WC_SYSTEM_NOTHING;
    }
    return WC_SYSTEM_NOTHING;
}

static bool refuses_file(const char *at) {
    if (refused_by_system(at))
        return false;

    WC_EACH_ROW(words, refusals)
        if (wc_str_starts(at, *words))
            return true;
    return false;
}

bool wc_text_refuses(const char *text, char *out, size_t cap) {
    const char *end = text ? wc_str_find_char(text, ':') : NULL;

    for (; end; end = wc_str_find_char(end + 1, ':'))
        if (refuses_file(end))
            return copy_part(out, cap, text, end);
    return false;
}

bool wc_text_not_found(const char *text, char *out, size_t cap) {
    const char *end = text ? wc_str_find(text, ": cannot open shared object file") : NULL;
    const char *start = end;

    if (!end || refused_by_system(end))
        return false;
    /* cuDNN and frameworks put their own text before the file's name. */
    while (start > text && start[-1] != '/' && start[-1] != ' ')
        start--;
    return copy_part(out, cap, start, end);
}

static bool read_symbol_version(const char *text, const char *at, const char *words,
                                struct wc_unmet *out) {
    static const char middle[] = "' not found (required by ";
    const char *wanted = at + wc_str_length(words), *end = wc_str_find(wanted, middle);
    const char *file = end ? end + sizeof middle - 1 : NULL;
    const char *close = file ? wc_str_find_last_char(file, ')') : NULL;

    return close && copy_part(out->library, sizeof out->library, text, at) &&
           copy_part(out->version, sizeof out->version, wanted, end) &&
           copy_part(out->file, sizeof out->file, file, close);
}

static bool read_symbol(const char *text, const char *at, const char *words, struct wc_unmet *out) {
    static const char version[] = " version ", defined[] = " not defined in file ";
    const char *symbol = at + wc_str_length(words), *middle = wc_str_find(symbol, version);
    const char *end = symbol + wc_str_length(symbol), *last = wc_str_find(symbol, defined);

    if (middle) {
        const char *from = middle + sizeof version - 1;
        if (!copy_part(out->version, sizeof out->version, from, last && last > from ? last : end))
            return false;
        end = middle[-1] == ',' ? middle - 1 : middle; /* older releases wrote no comma */
    }
    return copy_part(out->file, sizeof out->file, text, at) &&
           copy_part(out->symbol, sizeof out->symbol, symbol, end);
}

bool wc_text_unmet(const char *text, struct wc_unmet *out) {
    static const char version[] = ": version `",
                      undefined[] = ": undefined symbol: ", symbol[] = ": symbol ";
    const char *at;

    out->file[0] = out->library[0] = out->version[0] = out->symbol[0] = 0;
    if (!text)
        return false;
    if ((at = wc_str_find(text, version)))
        return read_symbol_version(text, at, version, out);
    if ((at = wc_str_find(text, undefined)))
        return read_symbol(text, at, undefined, out);
    at = wc_str_find(text, symbol);
    return at && wc_str_find(at, " not defined in file ") && read_symbol(text, at, symbol, out);
}
