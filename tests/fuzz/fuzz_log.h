/* The fuzz target of the log reader. */
#ifndef TACT_TESTS_FUZZ_LOG_H
#define TACT_TESTS_FUZZ_LOG_H

#include <stddef.h>
#include <stdint.h>

/* libFuzzer's entry: one input. Aborts where the reader reports an intact file but cannot read
 * it. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif
