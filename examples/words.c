/* Shapes and poses as a person writes them on a command line. */
#include "words.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "contact/number.h"
#include "contact/vec.h"
#include "rt/file.h"

/* Up to `most` finite numbers between blanks and commas; -1 where there is anything else. */
static int numbers(const char *text, double *out, int most)
{
    static const char between[] = " \t,";
    int count = 0;
    for (text += strspn(text, between); *text; text += strspn(text, between)) {
        char *end;
        double value = tact_number_read(text, &end);
        if (end == text || !isfinite(value) || count == most || (*end && !strchr(between, *end))) {
            return -1;
        }
        out[count++] = value;
        text = end;
    }
    return count;
}

int word_to_number(const char *word, double *out)
{
    return numbers(word, out, 1) == 1 ? 0 : -1;
}

int word_to_pose(const char *word, struct tact_pose *out)
{
    double v[7] = {0.0, 0.0, 0.0, 1.0};
    int count = numbers(word, v, 7);
    memcpy(out->position, v, sizeof out->position);
    memcpy(out->quat_wxyz, v + 3, sizeof out->quat_wxyz);
    double norm = tact_quat_normalize(out->quat_wxyz);
    return (count == 3 || count == 7) && norm > 0.0 && isfinite(norm) ? 0 : -1;
}

static const struct primitive {
    const char *name, *form;
    enum tact_shape_kind kind;
    int count;      /* sizes */
    double size[3]; /* what each is multiplied by: full lengths to half lengths */
} primitives[] = {
    {"sphere", "sphere:RADIUS", TACT_SHAPE_SPHERE, 1, {1.0}},
    {"capsule", "capsule:RADIUS,LENGTH", TACT_SHAPE_CAPSULE, 2, {1.0, 0.5}},
    {"box", "box:X,Y,Z", TACT_SHAPE_BOX, 3, {0.5, 0.5, 0.5}},
    {"halfspace", "halfspace", TACT_SHAPE_HALFSPACE, 0, {0.0}},
};

static int make_primitive(const struct primitive *p, const char *word, struct tact_shape *out,
                          struct tact_error *err)
{
    const char *sizes = word + strlen(p->name) + (word[strlen(p->name)] == ':');
    int count = numbers(sizes, out->size, 3), good = count == p->count;
    for (int i = 0; good && i < count; i++) {
        good = out->size[i] > 0.0;
        out->size[i] *= p->size[i];
    }
    out->kind = p->kind;
    if (!good || tact_shape_tessellate(out)) {
        return tact_error_set(err, -EDOM,
                              "\"%s\" is no shape: %s with positive sizes in m is "
                              "expected",
                              word, p->form);
    }
    return 0;
}

int word_to_soup(const char *path, double scale, struct tact_soup *out, struct tact_error *err)
{
    char *data = NULL;
    uint64_t size = 0;
    tact_error_at(err, path, 0, 0, NULL);
    int rc = tact_file_read(path, TACT_FILE_MESH_BYTES, &data, &size);
    if (rc == -EFBIG) {
        tact_error_set(err, rc, "a mesh file of at most %d MiB is expected",
                       TACT_FILE_MESH_BYTES >> 20);
    } else if (rc) {
        tact_error_set(err, rc, "%s", rc == -EISDIR ? "not a regular file" : strerror(-rc));
    }
    rc = rc ? rc : tact_soup_read(data, size, path, scale, out, err);
    free(data);
    return rc;
}

/* What word_to_soup() does, for a word that may have been meant for something else. */
static int read_soup(const char *path, double scale, struct tact_soup *out, struct tact_error *err)
{
    int rc = word_to_soup(path, scale, out, err);
    if (rc == -ENOENT) {
        tact_error_set(err, rc,
                       "%s; a mesh file (OBJ, STL), sphere:R, capsule:R,LENGTH, box:X,Y,Z or "
                       "halfspace is expected",
                       strerror(-rc));
    }
    return rc;
}

static int make_mesh(const char *path, double scale, struct word_shape *out, struct tact_error *err)
{
    struct tact_soup soup = {0};
    int rc = read_soup(path, scale, &soup, err);
    rc = rc ? rc
            : tact_mesh_create(soup.vertices, soup.vertex_count, soup.triangles,
                               soup.triangle_count, &out->mesh, err);
    out->shape.kind = TACT_SHAPE_MESH;
    out->shape.mesh = out->mesh;
    tact_soup_free(&soup);
    return rc;
}

/* The primitive that a word begins like, or NULL. */
static const struct primitive *find_primitive(const char *word)
{
    for (size_t i = 0; i < sizeof primitives / sizeof *primitives; i++) {
        size_t length = strlen(primitives[i].name);
        if (!strncmp(word, primitives[i].name, length) &&
            (word[length] == ':' || word[length] == 0)) {
            return &primitives[i];
        }
    }
    return NULL;
}

int word_to_shape(const char *word, double scale, struct word_shape *out, struct tact_error *err)
{
    const struct primitive *primitive = find_primitive(word);
    memset(out, 0, sizeof *out);
    return primitive ? make_primitive(primitive, word, &out->shape, err)
                     : make_mesh(word, scale, out, err);
}

int word_to_surface(const char *word, double scale, struct word_shape *out, struct tact_error *err)
{
    const struct primitive *primitive = find_primitive(word);
    memset(out, 0, sizeof *out);
    out->shape.kind = TACT_SHAPE_MESH;
    return primitive ? make_primitive(primitive, word, &out->shape, err)
                     : read_soup(word, scale, &out->soup, err);
}

void word_shape_release(struct word_shape *shape)
{
    tact_shape_release(&shape->shape);
    tact_mesh_free(shape->mesh);
    tact_soup_free(&shape->soup);
}
