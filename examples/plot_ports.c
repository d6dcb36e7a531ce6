/* The ports at which persons hold devices: the panels of the energy that each has absorbed, and of
 * the force at it. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "drawing.h"
#include "plot.h"
#include "text.h"

/* maximum width of a name in the key, which has three names in a row [pixels] */
#define MAX_PORT_NAME_WIDTH 150.0

static const char *get_port_name(const struct plot_session *s, int port)
{
    return s->scene_log.ports[s->port[port].port].name;
}

void plot_fill_port_columns(struct plot_session *s, int index, const double *v, double *out)
{
    const struct tact_scene_log_port *port = &s->scene_log.ports[s->port[index].port];
    double force = 0.0;
    for (int i = 0; i < port->components; i++) {
        force = hypot(force, v[port->force + (uint32_t)i * port->stride]);
    }
    const double limited = port->limited ? v[port->limited] : 0.0;
    out[PORT_ABSORBED_ENERGY] = 1e3 * v[port->energy];
    out[PORT_LEAST_ENERGY] = 1e3 * v[port->least_energy];
    out[PORT_FORCE] = force;
    out[PORT_ENERGY_WHILE_FORCE_LIMITED] =
        limited > s->port[index].force_limited_tick_count ? out[PORT_ABSORBED_ENERGY] : NAN;
    s->port[index].force_limited_tick_count = limited;
}

/* A port has the colour of that of the same name in the first session; -1: it is not drawn there.
 */
static int find_port_in_first_session(const struct plot_session *s, int session, int port)
{
    return plot_find_in_first_session(s, s->port_count, session, port, get_port_name);
}

static const char *get_port_colour(const struct plot_session *s, int session, int port,
                                   const char *const colours[6])
{
    const int first = find_port_in_first_session(s, session, port);
    return colours[first < 0 ? PLOT_COLOUR_OF_UNMATCHED_OBJECTS : first];
}

/* Draws a column of values of each port; a second session is dashed. `named`: the names are in the
 * key. Returns the number of curves. */
static int draw_port_curves(FILE *to, const struct plot_session *s, int count,
                            const char *const colours[6], int which, int named)
{
    int drawn_port_count = 0;
    for (int a = 0; a < count; a++) {
        for (int i = 0; i < s[a].port_count; i++) {
            char name[MAX_SHOWN_TEXT_BYTES] = "";
            if (named && (a == 0 || find_port_in_first_session(s, a, i) < 0)) {
                text_shorten_to_width(get_port_name(&s[a], i), MAX_PORT_NAME_WIDTH,
                                      PLOT_SMALL_TEXT_SIZE, 0, name, sizeof name);
            }
            fprintf(to, "%s$%c u 1:%d w l dt %s lw %g lc rgb '%s' t ",
                    drawn_port_count++ ? ", \\\n  " : "plot ", 'A' + a,
                    plot_port_column(&s[a], i, which) + 2, a ? "(6,4)" : "1", a ? 1.5 : 2.0,
                    get_port_colour(s, a, i, colours));
            drawing_print_quoted(to, "", name);
        }
    }
    return drawn_port_count;
}

/* Draws the smallest energy so far of each port as a thin line, and points in ticks in which its
 * force was limited. */
static void draw_least_energy_and_limited_ticks(FILE *to, const struct plot_session *s, int count,
                                                const char *const colours[6])
{
    for (int a = 0; a < count; a++) {
        for (int i = 0; i < s[a].port_count; i++) {
            fprintf(to, ", \\\n  $%c u 1:%d w l dt 3 lw 1.2 lc rgb '%s' notitle", 'A' + a,
                    plot_port_column(&s[a], i, PORT_LEAST_ENERGY) + 2,
                    get_port_colour(s, a, i, colours));
            fprintf(to, ", \\\n  $%c u 1:%d w p pt 7 ps 0.5 lc rgb '#D00000' notitle", 'A' + a,
                    plot_port_column(&s[a], i, PORT_ENERGY_WHILE_FORCE_LIMITED) + 2);
        }
    }
}

void plot_ports(FILE *to, const struct plot_session *s, int count, int row,
                const char *const colours[6],
                void (*frame)(FILE *to, int column, int row, const char *title))
{
    int left_out = 0, name_count = 0;
    for (int a = 0; a < count; a++) {
        left_out += s[a].undrawn_object_counts[4];
        for (int i = 0; i < s[a].port_count; i++) {
            name_count += a == 0 || find_port_in_first_session(s, a, i) < 0;
        }
    }
    const int key_row_count = (name_count + 2) / 3;
    frame(to, 0, row, "Energy absorbed [mJ]; dotted: least; red: generated");
    fprintf(to, PLOT_KEY_ABOVE_CURVES, key_row_count, 0.1 + 0.1 * key_row_count);
    fputs("set ytics nomirror; set yrange [*<0:0.001<*]\n"
          "set object 1 rectangle from graph 0, graph 0 to graph 1, first 0 fc rgb '#D00000' "
          "fs transparent solid 0.1 noborder behind\n",
          to);
    draw_port_curves(to, s, count, colours, PORT_ABSORBED_ENERGY, 1);
    draw_least_energy_and_limited_ticks(to, s, count, colours);
    fputs("\nunset object 1; set offsets 0, 0, 0, 0\n", to);
    frame(to, 1, row, "Force [N], torque [N m]");
    fputs("set ytics nomirror; set yrange [0:0.001<*]\n", to);
    if (left_out > 0) {
        fprintf(to,
                "set label 81 'and %d further ports, not drawn' at graph 1, graph 1.085 right "
                "tc rgb '#B00020' font ',11'\n",
                left_out);
    }
    draw_port_curves(to, s, count, colours, PORT_FORCE, 0);
    fputs("\n", to);
}
