/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside of an overlay: for tools/repair/overlay/ alone. Texts that are given back live as long as
 * the overlay. What does something and gives a bool: false where it cannot, and o->why says it.
 */
#pragma once

#include "overlay.h"
#include "tools/repair/wheel_table.h"

struct overlay_file {
    UT_hash_handle hh;
    const char *path; /* without links, inside of the root */
    struct disk_entry entry;
};

struct overlay_name {
    UT_hash_handle hh;
    const char *name;
};

#define overlay_format(o, ...) wc_arena_format(&(o)->memory.arena, __VA_ARGS__)

/* ---- the layer (tools/repair/overlay/layer.c) ---- */

/* Of o->why. */
extern const char overlay_unknown_content[], overlay_no_list[], overlay_satisfied[];

/* What the overlay has at a path, in a directory, and below it: of struct disk_layer. */
struct disk_entry overlay_at(void *overlay, const char *path);
bool overlay_is_in(void *overlay, const char *dir);
bool overlay_list(void *overlay, const char *dir, bool (*each)(void *arg, const char *name),
                  void *arg);
/* Is what is known of a library of that name, or of a directory (""), out of date? */
bool overlay_concerns(void *overlay, const char *name);
/* The first reason stays. False. */
bool overlay_fail(struct overlay *o, const char *why);
/* The text is not copied. */
void overlay_add_text(struct overlay_names *to, const char *text);
/* The file is to be looked at anew. */
void overlay_note_name(struct overlay *o, const char *path);
/* At a path without links in its directories (overlay_placed()); NULL: nothing is put. The overlay
 * closes the entry's descriptor. */
void overlay_put(struct overlay *o, const char *path, struct disk_entry entry);
/* It is gone. */
void overlay_hide(struct overlay *o, const char *path);
/* fd: of a file in memory, which the overlay closes; below 0: there was no memory. */
bool overlay_put_file(struct overlay *o, const char *path, int fd);
bool overlay_put_text(struct overlay *o, const char *path, const char *text);
/* What is known of the packages there is out of date. */
void overlay_note_environment(struct overlay *o, const char *path);
/* So of the directory of a file. */
void overlay_note_directory(struct overlay *o, const char *file);

/* ---- what is there (tools/repair/overlay/reading.c) ---- */

/* The files with all that the overlay has of them. */
const struct wc_files *overlay_disk_of(const struct overlay *o);
bool overlay_is_there(const struct overlay *o, const char *path);
bool overlay_is_directory(struct overlay *o, const char *path);
/* The path without links in its directories; its own last element stays. Directories that are not
 * there have none. */
const char *overlay_placed(struct overlay *o, const char *path);
/* Behind all links; NULL: nothing is there. */
const char *overlay_real_path(struct overlay *o, const char *path);
/* All of a file, up to a bound; NULL: it cannot be read. */
char *overlay_read_all(struct overlay *o, const char *path);

/* ---- libraries (tools/repair/overlay/libraries.c) ---- */

/* A library of a list; link: it is a link to another one. */
struct listed_file {
    const char *path;
    uint64_t size; /* in bytes; 0: not stated */
    bool link;
};

struct listed_files {
    struct listed_file *p;
    size_t n;
};

/* By its name. */
bool overlay_is_library(const char *path);
/* A library that stands for that of a package's release (empty: of a package that is not known);
 * size: of the file at least, in bytes. */
bool overlay_put_library(struct overlay *o, const char *package, const char *path,
                         struct wc_version release, uint64_t size);
/* Nothing that the loader refuses, or is for other computers, and of no other release than that. */
bool overlay_is_sound(struct overlay *o, const char *path, struct wc_version release);
/* As the package has it: what is there in its size (in bytes; 0: not stated) already. What is not
 * cuDNN's or CUDA's may have any other fault. */
bool overlay_put_back(struct overlay *o, const char *package, const char *path,
                      struct wc_version release, uint64_t size);
