/* SPDX-License-Identifier: Apache-2.0 */
/* What keeps a process from the GPUs, as its log shows. */
#pragma once

#include "core/demand/questions.h"

/* How CUDA_VISIBLE_DEVICES hides all GPUs: it names none, or first one that does not exist, which
 * cannot be intended. */
enum hiding { HIDES_NOTHING, HIDES_ALL, NAMES_NO_GPU };
enum hiding hides_gpus(const struct wc_stack *s);
/* Nothing of a driver or a GPU to be seen: not in the kernel, not in /dev. */
bool lacks_driver(const struct wc_stack *s);
