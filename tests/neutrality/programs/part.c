/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A library of which a case wants to know whether it is this one: WHERE is its number, which
 * DEFINES (a name) returns, too. With CALLS (a name) it calls that function from elsewhere; with
 * SPEAKS it takes steps (steps.h) as their caller; with TELLS (a text) it says when it begins and
 * ends.
 */
#include "steps.h"

#ifdef SPEAKS
void speak(struct steps *s, const char *step);
void speak(struct steps *s, const char *step) {
    steps_do(s, step);
}
#endif

long where(void);
long where(void) {
    return WHERE;
}

#ifdef DEFINES
long DEFINES(void);
long DEFINES(void) {
    return WHERE;
}
#endif

#ifdef CALLS
long CALLS(void);
long calls(void);
long calls(void) {
    return CALLS();
}
#endif

#ifdef TELLS
__attribute__((constructor)) static void begin(void) {
    see("begins", TELLS);
}
__attribute__((destructor)) static void end(void) {
    see("ends", TELLS);
}
#endif
