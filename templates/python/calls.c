/* Quick calls with NumPy arrays of real numbers, lists, tuples and numbers, for one state or for many with the same leading
   axes. Arguments that C cannot read in place are converted first. A call with any other argument is left to Python, which
   converts the argument or raises an error. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>
#include <string.h>
#include <structmember.h>

#define NPY_NO_DEPRECATED_API NPY_1_7_API_VERSION
#include <numpy/arrayobject.h>

#include "bodies.h"

#define MOST_ARRAYS 64 /* the number of bits of `made`, see below */
#define MOST_AXES 4
#define MOST_LEADING 30
#define MOST_CONSTANTS (4 + MOST_ARRAYS) /* rollouts have up to four, and one for each input that steps may have apart */
#define MOST_STEPS (MOST_ARRAYS + MOST_CONSTANTS)
#define MOST_THREADS 256
#define CACHE_LINE 64
#define EXACT_INTEGERS (1LL << 53) /* a double holds every integer up to this one */

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
    function *code; /* for one state; NULL if only that for many states exists */
    function_of_states *states;
    Py_ssize_t grain, chunk; /* the least number of states that a thread takes at once; the largest per thread in one call */
    PyArray_Descr *dtype;
    int inputs, arrays;    /* the number of inputs; of inputs and outputs */
    PyObject *names;       /* of the inputs, interned */
    PyObject *defaults;    /* an array for each input that may be left out, None for the others */
    PyTypeObject *results; /* a named tuple, NULL for a single output */
    Py_ssize_t large;      /* a result of this many bytes or more is placed in a block */
    PyObject *block;       /* a function that returns a block of so many bytes and a cache line, and whether it is fresh */
    int constants; /* the number of constants that are passed to `states` after the inputs' steps */
    size_t constant[MOST_CONSTANTS];
    array_shape shapes[MOST_ARRAYS];
} call_object;

typedef struct {
    PyObject_HEAD
    vectorcallfunc vectorcall;
    function *code;
    function_of_states *states; /* NULL for one state */
    Py_ssize_t threads, grain, count;
    size_t steps[MOST_STEPS];
    void *pointers[MOST_ARRAYS];
    PyObject *arrays; /* keeps them alive */
    PyObject *out;
} bound_object;

/* Whether C can read the array in place. */
static int readable(PyArrayObject *array, const PyArray_Descr *dtype)
{
    return PyArray_TYPE(array) == dtype->type_num && PyArray_ISCARRAY_RO(array);
}

static int is_real(PyArrayObject *array)
{
    const int type = PyArray_TYPE(array);
    return PyTypeNum_ISFLOAT(type) || PyTypeNum_ISINTEGER(type) || PyTypeNum_ISBOOL(type);
}

static int has_shape(PyArrayObject *array, const array_shape *shape)
{
    const int leading = PyArray_NDIM(array) - shape->axes;
    return leading >= 0 && PyArray_CompareLists(PyArray_DIMS(array) + leading, shape->shape, shape->axes);
}

/* Whether an array has these leading axes; the first array that has any sets them. */
static int leads(PyArrayObject *array, const array_shape *shape, leading_axes *leading)
{
    const int axes = PyArray_NDIM(array) - shape->axes;
    if (leading->axes == 0)
        *leading = (leading_axes){axes, PyArray_DIMS(array)};
    return axes == leading->axes && PyArray_CompareLists(PyArray_DIMS(array), leading->lengths, axes);
}

/* The extent of the array's memory: from `low` to before `high`. */
static void extent(PyArrayObject *array, const char **low, const char **high)
{
    *low = *high = PyArray_BYTES(array);
    *high += PyArray_ITEMSIZE(array);
    for (int k = 0; k < PyArray_NDIM(array); ++k) {
        const npy_intp last = (PyArray_DIM(array, k) - 1) * PyArray_STRIDE(array, k);
        *(last < 0 ? low : high) += last;
    }
}

