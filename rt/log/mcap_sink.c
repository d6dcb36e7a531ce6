/* An MCAP file as the sink of encoded messages. */
#include "encode_internal.h"

static int add_mcap_schema(void *self, const char *name, const void *text, size_t size)
{
    return tact_mcap_writer_add_schema(self, name, text, size);
}

static int add_mcap_channel(void *self, int schema, const char *topic)
{
    return tact_mcap_writer_add_channel(self, schema, topic);
}

static struct tact_bytes *begin_mcap_message(void *self, int channel, uint64_t time_ns)
{
    return tact_mcap_writer_begin_message(self, channel, time_ns);
}

static void end_mcap_message(void *self)
{
    tact_mcap_writer_end_message(self);
}

struct tact_message_sink tact_mcap_message_sink(struct tact_mcap_writer *writer)
{
    return (struct tact_message_sink){writer, add_mcap_schema, add_mcap_channel, begin_mcap_message,
                                      end_mcap_message};
}
