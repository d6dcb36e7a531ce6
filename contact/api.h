/** Symbol visibility and C linkage; included by every public header. */
#ifndef TACT_CONTACT_API_H
#define TACT_CONTACT_API_H

#if defined(TACT_BUILDING)
#define TACT_API __attribute__((visibility("default")))
#else
#define TACT_API
#endif

#ifdef __cplusplus
#define TACT_BEGIN_DECLS extern "C" {
#define TACT_END_DECLS }
#else
#define TACT_BEGIN_DECLS
#define TACT_END_DECLS
#endif

#endif
