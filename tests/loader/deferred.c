/* SPDX-License-Identifier: Apache-2.0 */
/* What defer_relocations.py links, as the shim is linked: at_start() says in how many words of the
 * table the loader has left a distance, wake() makes pointers of them as shim/asleep.c does and
 * says how many are wrong. */
#include <stdint.h>

extern const char __ehdr_start[] __attribute__((visibility("hidden")));
static const volatile struct {
    char mark[16];
    uint64_t first, count, is_pointer[64];
} later = {"relocated later", 0, 0, {0}};

static int f(void) {
    return 1;
}
static const char text[] = "words";
static int number = 1;
/* The last one leads to the end of the section. */
static const void *const table[] = {
    f, text, text + sizeof text, &number, (const void *)7, (const void *)&later, table, table + 8};

__attribute__((used)) static const void *const more[] = {[0 ... 127] = f};

static const void *made(int i) {
    const void *all[] = {
        f,     text,     text + sizeof text, &number, (const void *)7, (const void *)&later,
        table, table + 8};
    return ((const void *volatile *)all)[i];
}

__attribute__((visibility("default"))) int at_start(void) {
    int n = 0;
    for (int i = 0; i < 8; i++)
        n += ((const void *const volatile *)table)[i] != made(i);
    return n;
}

__attribute__((visibility("default"))) int wake(void) {
    uint64_t *word = (uint64_t *)(uintptr_t)(__ehdr_start + later.first);
    for (uint64_t i = 0; i < later.count; i++, word++)
        if (later.is_pointer[i / 64] >> i % 64 & 1)
            *word += (uintptr_t)word;
    return at_start();
}
