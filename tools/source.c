/* See source.h. */
#include "source.h"

#include <stdlib.h>
#include <time.h>

struct source *source_new(enum source_type type, const char *path) {
    struct source *s = must_allocate(sizeof(*s));

    s->type = type;
    s->path = must_copy(path);
    heap_arena_begin(&s->memory);
    wc_stack_begin(&s->stack, &s->memory.arena);
    s->stack.keep_findings = true;
    return s;
}

void source_free(struct source *s) {
    in_flight_end(&s->in_flight);
    heap_arena_end(&s->memory);
    free(s->path);
    free(s);
}

void source_take(struct source *s, const struct wc_record *r) {
    if (s->records++ == 0) {
        s->pid = r->pid;
        s->first_time = r->time;
    }
    s->last_time = r->time;
    if (r->seq > s->last_seq)
        s->last_seq = r->seq;
    in_flight_note(&s->in_flight, r);
    wc_stack_apply(&s->stack, r);
}

void source_add(struct source *s, struct wc_record *r) {
    struct timespec t;

    clock_gettime(CLOCK_REALTIME, &t);
    r->seq = s->last_seq + 1;
    r->time = (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
    r->pid = r->tid = s->pid;
    source_take(s, r);
}

const char *source_type_word(enum source_type type) {
    static const char *const words[] = {"log", "process", "scan", "lock"};

    return words[type];
}
