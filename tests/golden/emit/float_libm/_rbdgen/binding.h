void toy_torque(const float *q, const float *v, float *tau);
void toy_torque_loop(size_t count, const float *q, size_t q_step, const float *v, size_t v_step, float *tau);
void toy_inertia(const float *q, float *M, float *g);
void toy_inertia_loop(size_t count, const float *q, size_t q_step, float *M, float *g);
