void toy_torque(const double *q, const double *v, double *tau);
void toy_torque_loop(size_t count, const double *q, size_t q_step, const double *v, size_t v_step, double *tau);
void toy_inertia(const double *q, double *M, double *g);
void toy_inertia_loop(size_t count, const double *q, size_t q_step, double *M, double *g);
