/* SPDX-License-Identifier: Apache-2.0 */
/* The variables of thread.h and sys.h. In a file of its own, which is linked with the code that
 * runs asleep. */
#include "thread.h"

#include "sys.h"

__thread struct thread this_thread;
struct thread *thread_first;
bool thread_others, sys_cannot_close;
