/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which runtime versions does a host accept that was built with a given version? By the check of
 * its framework (tables: core/knowledge/rules.def and frameworks.def), or by NVIDIA's promise if
 * the framework has no check.
 */
#pragma once

#include "version.h"

/* One row of core/knowledge/rules.def each: WC_RULE_<ID>. */
enum wc_rule {
    WC_RULE_NONE, /* no rule applies: nothing can be said */
#define RULE(id, name, compares, refusal, what, source) WC_RULE_##id,
#include "core/knowledge/rules.def"
#undef RULE
    WC_RULE_COUNT
};

/* The worse the greater. */
enum wc_fit { WC_FIT_UNKNOWN, WC_FITS, WC_TOO_OLD, WC_TOO_NEW, WC_OTHER_MAJOR };

const char *wc_rule_name(enum wc_rule rule);        /* kebab-case, as in the log */
enum wc_rule wc_rule_from_name(const char *name);   /* NONE if unknown */
const char *wc_rule_explanation(enum wc_rule rule); /* one sentence */

/* The rule that a framework (a name of core/knowledge/frameworks.def) of that version applies
 * itself. Unknown framework or version: NVIDIA's rule (WC_RULE_NVIDIA). */
enum wc_rule wc_rule_of_framework(const char *framework, struct wc_version version);

/* built: what the host was compiled with; runtime: what cudnnGetVersion would say.
 * FIT_UNKNOWN when a field that the rule needs is unknown. */
enum wc_fit wc_rule_check(enum wc_rule rule, struct wc_version built, struct wc_version runtime);
/* Does a host with that rule only warn, and go on? */
bool wc_rule_only_warns(enum wc_rule rule);
/* For old TensorFlow's message: (v/100)*100 of the version number. */
uint64_t wc_compatibility_number(struct wc_version v);
