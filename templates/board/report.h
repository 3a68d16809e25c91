/* The report of a self-test on a board without a C library's output. The compiler includes it by -include. */
#ifndef BOARD_REPORT_INCLUDED
#define BOARD_REPORT_INCLUDED

#include "semihosting.h"

/* Prints as the self-test does by itself, but with numbers in hexadecimal. */
static void report(const char *name, int failed, int wrong, int states, uint32_t bits, const char *verdict)
{
    char line[] = "00000000 wrong elements in 00 states, bits 00000000";
    (void)hexadecimal(line, (uint32_t)wrong, 8);
    (void)hexadecimal(line + 27, (uint32_t)states, 2);
    (void)hexadecimal(line + 43, bits, 8);
    host_write(name);
    host_write(failed ? ": FAILED, " : ": ok, ");
    host_write(line);
    host_write(verdict);
    host_write("\n");
}

#endif
