/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A user with a test's own tree, and memory for what is said to them.
 */
#ifndef WHICHCUDNN_TESTS_SUPPORT_USER_H
#define WHICHCUDNN_TESTS_SUPPORT_USER_H

#include "support_own_tree.h"
#include "tools/diagnose/manager.h"
#include "tools/util/memory.h"

static struct heap_arena memory;
static struct user user;

/* A setup and a teardown of cmocka's. */
static inline int begin_user(void **state) {
    heap_arena_begin(&memory);
    user = (struct user){.files = NULL};
    return begin_tree(state);
}

static inline int end_user(void **state) {
    heap_arena_end(&memory);
    return end_tree(state);
}

#endif