/* Whether the k-th array may share memory with one of those before it. */
static int overlaps(PyObject *const *arrays, int k)
{
    const char *low, *high, *other_low, *other_high;
    extent((PyArrayObject *)arrays[k], &low, &high);
    for (int i = 0; i < k; ++i) {
        extent((PyArrayObject *)arrays[i], &other_low, &other_high);
        if (low < other_high && other_low < high)
            return 1;
    }
    return 0;
}

/* Whether results can be written to the k-th array, an output, which must not overlap the arrays before it. */
static int writable(const call_object *self, PyObject *const *arrays, int k, const leading_axes *leading)
{
    const array_shape *shape = &self->shapes[k];
    if (!PyArray_CheckExact(arrays[k]))
        return 0;
    PyArrayObject *array = (PyArrayObject *)arrays[k];
    if (!readable(array, self->dtype) || !has_shape(array, shape) || !PyArray_ISWRITEABLE(array))
        return 0;
    const int axes = PyArray_NDIM(array) - shape->axes;
    return axes == leading->axes && PyArray_CompareLists(PyArray_DIMS(array), leading->lengths, axes) && !overlaps(arrays, k);
}

/* Sets the outputs among `arrays` to the user's `out`, an array or a tuple of arrays. Returns 0 if one does not fit. */
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

/* A new array in a block, which an earlier result may have used; the array begins at a cache line. */
static PyObject *make_large(const call_object *self, int axes, const npy_intp *lengths, Py_ssize_t bytes, int *fresh)
{
    PyObject *lent = PyObject_CallFunction(self->block, "n", bytes), *block, *array = NULL;
    int new_memory;
    if (lent == NULL)
        return NULL;
    if (PyArg_ParseTuple(lent, "O!p", &PyArray_Type, &block, &new_memory)) {
        char *const first = PyArray_BYTES((PyArrayObject *)block);
        array = PyArray_New(&PyArray_Type, axes, lengths, self->dtype->type_num, NULL, first + (-(size_t)first) % CACHE_LINE, 0,
                            NPY_ARRAY_CARRAY, NULL);
        *fresh |= new_memory;
    }
    if (array != NULL && PyArray_SetBaseObject((PyArrayObject *)array, Py_NewRef(block)) != 0)
        Py_CLEAR(array);
    Py_DECREF(lent);
    return array;
}

