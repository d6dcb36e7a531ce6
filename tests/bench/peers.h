/* Functions common to the programs that compare moments with other libraries. */
#ifndef TACT_BENCH_PEERS_H
#define TACT_BENCH_PEERS_H

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "contact/mesh/mesh.h"
#include "timing.h"

static uint64_t benchmark_random_state;

static inline void seed_benchmark_random(uint64_t seed)
{
    benchmark_random_state = 88172645463325252u + 7919 * seed;
}

static inline double next_uniform_random_number(void)
{
    benchmark_random_state ^= benchmark_random_state << 13;
    benchmark_random_state ^= benchmark_random_state >> 7;
    benchmark_random_state ^= benchmark_random_state << 17;
    return ((double)(benchmark_random_state >> 11) + 0.5) * 0x1p-53;
}

static inline double next_normal_random_number(void)
{
    double r = sqrt(-2.0 * log(next_uniform_random_number()));
    return r * cos(6.283185307179586 * next_uniform_random_number());
}

static inline double median_of_durations(double *durations, int count)
{
    qsort(durations, (size_t)count, sizeof *durations, compare_durations_ascending);
    return durations[count / 2];
}

static inline void write_mesh_as_obj_file(const char *folder, const char *name,
                                          const struct tact_mesh *m)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s.obj", folder, name);
    FILE *f = fopen(path, "w");
    if (!f) {
        exit(2);
    }
    for (size_t i = 0; i < m->vertex_count; i++) {
        const double *v = m->vertices + 3 * i;
        fprintf(f, "v %.17g %.17g %.17g\n", v[0], v[1], v[2]);
    }
    for (size_t t = 0; t < m->triangle_count; t++) {
        const uint32_t *v = m->triangles + 3 * t;
        fprintf(f, "f %lu %lu %lu\n", v[0] + 1UL, v[1] + 1UL, v[2] + 1UL);
    }
    fclose(f);
}

#endif
