/* SPDX-License-Identifier: Apache-2.0 */
#include "loader_words.h"

/* glibc's words after the name of a file that it refuses (elf/dl-load.c, elf/dl-open.c): where the
 * system refused something, or, NOTHING, because of the file's contents. A longer row is before the
 * rows that it begins with. */
static const struct {
    const char *words;
    enum wc_system_refusal system;
} refusals[] = {
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
    {": file too short", WC_SYSTEM_NOTHING},
    {": invalid ELF header", WC_SYSTEM_NOTHING},
    {": cannot read file data", WC_SYSTEM_NOTHING},
    {": wrong ELF class: ELFCLASS32", WC_SYSTEM_NOTHING},
    {": wrong ELF class: ELFCLASS64", WC_SYSTEM_NOTHING},
    {": ELF file data encoding not little-endian", WC_SYSTEM_NOTHING},
    {": ELF file data encoding not big-endian", WC_SYSTEM_NOTHING},
    {": ELF file version ident does not match current one", WC_SYSTEM_NOTHING},
    {": ELF file version does not match current one", WC_SYSTEM_NOTHING},
    {": ELF file OS ABI invalid", WC_SYSTEM_NOTHING},
    {": ELF file ABI version invalid", WC_SYSTEM_NOTHING},
    {": ELF file's phentsize not the expected size", WC_SYSTEM_NOTHING},
    {": nonzero padding in e_ident", WC_SYSTEM_NOTHING},
    {": only ET_DYN and ET_EXEC can be loaded", WC_SYSTEM_NOTHING},
    {": cannot dynamically load executable", WC_SYSTEM_NOTHING},
    {": cannot dynamically load position-independent executable", WC_SYSTEM_NOTHING},
    {": object file has no dynamic section", WC_SYSTEM_NOTHING},
    {": object file has no loadable segments", WC_SYSTEM_NOTHING},
    {": ELF load command past end of file", WC_SYSTEM_NOTHING},
    {": ELF load command alignment not page-aligned", WC_SYSTEM_NOTHING},
    {": ELF load command address/offset not properly aligned", WC_SYSTEM_NOTHING},
    {": ELF load command address/offset not page-aligned", WC_SYSTEM_NOTHING},
};

/* A message that is being read; where the names go. */
struct reading {
    const char *text;
    struct wc_words *out;
    char *file;
    size_t cap;
};

static bool copy_part(char *to, size_t cap, const char *from, const char *end) {
    return end > from && wc_str_format(to, cap, "%.*s", (int)(end - from), from);
}

static bool copy_file(const struct reading *r, const char *from, const char *end) {
    return copy_part(r->file, r->cap, from, end);
}

/* "LIBRARY: version `VERSION' not found (required by FILE)" (elf/dl-version.c). */
static bool read_symbol_version(const struct reading *r) {
    static const char words[] = ": version `", middle[] = "' not found (required by ";
    const char *at = wc_str_find(r->text, words), *wanted = at ? at + sizeof words - 1 : NULL;
    const char *end = at ? wc_str_find(wanted, middle) : NULL;
    const char *file = end ? end + sizeof middle - 1 : NULL;
    const char *close = file ? wc_str_find_last_char(file, ')') : NULL;

    return close && copy_part(r->out->library, sizeof r->out->library, r->text, at) &&
           copy_part(r->out->version, sizeof r->out->version, wanted, end) &&
           copy_file(r, file, close);
}

/* Of elf/dl-lookup.c "FILE: undefined symbol: SYMBOL", the same with ", version VERSION", and
 * "FILE: symbol SYMBOL, version VERSION not defined in file NAME with link time reference". */
static bool read_symbol(const struct reading *r) {
    static const char undefined[] = ": undefined symbol: ", plain[] = ": symbol ",
                      version[] = " version ", defined[] = " not defined in file ";
    const char *at = wc_str_find(r->text, undefined), *symbol, *middle, *end, *last;

    if (at) {
        symbol = at + sizeof undefined - 1;
    } else {
        at = wc_str_find(r->text, plain);
        if (!at || !wc_str_find(at, defined))
            return false;
        symbol = at + sizeof plain - 1;
    }
    middle = wc_str_find(symbol, version);
    end = symbol + wc_str_length(symbol);
    last = wc_str_find(symbol, defined);
    if (middle) {
        const char *from = middle + sizeof version - 1;
        if (!copy_part(r->out->version, sizeof r->out->version, from,
                       last && last > from ? last : end))
            return false;
        end = middle[-1] == ',' ? middle - 1 : middle; /* older releases wrote no comma */
    }
    return copy_file(r, r->text, at) &&
           copy_part(r->out->symbol, sizeof r->out->symbol, symbol, end);
}

enum wc_said_what wc_words_read(const char *text, struct wc_words *out, char *file, size_t cap) {
    const struct reading r = {text, out, file, cap};
    const char *start;

    out->system = WC_SYSTEM_NOTHING;
    file[0] = out->library[0] = out->version[0] = out->symbol[0] = 0;
    if (!text)
        return WC_SAID_NOTHING;
    for (const char *end = text; (end = wc_str_find_char(end, ':')); end++)
        WC_EACH_ROW(row, refusals)
            if (wc_str_starts(end, row->words)) {
                if (!copy_file(&r, text, end))
                    return WC_SAID_OTHER;
                out->system = row->system;
                return WC_SAID_REFUSED;
            }
    start = wc_str_find(text, ": cannot open shared object file");
    if (start) {
        const char *end = start;
        /* cuDNN and frameworks put their own text before the file's name. */
        while (start > text && start[-1] != '/' && start[-1] != ' ')
            start--;
        return copy_file(&r, start, end) ? WC_SAID_NOT_FOUND : WC_SAID_OTHER;
    }
    return read_symbol_version(&r) || read_symbol(&r) ? WC_SAID_UNMET : WC_SAID_OTHER;
}
