/* --from and --to: a part of a session, written the same way for every subcommand. */
#ifndef TACT_EXAMPLES_RANGE_H
#define TACT_EXAMPLES_RANGE_H

#define RANGE_OPTIONS_HELP                                                                         \
    "  --from T          use the ticks from T on: a time, 1.5s or 1500ms, or a tick, 1500\n"       \
    "  --to T            use the ticks before T: a time, 1.5s or 1500ms, or a tick, 1500\n"

struct range {
    double at[2];              /* --from, --to: tick or time [s] */
    int is_end_set_by_user[2]; /* 1: by the person */
    int in_seconds;            /* bit 0: at[0], bit 1: at[1] is a time */
};

/* Parses the text of --from, end 0, or --to, end 1. 0, or EXIT_USAGE with a message. */
int range_parse_end(struct range *range, const char *command, int end, const char *text);

/* Refuses a range that is empty for any log. Call it once all options are read. Returns 0, or
 * EXIT_USAGE after a message. */
int range_check_not_empty(const struct range *range, const char *command);

#endif
