/* Quick calls: NumPy arrays of one state, or of many with the same leading axes, which C can read as they are. All other
   arguments are converted in Python first. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <string.h>
#include <structmember.h>

#define NPY_NO_DEPRECATED_API NPY_1_7_API_VERSION
#include <numpy/arrayobject.h>

#define MOST_ARRAYS 16
#define MOST_AXES 3
#define MOST_LEADING 30
#define MOST_THREADS 256
#define CACHE_LINE 64

typedef void function(void *const *arrays);
typedef void function_of_states(int threads, int fresh, size_t grain, size_t count, void *const *arrays, const size_t *steps);

typedef struct {
    int axes;
    npy_intp shape[MOST_AXES];
    npy_intp size;
} array_shape;

typedef struct {
    int axes;
    const npy_intp *lengths;
} leading_axes;

typedef struct {
    PyObject_HEAD
    vectorcallfunc vectorcall;
    function *code;
    function_of_states *states;
    Py_ssize_t grain, chunk;  /* least states that a thread takes at once of a shared batch; a thread's most in one call */
    int type, inputs, arrays; /* the last counts outputs too */
    PyTypeObject *results;    /* a named tuple, NULL for a single output */
    Py_ssize_t large;         /* bytes of a result from which on it lies in a block */
    PyObject *block;          /* a function of bytes: a block, a cache line longer, and whether it is fresh */
    array_shape shapes[MOST_ARRAYS];
} call_object;

typedef struct {
    PyObject_HEAD
    vectorcallfunc vectorcall;
    function *code;
    void *pointers[MOST_ARRAYS];
    PyObject *arrays; /* keeps them alive */
    PyObject *out;
} bound_object;

/* Whether C can read the array in place. */
static int fits(PyObject *value, int type, const array_shape *shape)
{
    if (!PyArray_CheckExact(value))
        return 0;
    PyArrayObject *array = (PyArrayObject *)value;
    const int leading = PyArray_NDIM(array) - shape->axes;
    return PyArray_TYPE(array) == type && PyArray_ISCARRAY_RO(array) && leading >= 0
        && PyArray_CompareLists(PyArray_DIMS(array) + leading, shape->shape, shape->axes);
}

/* Whether an array that fits has these leading axes; the first one that has any sets them. */
static int leads(PyArrayObject *array, const array_shape *shape, leading_axes *leading)
{
    const int axes = PyArray_NDIM(array) - shape->axes;
    if (leading->axes == 0)
        *leading = (leading_axes){axes, PyArray_DIMS(array)};
    return axes == leading->axes && PyArray_CompareLists(PyArray_DIMS(array), leading->lengths, axes);
}

static int overlap(PyObject *a, PyObject *b)
{
    const char *first = PyArray_BYTES((PyArrayObject *)a), *second = PyArray_BYTES((PyArrayObject *)b);
    return first < second + PyArray_NBYTES((PyArrayObject *)b) && second < first + PyArray_NBYTES((PyArrayObject *)a);
}

/* Whether results can be written to the k-th array, an output that must not overlap those before it. */
static int writable(const call_object *self, PyObject *const *arrays, int k, const leading_axes *leading)
{
    const array_shape *shape = &self->shapes[k];
    if (!fits(arrays[k], self->type, shape) || !PyArray_ISWRITEABLE((PyArrayObject *)arrays[k]))
        return 0;
    const int axes = PyArray_NDIM((PyArrayObject *)arrays[k]) - shape->axes;
    if (axes != leading->axes || !PyArray_CompareLists(PyArray_DIMS((PyArrayObject *)arrays[k]), leading->lengths, axes))
        return 0;
    for (int i = 0; i < k; ++i)
        if (overlap(arrays[k], arrays[i]))
            return 0;
    return 1;
}

/* The user's `out`, an array or a tuple of them, as the outputs among `arrays`; 0 where something does not fit. */
static int take(PyObject *out, const call_object *self, PyObject **arrays, const leading_axes *leading)
{
    const int outputs = self->arrays - self->inputs;
    if (self->results != NULL && (!PyTuple_Check(out) || PyTuple_GET_SIZE(out) != outputs))
        return 0;
    for (int k = self->inputs; k < self->arrays; ++k) {
        arrays[k] = self->results == NULL ? out : PyTuple_GET_ITEM(out, k - self->inputs);
        if (!writable(self, arrays, k, leading))
            return 0;
    }
    return 1;
}

