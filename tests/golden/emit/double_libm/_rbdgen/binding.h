void toy_torque(const double *q, const double *v, double *tau);
void toy_torque_call(void *const *arrays);
void toy_torque_states(int threads, size_t grain, size_t count, const double *q, size_t q_step, const double *v, size_t v_step, double *tau);
void toy_inertia(const double *q, double *M, double *g);
void toy_inertia_call(void *const *arrays);
void toy_inertia_states(int threads, size_t grain, size_t count, const double *q, size_t q_step, double *M, double *g);
const char *rbdgen_missing(int number);
