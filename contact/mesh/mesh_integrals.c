/* Volume, centroid and second moment of a closed mesh: a sum over signed tetrahedra with apex at a
 * vertex of the mesh. */
#include "contact/mesh/mesh_internal.h"

#include <math.h>
#include <string.h>

#include "contact/vec.h"

void tact_mesh_integrate(struct tact_mesh *mesh)
{
    const double *origin = mesh->vertices;
    double volume = 0.0, first[3] = {0.0}, second[9] = {0.0};
    for (size_t t = 0; t < mesh->triangle_count; t++) {
        double p[3][3], sum[3], normal[3];
        for (size_t k = 0; k < 3; k++) {
            tact_v3_sub(p[k], mesh->vertices + 3 * (size_t)mesh->triangles[3 * t + k], origin);
        }
        tact_v3_cross(normal, p[1], p[2]);
        double v = tact_v3_dot(p[0], normal) / 6.0;
        volume += v;
        for (int i = 0; i < 3; i++) {
            sum[i] = p[0][i] + p[1][i] + p[2][i];
            first[i] += v * sum[i] / 4.0;
        }
        /* Integral of r r^T over a tetrahedron with its apex at the origin: V/20 (sum of p p^T over
         * the vertices + s s^T, s the sum of the vertices). */
        for (int i = 0; i < 3; i++) {
            for (int j = 0; j < 3; j++) {
                double pp = p[0][i] * p[0][j] + p[1][i] * p[1][j] + p[2][i] * p[2][j];
                second[3 * i + j] += v / 20.0 * (pp + sum[i] * sum[j]);
            }
        }
    }
    mesh->volume = volume;
    double c[3];
    tact_v3_scale(c, first, 1.0 / volume);
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            mesh->second[3 * i + j] = second[3 * i + j] - volume * c[i] * c[j];
        }
    }
    tact_v3_add(mesh->centroid, c, origin);
    double r2 = 0.0;
    for (size_t i = 0; i < mesh->vertex_count; i++) {
        double d[3];
        tact_v3_sub(d, mesh->vertices + 3 * i, mesh->centroid);
        r2 = fmax(r2, tact_v3_dot(d, d));
    }
    mesh->radius = sqrt(r2);
}
