/* SPDX-License-Identifier: Apache-2.0 */
/* Statuses by era: see core/model/status.h. */
#include "status.h"

static const struct status {
    int16_t first, last, value;
    enum wc_status_sort sort;
    const char *name;
} statuses[] = {
#define STATUS(first, last, value, name, sort)                                                     \
    {first, last, value, WC_STATUS_##sort, "CUDNN_STATUS_" #name},
#include "status.def"
#undef STATUS
};

static const struct status *find(int64_t status, int32_t major) {
    WC_EACH_ROW(s, statuses)
        if (s->value == status && (major < 0 || (major >= s->first && major <= s->last)))
            return s;
    return NULL;
}

const char *wc_status_name(int64_t status, int32_t major) {
    const struct status *s = find(status, major);
    return s ? s->name : NULL;
}

enum wc_status_sort wc_status_sort(int64_t status, int32_t major) {
    const struct status *s = find(status, major);
    return s ? s->sort : WC_STATUS_UNLISTED;
}
