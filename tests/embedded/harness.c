/* Calls one function with the inputs of cases.h and writes the bits of its outputs, on a board or (-DHOST) here. */
#include "cases.h" /* REAL, CASES, INPUTS, OUTPUTS, inputs, CALL(in, out) */

#include <stdint.h>
#include <string.h>

#ifdef HOST
#include <stdio.h>
static void host_write(const char *text)
{
    fputs(text, stdout);
}
static char *hexadecimal(char *to, uint64_t value, int digits)
{
    return to + sprintf(to, "%0*llx", digits, (unsigned long long)value);
}
#else
#include "semihosting.h"
#endif

static REAL outputs[OUTPUTS];

static void call(int k)
{
    CALL(inputs[k], outputs);
}

#ifndef HOST
/* The stack of a call at most: all memory below the stack pointer is filled with a pattern, and the lowest changed
   word is found after the call. The words next to sp are not filled, as the compiler may save a register there. */
enum { SPARE = 16 };
#define PATTERN 0x5AA5C33Cu
extern uint32_t stack_limit[];

static __attribute__((noinline)) uint32_t stack_of_call(int k)
{
    uint32_t *sp;
    volatile uint32_t *word;
#if defined(__riscv)
    __asm__ volatile("mv %0, sp" : "=r"(sp));
#else
    __asm__ volatile("mov %0, sp" : "=r"(sp));
#endif
    for (word = stack_limit; word < sp - SPARE; ++word)
        *word = PATTERN;
    CALL(inputs[k], outputs);
    for (word = stack_limit; *word == PATTERN;)
        ++word;
    return (uint32_t)sp - (uint32_t)word;
}

static void write_stack(int k)
{
    char line[] = "stack 00000000\n";
    (void)hexadecimal(line + 6, stack_of_call(k), 8);
    host_write(line);
}
#endif

static void write_outputs(void)
{
    char line[24];
    for (int i = 0; i < OUTPUTS; ++i) {
        uint64_t bits = 0;
        memcpy(&bits, &outputs[i], sizeof(REAL)); /* all machines here are little-endian */
        char *end = hexadecimal(line, bits, 2 * (int)sizeof(REAL));
        *end++ = '\n';
        *end = '\0';
        host_write(line);
    }
}

int main(void)
{
    for (int k = 0; k < CASES; ++k) {
        call(k);
        write_outputs();
#ifndef HOST
        write_stack(k);
#endif
    }
    host_write("end\n");
    return 0;
}
