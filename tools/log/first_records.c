/* See first_records.h. */
#include "first_records.h"

#include <stdlib.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "core/model/process_facts.h"
#include "tools/commands/command.h"
#include "tools/util/memory.h"

static bool is_own(const struct first_records *f) {
    return !f->disk || !f->disk->root[0];
}

static void report_process(const struct first_records *f, const struct utsname *computer,
                           record_sink *add, void *ctx) {
    char *directory = is_own(f) ? getcwd(NULL, 0) : NULL;
    const char *logged[64];
    struct wc_record r;
    size_t n = 0;

    for (char *const *v = f->environment; *v && n < sizeof(logged) / sizeof(logged[0]); v++)
        if (wc_variable_is_logged(*v))
            logged[n++] = *v;
    wc_record_begin(&r, WC_KIND_process);
    r.u.process.node = is_own(f) ? computer->nodename : NULL;
    r.u.process.parent_pid = f->run_pid == WC_NULL ? WC_NULL : getpid();
    r.u.process.executable = f->program;
    r.u.process.directory = directory;
    r.u.process.environment = (struct wc_strings){logged, n};
    r.u.process.shim_version = WHICHCUDNN_VERSION;
    r.u.process.run_pid = f->run_pid;
    add(ctx, &r);
    free(directory);
}

static void report_machine(const struct first_records *f, const struct utsname *computer,
                           record_sink *add, void *ctx) {
    struct wc_machine_texts *texts = must_allocate(sizeof(*texts));
    struct wc_record r;

    wc_record_begin(&r, WC_KIND_machine);
    r.u.machine.kernel = is_own(f) ? computer->release : NULL;
    r.u.machine.architecture = computer->machine;
    r.u.machine.glibc = f->glibc;
    wc_machine_read(f->disk ? &f->disk->files : &disk_files, texts, &r.u.machine);
    add(ctx, &r);
    free(texts);
}

void first_records_emit(const struct first_records *f, record_sink *add, void *ctx) {
    struct utsname computer;

    if (uname(&computer) != 0)
        return;
    report_process(f, &computer, add, ctx);
    report_machine(f, &computer, add, ctx);
}
