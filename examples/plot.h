/* A session as columns to be drawn, and the page that draws them. */
#ifndef TACT_EXAMPLES_PLOT_H
#define TACT_EXAMPLES_PLOT_H

#include <stdio.h>
#include "range.h"
#include "survey.h"

#define PLOT_PAGE_WIDTH 1400 /* [pixels] */
/* size of the text of 11 points, at 4/3 pixels each [pixels] */
#define PLOT_SMALL_TEXT_SIZE (11.0 * 4.0 / 3.0)
#define PLOT_MAX_PAIRS 6  /* maximum number of pairs drawn, those with the largest force */
#define PLOT_MAX_JOINTS 6 /* maximum number of joints drawn, those that move most */
#define PLOT_MAX_BODIES 4 /* maximum number of bodies drawn, those that move most */
#define PLOT_MAX_HOLDS 4  /* maximum number of bodies in hands drawn, those with most grip force */
#define PLOT_MAX_PORTS 6  /* maximum number of ports drawn, those with the largest force */
#define PLOT_MAX_TIES 6   /* maximum number of ties drawn: a link has at most as many axes */
/* index of the colour for objects that the first session does not draw */
#define PLOT_COLOUR_OF_UNMATCHED_OBJECTS 5
/* number of time intervals, of each of which the least and the largest value are drawn */
#define PLOT_MAX_TIME_INTERVALS 500
#define PLOT_MAX_DRAWN_PRESSURE_CENTRES                                                            \
    200                         /* maximum number of ticks whose centre of pressure is drawn */
#define PLOT_HISTOGRAM_BINS 120 /* bins of a latency histogram, 20 a decade from 0.1 us */
#define PLOT_MAX_TIME_MARKS 12  /* maximum number of marks on the time axis */
/* maximum number of channels of devices, drawn if there is nothing else */
#define PLOT_MAX_CHANNELS 48
#define PLOT_MAX_COLUMNS                                                                           \
    (8 * PLOT_MAX_PAIRS + 3 * PLOT_MAX_JOINTS + 2 * PLOT_MAX_BODIES + PLOT_MAX_CHANNELS +          \
     HOLD_COLUMNS * PLOT_MAX_HOLDS + PORT_COLUMNS * PLOT_MAX_PORTS + TIE_COLUMNS * PLOT_MAX_TIES + \
     LINK_COLUMNS + 2)

/* Key in a panel, above the curves, for which a part of the panel is left free: rows of names, and
 * that part */
#define PLOT_KEY_ABOVE_CURVES                                                                      \
    "set key at graph 0.01, graph 0.98 left top Left reverse maxrows %d samplen 1.5 spacing 0.9 "  \
    "font ',10'\nset offsets 0, 0, graph %g, 0\n"

/* Columns of a pair, one after the other. */
enum {
    PAIR_NORMAL_FORCE,
    PAIR_FRICTION,
    PAIR_FRICTION_LIMIT,
    PAIR_TORSION,
    PAIR_TORSION_LIMIT,
    PAIR_SLIDING_FRICTION, /* friction force in ticks in which the contact slides, else NaN */
    PAIR_SPINNING_TORSION, /* torsion in ticks in which the contact spins, else NaN */
    PAIR_COLUMNS
};

/* Columns of a body in a hand. */
enum {
    HOLD_GRIP_FORCE,         /* [N] */
    HOLD_LOAD_FORCE,         /* [N] */
    HOLD_GRIP_TO_LOAD_RATIO, /* ratio of grip to load force; NaN: not loaded */
    HOLD_SLIP_DISTANCE,      /* distance of all slip so far [mm] */
    HOLD_SLIP_ANGLE,         /* angle of all slip so far [deg] */
    HOLD_COLUMNS
};

/* Columns of a port at which a person holds a device. */
enum {
    PORT_ABSORBED_ENERGY,            /* energy that the port has absorbed so far [mJ] */
    PORT_LEAST_ENERGY,               /* smallest absorbed energy so far [mJ] */
    PORT_FORCE,                      /* magnitude of the force or torque at the port [N], [N m] */
    PORT_ENERGY_WHILE_FORCE_LIMITED, /* the energy in ticks in which the force was limited for
                            passivity, else NaN */
    PORT_COLUMNS
};