/* Makes new arrays for the outputs; `fresh` says whether any has fresh memory. Returns -1 with an exception set. */
static int make(const call_object *self, PyObject **arrays, const leading_axes *leading, npy_intp count, int *fresh)
{
    npy_intp lengths[MOST_LEADING + MOST_AXES];
    memcpy(lengths, leading->lengths, (size_t)leading->axes * sizeof *lengths);
    for (int k = self->inputs; k < self->arrays; ++k) {
        const array_shape *shape = &self->shapes[k];
        memcpy(lengths + leading->axes, shape->shape, (size_t)shape->axes * sizeof *lengths);
        const int axes = leading->axes + shape->axes;
        const Py_ssize_t bytes = count * shape->size * PyArray_ITEMSIZE((PyArrayObject *)arrays[0]); /* all have one type */
        arrays[k] = bytes < self->large ? PyArray_SimpleNew(axes, lengths, self->dtype->type_num)
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

/* The outputs as a new tuple of type `results`; it takes over the references. */
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

/* Reads a number of Python; returns 0 unless a double holds it exactly. */
static int read_number(PyObject *value, double *number)
{
    if (PyFloat_CheckExact(value) || PyArray_IsScalar(value, Double)) {
        *number = PyFloat_AS_DOUBLE(value);
        return 1;
    }
    if (!PyLong_CheckExact(value) && !PyBool_Check(value))
        return 0;
    int overflow;
    const long long integer = PyLong_AsLongLongAndOverflow(value, &overflow);
    *number = (double)integer;
    return !overflow && integer <= EXACT_INTEGERS && integer >= -EXACT_INTEGERS;
}

/* An array of such numbers, from a sequence or a single one; NULL if one is not such a number, or with an exception set. */
static PyObject *array_of_numbers(PyObject *value)
{
    const int single = !PyList_CheckExact(value) && !PyTuple_CheckExact(value);
    npy_intp length = single ? 1 : PySequence_Fast_GET_SIZE(value);
    PyObject *const *items = single ? &value : PySequence_Fast_ITEMS(value);
    double number;
    if (length == 0 || !read_number(items[0], &number))
        return NULL;
    PyObject *array = PyArray_SimpleNew(!single, &length, NPY_DOUBLE);
    double *const numbers = array == NULL ? NULL : PyArray_DATA((PyArrayObject *)array);
    for (npy_intp k = 0; array != NULL && k < length; ++k)
        if (!read_number(items[k], &numbers[k]))
            Py_CLEAR(array);
    return array;
}

/* A list, a tuple or a number as an array; NULL if it is anything else, or with an exception set. */
static PyObject *as_array(PyObject *value)
{
    PyObject *array = array_of_numbers(value);
    if (array != NULL || PyErr_Occurred())
        return array;
    const int known = PyList_CheckExact(value) || PyTuple_CheckExact(value) || PyArray_IsScalar(value, Generic);
    return known ? PyArray_FromAny(value, NULL, 0, 0, 0, NULL) : NULL;
}

/* The index of an input by its name, from `first` on; that of the last input plus 1 if there is none. The name is nearly always the
   interned string itself. */
static Py_ssize_t index_of(const call_object *self, PyObject *name, Py_ssize_t first)
{
    for (Py_ssize_t i = first; i < self->inputs; ++i)
        if (PyTuple_GET_ITEM(self->names, i) == name)
            return i;
    Py_ssize_t i = first;
    while (i < self->inputs && PyUnicode_Compare(PyTuple_GET_ITEM(self->names, i), name) != 0)
        ++i;
    return i;
}

/* Finds each input by position or name, or takes its default. Returns 0 if an argument is missing or unknown. */
static int gather(const call_object *self, PyObject *const *values, Py_ssize_t given, PyObject *names, PyObject **inputs)
{
    const Py_ssize_t named = names == NULL ? 0 : PyTuple_GET_SIZE(names);
    if (given < 0 || given > self->inputs)
        return 0;
    for (Py_ssize_t i = 0; i < self->inputs; ++i)
        inputs[i] = i < given ? values[i] : PyTuple_GET_ITEM(self->defaults, i);
    for (Py_ssize_t k = 0; k < named; ++k) {
        const Py_ssize_t i = index_of(self, PyTuple_GET_ITEM(names, k), given);
        if (i == self->inputs)
            return 0;
        inputs[i] = values[given + 2 + k];
    }
    return 1;
}

/* Replaces inputs by arrays of real numbers where necessary. The bits of `made` mark new arrays, which the caller owns. Returns 0
   if an input is no such array. */
static int as_arrays(const call_object *self, PyObject **inputs, uint64_t *made)
{
    for (int i = 0; i < self->inputs; ++i) {
        if (PyArray_CheckExact(inputs[i]) && readable((PyArrayObject *)inputs[i], self->dtype))
            continue;
        PyObject *array = PyArray_CheckExact(inputs[i]) ? Py_NewRef(inputs[i]) : as_array(inputs[i]);
        if (array == NULL)
            return 0;
        inputs[i] = array;
        *made |= (uint64_t)1 << i;
        if (!is_real((PyArrayObject *)array))
            return 0;
    }
    return 1;
}

/* Finds the leading axes of all inputs, and the step of each from state to state. Returns 0 if the axes differ. */
static int lead(const call_object *self, PyObject *const *arrays, leading_axes *leading, size_t *steps)
{
    for (int i = 0; i < self->inputs; ++i) {
        PyArrayObject *const array = (PyArrayObject *)arrays[i];
        const array_shape *shape = &self->shapes[i];
        if (!has_shape(array, shape))
            return 0;
        const int shared = PyArray_NDIM(array) == shape->axes;
        if (!shared && !leads(array, shape, leading))
            return 0;
        steps[i] = shared ? 0 : (size_t)shape->size;
    }
    return leading->axes <= MOST_LEADING;
}

/* Converts new arrays to the type and order that C reads. Returns 0 with an exception set. */
static int convert(const call_object *self, PyObject **arrays, uint64_t made)
{
    for (int i = 0; i < self->inputs; ++i) {
        PyArrayObject *const array = (PyArrayObject *)arrays[i];
        if ((made >> i & 1) == 0 || readable(array, self->dtype))
            continue;
        Py_INCREF(self->dtype); /* PyArray_FromArray takes over this reference */
        PyObject *converted = PyArray_FromArray(array, self->dtype, NPY_ARRAY_CARRAY_RO | NPY_ARRAY_FORCECAST);
        if (converted == NULL)
            return 0;
        arrays[i] = converted;
        Py_DECREF(array);
    }
    return 1;
}

/* Returns NotImplemented: Python then repeats the call, and says what is wrong. */
static PyObject *left_to_python(void)
{
    if (PyErr_Occurred()) {
        if (!PyErr_ExceptionMatches(PyExc_Exception))
            return NULL;
        PyErr_Clear();
    }
    Py_RETURN_NOTIMPLEMENTED;
}

/* Computes the outputs. `arrays` has the inputs, which are converted; the bits of `made` mark new arrays. */
static PyObject *computed(const call_object *self, PyObject **arrays, PyObject *out, long threads, uint64_t *made)
{
    void *pointers[MOST_ARRAYS];
    size_t steps[MOST_STEPS];
    leading_axes leading = {0, self->shapes[0].shape};
    if (!as_arrays(self, arrays, made) || !lead(self, arrays, &leading, steps))
        return left_to_python();
    const npy_intp count = PyArray_MultiplyList(leading.lengths, leading.axes);
    if (count > threads * self->chunk || (out != Py_None && !take(out, self, arrays, &leading)) || !convert(self, arrays, *made))
        return left_to_python();
    int fresh = 0;
    if (out == Py_None && make(self, arrays, &leading, count, &fresh) != 0)
        return NULL;
    for (int k = 0; k < self->arrays; ++k)
        pointers[k] = PyArray_DATA((PyArrayObject *)arrays[k]);
    for (int k = 0; k < self->constants; ++k)
        steps[self->inputs + k] = self->constant[k];
    Py_BEGIN_ALLOW_THREADS
    if (leading.axes == 0 && self->code != NULL)
        self->code(pointers);
    else
        self->states((int)threads, fresh, (size_t)self->grain, (size_t)count, pointers, steps);
    Py_END_ALLOW_THREADS
    if (out != Py_None)
        return Py_NewRef(out);
    return self->results == NULL ? arrays[self->inputs] : packed(self->results, arrays + self->inputs, self->arrays - self->inputs);
}

/* call(inputs..., out, threads, name=input...) returns the outputs, or NotImplemented if an argument does not fit. `out` may be
   None. */
static PyObject *call(PyObject *callable, PyObject *const *values, size_t flags, PyObject *names)
{
    const call_object *self = (const call_object *)callable;
    PyObject *arrays[MOST_ARRAYS];
    const Py_ssize_t given = PyVectorcall_NARGS(flags) - 2;
    if (!gather(self, values, given, names, arrays) || !PyLong_CheckExact(values[given + 1]))
        Py_RETURN_NOTIMPLEMENTED;
    int overflow;
    const long threads = PyLong_AsLongAndOverflow(values[given + 1], &overflow);
    if (overflow || threads < 1 || threads > MOST_THREADS)
        Py_RETURN_NOTIMPLEMENTED;
    uint64_t made = 0;
    PyObject *result = computed(self, arrays, values[given], threads, &made);
    for (int i = 0; i < self->inputs; ++i)
        if (made >> i & 1)
            Py_DECREF(arrays[i]);
    return result;
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
    if (self->states == NULL)
        self->code(self->pointers);
    else
        self->states((int)self->threads, 0, (size_t)self->grain, (size_t)self->count, self->pointers, self->steps);
    Py_END_ALLOW_THREADS
    return Py_NewRef(self->out);
}

static int read_shape(PyObject *shape, array_shape *to)
{
    if (!PyTuple_Check(shape) || PyTuple_GET_SIZE(shape) > MOST_AXES) {
        PyErr_SetString(PyExc_ValueError, "a shape must be a tuple of at most 3 lengths");
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

/* Reads the numbers of a tuple. Returns -1 with an exception set. */
static int read_numbers(PyObject *numbers, Py_ssize_t most, size_t *to)
{
    if (PyTuple_GET_SIZE(numbers) > most) {
        PyErr_SetString(PyExc_ValueError, "too many numbers");
        return -1;
    }
    for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(numbers); ++k) {
        to[k] = PyLong_AsSize_t(PyTuple_GET_ITEM(numbers, k));
        if (PyErr_Occurred())
            return -1;
    }
    return 0;
}

/* Call(address or 0, address for many states, grain, chunk, dtype, names of the inputs, their shapes, their defaults or None,
   shapes of the outputs, named tuple or None, constants, bytes of large results, function that gives blocks) */
static PyObject *new_call(PyTypeObject *type, PyObject *arguments, PyObject *keywords)
{
    Py_ssize_t address, states, grain, chunk, large;
    PyArray_Descr *dtype;
    PyObject *names, *inputs, *defaults, *outputs, *results, *constants, *block;
    (void)keywords;
    if (!PyArg_ParseTuple(arguments, "nnnnO!O!O!O!O!OO!nO", &address, &states, &grain, &chunk, &PyArrayDescr_Type, &dtype,
                          &PyTuple_Type, &names, &PyTuple_Type, &inputs, &PyTuple_Type, &defaults, &PyTuple_Type, &outputs,
                          &results, &PyTuple_Type, &constants, &large, &block))
        return NULL;
    const Py_ssize_t taken = PyTuple_GET_SIZE(inputs), count = taken + PyTuple_GET_SIZE(outputs);
    if (count > MOST_ARRAYS || PyTuple_GET_SIZE(names) != taken || PyTuple_GET_SIZE(defaults) != taken
        || (results != Py_None && !PyType_Check(results))) {
        PyErr_SetString(PyExc_ValueError, "too many arrays, wrong number of names or defaults, or results is no type");
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
    self->dtype = (PyArray_Descr *)Py_NewRef(dtype);
    self->large = large;
    self->block = Py_NewRef(block);
    self->inputs = (int)taken;
    self->arrays = (int)count;
    self->constants = (int)PyTuple_GET_SIZE(constants);
    self->names = Py_NewRef(names);
    self->defaults = Py_NewRef(defaults);
    self->results = results == Py_None ? NULL : (PyTypeObject *)Py_NewRef(results);
    if (read_numbers(constants, MOST_CONSTANTS, self->constant) != 0) {
        Py_DECREF(self);
        return NULL;
    }
    for (int i = 0; i < self->arrays; ++i) {
        PyObject *shape = i < self->inputs ? PyTuple_GET_ITEM(inputs, i) : PyTuple_GET_ITEM(outputs, i - self->inputs);
        if (read_shape(shape, &self->shapes[i]) != 0) {
            Py_DECREF(self);
            return NULL;
        }
    }
    return (PyObject *)self;
}

/* Bound(address, address for many states or 0, threads, grain, states, steps, arrays, out). The caller has checked the arrays. A
   call returns `out`, which is also an attribute. */
static PyObject *new_bound(PyTypeObject *type, PyObject *arguments, PyObject *keywords)
{
    Py_ssize_t address, states, threads, grain, count;
    PyObject *steps, *arrays, *out;
    (void)keywords;
    if (!PyArg_ParseTuple(arguments, "nnnnnO!O!O", &address, &states, &threads, &grain, &count, &PyTuple_Type, &steps,
                          &PyTuple_Type, &arrays, &out))
        return NULL;
    const Py_ssize_t length = PyTuple_GET_SIZE(arrays);
    for (Py_ssize_t i = 0; i < length; ++i)
        if (length > MOST_ARRAYS || !PyArray_Check(PyTuple_GET_ITEM(arrays, i))) {
            PyErr_SetString(PyExc_TypeError, "a bound call needs arrays");
            return NULL;
        }
    bound_object *self = (bound_object *)type->tp_alloc(type, 0);
    if (self == NULL)
        return NULL;
    self->vectorcall = call_bound;
    self->code = (function *)address;
    self->states = (function_of_states *)states;
    self->threads = threads;
    self->grain = grain;
    self->count = count;
    self->arrays = Py_NewRef(arrays);
    self->out = Py_NewRef(out);
    if (read_numbers(steps, MOST_STEPS, self->steps) != 0) {
        Py_DECREF(self);
        return NULL;
    }
    for (Py_ssize_t i = 0; i < length; ++i)
        self->pointers[i] = PyArray_DATA((PyArrayObject *)PyTuple_GET_ITEM(arrays, i));
    return (PyObject *)self;
}

static void free_call(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    Py_XDECREF(((call_object *)self)->dtype);
    Py_XDECREF(((call_object *)self)->names);
    Py_XDECREF(((call_object *)self)->defaults);
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

/* Whether the array is of this type and number of elements, in C order. */
static int is_of(PyObject *array, int type, npy_intp size)
{
    return PyArray_TYPE((PyArrayObject *)array) == type && PyArray_SIZE((PyArrayObject *)array) == size
           && PyArray_ISCARRAY_RO((PyArrayObject *)array);
}

/* are_bodies(p (..., np), values (links, 10), places (links, 10), kinds (links,)): see bodies.h. */
static PyObject *are_bodies(PyObject *module, PyObject *arguments)
{
    PyObject *p, *values, *places, *kinds;
    (void)module;
    if (!PyArg_ParseTuple(arguments, "O!O!O!O!", &PyArray_Type, &p, &PyArray_Type, &values, &PyArray_Type, &places, &PyArray_Type,
                          &kinds))
        return NULL;
    const npy_intp links = PyArray_SIZE((PyArrayObject *)kinds), axes = PyArray_NDIM((PyArrayObject *)p);
    const npy_intp np = axes == 0 ? 0 : PyArray_DIM((PyArrayObject *)p, (int)axes - 1);
    int fits = np > 0 && is_of(p, NPY_DOUBLE, PyArray_SIZE((PyArrayObject *)p)) && is_of(values, NPY_DOUBLE, 10 * links)
               && is_of(places, NPY_INTP, 10 * links) && is_of(kinds, NPY_UINT8, links);
    for (npy_intp k = 0; fits && k < 10 * links; ++k)
        fits = ((const npy_intp *)PyArray_DATA((PyArrayObject *)places))[k] < np;
    if (!fits) {
        PyErr_SetString(PyExc_ValueError, "parameters and links that do not fit each other");
        return NULL;
    }
    int sound;
    const size_t rows = (size_t)(PyArray_SIZE((PyArrayObject *)p) / np);
    Py_BEGIN_ALLOW_THREADS
    sound = are_certainly_bodies(PyArray_DATA((PyArrayObject *)p), rows, (size_t)np, (size_t)links,
                                 PyArray_DATA((PyArrayObject *)values), PyArray_DATA((PyArrayObject *)places),
                                 PyArray_DATA((PyArrayObject *)kinds));
    Py_END_ALLOW_THREADS
    return PyBool_FromLong(sound);
}

static PyMethodDef module_methods[] = { {"are_bodies", are_bodies, METH_VARARGS, NULL}, {NULL, NULL, 0, NULL} };
static PyModuleDef_Slot module_slots[] = { {Py_mod_exec, fill_module}, {0, NULL} };
static struct PyModuleDef module = {
    PyModuleDef_HEAD_INIT, "_calls", "The quick way from NumPy arrays into C.", 0, module_methods, module_slots, NULL, NULL, NULL,
};

PyMODINIT_FUNC PyInit__calls(void)
{
    return PyModuleDef_Init(&module);
}
