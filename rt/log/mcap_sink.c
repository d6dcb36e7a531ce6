/* An MCAP file as the sink of encoded messages. */
#include "encode_internal.h"

static int mcap_schema(void *self, const char *name, const void *text, size_t size)
{
    return tact_mcap_writer_schema(self, name, text, size);
}

static int mcap_channel(void *self, int schema, const char *topic)
{
    return tact_mcap_writer_channel(self, schema, topic);
}

static struct tact_bytes *mcap_begin(void *self, int channel, uint64_t time_ns)
{
    return tact_mcap_writer_begin_message(self, channel, time_ns);
}

static void mcap_end(void *self)
{
    tact_mcap_writer_end_message(self);
}

struct tact_message_sink tact_mcap_sink(struct tact_mcap_writer *writer)
{
    return (struct tact_message_sink){writer, mcap_schema, mcap_channel, mcap_begin, mcap_end};
}
