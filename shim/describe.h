/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From an object to its records: facts of the file, version, installation, who asked for it, and
 * for a host what it demands. The shim's lock is held; nothing here calls the loader.
 */
#pragma once

struct object;

/* Writes the records of all objects that have none. Their mappings cannot vanish meanwhile: this
 * thread holds the loader's lock, or they were there at start. */
void describe_news(void);
/* A facade asked for a part by a name with a version in it: that is the facade's own. */
void describe_asked_version(struct object *facade, const char *asked);