/* An array in a block that earlier results may have given back, from the beginning of a cache line on. */
static PyObject *make_large(const call_object *self, int axes, const npy_intp *lengths, Py_ssize_t bytes, int *fresh)
{
    PyObject *lent = PyObject_CallFunction(self->block, "n", bytes), *block, *array = NULL;
    int new_memory;
    if (lent == NULL)
        return NULL;
    if (PyArg_ParseTuple(lent, "O!p", &PyArray_Type, &block, &new_memory)) {
        char *const first = PyArray_BYTES((PyArrayObject *)block);
        array = PyArray_New(&PyArray_Type, axes, lengths, self->type, NULL, first + (-(size_t)first) % CACHE_LINE, 0,
                            NPY_ARRAY_CARRAY, NULL);
        *fresh |= new_memory;
    }
    if (array != NULL && PyArray_SetBaseObject((PyArrayObject *)array, Py_NewRef(block)) != 0)
        Py_CLEAR(array);
    Py_DECREF(lent);
    return array;
}

/* New arrays for the outputs, and whether memory of any is fresh; -1 with an exception. */
static int make(const call_object *self, PyObject **arrays, const leading_axes *leading, npy_intp count, int *fresh)
{
    npy_intp lengths[MOST_LEADING + MOST_AXES];
    memcpy(lengths, leading->lengths, (size_t)leading->axes * sizeof *lengths);
    for (int k = self->inputs; k < self->arrays; ++k) {
        const array_shape *shape = &self->shapes[k];
        memcpy(lengths + leading->axes, shape->shape, (size_t)shape->axes * sizeof *lengths);
        const int axes = leading->axes + shape->axes;
        const Py_ssize_t bytes = count * shape->size * PyArray_ITEMSIZE((PyArrayObject *)arrays[0]); /* all have one type */
        arrays[k] = bytes < self->large ? PyArray_SimpleNew(axes, lengths, self->type)
                                        : make_large(self, axes, lengths, bytes, fresh);
        *fresh |= bytes < self->large;
        if (arrays[k] == NULL) {
            while (k-- > self->inputs)
                Py_DECREF(arrays[k]);
            return -1;
        }
    }
    return 0;
}

/* The outputs as a new tuple of type `results`; takes over the references. */
static PyObject *packed(PyTypeObject *results, PyObject **outputs, int count)
{
    PyObject *plain = PyTuple_New(count);
    if (plain == NULL) {
        for (int i = 0; i < count; ++i)
            Py_DECREF(outputs[i]);
        return NULL;
    }
    for (int i = 0; i < count; ++i)
        PyTuple_SET_ITEM(plain, i, outputs[i]);
    PyObject *arguments = PyTuple_Pack(1, plain);
    Py_DECREF(plain);
    if (arguments == NULL)
        return NULL;
    PyObject *result = PyTuple_Type.tp_new(results, arguments, NULL);
    Py_DECREF(arguments);
    return result;
}

