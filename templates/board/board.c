/* The common part of all boards: it sets up memory, runs main(), and writes by semihosting, without a console driver. */
#include "semihosting.h"

enum { SYS_WRITE0 = 0x04, SYS_EXIT_EXTENDED = 0x20, APPLICATION_EXIT = 0x20026 };

extern uint32_t data_begin[], data_end[], data_image[], bss_begin[], bss_end[];
int main(void);

static void semihost(int operation, const void *argument)
{
#if defined(__riscv)
    register int a0 __asm__("a0") = operation;
    register const void *a1 __asm__("a1") = argument;
    /* Debuggers recognise the call by these three uncompressed instructions, which must be in one line of the cache. */
    __asm__ volatile(".balign 16\n .option push\n .option norvc\n slli x0, x0, 0x1f\n ebreak\n srai x0, x0, 7\n .option pop"
                     : "+r"(a0) : "r"(a1) : "memory");
#else
    register int r0 __asm__("r0") = operation;
    register const void *r1 __asm__("r1") = argument;
    __asm__ volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
#endif
}

void host_write(const char *text)
{
    semihost(SYS_WRITE0, text);
}

void host_exit(int status)
{
    const uint32_t reason[2] = {APPLICATION_EXIT, (uint32_t)status};
    semihost(SYS_EXIT_EXTENDED, reason);
    for (;;) {
    }
}

char *hexadecimal(char *to, uint64_t value, int digits)
{
    for (int i = digits - 1; i >= 0; --i, value >>= 4)
        to[i] = "0123456789abcdef"[value & 15u];
    return to + digits;
}

void run_main(void)
{
    for (volatile uint32_t *to = data_begin, *from = data_image; to < data_end;)
        *to++ = *from++;
    for (volatile uint32_t *to = bss_begin; to < bss_end;)
        *to++ = 0;
    host_exit(main());
}
