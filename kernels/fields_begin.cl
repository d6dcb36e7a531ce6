/* What makes contact/vec.h and contact/pair/field/field_cut.c, which follow, OpenCL C 1.2. */
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#pragma OPENCL FP_CONTRACT OFF

typedef uchar uint8_t;
typedef short int16_t;
typedef int int32_t;
typedef uint uint32_t;
typedef ulong uint64_t;
#undef UINT32_MAX
#define UINT32_MAX UINT_MAX
#undef NULL
#define NULL 0

#define half half_side /* a type of OpenCL C, and a member of a struct of the host */

#define FIELD_GLOBAL_ADDRESS_SPACE __global
#define FIELD_CONSTANT_ADDRESS_SPACE __constant

double tact_sin(double x);
double tact_cos(double x);
double tact_atan2(double y, double x);
