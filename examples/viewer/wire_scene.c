/* The message with the scene, which a page gets once; see wire.h. The scene's names were
 * checked: letters, digits, _ and -. */
#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include "wire.h"

/* Makes the message with the triangles of a shape. NULL with *size 0 where it has none, or where
 * memory is short. */
static void *make_mesh_message(const struct tact_world *world, int shape, size_t *size)
{
    const struct tact_shape *s = tact_world_shape(world, shape);
    *size = 0;
    if (!s->mesh) {
        return NULL;
    }
    size_t vertices = s->mesh->vertex_count, triangles = s->mesh->triangle_count;
    *size = 16 + 12 * vertices + 12 * triangles;
    unsigned char *out = malloc(*size);
    if (!out) {
        return NULL;
    }
    const uint32_t head[4] = {WIRE_MESH, (uint32_t)shape, (uint32_t)vertices, (uint32_t)triangles};
    memcpy(out, head, sizeof head);
    float *vertex = (float *)(void *)(out + sizeof head);
    uint32_t *triangle = (uint32_t *)(void *)(vertex + 3 * vertices);
    for (size_t i = 0; i < 3 * vertices; i++) {
        vertex[i] = (float)s->mesh->vertices[i];
    }
    for (size_t i = 0; i < 3 * triangles; i++) {
        triangle[i] = (uint32_t)s->mesh->triangles[i];
    }
    return out;
}

int wire_make_mesh_messages(const struct tact_world *world, void ***meshes, size_t **message_sizes)
{
    size_t count = (size_t)tact_world_shape_count(world);
    *meshes = calloc(count + 1, sizeof **meshes);
    *message_sizes = calloc(count + 1, sizeof **message_sizes);
    if (!*meshes || !*message_sizes) {
        return -ENOMEM;
    }
    for (size_t i = 0; i < count; i++) {
        (*meshes)[i] = make_mesh_message(world, (int)i, &(*message_sizes)[i]);
        if (!(*meshes)[i] && (*message_sizes)[i]) {
            return -ENOMEM;
        }
    }
    return 0;
}

void wire_meshes_free(void **meshes, size_t *message_sizes, size_t count)
{
    for (size_t i = 0; meshes && i < count; i++) {
        free(meshes[i]);
    }
    free(meshes);
    free(message_sizes);
}

/* link: index in the list of joints of the joint that moves it; -1: none. */
static json_t *shape_json(const struct tact_world *world, int shape, const char *owner, int link)
{
    const struct tact_shape *s = tact_world_shape(world, shape);
    const struct tact_shape_type *type = tact_shape_type(s->kind);
    json_t *size = json_pack("[f, f, f]", s->size[0], s->size[1], s->size[2]);
    return json_pack("{s:s, s:b, s:s, s:o, s:b, s:i}", "owner", owner, "moves",
                     tact_world_owner(world, shape).kind != TACT_OWNER_FIXED, "kind", type->name,
                     "size", size, "flat", type->faces == TACT_FACES_FLAT, "link", link);
}

/* The world's shapes are in the order of the scene: those of its bodies, then those of its hands.
 */
static json_t *shapes_json(const struct tact_scene *scene, const struct tact_world *world)
{
    json_t *list = json_array();
    int shape = 0, link = 0;
    for (uint32_t i = 0; i < scene->bodies_count; i++) {
        for (uint32_t k = 0; k < scene->bodies[i].shapes_count; k++) {
            json_array_append_new(list, shape_json(world, shape++, scene->bodies[i].name, -1));
        }
    }
    for (uint32_t i = 0; i < scene->hands_count; i++) {
        const struct tact_scene_hand *hand = &scene->hands[i];
        for (uint32_t k = 0; k < hand->links_count; k++, link++) {
            char name[256];
            snprintf(name, sizeof name, "%s.%s", hand->name, tact_scene_link_owner(hand, k));
            for (uint32_t n = 0; n < hand->links[k].shapes_count; n++) {
                json_array_append_new(list, shape_json(world, shape++, name, link));
            }
        }
    }
    return list;
}

/* parent: index of another joint in the list; -1: the base. */
static json_t *joints_json(const struct tact_scene *scene, struct tact_world *world)
{
    json_t *list = json_array();
    int first = 0;
    for (uint32_t i = 0; i < scene->hands_count; i++) {
        const struct tact_scene_hand *hand = &scene->hands[i];
        for (uint32_t k = 0; k < hand->links_count; k++) {
            char name[256];
            snprintf(name, sizeof name, "%s.%s", hand->name, hand->links[k].name);
            int parent = tact_hand_parent(tact_world_hand(world, (int)i), (int)k);
            json_array_append_new(list, json_pack("{s:s, s:b, s:i}", "name", name, "slides",
                                                  !strcmp(hand->links[k].joint.type, "slide"),
                                                  "parent", parent < 0 ? -1 : first + parent));
        }
        first += (int)hand->links_count;
    }
    return list;
}

/* A JSON string of a text from a log or driver, which may be invalid UTF-8. NULL: no text. */
static json_t *text_json(const char *text)
{
    json_t *out = text ? json_string(text) : json_null();
    return out ? out : json_string("?");
}

/* The first fields of a record, as many as the page can list: name, unit, offset, number of values.
 */
static json_t *fields_json(const struct tact_layout *layout)
{
    json_t *list = json_array();
    uint32_t values = 0;
    for (uint32_t i = 0; i < layout->field_count; i++) {
        const struct tact_field *f = &layout->fields[i];
        if (f->count > WIRE_MAX_HELLO_VALUES - values) {
            break;
        }
        values += f->count;
        json_array_append_new(list,
                              json_pack("[o, o, I, I]", text_json(f->name), text_json(f->unit),
                                        (json_int_t)f->offset, (json_int_t)f->count));
    }
    return list;
}

/* The first events of a log: tick, name, text. *count: number of all of them. */
static json_t *events_json(const struct tact_log *log, size_t *count)
{
    json_t *list = json_array();
    const struct tact_log_event *e;
    for (*count = 0; log && (e = tact_log_event(log, *count)); ++*count) {
        if (*count < WIRE_MAX_HELLO_EVENTS) {
            json_array_append_new(list, json_pack("[I, o, o]", (json_int_t)e->tick,
                                                  text_json(e->name), text_json(e->text)));
        }
    }
    return list;
}

char *wire_make_hello_message(const struct tact_scene *scene, struct tact_world *world,
                              const struct wire_hello *hello)
{
    json_t *devices = json_array();
    for (uint32_t i = 0; i < scene->devices_count; i++) {
        json_array_append_new(devices, json_string(scene->devices[i].name));
    }
    size_t event_count;
    json_t *events = events_json(hello->log, &event_count);
    json_t *out = json_pack(
        "{s:s, s:s, s:s, s:f, s:I, s:I, s:o, s:o, s:o, s:o, s:o, s:o, s:I, s:o, s:I}", "op",
        "hello", "name", scene->name ? scene->name : "", "kind", hello->kind, "period",
        scene->period, "first", (json_int_t)hello->first, "last", (json_int_t)hello->last, "shapes",
        shapes_json(scene, world), "joints", joints_json(scene, world), "devices", devices,
        "source", text_json(hello->source), "deadman", text_json(scene->deadman), "fields",
        fields_json(hello->layout), "field_count", (json_int_t)hello->layout->field_count, "events",
        events, "event_count", (json_int_t)event_count);
    char *text = out ? json_dumps(out, JSON_COMPACT | JSON_REAL_PRECISION(17)) : NULL;
    json_decref(out);
    return text;
}
