/* Start-up code of the Cortex-M boards that qemu emulates: the vector table, the start of the floating-point unit, and a
   handler that ends the run after a fault, which would otherwise hang. */
#include "semihosting.h"

#include <stddef.h>

extern uint32_t stack_top[];
void reset(void);
void report_fault(const uint32_t *frame);

/* Reports a fault; `frame` has the eight words that the processor stacked: r0-r3, r12, lr, pc, psr. */
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
    run_main();
}
