/* Which contact models touch in one island of bodies. Include after cmocka.h. */
#ifndef TACT_TESTS_MODEL_ISLANDS_H
#define TACT_TESTS_MODEL_ISLANDS_H

#include <string.h>
#include "contact/world/world.h"

enum { MAX_ISLAND_BODIES = 16 };

/* The largest number of the named models that touch in one island of free bodies. */
static inline int most_models_in_an_island(struct tact_world *world, const char *const *names,
                                           int model_name_count)
{
    const int bodies = tact_world_body_count(world);
    int island[MAX_ISLAND_BODIES], models[MAX_ISLAND_BODIES] = {0}, most = 0;
    assert_true(bodies <= MAX_ISLAND_BODIES && model_name_count < 32);
    for (int i = 0; i < bodies; i++) {
        island[i] = i;
    }
    for (int pass = 0; pass < 2; pass++) { /* join bodies that touch, then collect the models */
        for (int i = tact_world_next_pair(world, -1); i >= 0; i = tact_world_next_pair(world, i)) {
            const struct tact_contact *c = tact_world_contact(world, i);
            const struct tact_owner a = tact_world_owner(world, c->a);
            const struct tact_owner b = tact_world_owner(world, c->b);
            const int x = a.kind == TACT_OWNER_BODY ? a.index : b.index;
            const int y = b.kind == TACT_OWNER_BODY ? b.index : a.index;
            const int from = island[x], to = island[y];
            for (int k = 0; k < bodies && c->touching && !pass; k++) {
                island[k] = island[k] == from ? to : island[k];
            }
            for (int m = 0; m < model_name_count && c->touching && pass; m++) {
                models[to] |= strcmp(tact_world_model(world, i)->name, names[m]) ? 0 : 1 << m;
            }
        }
    }
    for (int i = 0; i < bodies; i++) {
        const int count = __builtin_popcount((unsigned)models[i]);
        most = count > most ? count : most;
    }
    return most;
}

#endif
