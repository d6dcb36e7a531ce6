/* A digest of a session's results that does not depend on the layout of its log: see "The digest
 * of the results" in rt/log/LOG.md. */
#include <endian.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>
#include "info.h"

#define MAX_VALUE_RUNS_PER_ITEM 6
#define INDEX_OF_CONTACT_PATCH_VALUES 1 /* index of the run that has a contact's patch */

/* A body, joint or contact of a session, and the offset of its values in a record. */
struct digest_item {
    char name[192]; /* kind and name of the item: "contact ruler/pinch.left_distal" */
    int is_contact_item;
    struct record_value_range {
        uint32_t at, count;
    } run[MAX_VALUE_RUNS_PER_ITEM];
};

struct digest_items {
    struct digest_item *digest_items_by_name; /* items of the digest, sorted by name */
    uint32_t count;
};

static void add_digest_item(struct digest_items *items, const char *kind, const char *name,
                            const struct record_value_range run[MAX_VALUE_RUNS_PER_ITEM])
{
    struct digest_item *item = &items->digest_items_by_name[items->count++];
    snprintf(item->name, sizeof item->name, "%s %s", kind, name);
    item->is_contact_item = !strcmp(kind, "contact");
    memcpy(item->run, run, sizeof item->run);
}

static void add_device_items(struct digest_items *items, const struct tact_device_info *device,
                             uint32_t at)
{
    add_digest_item(items, "device", device->name,
                    (struct record_value_range[MAX_VALUE_RUNS_PER_ITEM]){{at, 1}});
    for (int k = 0; k < device->input_count; k++) {
        char name[2 * TACT_DEVICE_NAME];
        snprintf(name, sizeof name, "%s.%s", device->name, device->input[k].name);
        add_digest_item(
            items, "input", name,
            (struct record_value_range[MAX_VALUE_RUNS_PER_ITEM]){{at + 2 + (uint32_t)k, 1}});
    }
}

static void add_digest_items(struct digest_items *items, const struct tact_scene_log *v)
{
    for (int i = 0; i < v->body_count; i++) {
        const struct tact_scene_log_body *b = &v->bodies[i];
        add_digest_item(items, "body", b->name,
                        (struct record_value_range[MAX_VALUE_RUNS_PER_ITEM]){
                            {b->center, 7}, {b->twist, 6}, {b->pose, 7}});
    }
    for (int i = 0; i < v->joint_count; i++) {
        const struct tact_scene_log_joint *j = &v->joints[i];
        const uint32_t more = (uint32_t)j->resists;
        add_digest_item(items, "link", j->name,
                        (struct record_value_range[MAX_VALUE_RUNS_PER_ITEM]){{j->position, 1},
                                                                             {j->velocity, 1},
                                                                             {j->target, 1},
                                                                             {j->torque, 1},
                                                                             {j->reaction, more},
                                                                             {j->stop, more}});
    }
    for (int i = 0; i < v->constraint_count; i++) {
        const struct tact_scene_log_constraint *b = &v->constraints[i];
        add_digest_item(
            items, "joint", b->name,
            (struct record_value_range[MAX_VALUE_RUNS_PER_ITEM]){{b->wrench, 6}, {b->joint, 5}});
    }
    for (int i = 0; i < v->pair_count; i++) {
        const struct tact_scene_log_pair *p = &v->pairs[i];
        add_digest_item(
            items, "contact", p->name,
            (struct record_value_range[MAX_VALUE_RUNS_PER_ITEM]){
                {p->wrench, 6}, [INDEX_OF_CONTACT_PATCH_VALUES] = {p->patch, 8}, {p->impulse, 6}});
    }
    for (int i = 0; i < v->device_count; i++) {
        add_device_items(items, &v->devices[i], v->device_inputs[i]);
    }
    for (uint32_t i = 0; i < (uint32_t)v->output_count; i++) {
        add_digest_item(items, "output", v->scene->outputs[i].to,
                        (struct record_value_range[MAX_VALUE_RUNS_PER_ITEM]){{v->wanted + i, 1},
                                                                             {v->sent + i, 1}});
    }
}