/* Columns of a tie to another site. */
enum {
    TIE_FORCE,             /* force of the tie on its joint [N], [N m] */
    TIE_DRAG,              /* that force against the joint's motion at a person's end, and with it
                              at a robot's [N], [N m]; NaN: the joint hardly moves */
    TIE_CORRECTION_ENERGY, /* energy left for corrections of its position [mJ]; NaN: it makes none
                            */
    TIE_COLUMNS
};

/* Columns of the link that carries the ties; NaN where the device has no such channel. */
enum {
    LINK_ONE_WAY_DELAY,   /* half of the least round trip of late [ms]; NaN: not known */
    LINK_ROUND_TRIP_TIME, /* round trip of a wave, with the waits of both ends [ms]; NaN: not known
                           */
    LINK_PLAYOUT_FILL,    /* waves that wait to be used [ms] */
    LINK_IS_SILENT,       /* 0 in ticks in which the device is stale or lost, else NaN */
    LINK_LOST_PACKETS,    /* so far */
    LINK_LATE_PACKETS,
    LINK_MISSING_WAVES,
    LINK_ENERGY,       /* energy in the channel [mJ] */
    LINK_LEAST_ENERGY, /* smallest energy in the channel so far [mJ] */
    LINK_COLUMNS
};

/* The least and the largest value of each column in a stretch of time. */
struct plot_time_interval {
    double time;   /* middle [s] */
    int used, gap; /* gap: ticks are missing before it */
    double low[PLOT_MAX_COLUMNS], high[PLOT_MAX_COLUMNS];
};

struct plot_pair {
    int pair; /* index of the pair in the scene log */
    int pressure_centre_count, corner_count;
    /* centres of pressure, along the patch's axes from its centre, as far out in the last patch as
     * in that of its tick [m] */
    double centre[PLOT_MAX_DRAWN_PRESSURE_CENTRES][2];
    double corner[TACT_PATCH_CORNERS][2]; /* corners of the patch at the last touch [m] */
    /* largest pressure of all contacts then; NULL: no pressure of this pair */
    struct tact_pressure *pressure;
    double patch_frame[9]; /* frame of the patch at the last touch: centre, then its axes as rows,
                              world */
    int first;             /* index of the pair's first patch in the pressure map */
    int has_pressure_polygons; /* 1 where the pressure map of that tick has polygons of the pair */
    double peak, load;         /* peak [Pa] and resultant force [N] of the pair's pressure */
};

/* Rotation of a body since the start, over any number of turns. */
struct plot_body_rotation {
    double axis[3]; /* axis of the rotation from the start, as last determined */
    double angle;   /* angle of the rotation about that axis [rad] */
};

struct plot_time_mark {
    double time;          /* [s] */
    int is_mark_of_fault; /* 1: a fault or a loss */
    char text[64];
};

