/* Which links of a hand touch each other. */
#include <stdlib.h>
#include "rt/model/model_internal.h"

bool tact_model_geom_collides(const struct model_geom *g)
{
    return g->type || g->affinity;
}

/* Marks in the matrix of links whether two shapes of these links may touch. */
static void add_pair(const struct model *m, const struct model_geom *a, const struct model_geom *b,
                     const unsigned char *are_bodies_excluded, unsigned char *matrix)
{
    const size_t bodies = m->bodies.count, n = m->links.count + 1;
    const int la = m->bodies.at[a->body].link, lb = m->bodies.at[b->body].link;
    const size_t i = la < 0 ? n - 1 : (size_t)la, k = lb < 0 ? n - 1 : (size_t)lb;
    const bool may_touch = !are_bodies_excluded[(size_t)a->body * bodies + (size_t)b->body];
    const unsigned char touch_matrix_flag = may_touch ? MODEL_TOUCH_ALL : MODEL_TOUCH_NONE;
    if (!(a->type & b->affinity) && !(b->type & a->affinity)) {
        return; /* the collision classes of these two shapes already exclude their contact */
    }
    matrix[i * n + k] |= touch_matrix_flag;
    matrix[k * n + i] |= touch_matrix_flag;
}

unsigned char *tact_model_link_contact_matrix(const struct model *m)
{
    const size_t bodies = m->bodies.count, n = m->links.count + 1;
    unsigned char *matrix = calloc(n * n, 1), *are_bodies_excluded = calloc(bodies * bodies, 1);
    if (!matrix || !are_bodies_excluded) {
        free(matrix);
        free(are_bodies_excluded);
        return NULL;
    }
    for (size_t i = 0; i < m->exclusions.count; i++) {
        const size_t a = (size_t)m->exclusions.at[i].bodies[0];
        const size_t b = (size_t)m->exclusions.at[i].bodies[1];
        are_bodies_excluded[a * bodies + b] = are_bodies_excluded[b * bodies + a] = 1;
    }
    for (size_t i = 0; i < m->geoms.count; i++) {
        for (size_t k = 0; k < i; k++) {
            const struct model_geom *a = &m->geoms.at[i], *b = &m->geoms.at[k];
            if (tact_model_geom_collides(a) && tact_model_geom_collides(b)) {
                add_pair(m, a, b, are_bodies_excluded, matrix);
            }
        }
    }
    free(are_bodies_excluded);
    return matrix;
}
