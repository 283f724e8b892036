/* SPDX-License-Identifier: Apache-2.0 */
#include "thread.h"

__thread struct thread this_thread;
struct thread *thread_first;
bool thread_others;
