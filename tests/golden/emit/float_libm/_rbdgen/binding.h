void toy_torque(const float *q, const float *v, float *tau);
void toy_torque_call(void *const *arrays);
void toy_torque_states(int threads, size_t grain, size_t count, const float *q, size_t q_step, const float *v, size_t v_step, float *tau);
void toy_inertia(const float *q, float *M, float *g);
void toy_inertia_call(void *const *arrays);
void toy_inertia_states(int threads, size_t grain, size_t count, const float *q, size_t q_step, float *M, float *g);
const char *rbdgen_missing(int number);