struct plot_session {
    const char *path;
    struct tact_log *log;
    struct tact_scene_log scene_log;
    struct log_survey log_survey;
    struct range range; /* --from and --to */
    uint64_t ticks[2];  /* ticks that are drawn: the first, and the one after the last */
    double from, to;    /* times of these two ticks [s] */
    double duration;    /* duration of the whole session [s] */
    /* time added to all times of the session, which converts them to the clock of the other session
     * [s]; 0: none */
    double shift;
    double clock_shift_error; /* largest error of `shift` [s] */
    int is_other_end_of_link; /* 1: the session is of the other end of the first one's link */
    struct plot_pair pair[PLOT_MAX_PAIRS];
    int joint[PLOT_MAX_JOINTS]; /* joints of the scene: those of hands, then those of mechanisms */
    int body[PLOT_MAX_BODIES];  /* index of the body in the scene log */
    int hold[PLOT_MAX_HOLDS];   /* index of the hold in the scene log */
    struct {
        int port;                        /* index of the port in the scene log */
        double force_limited_tick_count; /* number of limited ticks up to the tick before */
    } port[PLOT_MAX_PORTS];
    struct {
        struct tact_scene_log_remote log;
        uint32_t axis;     /* number of the tie on the link, the same at both ends */
        int is_person_end; /* 1: its joint is the end of the line, as where a person holds it */
        double tank;       /* largest energy for corrections of its position [J]; 0: none */
        uint32_t velocity; /* offset of the rate of its joint; 0: it is not in the log */
    } tie[PLOT_MAX_TIES];
    int tie_count, undrawn_tie_count;
    uint32_t link_state_offset;                /* offset of the state of the ties' device */
    uint32_t link_input_offsets[LINK_COLUMNS]; /* offsets of its inputs by column; 0: it has none */
    int pair_count, joint_count, body_count, hold_count, port_count;
    int undrawn_object_counts[5]; /* numbers of pairs that touched, of joints, of bodies, of bodies
                        in hands and of ports that are not drawn */
    struct plot_body_rotation body_rotation[PLOT_MAX_BODIES];
    double last_hinge_angle[PLOT_MAX_JOINTS]; /* last angle of a mechanism's hinge, over all turns
                                                 [rad] */
    struct tact_pressure *pressure;           /* pressure of the tick that was run last */
    struct tact_histogram wake_latency, compute; /* latencies of the ticks that are drawn [ns] */
    struct {
        int device, channel; /* indices of device and channel in the scene log */
        uint32_t offset;
    } channel[PLOT_MAX_CHANNELS]; /* channels that change, in sessions without pairs, joints and
                                     bodies */
    int channel_count;
    int is_real_time; /* 1: real time, so that there is a wake latency */
    struct plot_time_interval values_by_time_interval[PLOT_MAX_TIME_INTERVALS];
    uint64_t wake_latency_bins[PLOT_HISTOGRAM_BINS], compute_time_bins[PLOT_HISTOGRAM_BINS];
    struct plot_time_mark mark[PLOT_MAX_TIME_MARKS];
    int time_mark_count;
};

/* Column numbers in the values of a time interval. */
int plot_pair_column(int pair, int which);
int plot_joint_column(const struct plot_session *s,
                      int joint); /* position, then target or NaN [deg] or [mm] */
int plot_body_column(const struct plot_session *s, int body); /* tilt [deg], then moved [mm] */
int plot_channel_column(const struct plot_session *s, int channel);

int plot_joint_stop_column(const struct plot_session *s,
                           int joint); /* position where it is at a stop, else NaN [deg] or [mm] */
int plot_hold_column(const struct plot_session *s, int hold, int which);
int plot_tie_column(const struct plot_session *s, int tie, int which);
int plot_link_column(const struct plot_session *s, int which);
int plot_port_column(const struct plot_session *s, int port, int which);
/* Index, among the `count` pairs, bodies in hands or ports that are drawn of the first session, of
 * the one with the name of `index` of another session; -1: it is not drawn there. */
int plot_find_in_first_session(const struct plot_session *s, int count, int session, int index,
                               const char *(*name_of)(const struct plot_session *s, int index));

/* Name of a joint that is drawn, and whether it slides [mm] or turns [deg]. */
const char *plot_joint_name(const struct plot_session *s, int joint);
int plot_is_joint_prismatic(const struct plot_session *s, int joint);
int plot_latency_column(const struct plot_session *s); /* wake, compute [us] */

/* plot_data.c: opens the log and fills everything. 0 or a negative errno with *err filled; to be
 * closed whatever comes back. range is set before. */
int plot_open_session(struct plot_session *s, const char *path, struct tact_error *err);
void plot_close_session(struct plot_session *s);

/* plot_clock.c: where two sessions are the ends of one link, moves the second to the clock of the
 * first. Returns 0, or 1 where they are of two ends that were not connected with each other. */
int plot_align_session_clocks(struct plot_session *sessions);

/* plot_marks.c: first touches, releases, events, faults, gaps. */
void plot_collect_time_marks(struct plot_session *s, const double *first_touch_times);

/* plot_page.c: the page as a script for gnuplot. terminal: "pngcairo", "svg", "pdfcairo" or
 * NULL, for a script that opens a window where there is one. */
