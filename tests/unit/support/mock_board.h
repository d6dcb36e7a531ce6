/* Functions in place of comedi's library that every simulated board of a guard's test has. */
#ifndef TACT_TESTS_MOCK_BOARD_H
#define TACT_TESTS_MOCK_BOARD_H

#include <comedilib.h>

comedi_t *comedi_open(const char *path)
{
    static int node;
    (void)path;
    return (comedi_t *)&node;
}

int comedi_close(comedi_t *dev)
{
    (void)dev;
    return 0;
}

const char *comedi_get_driver_name(comedi_t *dev)
{
    (void)dev;
    return "driver";
}

const char *comedi_get_board_name(comedi_t *dev)
{
    (void)dev;
    return "name";
}

int comedi_lock(comedi_t *dev, unsigned int subdevice)
{
    (void)dev;
    (void)subdevice;
    return 0;
}

#endif
