/* Computed-torque control of the seven-joint arm at 1 kHz on an emulated Cortex-M7, with the arm itself simulated in the
   same program.

   The controller computes tau = rnea(q, v, a_ref + KD (v_ref - v) + KP (q_ref - q)), with the exact model of the arm.
   The plant is a = aba(q, v, tau - friction v), integrated four times per millisecond. The controller does not know the
   friction, and every joint starts 0.1 rad from its reference.

   A timer interrupt starts every control step, which must be done before the next interrupt. Every tenth state is
   written to the host as raw bits. */
#include "arm7.h"
#include "arm7_sincos.h"
#include "semihosting.h"

#include <string.h>

enum { N = ARM7_NV, STEPS = 4000, SUBSTEPS = 4, LOGGED = 10 };
enum { CLOCK = 25000000, RATE = 1000 };

#define KP 400.0f /* 1/s^2: a natural frequency of 20 rad/s */
#define KD 40.0f  /* 1/s: critical damping */
#define INITIAL_ERROR 0.1f /* rad */

static const float FRICTION[N] = {0.2f, 0.2f, 0.1f, 0.1f, 0.02f, 0.005f, 0.001f}; /* N m s/rad */
static const float MIDDLE[N] = {0.0f, 0.5f, 0.0f, 1.2f, 0.0f, -0.6f, 0.0f};    /* rad */
static const float AMPLITUDE[N] = {0.8f, 0.4f, 0.5f, 0.4f, 0.7f, 0.5f, 0.9f};  /* rad */
static const float FREQUENCY[N] = {1.2f, 1.9f, 1.5f, 2.3f, 1.7f, 2.6f, 2.1f};  /* rad/s */

/* SysTick, which counts down: control and status, reload, current value. */
#define TIMER ((volatile uint32_t *)0xE000E010u)

static volatile uint32_t beats;

void timer_tick(void);
void timer_tick(void)
{
    ++beats;
}

struct state {
    float q[N], v[N];
};

struct reference {
    float q[N], v[N], a[N];
};

static void trajectory(float t, struct reference *ref)
{
    for (int i = 0; i < N; ++i) {
        float s, c;
        arm7_sincos(FREQUENCY[i] * t, &s, &c);
        ref->q[i] = MIDDLE[i] + AMPLITUDE[i] * s;
        ref->v[i] = AMPLITUDE[i] * FREQUENCY[i] * c;
        ref->a[i] = -AMPLITUDE[i] * FREQUENCY[i] * FREQUENCY[i] * s;
    }
}

static void control(const struct state *x, const struct reference *ref, float *tau)
{
    float a[N];
    for (int i = 0; i < N; ++i)
        a[i] = ref->a[i] + KD * (ref->v[i] - x->v[i]) + KP * (ref->q[i] - x->q[i]);
    arm7_rnea(x->q, x->v, a, tau);
}

static void simulate(struct state *x, const float *tau)
{
    const float h = 1.0f / (RATE * SUBSTEPS);
    for (int k = 0; k < SUBSTEPS; ++k) {
        float a[N], net[N];
        for (int i = 0; i < N; ++i)
            net[i] = tau[i] - FRICTION[i] * x->v[i];
        arm7_aba(x->q, x->v, net, a);
        for (int i = 0; i < N; ++i) {
            x->v[i] += h * a[i];
            x->q[i] += h * x->v[i];
        }
    }
}

static char *numbers(char *to, const float *values, int count)
{
    for (int i = 0; i < count; ++i) {
        uint32_t bits;
        memcpy(&bits, &values[i], sizeof bits);
        *to++ = ' ';
        to = hexadecimal(to, bits, 8);
    }
    return to;
}

/* "state T Q... QREF... TAU...", every number the eight hexadecimal digits of a float. */
static void write_state(float t, const struct state *x, const struct reference *ref, const float *tau)
{
    char line[256] = "state";
    char *end = numbers(line + 5, &t, 1);
    end = numbers(end, x->q, N);
    end = numbers(end, ref->q, N);
    end = numbers(end, tau, N);
    memcpy(end, "\n", 2);
    host_write(line);
}

static void write_count(const char *name, uint32_t count)
{
    char line[40];
    const size_t length = strlen(name);
    memcpy(line, name, length);
    line[length] = ' ';
    memcpy(hexadecimal(line + length + 1, count, 8), "\n", 2);
    host_write(line);
}

int main(void)
{
    struct state x;
    struct reference ref;
    float tau[N];
    uint32_t late = 0, longest = 0;

    trajectory(0.0f, &ref);
    for (int i = 0; i < N; ++i) {
        x.q[i] = ref.q[i] + INITIAL_ERROR;
        x.v[i] = 0.0f;
    }
    TIMER[1] = CLOCK / RATE - 1;
    TIMER[2] = 0;
    TIMER[0] = 7; /* on, interrupt on, the processor's clock */

    for (int k = 0; k < STEPS; ++k) {
        const uint32_t beat = beats;
        while (beats == beat)
            __asm__ volatile("wfi");
        const uint32_t begin = TIMER[2];
        const float t = (float)k / RATE;
        trajectory(t, &ref);
        control(&x, &ref, tau);
        const uint32_t taken = begin - TIMER[2];
        longest = taken > longest ? taken : longest;
        if (k % LOGGED == 0)
            write_state(t, &x, &ref, tau);
        simulate(&x, tau);
        late += beats != beat + 1;
    }
    write_count("ticks", longest);
    write_count("late", late);
    host_write("end\n");
    return late != 0;
}
