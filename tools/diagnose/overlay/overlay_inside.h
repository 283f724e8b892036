/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside of an overlay: for tools/diagnose/overlay/ only. Texts that are given back live as long
 * as the overlay. What does something and gives a bool: false where it cannot, and o->why says it.
 */
#pragma once

#include "overlay.h"

#define overlay_format(o, ...) view_format((o)->view, __VA_ARGS__)
#define overlay_entries(o, directory) view_entries((o)->view, directory)
#define overlay_is_there(o, path) view_has((o)->view, path)
#define overlay_directory(o, path) view_directory((o)->view, path)
#define overlay_real_path(o, path) view_real_path((o)->view, path)

/* ---- the layer, and what is there with it ---- */

/* The first reason stays. False. */
bool overlay_fail(struct overlay *o, const char *why);
#define overlay_add_text(o, to, text) entries_add(&(o)->memory.arena, to, text)
/* At a path without links in its directories (overlay_placed()); NULL: nothing is put. */
void overlay_put_link(struct overlay *o, const char *path, const char *target);
/* It is gone. */
void overlay_hide(struct overlay *o, const char *path);
/* fd: of a file in memory, which the overlay closes; below 0: there was no memory. */
bool overlay_put_file(struct overlay *o, const char *path, int fd);

/* The path without links in its directories; its own last element stays. Directories that are not
 * there have none. */
const char *overlay_placed(struct overlay *o, const char *path);

/* ---- libraries ---- */

/* A library that means that of a package's release (empty: of a package that is not known);
 * size: of the file at least, in bytes. */
bool overlay_put_library(struct overlay *o, const char *package, const char *path,
                         struct wc_version release, uint64_t size);
/* Nothing that the loader refuses, or is for other machines, and of no other release than that. */
bool overlay_is_sound(struct overlay *o, const char *path, struct wc_version release);
/* The libraries of that release in a wheel, or the only one that it had before cuDNN 8. Of the
 * newest known of its major where that is all that is known: it has all that there may be. */
struct wheel_list overlay_cudnn_files(struct overlay *o, const char *wheel,
                                      struct wc_version release);

/* ---- packages, of whatever manager: by the edit's environment (packages.c) ---- */

bool overlay_install(struct overlay *o, const struct edit *e);
bool overlay_remove_package(struct overlay *o, const struct edit *e);
bool overlay_reinstall(struct overlay *o, const struct edit *e);
