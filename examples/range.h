/* --from and --to: a part of a session, written the same way for every subcommand. */
#ifndef TACT_EXAMPLES_RANGE_H
#define TACT_EXAMPLES_RANGE_H

#define RANGE_OPTIONS_HELP                                                                         \
    "  --from T, --to T  only the ticks from T on, or before T: a time with its unit, 1.5s or\n"   \
    "                    1500ms, or a whole number for a tick\n"

struct range {
    double at[2];   /* --from, --to: tick or time [s] */
    int given[2];   /* 1: by the person */
    int in_seconds; /* bit 0: at[0], bit 1: at[1] is a time */
};

/* Parses the text of --from, end 0, or --to, end 1. 0, or EXIT_USAGE with a message. */
int range_parse_end(struct range *range, const char *command, int end, const char *text);

/* Refuses a range that is empty for any log. Call it once all options are read. Returns 0, or
 * EXIT_USAGE after a message. */
int range_check_not_empty(const struct range *range, const char *command);

#endif
