/* What lazy.S and arch.h agree on. */
#ifndef SHIM_LAZY_H
#define SHIM_LAZY_H

#define SHIM_LAZY_ENTRY_SIZE 20 /* five instructions */

#endif
