/* SPDX-License-Identifier: Apache-2.0 */
#include "packages.h"

#include "core/records/emit.h"
#include "journal.h"
#include "process.h"
#include "reader.h"

static struct wc_environments recorded;

void packages_note(const char *path) {
    wc_emit_packages(&journal_sink, &recorded, path, reader());
}

void packages_note_wanted(struct wc_replay *replay, const char *name) {
    wc_emit_packages_wanted(&journal_sink, &recorded, replay, name, reader());
}

void packages_note_site(void) {
    packages_note(process_site());
}

void packages_note_failure(const char *name, const char *caller, const char *text) {
    if (!wc_str_find(name, "cudnn") && !(text && wc_str_find(text, "cudnn")))
        return;
    packages_note(wc_str_find_char(name, '/') ? name : caller);
    packages_note_site();
}

void packages_forget(void) {
    recorded.n = 0;
    recorded.dpkg = false;
}
