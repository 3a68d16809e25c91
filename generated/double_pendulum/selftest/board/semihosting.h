/* Output to the machine that runs or emulates the board, without a C library and without a heap. */
#ifndef BOARD_SEMIHOSTING_INCLUDED
#define BOARD_SEMIHOSTING_INCLUDED

#include <stdint.h>

/* The status of a run that a fault ended. */
#define FAULT_STATUS 99

/* Writes a text to the debugger's console; in qemu, the option -semihosting-config selects its destination. */
void host_write(const char *text);

/* Ends the program; qemu's exit status becomes `status`. */
__attribute__((noreturn)) void host_exit(int status);

/* Writes the low 4 * digits bits of `value` in hexadecimal to `to`; returns the end, where it writes no 0. */
char *hexadecimal(char *to, uint64_t value, int digits);

/* For the start-up code: sets up memory, calls main() and ends with its status. */
__attribute__((noreturn)) void run_main(void);

#endif
