#include "masonry.h"

#include <math.h>
#include <string.h>
#include "campaign.h"
#include "contact/vec.h"

#define BRICK_GAP 1e-3 /* gap between boxes side by side [m] */

static uint64_t next_masonry_random_bits(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static double random_number_between(uint64_t *state, double low, double high)
{
    return low + (high - low) * ((double)(next_masonry_random_bits(state) >> 11) * 0x1p-53);
}

static void add_masonry_box(struct masonry *m, uint64_t *state, const double *side, double x,
                            double y, double z, int level)
{
    int i = m->boxes++;
    m->level[i] = level;
    tact_v3_copy(m->side[i], side);
    tact_v3_set(m->at[i], x, y, z);
    m->mass[i] = 0.1 * exp(random_number_between(state, 0.0, log(100.0)));
}

/* Adds the contact face between box `upper` and box `lower`, or the ground (-1). */
static void add_masonry_face(struct masonry *m, int upper, int lower)
{
    struct masonry_face f = {.upper = upper, .lower = lower};
    const double *at = m->at[upper], *side = m->side[upper];
    f.height = at[2] - 0.5 * side[2];
    for (int k = 0; k < 2; k++) {
        f.low[k] = at[k] - 0.5 * side[k];
        f.high[k] = at[k] + 0.5 * side[k];
        if (lower >= 0) {
            f.low[k] = fmax(f.low[k], m->at[lower][k] - 0.5 * m->side[lower][k]);
            f.high[k] = fmin(f.high[k], m->at[lower][k] + 0.5 * m->side[lower][k]);
        }
    }
    if (f.high[0] > f.low[0] && f.high[1] > f.low[1]) {
        m->face[m->faces++] = f;
    }
}

/* Makes a stack of boxes, each displaced from the centre of the box below by up to a twentieth of
 * its size. */
static void make_box_stack(struct masonry *m, uint64_t *state, int boxes)
{
    double z = 0.0;
    for (int i = 0; i < boxes; i++) {
        double wide = random_number_between(state, 0.8, 1.2) * 0.1,
               high = random_number_between(state, 0.5, 1.0) * 0.1;
        const double side[3] = {wide, wide, high};
        add_masonry_box(m, state, side, random_number_between(state, -5e-3, 5e-3),
                        random_number_between(state, -5e-3, 5e-3), z + 0.5 * high, i + 1);
        add_masonry_face(m, i, i - 1);
        z += high;
    }
}

/* Makes a wall of courses of `columns` bricks; every second course has a half brick at both ends.
 */
static void make_brick_wall(struct masonry *m, uint64_t *state, int boxes)
{
    int columns = (int)random_number_between(state, 3.0, 11.0);
    const double brick_sides_m[3] = {0.2, 0.1, 0.06};
    int first_box_below = 0, course = 0;
    while (m->boxes + columns + course % 2 <= boxes || course == 0) {
        int first = m->boxes;
        double x = 0.0;
        for (int i = 0; i < columns + course % 2; i++) {
            int half = course % 2 && (i == 0 || i == columns);
            double pitch = half ? 0.5 * brick_sides_m[0] : brick_sides_m[0];
            const double side[3] = {pitch - BRICK_GAP, brick_sides_m[1], brick_sides_m[2]};
            add_masonry_box(m, state, side, x + 0.5 * pitch, 0.0,
                            ((double)course + 0.5) * brick_sides_m[2], course + 1);
            x += pitch;
            if (course == 0) {
                add_masonry_face(m, m->boxes - 1, -1);
            }
            for (int k = first_box_below; k < first && course; k++) {
                add_masonry_face(m, m->boxes - 1, k);
            }
        }
        first_box_below = first;
        course++;
    }
}

void generate_masonry(int index, double horizontal_load, struct masonry *out)
{
    uint64_t state = (0x9e3779b97f4a7c15u * (uint64_t)(index + 1)) ^ campaign_seed_offset();
    for (int i = 0; i < 8; i++) {
        next_masonry_random_bits(&state);
    }
    memset(out, 0, sizeof *out);
    int boxes = 10 + (index / 2 * 15 + (int)random_number_between(&state, 0.0, 15.0)) % 91;
    if (index % 2) {
        make_brick_wall(out, &state, boxes);
    } else {
        make_box_stack(out, &state, boxes);
    }
    out->friction = index / 2 % 2 ? 0.8 : 0.3;
    double share = random_number_between(&state, 0.0, horizontal_load) * out->friction,
           way = random_number_between(&state, 0.0, 6.28318);
    tact_v3_set(out->gravity, 9.81 * share * cos(way), 9.81 * share * sin(way), -9.81);
}

void make_masonry_body(const struct masonry *m, int box, struct tact_body *out)
{
    const double *s = m->side[box], share = m->mass[box] / 12.0;
    const double inertia[6] = {share * (s[1] * s[1] + s[2] * s[2]),
                               share * (s[0] * s[0] + s[2] * s[2]),
                               share * (s[0] * s[0] + s[1] * s[1]),
                               0.0,
                               0.0,
                               0.0};
    *out = (struct tact_body){.pose = tact_pose_identity()};
    tact_body_set_mass(out, m->mass[box], inertia);
    tact_v3_copy(out->pose.position, m->at[box]);
}
