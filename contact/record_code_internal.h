/* Where the linker puts functions that run in few ticks. */
#ifndef TACT_CONTACT_RECORD_CODE_INTERNAL_H
#define TACT_CONTACT_RECORD_CODE_INTERNAL_H

/* Attribute of the functions that make the record of a tick, or copy its state for a viewer: the
 * linker puts them side by side. Where only some ticks do so their code has left the caches and the
 * TLB by then, and a page of code that was not used for 17 ms takes about 0.2 us. */
#define TACT_IN_TICK_RECORD_SECTION __attribute__((section("tact_record_code")))

#endif
