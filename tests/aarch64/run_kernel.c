/* Runs one kernel on aarch64 Linux, for tests of code generation on other machines, under an
 * emulator:
 *
 *   clang --target=aarch64-linux-gnu -ffreestanding -fno-stack-protector -nostdlib -static -O1 -fuse-ld=lld \
 *       -o run_kernel tests/aarch64/run_kernel.c
 *   RELAYVM_RUN_AARCH64="qemu-aarch64 ./run_kernel" relayvm_codegen_tests
 *
 * Standard input, numbers of 8 bytes: bytes of RelayvmKernelEnv, bytes of the image, the image, the
 * kernel's address; how many buffers, and of each its bytes, whether it is a result, its content;
 * how many scalars, the scalars; bytes of scratch; units. Standard output: what the kernel returns,
 * the results. */
typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long u64;

static long Call(long number, long a, long b, long c, long d, long e) {
  register long x8 __asm__("x8") = number, x0 __asm__("x0") = a, x1 __asm__("x1") = b;
  register long x2 __asm__("x2") = c, x3 __asm__("x3") = d, x4 __asm__("x4") = e;
  register long x5 __asm__("x5") = 0;
  __asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5) : "memory");
  return x0;
}
enum { kRead = 63, kWrite = 64, kExit = 94, kMap = 222 };

void* memcpy(void* to, const void* from, u64 bytes) {
  for (u64 i = 0; i < bytes; ++i) ((u8*)to)[i] = ((const u8*)from)[i];
  return to;
}
void* memset(void* to, int value, u64 bytes) {
  for (u64 i = 0; i < bytes; ++i) ((u8*)to)[i] = (u8)value;
  return to;
}

static void Transfer(long call, long file, void* at, u64 bytes) {
  for (u64 done = 0; done < bytes;) {
    const long n = Call(call, file, (long)((u8*)at + done), (long)(bytes - done), 0, 0);
    if (n <= 0) Call(kExit, 1, 0, 0, 0, 0);
    done += (u64)n;
  }
}
static u64 Number(void) {
  u64 number;
  Transfer(kRead, 0, &number, sizeof number);
  return number;
}
/* Zeros that are readable, writable and executable: private, anonymous. */
static u8* Memory(u64 bytes) { return (u8*)Call(kMap, 0, (long)bytes + 64, 7, 0x22, -1); }
static u8* Content(u64 bytes) {
  u8* memory = Memory(bytes);
  Transfer(kRead, 0, memory, bytes);
  return memory;
}

/* The segments of an ELF file where they belong. */
static u8* Map(const u8* elf) {
  const u8* headers = elf + *(const u64*)(elf + 32);
  const int count = *(const u16*)(elf + 56);
  u64 end = 0;
  for (int i = 0; i < count; ++i) {
    const u64 last = *(const u64*)(headers + i * 56 + 16) + *(const u64*)(headers + i * 56 + 40);
    if (*(const u32*)(headers + i * 56) == 1 && last > end) end = last;
  }
  u8* base = Memory(end);
  for (int i = 0; i < count; ++i) {
    const u8* h = headers + i * 56;
    if (*(const u32*)h == 1)
      memcpy(base + *(const u64*)(h + 16), elf + *(const u64*)(h + 8), *(const u64*)(h + 32));
  }
  return base;
}

void Run(void) {
  struct {
    u32 size, num_threads;
    u64 rest[30];
  } env = {0};
  env.size = (u32)Number();
  env.num_threads = 1;
  u8* base = Map(Content(Number()));
  int (*kernel)(const void*, const void*, u32, u32) =
      (int (*)(const void*, const void*, u32, u32))(base + Number());
  const u64 buffers = Number();
  u8** at = (u8**)Memory(buffers * 8);
  u64* bytes = (u64*)Memory(buffers * 8);
  u64* is_result = (u64*)Memory(buffers * 8);
  for (u64 i = 0; i < buffers; ++i) {
    bytes[i] = Number();
    is_result[i] = Number();
    at[i] = Content(bytes[i]);
  }
  const u64 scalars = Number();
  u64* values = (u64*)Content(scalars * 8);
  u8* scratch = Memory(Number());
  const void* args[3] = {at, values, scratch};
  u64 code = (u64)kernel(&env, args, 0, (u32)Number());
  Transfer(kWrite, 1, &code, sizeof code);
  for (u64 i = 0; i < buffers; ++i) {
    if (is_result[i]) Transfer(kWrite, 1, at[i], bytes[i]);
  }
  Call(kExit, 0, 0, 0, 0, 0);
}

__asm__(".globl _start\n_start:\n  mov x29, #0\n  bl Run\n");