/* The wheel with the same libraries; below 11: of a CUDA that is not known, or older. */
const char *overlay_conda_wheel(struct overlay *o, int32_t cuda);
/* A link leads to the longest name of the same library that is listed. */
void overlay_put_link_of(struct overlay *o, const struct listed_files *files, const char *link);

/* ---- wheels (tools/repair/overlay/wheels.c) ---- */

struct distribution {
    const char *info, *version; /* "nvidia_cudnn_cu12-9.1.0.70.dist-info" below its site */
};

/* False: it is not there, and nothing is told. */
bool overlay_find_distribution(struct overlay *o, const char *site, const char *package,
                               struct distribution *out);
/* As pip takes a package away, with what another one has put at the same paths. */
bool overlay_remove_wheel(struct overlay *o, const char *site, const struct distribution *d);
bool overlay_install_wheel(struct overlay *o, const char *site, const char *package,
                           struct wc_version release);
bool overlay_reinstall_wheel(struct overlay *o, const char *site, const struct edit *e);

/* ---- what wheels require of one another (tools/repair/overlay/requirements.c) ---- */

/* A major takes the place of another (installed: its version) that nobody else may lose. */
bool overlay_breaks_another(struct overlay *o, const char *site, const char *package,
                            const char *installed, struct wc_version release);
/* Where lib64 is no link, NVIDIA's wheels go to lib all the same: they count as pure. */
const char *overlay_site_for(struct overlay *o, const char *site, const char *package);
/* What it requires comes along, where it is not there. What others are made of is not known. */
bool overlay_install_required(struct overlay *o, const char *site, const struct distribution *d);
/* Then what it requires is looked after, and no more. *there: what is installed, where it returns
 * true. */
bool overlay_is_satisfied(struct overlay *o, const char *site, const struct edit *e,
                          struct distribution *there);

/* ---- conda (tools/repair/overlay/conda.c) ---- */

/* Is it a prefix of conda? */
bool overlay_is_conda(const struct overlay *o, const char *environment);
/* False: it is not installed there, and nothing is told. */
bool overlay_remove_conda(struct overlay *o, const char *prefix, const char *package);
bool overlay_install_conda(struct overlay *o, const char *prefix, const struct edit *e);
bool overlay_reinstall_conda(struct overlay *o, const char *prefix, const struct edit *e);

/* ---- what no package manages (tools/repair/overlay/by_hand.c) ---- */

/* Of cuDNN for whatever CUDA: they are the same everywhere. */
struct wheel_list overlay_libraries_of(struct overlay *o, struct wc_version release);
/* As NVIDIA's archives have them: each library under its SONAME, and a link without the number. */
bool overlay_place_cudnn(struct overlay *o, const char *directory, const char *package,
                         struct wc_version release);
bool overlay_place(struct overlay *o, const struct edit *e);

/* ---- Debian (tools/repair/overlay/debian.c) ---- */

bool overlay_reinstall_debian(struct overlay *o, const struct edit *e);
/* To where the package for developers, which has links alone, counts on it. */
bool overlay_install_debian(struct overlay *o, const struct edit *e);
bool overlay_remove_debian(struct overlay *o, const struct edit *e);
/* Is it an edit of a package of dpkg's? */
bool overlay_is_debian(const struct edit *e);

/* ---- packages (tools/repair/overlay/packages.c) ---- */

/* Of whatever package manager: by the edit's environment. */
bool overlay_install(struct overlay *o, const struct edit *e);
bool overlay_remove_package(struct overlay *o, const struct edit *e);
bool overlay_reinstall(struct overlay *o, const struct edit *e);

/* ---- what may not be read (tools/repair/overlay/closed.c) ---- */

bool overlay_allow_reading(struct overlay *o, const struct edit *e);

/* ---- files (tools/repair/overlay/files.c) ---- */

bool overlay_delete_file(struct overlay *o, const struct edit *e);
bool overlay_make_link(struct overlay *o, const struct edit *e);
bool overlay_make_links(struct overlay *o, const struct edit *e);
