/**
 * Hands from MJCF and URDF files, as the YAML of a scene.
 *
 * Everything that moves the hand is read or refused by name and line; what does not (cameras,
 * colours, sensors) is left out and noted once. MODEL.md in this folder lists both. Files are
 * parsed without network, document types, entities and includes, and name meshes only within their
 * own folder. Not real-time safe.
 */
#ifndef TACT_RT_MODEL_HAND_FILE_H
#define TACT_RT_MODEL_HAND_FILE_H

#include <stdbool.h>
#include <stdint.h>
#include "../../contact/api.h"
#include "../../contact/error.h"

TACT_BEGIN_DECLS

#define TACT_HAND_FILE_BYTES (16 << 20) /**< largest size of an MJCF or URDF file [bytes] */

/** Callback that reads the files named by a hand file, such as meshes. */
struct tact_hand_file_reader {
    /** Reads a whole file; *data is freed with free(). Returns 0 or a negative errno. */
    int (*read)(void *user, const char *path, char **data, uint64_t *size);
    void *user; /**< first argument of read */
};

/** Options of tact_hand_file_load(). */
struct tact_hand_file_options {
    const char *material; /**< of all shapes */
    const char *folder;   /**< folder of the MJCF or URDF file, relative to the folder of the scene:
                             "" or with a slash at its end. Meshes are named below it */
    const char *name;     /**< name of the hand in the scene; NULL: that of the file */
    bool scene;           /**< true: a whole scene; false: a map of `hand`, with its keys, and
                              `exclude` */
    bool meshes;      /**< true: meshes that collide keep their triangles; false: they become their
                         convex hulls */
    bool moving_base; /**< true: without the `fixed` of the base, for a scene whose base moves */
};

/** The hand as text. */
struct tact_hand_file {
    char *yaml;          /**< the text, ends with a zero */
    uint64_t size;       /**< of yaml [bytes] */
    int *lines;          /**< [line_count] line of the file that each line of yaml is from */
    uint32_t line_count; /**< number of lines of yaml */
    char *notes; /**< what was left out or changed, one line each, with file and line; or "" */
};

/**
 * Reads a hand.
 *
 * @param text     the MJCF or URDF file
 * @param size     of text [bytes]
 * @param file     its name, for messages
 * @param files    reads meshes whose mass counts
 * @param options  how
 * @param out      freed with tact_hand_file_free(); empty on error
 * @param err      what is wrong, and where
 * @retval 0
 * @retval -EINVAL  not a file of this kind, or it needs what tact has not: err has the line
 * @retval -ENOMEM, or a negative errno of reading a mesh
 */
TACT_API int tact_hand_file_load(const char *text, uint64_t size, const char *file,
                                 const struct tact_hand_file_reader *files,
                                 const struct tact_hand_file_options *options,
                                 struct tact_hand_file *out, struct tact_error *err);

/** Frees the contents of a hand file. */
TACT_API void tact_hand_file_free(struct tact_hand_file *file);

TACT_END_DECLS

#endif
