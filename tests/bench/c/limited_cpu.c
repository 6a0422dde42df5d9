/* Preloaded beside a library that limit_cpu.py wrote: its CPUID instructions, which are UD2 there,
 * tell of a processor that has AVX2 and FMA, and nothing of AVX-512, AVX-VNNI and AMX. Other uses
 * of UD2 end the process, as they do without this.
 *
 *   cc -O1 -shared -fPIC limited_cpu.c -o liblimited_cpu.so
 */
#define _GNU_SOURCE
#include <cpuid.h>
#include <signal.h>
#include <string.h>
#include <ucontext.h>

static struct sigaction before;

/* Bits of leaf 7 and its part 1, as in Intel's manual, volume 2A, CPUID. */
enum {
  /* AVX512 F, DQ, IFMA, PF, ER, CD, BW, VL */
  kEbx = 1u << 16 | 1u << 17 | 1u << 21 | 1u << 26 | 1u << 27 | 1u << 28 | 1u << 30 | 1u << 31,
  /* VBMI, VBMI2, VNNI, BITALG, VPOPCNTDQ */
  kEcx = 1u << 1 | 1u << 6 | 1u << 11 | 1u << 12 | 1u << 14,
  /* 4VNNIW, 4FMAPS, VP2INTERSECT, AMX-BF16, FP16, AMX-TILE, AMX-INT8 */
  kEdx = 1u << 2 | 1u << 3 | 1u << 8 | 1u << 22 | 1u << 23 | 1u << 24 | 1u << 25,
  /* AVX-VNNI, AVX512-BF16, AMX-FP16, AVX-IFMA */
  kEax1 = 1u << 4 | 1u << 5 | 1u << 21 | 1u << 23,
  /* AVX-VNNI-INT8, AVX-NE-CONVERT, AVX-VNNI-INT16 */
  kEdx1 = 1u << 4 | 1u << 5 | 1u << 10
};

static void on_undefined(int number, siginfo_t* info, void* context) {
  (void)number;
  (void)info;
  greg_t* r = ((ucontext_t*)context)->uc_mcontext.gregs;
  const unsigned char* at = (const unsigned char*)r[REG_RIP];
  const unsigned leaf = (unsigned)r[REG_RAX], part = (unsigned)r[REG_RCX];
  if (at[0] != 0x0f || at[1] != 0x0b || (leaf > 0x40u && leaf < 0x40000000u)) {
    sigaction(SIGILL, &before, 0);
    return;
  }
  unsigned a, b, c, d;
  __cpuid_count(leaf, part, a, b, c, d);
  if (leaf == 7 && part == 0) {
    b &= ~kEbx;
    c &= ~kEcx;
    d &= ~kEdx;
  } else if (leaf == 7 && part == 1) {
    a &= ~kEax1;
    d &= ~kEdx1;
  }
  r[REG_RAX] = a;
  r[REG_RBX] = b;
  r[REG_RCX] = c;
  r[REG_RDX] = d;
  r[REG_RIP] += 2;
}

__attribute__((constructor)) static void start(void) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_sigaction = on_undefined;
  action.sa_flags = SA_SIGINFO | SA_NODEFER;
  sigaction(SIGILL, &action, &before);
}