/* call(inputs..., out, threads): the outputs, or NotImplemented where something does not fit. `out` may be None. */
static PyObject *call(PyObject *callable, PyObject *const *values, size_t flags, PyObject *names)
{
    const call_object *self = (const call_object *)callable;
    PyObject *arrays[MOST_ARRAYS];
    void *pointers[MOST_ARRAYS];
    size_t steps[MOST_ARRAYS];
    leading_axes leading = {0, self->shapes[0].shape};
    if (PyVectorcall_NARGS(flags) != self->inputs + 2 || names != NULL || !PyLong_CheckExact(values[self->inputs + 1]))
        Py_RETURN_NOTIMPLEMENTED;
    int overflow;
    const long threads = PyLong_AsLongAndOverflow(values[self->inputs + 1], &overflow);
    if (overflow || threads < 1 || threads > MOST_THREADS)
        Py_RETURN_NOTIMPLEMENTED;
    for (int i = 0; i < self->inputs; ++i) {
        const array_shape *shape = &self->shapes[i];
        if (!fits(values[i], self->type, shape))
            Py_RETURN_NOTIMPLEMENTED;
        const int shared = PyArray_NDIM((PyArrayObject *)values[i]) == shape->axes;
        if (!shared && !leads((PyArrayObject *)values[i], shape, &leading))
            Py_RETURN_NOTIMPLEMENTED;
        arrays[i] = values[i];
        steps[i] = shared ? 0 : (size_t)shape->size;
    }
    if (leading.axes > MOST_LEADING)
        Py_RETURN_NOTIMPLEMENTED;
    const npy_intp count = PyArray_MultiplyList(leading.lengths, leading.axes);
    PyObject *const out = values[self->inputs];
    if (count > threads * self->chunk || (out != Py_None && !take(out, self, arrays, &leading)))
        Py_RETURN_NOTIMPLEMENTED;
    int fresh = 0;
    if (out == Py_None && make(self, arrays, &leading, count, &fresh) != 0)
        return NULL;
    for (int k = 0; k < self->arrays; ++k)
        pointers[k] = PyArray_DATA((PyArrayObject *)arrays[k]);
    Py_BEGIN_ALLOW_THREADS
    if (leading.axes == 0)
        self->code(pointers);
    else
        self->states((int)threads, fresh, (size_t)self->grain, (size_t)count, pointers, steps);
    Py_END_ALLOW_THREADS
    if (out != Py_None)
        return Py_NewRef(out);
    return self->results == NULL ? arrays[self->inputs] : packed(self->results, arrays + self->inputs, self->arrays - self->inputs);
}

static PyObject *call_bound(PyObject *callable, PyObject *const *values, size_t flags, PyObject *names)
{
    (void)values;
    if (PyVectorcall_NARGS(flags) != 0 || (names != NULL && PyTuple_GET_SIZE(names) != 0)) {
        PyErr_SetString(PyExc_TypeError, "a bound call takes no arguments");
        return NULL;
    }
    const bound_object *self = (const bound_object *)callable;
    Py_BEGIN_ALLOW_THREADS
    self->code(self->pointers);
    Py_END_ALLOW_THREADS
    Py_RETURN_NONE;
}

static int read_shape(PyObject *shape, array_shape *to)
{
    if (!PyTuple_Check(shape) || PyTuple_GET_SIZE(shape) > MOST_AXES) {
        PyErr_SetString(PyExc_ValueError, "a shape is a tuple of few lengths");
        return -1;
    }
    to->axes = (int)PyTuple_GET_SIZE(shape);
    to->size = 1;
    for (int k = 0; k < to->axes; ++k) {
        to->shape[k] = PyLong_AsSsize_t(PyTuple_GET_ITEM(shape, k));
        if (to->shape[k] == -1 && PyErr_Occurred())
            return -1;
        to->size *= to->shape[k];
    }
    return 0;
}

/* Call(address, address for many states, grain, chunk, dtype, shapes of the inputs, shapes of the outputs, named tuple or None,
   bytes of large results, function that gives blocks) */
static PyObject *new_call(PyTypeObject *type, PyObject *arguments, PyObject *names)
{
    Py_ssize_t address, states, grain, chunk, large;
    PyArray_Descr *dtype;
    PyObject *inputs, *outputs, *results, *block;
    (void)names;
    if (!PyArg_ParseTuple(arguments, "nnnnO!O!O!OnO", &address, &states, &grain, &chunk, &PyArrayDescr_Type, &dtype,
                          &PyTuple_Type, &inputs, &PyTuple_Type, &outputs, &results, &large, &block))
        return NULL;
    const Py_ssize_t count = PyTuple_GET_SIZE(inputs) + PyTuple_GET_SIZE(outputs);
    if (count > MOST_ARRAYS || (results != Py_None && !PyType_Check(results))) {
        PyErr_SetString(PyExc_ValueError, "too many arrays, or no type of the results");
        return NULL;
    }
    call_object *self = (call_object *)type->tp_alloc(type, 0);
    if (self == NULL)
        return NULL;
    self->vectorcall = call;
    self->code = (function *)address;
    self->states = (function_of_states *)states;
    self->grain = grain;
    self->chunk = chunk;
    self->type = dtype->type_num;
    self->large = large;
    self->block = Py_NewRef(block);
    self->inputs = (int)PyTuple_GET_SIZE(inputs);
    self->arrays = (int)count;
    self->results = results == Py_None ? NULL : (PyTypeObject *)Py_NewRef(results);
    for (int i = 0; i < self->arrays; ++i) {
        PyObject *shape = i < self->inputs ? PyTuple_GET_ITEM(inputs, i) : PyTuple_GET_ITEM(outputs, i - self->inputs);
        if (read_shape(shape, &self->shapes[i]) != 0) {
            Py_DECREF(self);
            return NULL;
        }
    }
    return (PyObject *)self;
}