void plot_write_page(FILE *to, const struct plot_session *sessions, int count,
                     const char *terminal);

/* Writes the range of the vertical axis of a panel. An impact of a few ticks would compress all
 * other values: if the largest fiftieth of the values is far above the others, the axis ends below
 * it, and the panel states it. value: magnitudes by time interval, which are sorted. height:
 * of the axis relative to a usual one, for text above the curves. zero_magnitude_limit: values up
 * to it are drawn as zero. */
void plot_write_robust_axis_range(FILE *to, double *value, size_t used, double height,
                                  int lower_limit_sign, double zero_magnitude_limit);

const char *plot_pair_name(const struct plot_session *s, int pair);
/* Index of the colour of a pair, the same in both sessions by its name. */
int plot_pair_colour(const struct plot_session *s, int session, int pair);

/* plot_heading.c: the name of the scene, and a line for each session. */
void plot_heading(FILE *to, const struct plot_session *sessions, int count);

/* plot_legend.c: starts and ends the legend: the names of the curves, and the number of objects
 * not drawn. */
void plot_legend(FILE *to, const struct plot_session *sessions, int count,
                 const char *const colours[6]);
void plot_legend_remove_labels(FILE *to);

/* plot_pressure.c: stores the pressure of a pair in the tick that was run last. Returns 0 or
 * -ENOMEM. */
int plot_pressure_store(const struct plot_session *s, struct plot_pair *pair,
                        const struct tact_patch *patch);
/* plot_pressure() draws it in a panel, dark at 0 and light at the peak, with the position and
 * scale of the patch's outline; plot_pressure_remove_objects() removes all of them. */
void plot_pressure(FILE *to, const struct plot_pair *pair, double x0, double scale,
                   int *gnuplot_object_count);
void plot_pressure_remove_objects(FILE *to, int gnuplot_object_count);

/* plot_centres.c: adds the centre of pressure of a contact whose outline is in pair->corner. After
 * the last one, plot_scale_pressure_centres() places all of them in the last outline, which is
 * drawn: each as far out as it was in that of its tick, so that none is outside of a patch that has
 * changed. */
void plot_add_pressure_centre(struct plot_pair *pair, const struct tact_contact *contact);
void plot_scale_pressure_centres(struct plot_pair *pair);

/* plot_holds.c: how bodies are held. plot_holds() draws the panels in a row of the page, whose
 * frames it gets as commands for gnuplot from frame(). */
const char *plot_hold_name(const struct plot_session *s, int hold);
/* Index of the colour of a body in a hand, the same in both sessions by its name. */
int plot_hold_colour(const struct plot_session *s, int session, int hold);
void plot_holds(FILE *to, const struct plot_session *sessions, int count, int row,
                const char *const colours[6],
                void (*frame)(FILE *to, int column, int row, const char *title));

/* plot_ports.c: fills the columns of a port from the values of a tick, ticks in their order. */
void plot_fill_port_columns(struct plot_session *s, int port, const double *values, double *out);
/* Draws the panels of the ports in a row of the page, as plot_holds(). */
void plot_ports(FILE *to, const struct plot_session *sessions, int count, int row,
                const char *const colours[6],
                void (*frame)(FILE *to, int column, int row, const char *title));

/* plot_links.c: chooses the ties to another site that are drawn: those of the first one's link. */
void plot_choose_ties(struct plot_session *s);
/* Fills the columns of the ties and of their link from the values of a tick. */
void plot_fill_tie_columns(const struct plot_session *s, const double *values, double *out);
/* Draws the panels of the ties in two rows of the page, as plot_holds() draws those of holds. */
#define PLOT_LINK_ROWS 2
void plot_links(FILE *to, const struct plot_session *sessions, int count, int row,
                const char *const colours[6],
                void (*frame)(FILE *to, int column, int row, const char *title));

/* plot_channels.c: the panels of a session that has channels only. */
void plot_channels(FILE *to, const struct plot_session *sessions, int count);

/* plot_table.c: the columns as the data blocks of that script, $A... of session 0,
 * $B... of 1. */
void plot_write_data_blocks(FILE *to, const struct plot_session *s, char session_letter);

#endif
