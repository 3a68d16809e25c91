/* From reset to main() on the Cortex-M boards that qemu emulates: vector table, floating point on, memory set up,
   a fault that ends the run instead of hanging it, and semihosting in place of a console driver. */
#include "semihosting.h"

#include <stddef.h>

enum { SYS_WRITE0 = 0x04, SYS_EXIT_EXTENDED = 0x20, APPLICATION_EXIT = 0x20026, FAULT_STATUS = 99 };

extern uint32_t data_begin[], data_end[], data_image[], bss_begin[], bss_end[], stack_top[];
int main(void);
void reset(void);
void report_fault(const uint32_t *frame);

static void semihost(int operation, const void *argument)
{
    register int r0 __asm__("r0") = operation;
    register const void *r1 __asm__("r1") = argument;
    __asm__ volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
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

/* The eight words that the processor stacked: r0-r3, r12, lr, pc, psr. */
void report_fault(const uint32_t *frame)
{
    char line[] = "fault cfsr 00000000 pc 00000000\n";
    (void)hexadecimal(line + 11, *(volatile uint32_t *)0xE000ED28u, 8);
    (void)hexadecimal(line + 23, frame[6], 8);
    host_write(line);
    host_exit(FAULT_STATUS);
}

__attribute__((naked)) static void fault(void)
{
    __asm__ volatile("mrs r0, msp\n b report_fault");
}

/* The timer's interrupt, number 15; a program that starts the timer defines it. */
void timer_tick(void) __attribute__((weak, alias("fault")));

typedef void handler(void);

/* Initial stack pointer, then one handler per exception number from 1 (reset) on. */
__attribute__((section(".vectors"), used)) static const struct {
    uint32_t *stack;
    handler *exception[15];
} vectors = {stack_top, {reset, fault, fault, fault, fault, fault, fault, NULL, NULL, NULL, fault, fault, NULL, fault, timer_tick}};

void reset(void)
{
#if defined(__ARM_FP)
    *(volatile uint32_t *)0xE000ED88u |= 0xFu << 20; /* CPACR: full access to coprocessors 10 and 11, the FPU */
    __asm__ volatile("dsb\n isb" ::: "memory");
#endif
    for (volatile uint32_t *to = data_begin, *from = data_image; to < data_end;)
        *to++ = *from++;
    for (volatile uint32_t *to = bss_begin; to < bss_end;)
        *to++ = 0;
    host_exit(main());
}