/* Bound(address, arrays, out): the arrays have been checked; `out` is handed back as an attribute. */
static PyObject *new_bound(PyTypeObject *type, PyObject *arguments, PyObject *names)
{
    Py_ssize_t address;
    PyObject *arrays, *out;
    (void)names;
    if (!PyArg_ParseTuple(arguments, "nO!O", &address, &PyTuple_Type, &arrays, &out))
        return NULL;
    const Py_ssize_t count = PyTuple_GET_SIZE(arrays);
    for (Py_ssize_t i = 0; i < count; ++i)
        if (count > MOST_ARRAYS || !PyArray_Check(PyTuple_GET_ITEM(arrays, i))) {
            PyErr_SetString(PyExc_TypeError, "a bound call needs arrays");
            return NULL;
        }
    bound_object *self = (bound_object *)type->tp_alloc(type, 0);
    if (self == NULL)
        return NULL;
    self->vectorcall = call_bound;
    self->code = (function *)address;
    for (Py_ssize_t i = 0; i < count; ++i)
        self->pointers[i] = PyArray_DATA((PyArrayObject *)PyTuple_GET_ITEM(arrays, i));
    self->arrays = Py_NewRef(arrays);
    self->out = Py_NewRef(out);
    return (PyObject *)self;
}

static void free_call(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    Py_XDECREF(((call_object *)self)->results);
    Py_XDECREF(((call_object *)self)->block);
    type->tp_free(self);
    Py_DECREF(type);
}

static void free_bound(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    Py_XDECREF(((bound_object *)self)->arrays);
    Py_XDECREF(((bound_object *)self)->out);
    type->tp_free(self);
    Py_DECREF(type);
}

static PyMemberDef call_members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(call_object, vectorcall), READONLY, NULL},
    {NULL, 0, 0, 0, NULL},
};
static PyMemberDef bound_members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(bound_object, vectorcall), READONLY, NULL},
    {"out", T_OBJECT_EX, offsetof(bound_object, out), READONLY, "the output or the outputs"},
    {NULL, 0, 0, 0, NULL},
};
static PyType_Slot call_slots[] = {
    {Py_tp_new, new_call}, {Py_tp_dealloc, free_call}, {Py_tp_call, PyVectorcall_Call}, {Py_tp_members, call_members}, {0, NULL},
};
static PyType_Slot bound_slots[] = {
    {Py_tp_new, new_bound}, {Py_tp_dealloc, free_bound}, {Py_tp_call, PyVectorcall_Call}, {Py_tp_members, bound_members}, {0, NULL},
};
static PyType_Spec call_spec = {
    "_calls.Call", sizeof(call_object), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL, call_slots,
};
static PyType_Spec bound_spec = {
    "_calls.Bound", sizeof(bound_object), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL, bound_slots,
};

static int add_type(PyObject *module, const char *name, PyType_Spec *spec)
{
    PyObject *type = PyType_FromSpec(spec);
    if (type == NULL)
        return -1;
    const int status = PyModule_AddObjectRef(module, name, type);
    Py_DECREF(type);
    return status;
}

static int fill_module(PyObject *module)
{
    if (_import_array() < 0)
        return -1;
    return add_type(module, "Call", &call_spec) == 0 && add_type(module, "Bound", &bound_spec) == 0 ? 0 : -1;
}

static PyModuleDef_Slot module_slots[] = { {Py_mod_exec, fill_module}, {0, NULL} };
static struct PyModuleDef module = {
    PyModuleDef_HEAD_INIT, "_calls", "The quick way from NumPy arrays into C.", 0, NULL, module_slots, NULL, NULL, NULL,
};

PyMODINIT_FUNC PyInit__calls(void)
{
    return PyModuleDef_Init(&module);
}
