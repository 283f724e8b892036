/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A tree for each test: WITH_TREE(test) in the list of cmocka's, and `tree` in the test.
 */
#ifndef WHICHCUDNN_TESTS_SUPPORT_OWN_TREE_H
#define WHICHCUDNN_TESTS_SUPPORT_OWN_TREE_H

#include "support_tree.h"

static struct tree tree;

static inline int begin_tree(void **state) {
    (void)state;
    tree_begin(&tree);
    return 0;
}

static inline int end_tree(void **state) {
    (void)state;
    tree_end(&tree);
    return 0;
}

#define WITH_TREE(test) cmocka_unit_test_setup_teardown(test, begin_tree, end_tree)

#endif
