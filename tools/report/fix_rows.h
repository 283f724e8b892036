/* SPDX-License-Identifier: Apache-2.0 */
/* What repairs a finding, as rows of its text (core/demand/finding_text.h). */
#pragma once

#include "core/demand/finding_text.h"

/* fixes: a struct plan_of_finding. For wc_finding_view.put_fixes. */
void put_fix_rows(struct wc_finding_page *page, const void *fixes);
