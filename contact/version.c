#include "contact/version.h"

#include <errno.h>

const char *tact_version(void)
{
    return TACT_VERSION;
}

uint32_t tact_abi_version(void)
{
    return TACT_ABI_VERSION;
}

int tact_abi_check(const struct tact_abi *abi, size_t size)
{
    return abi && abi->size == size && abi->version == TACT_ABI_VERSION ? 0 : -EINVAL;
}