static int compare_item_names(const void *a, const void *b)
{
    return strcmp(((const struct digest_item *)a)->name, ((const struct digest_item *)b)->name);
}

static int list_digest_items(struct digest_items *out, const struct tact_scene_log *v)
{
    int count = v->body_count + v->joint_count + v->constraint_count + v->pair_count +
                v->device_count + v->output_count;
    for (int i = 0; i < v->device_count; i++) {
        count += v->devices[i].input_count;
    }
    *out = (struct digest_items){calloc((size_t)count + 1, sizeof *out->digest_items_by_name), 0};
    if (!out->digest_items_by_name) {
        return -ENOMEM;
    }
    add_digest_items(out, v);
    qsort(out->digest_items_by_name, out->count, sizeof *out->digest_items_by_name,
          compare_item_names);
    return 0;
}

/* Whether an item has values in a tick: a pair that does not touch has a patch of zeros, and is
 * omitted. */
static int has_item_values_in_tick(const struct digest_item *item, const double *values)
{
    const struct record_value_range *patch = &item->run[INDEX_OF_CONTACT_PATCH_VALUES];
    int has_nonzero_patch = !item->is_contact_item;
    for (uint32_t k = 0; k < patch->count && !has_nonzero_patch; k++) {
        has_nonzero_patch = values[patch->at + k] != 0.0;
    }
    return has_nonzero_patch;
}

static void hash_u32(XXH3_state_t *hash, uint32_t value)
{
    value = htole32(value);
    XXH3_128bits_update(hash, &value, sizeof value);
}

static void hash_u64(XXH3_state_t *hash, uint64_t value)
{
    value = htole64(value);
    XXH3_128bits_update(hash, &value, sizeof value);
}

static void hash_item_values(XXH3_state_t *hash, const struct digest_item *item,
                             const double *values)
{
    uint32_t count = 0;
    for (int i = 0; i < MAX_VALUE_RUNS_PER_ITEM; i++) {
        count += item->run[i].count;
    }
    hash_u32(hash, (uint32_t)strlen(item->name));
    XXH3_128bits_update(hash, item->name, strlen(item->name));
    hash_u32(hash, count);
    for (int i = 0; i < MAX_VALUE_RUNS_PER_ITEM; i++) {
        for (uint32_t k = 0; k < item->run[i].count; k++) {
            uint64_t bits;
            memcpy(&bits, &values[item->run[i].at + k], sizeof bits);
            hash_u64(hash, bits);
        }
    }
}

static void hash_tick_values(XXH3_state_t *hash, const struct digest_items *items,
                             const struct tact_record *r)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < items->count; i++) {
        count += (uint32_t)has_item_values_in_tick(&items->digest_items_by_name[i], r->values);
    }
    hash_u64(hash, r->tick);
    hash_u32(hash, count);
    for (uint32_t i = 0; i < items->count; i++) {
        if (has_item_values_in_tick(&items->digest_items_by_name[i], r->values)) {
            hash_item_values(hash, &items->digest_items_by_name[i], r->values);
        }
    }
}

int info_compute_results_digest(struct tact_log *log, const struct tact_scene_log *scene_log,
                                char out[INFO_DIGEST_TEXT_BYTES])
{
    struct tact_record *r = malloc(tact_layout_bytes(tact_log_layout(log)));
    XXH3_state_t *hash = XXH3_createState();
    struct digest_items items = {0};
    XXH128_canonical_t digest;
    int rc = r && hash ? list_digest_items(&items, scene_log) : -ENOMEM;
    if (!rc) {
        XXH3_128bits_reset(hash);
        while ((rc = tact_log_next(log, r)) > 0) {
            hash_tick_values(hash, &items, r);
        }
        XXH128_canonicalFromHash(&digest, XXH3_128bits_digest(hash));
        for (size_t i = 0; i < sizeof digest.digest; i++) {
            snprintf(out + 2 * i, 3, "%02x", digest.digest[i]);
        }
    }
    XXH3_freeState(hash);
    free(items.digest_items_by_name);
    free(r);
    return rc;
}
