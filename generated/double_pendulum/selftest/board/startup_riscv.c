/* Start-up code of qemu's 32-bit RISC-V board `virt`: it turns floating point on, and a trap ends the run. */
#include "semihosting.h"

void reset(void);
void report_fault(uint32_t cause, uint32_t pc);

void report_fault(uint32_t cause, uint32_t pc)
{
    char line[] = "fault mcause 00000000 pc 00000000\n";
    (void)hexadecimal(line + 13, cause, 8);
    (void)hexadecimal(line + 25, pc, 8);
    host_write(line);
    host_exit(FAULT_STATUS);
}

__attribute__((naked, aligned(4))) static void fault(void)
{
    __asm__ volatile("csrr a0, mcause\n csrr a1, mepc\n j report_fault");
}

/* Sets the stack pointer, the trap handler, and the FS field of mstatus, which turns the floating-point unit on. */
__attribute__((naked, section(".vectors"))) void reset(void)
{
    __asm__ volatile("la sp, stack_top\n la t0, %0\n csrw mtvec, t0\n li t0, 0x2000\n csrs mstatus, t0\n csrw fcsr, x0\n j run_main" ::"i"(fault));
}
