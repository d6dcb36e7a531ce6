/*
 * Friction of a block on its feet that slides and spins on a floor, in MuJoCo.
 *
 *     peer_planar_slide default|by_hand|feet < pushes
 *
 * planar_slide_push.h has the form of a push and of what is printed for each. default: one contact
 * below the centre of mass with torsional friction (condim 4) of MuJoCo's default coefficient,
 * 5 mm. by_hand: the same with the coefficient mu times the torsion arm. feet: one contact for each
 * foot, without torsion of its own (condim 3). Elliptic cones, else MuJoCo's defaults.
 * Exits with 2 on an error.
 */
#include <stdlib.h>
#include <mujoco/mujoco.h>
#include "planar_slide_push.h"

#define CONTACT_BALL_RADIUS 1e-3 /* radius of the balls by which a foot touches the floor [m] */
#define PUSH_SPEED_IN_MUJOCO                                                                       \
    0.03 /* speed of a push [m/s]: slower, friction is regularised; faster, it lifts the block */
#define MUJOCO_DEFAULT_TORSION_COEFFICIENT 5e-3 /* [m] */

static mjModel *make_model(const char *method, const struct push *p)
{
    char xml[8192], error[512] = "";
    int is_method_with_contact_per_foot = !strcmp(method, "feet"),
        count = is_method_with_contact_per_foot ? p->foot_count : 1;
    double torsion =
        strcmp(method, "by_hand") ? MUJOCO_DEFAULT_TORSION_COEFFICIENT : p->friction * p->arm;
    double mass = p->weight / GRAVITY, turning = mass * 0.05 * 0.05;
    mjVFS files;
    int length = snprintf(
        xml, sizeof xml,
        "<mujoco><option timestep='0.001' gravity='0 0 -%g' cone='elliptic'/><default>"
        "<geom condim='%d' friction='%.17g %.17g 0'/></default><worldbody><geom type='plane' "
        "size='1 1 1'/><body><freejoint/><inertial pos='0 0 0' mass='%.17g' "
        "diaginertia='%.17g %.17g %.17g'/>",
        GRAVITY, is_method_with_contact_per_foot ? 3 : 4, p->friction, torsion, mass, turning,
        turning, turning);
    for (int i = 0; i < count; i++) {
        length +=
            snprintf(xml + length, sizeof xml - (size_t)length,
                     "<geom type='sphere' size='%g' pos='%.17g %.17g %g'/>", CONTACT_BALL_RADIUS,
                     is_method_with_contact_per_foot ? p->place[i][0] : 0.0,
                     is_method_with_contact_per_foot ? p->place[i][1] : 0.0, CONTACT_BALL_RADIUS);
    }
    length += snprintf(xml + length, sizeof xml - (size_t)length, "</body></worldbody></mujoco>");
    mj_defaultVFS(&files);
    mj_addBufferVFS(&files, "slide.xml", xml, length);
    mjModel *model = mj_loadXML("slide.xml", &files, error, sizeof error);
    mj_deleteVFS(&files);
    if (!model) {
        fprintf(stderr, "peer_planar_slide: %s\n", error);
    }
    return model;
}

/* Wrench of the contact constraints at the twist of the push, from the block at rest. */
static void solve_push(const mjModel *model, mjData *data, const struct push *p)
{
    double scale = twist_scale_for_speed(p, PUSH_SPEED_IN_MUJOCO);
    const mjtNum twist[6] = {scale * p->twist[0], scale * p->twist[1], 0, 0, 0,
                             scale * p->twist[2]};
    memcpy(data->qvel, twist, sizeof twist);
    mj_forward(model, data);
    printf("%.9g %.9g %.9g\n", -data->qfrc_constraint[0], -data->qfrc_constraint[1],
           -data->qfrc_constraint[5]);
}

int main(int argc, char **argv)
{
    char line[2048];
    struct push at = {0}, push;
    mjModel *model = NULL;
    mjData *data = NULL;
    if (argc != 2) {
        return 2;
    }
    while (fgets(line, sizeof line, stdin)) {
        if (!parse_push_line(line, &push)) {
            fprintf(stderr, "peer_planar_slide: this line is not a push: %s", line);
            return 2;
        }
        if (!data || !do_pushes_have_same_block(&at, &push)) {
            mj_deleteData(data);
            mj_deleteModel(model);
            model = make_model(argv[1], &push);
            data = model ? mj_makeData(model) : NULL;
            if (!data) {
                return 2;
            }
            for (int i = 0; i < REST; i++) {
                mj_step(model, data);
            }
            at = push;
        }
        solve_push(model, data, &push);
    }
    mj_deleteData(data);
    mj_deleteModel(model);
    return 0;
}
