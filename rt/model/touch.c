/* Which links of a hand touch each other. */
#include <stdlib.h>
#include "rt/model/model_internal.h"

bool tact_model_geom_collides(const struct model_geom *g)
{
    return g->type || g->affinity;
}

/* Marks in the matrix of links whether two shapes of these links may touch. */
static void add_pair_to_link_contact_matrix(const struct model *m, const struct model_geom *a,
                                            const struct model_geom *b,
                                            const unsigned char *excluded_body_pairs,
                                            unsigned char *matrix)
{
    const size_t bodies = m->bodies.count, n = m->links.count + 1;
    const int la = m->bodies.at[a->body].link, lb = m->bodies.at[b->body].link;
    const size_t i = la < 0 ? n - 1 : (size_t)la, k = lb < 0 ? n - 1 : (size_t)lb;
    const bool is_contact_of_bodies_allowed =
        !excluded_body_pairs[(size_t)a->body * bodies + (size_t)b->body];
    const unsigned char contact_matrix_flag =
        is_contact_of_bodies_allowed ? MODEL_TOUCH_ALL : MODEL_TOUCH_NONE;
    if (!(a->type & b->affinity) && !(b->type & a->affinity)) {
        return; /* the collision classes of these two shapes already exclude their contact */
    }
    matrix[i * n + k] |= contact_matrix_flag;
    matrix[k * n + i] |= contact_matrix_flag;
}

unsigned char *tact_model_link_contact_matrix(const struct model *m)
{
    const size_t bodies = m->bodies.count, n = m->links.count + 1;
    unsigned char *matrix = calloc(n * n, 1), *excluded_body_pairs = calloc(bodies * bodies, 1);
    if (!matrix || !excluded_body_pairs) {
        free(matrix);
        free(excluded_body_pairs);
        return NULL;
    }
    for (size_t i = 0; i < m->exclusions.count; i++) {
        const size_t a = (size_t)m->exclusions.at[i].bodies[0];
        const size_t b = (size_t)m->exclusions.at[i].bodies[1];
        excluded_body_pairs[a * bodies + b] = excluded_body_pairs[b * bodies + a] = 1;
    }
    for (size_t i = 0; i < m->geoms.count; i++) {
        for (size_t k = 0; k < i; k++) {
            const struct model_geom *a = &m->geoms.at[i], *b = &m->geoms.at[k];
            if (tact_model_geom_collides(a) && tact_model_geom_collides(b)) {
                add_pair_to_link_contact_matrix(m, a, b, excluded_body_pairs, matrix);
            }
        }
    }
    free(excluded_body_pairs);
    return matrix;
}
