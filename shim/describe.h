/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes the records of an object: file, version, installation, the request that loaded it, and the
 * demands of a host. The shim's lock is held; nothing here calls the loader.
 */
#pragma once

struct object;

/* Writes the records of all objects that have none. They stay mapped meanwhile: this thread holds
 * the loader's lock, or they are start-up objects. */
void describe_news(void);
/* If a facade requests a part by a name with a version in it, that is the facade's version. */
void describe_asked_version(struct object *facade, const char *asked);
