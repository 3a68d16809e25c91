/* What a self-test on a board reports with, given to the compiler by -include. */
#ifndef REPORT_H
#define REPORT_H

#include "semihosting.h"

static void report(const char *name, int wrong, int states, uint32_t bits)
{
    char line[] = " 00000000 00000000 00000000\n";
    (void)hexadecimal(line + 1, (uint32_t)wrong, 8);
    (void)hexadecimal(line + 10, (uint32_t)states, 8);
    (void)hexadecimal(line + 19, bits, 8);
    host_write(name);
    host_write(line);
}

#endif
