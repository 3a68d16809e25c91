/* Words to the machine that runs or emulates the board: no C library, no heap. */
#ifndef SEMIHOSTING_H
#define SEMIHOSTING_H

#include <stdint.h>

/* The status of a run that a fault ended. */
#define FAULT_STATUS 99

/* Text to the debugger's console; qemu sends it where -semihosting-config says. */
void host_write(const char *text);

/* Ends the program; qemu's exit status becomes `status`. */
__attribute__((noreturn)) void host_exit(int status);

/* The low 4 * digits bits of `value` in hexadecimal, at `to`; returns the end, where no 0 is written. */
char *hexadecimal(char *to, uint64_t value, int digits);

/* For the start-up code: sets up memory, calls main() and ends with its status. */
__attribute__((noreturn)) void run_main(void);

#endif
