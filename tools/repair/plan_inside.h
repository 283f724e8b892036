/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Repairs as the plan has them: for plan*.c alone. Each is added to those of its finding, of which
 * there is room for one more.
 */
#pragma once

#include "cures/cures.h"

/* The other way out, where a library would have to be put there by hand, or nobody knows how. */
void plan_add_other_host(struct plan *plan, struct plan_of_finding *of, const struct wc_stack *s,
                         const struct wc_finding_record *f);
/* What usually repairs such a finding, without a command: nobody has played it. */
void plan_advise(struct plan *plan, struct plan_of_finding *of, const struct wc_stack *s,
                 const struct wc_finding_record *f, const char *why, bool played);
void plan_add_repair(struct planning *p, struct plan_of_finding *of, const struct played *x,
                     const struct wc_finding_record *f);
