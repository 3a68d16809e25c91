void toy_torque(const double *q, const double *v, double *tau);
void toy_torque_call(void *const *arrays);
void toy_torque_states(int threads, int fresh, size_t grain, size_t count, void *const *arrays, const size_t *steps);
void toy_inertia(const double *q, double *M, double *g);
void toy_inertia_call(void *const *arrays);
void toy_inertia_states(int threads, int fresh, size_t grain, size_t count, void *const *arrays, const size_t *steps);
const char *rbdgen_missing(int number);
