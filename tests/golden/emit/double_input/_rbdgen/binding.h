void toy_torque(const double *sin_q, const double *cos_q, const double *v, double *tau);
void toy_torque_call(void *const *arrays);
void toy_torque_states(int threads, size_t grain, size_t count, const double *sin_q, size_t sin_q_step, const double *cos_q, size_t cos_q_step, const double *v, size_t v_step, double *tau);
void toy_inertia(const double *sin_q, const double *cos_q, double *M, double *g);
void toy_inertia_call(void *const *arrays);
void toy_inertia_states(int threads, size_t grain, size_t count, const double *sin_q, size_t sin_q_step, const double *cos_q, size_t cos_q_step, double *M, double *g);
const char *rbdgen_missing(int number);
