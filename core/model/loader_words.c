/* SPDX-License-Identifier: Apache-2.0 */
#include "loader_words.h"

/* How glibc's words begin after the name of a file that it refuses (elf/dl-load.c, elf/dl-open.c):
 * where the system refused something, or, NOTHING, because of the file's contents. A longer row is
 * before the rows that it begins with. */
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
    {": wrong ELF class: ", WC_SYSTEM_NOTHING},
    {": ELF file", WC_SYSTEM_NOTHING}, /* its byte order, version, OS ABI, phentsize */
    {": nonzero padding in e_ident", WC_SYSTEM_NOTHING},
    {": only ET_DYN and ET_EXEC can be loaded", WC_SYSTEM_NOTHING},
    {": cannot dynamically load ", WC_SYSTEM_NOTHING},
    {": object file has no ", WC_SYSTEM_NOTHING}, /* dynamic section, loadable segments */
    {": ELF load command ", WC_SYSTEM_NOTHING},
};

/* A message that is being read, and where its names go. */
struct reading {
    const char *text;
    struct wc_said said;
    char *room;
    size_t left;
};

static bool keep(struct reading *r, const char **name, const char *from, const char *end) {
    const size_t n = end > from ? (size_t)(end - from) : 0;

    if (!n || !wc_str_format(r->room, r->left, "%.*s", (int)n, from))
        return false;
    *name = r->room;
    r->room += n + 1;
    r->left -= n + 1;
    return true;
}

/* "LIBRARY: version `VERSION' not found (required by FILE)" (elf/dl-version.c). */
static bool read_symbol_version(struct reading *r) {
    static const char words[] = ": version `", middle[] = "' not found (required by ";
    const char *at = wc_str_find(r->text, words), *wanted = at ? at + sizeof words - 1 : NULL;
    const char *end = at ? wc_str_find(wanted, middle) : NULL;
    const char *file = end ? end + sizeof middle - 1 : NULL;
    const char *close = file ? wc_str_find_last_char(file, ')') : NULL;

    return close && keep(r, &r->said.library, r->text, at) &&
           keep(r, &r->said.version, wanted, end) && keep(r, &r->said.file, file, close);
}

/* Of elf/dl-lookup.c "FILE: undefined symbol: SYMBOL", the same with ", version VERSION", and
 * "FILE: symbol SYMBOL, version VERSION not defined in file NAME with link time reference". */
static bool read_symbol(struct reading *r) {
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
        if (!keep(r, &r->said.version, from, last && last > from ? last : end))
            return false;
        end = middle[-1] == ',' ? middle - 1 : middle; /* older releases wrote no comma */
    }
    return keep(r, &r->said.file, r->text, at) && keep(r, &r->said.symbol, symbol, end);
}

struct wc_said wc_said_read(const char *text, char room[WC_SAID_ROOM]) {
    struct reading r = {text, {.what = WC_SAID_NOTHING}, room, WC_SAID_ROOM};
    const struct wc_said other = {.what = WC_SAID_OTHER};

    if (!text)
        return r.said;
    for (const char *end = text; (end = wc_str_find_char(end, ':')); end++)
        WC_EACH_ROW(row, refusals)
            if (wc_str_starts(end, row->words)) {
                r.said.what = WC_SAID_REFUSED;
                r.said.system = row->system;
                return keep(&r, &r.said.file, text, end) ? r.said : other;
            }
    const char *start = wc_str_find(text, ": cannot open shared object file");
    if (start) {
        const char *end = start;
        /* cuDNN and frameworks put their own text before the file's name. */
        while (start > text && start[-1] != '/' && start[-1] != ' ')
            start--;
        r.said.what = WC_SAID_NOT_FOUND;
        return keep(&r, &r.said.file, start, end) ? r.said : other;
    }
    r.said.what = WC_SAID_UNMET;
    return read_symbol_version(&r) || read_symbol(&r) ? r.said : other;
}
