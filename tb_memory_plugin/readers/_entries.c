/* Columns out of a list of dictionaries: what torch_entries.py does in Python, several times faster.
 *
 * Every function answers None where the values are not as regular as it needs them; its caller
 * then asks the same in Python, which finds what is wrong and says it. So nothing is refused,
 * and nothing is read differently, for being read here. The package works without this module.
 */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>

/* The value of an entry under a key: borrowed, NULL where it has none (or with an error set).
 * Keys are plain data, so that comparing them runs nobody's code. */
static PyObject *value_of(PyObject *entry, PyObject *key)
{
    return PyDict_CheckExact(entry) ? PyDict_GetItemWithError(entry, key) : NULL;
}

static int checked(PyObject *const *arguments, Py_ssize_t given, Py_ssize_t wanted)
{
    if (given != wanted || !PyList_CheckExact(arguments[0]) || !PyUnicode_CheckExact(arguments[1])) {
        PyErr_SetString(PyExc_TypeError, "a list of dictionaries and a key are needed");
        return 0;
    }
    return 1;
}

/* None, unless an error is set: `made` is given up. */
static PyObject *irregular(PyObject *made)
{
    Py_DECREF(made);
    if (PyErr_Occurred())
        return NULL;
    Py_RETURN_NONE;
}

PyDoc_STRVAR(integers_doc,
"integers(entries, key) -> bytes | None\n\n"
"Every entry's value as an unsigned integer of 8 bytes; None unless all are integers that fit.");

static PyObject *integers(PyObject *Py_UNUSED(module), PyObject *const *arguments, Py_ssize_t given)
{
    if (!checked(arguments, given, 2))
        return NULL;
    PyObject *entries = arguments[0], *key = arguments[1];
    Py_ssize_t count = PyList_GET_SIZE(entries);
    PyObject *made = PyBytes_FromStringAndSize(NULL, count * (Py_ssize_t)sizeof(uint64_t));
    if (made == NULL)
        return NULL;
    char *out = PyBytes_AS_STRING(made);
    for (Py_ssize_t row = 0; row < count; row++, out += sizeof(uint64_t)) {
        PyObject *value = value_of(PyList_GET_ITEM(entries, row), key);
        if (value == NULL || !PyLong_CheckExact(value))
            return irregular(made);
        uint64_t number = PyLong_AsUnsignedLongLong(value);
        if (number == (uint64_t)-1 && PyErr_Occurred()) {
            if (PyErr_ExceptionMatches(PyExc_OverflowError))
                PyErr_Clear(); /* negative, or wider than 64 bits */
            return irregular(made);
        }
        memcpy(out, &number, sizeof number);
    }
    return made;
}

PyDoc_STRVAR(codes_doc,
"codes(entries, key, known) -> bytes | None\n\n"
"Every entry's value as the byte that `known` has for it; None unless all are known text.");

static PyObject *codes(PyObject *Py_UNUSED(module), PyObject *const *arguments, Py_ssize_t given)
{
    if (!checked(arguments, given, 3))
        return NULL;
    PyObject *entries = arguments[0], *key = arguments[1], *known = arguments[2];
    if (!PyDict_CheckExact(known))
        return PyErr_Format(PyExc_TypeError, "codes are needed as a dictionary");
    Py_ssize_t count = PyList_GET_SIZE(entries);
    PyObject *made = PyBytes_FromStringAndSize(NULL, count);
    if (made == NULL)
        return NULL;
    char *out = PyBytes_AS_STRING(made);
    for (Py_ssize_t row = 0; row < count; row++) {
        PyObject *word = value_of(PyList_GET_ITEM(entries, row), key);
        if (word == NULL || !PyUnicode_CheckExact(word))
            return irregular(made);
        PyObject *code = PyDict_GetItemWithError(known, word);
        if (code == NULL)
            return irregular(made);
        long number = PyLong_AsLong(code);
        if (number == -1 && PyErr_Occurred())
            return irregular(made);
        out[row] = (char)number;
    }
    return made;
}

PyDoc_STRVAR(values_doc,
"values(entries, key) -> list | None\n\n"
"Every entry's value, None where it has none; None unless an entry has the key.");

static PyObject *values(PyObject *Py_UNUSED(module), PyObject *const *arguments, Py_ssize_t given)
{
    if (!checked(arguments, given, 2))
        return NULL;
    PyObject *entries = arguments[0], *key = arguments[1], *made = NULL;
    Py_ssize_t count = PyList_GET_SIZE(entries);
    for (Py_ssize_t row = 0; row < count; row++) {
        PyObject *value = value_of(PyList_GET_ITEM(entries, row), key);
        if (value == NULL) {
            if (PyErr_Occurred()) {
                Py_XDECREF(made);
                return NULL;
            }
            continue;
        }
        if (made == NULL) {
            made = PyList_New(count);
            if (made == NULL)
                return NULL;
            for (Py_ssize_t place = 0; place < count; place++) {
                Py_INCREF(Py_None);
                PyList_SET_ITEM(made, place, Py_None);
            }
        }
        Py_INCREF(value);
        PyList_SetItem(made, row, value);
    }
    if (made == NULL)
        Py_RETURN_NONE;
    return made;
}

/* Known lists, told apart by the identity of their items, in a table with open addressing.
 *
 * The items are kept, in a tuple, so that no other object can get the identity of one of them. */
typedef struct {
    uint64_t hash;
    PyObject *items; /* a tuple; NULL where the slot is empty */
    int32_t number;
} Slot;

typedef struct {
    PyObject_HEAD
    Slot *slots;
    size_t size; /* a power of two */
    size_t used;
    size_t most;
} Known;

static uint64_t hash_of(PyObject *const *items, Py_ssize_t count)
{
    uint64_t hash = (uint64_t)count;
    for (Py_ssize_t place = 0; place < count; place++) {
        hash = (hash ^ (uint64_t)(uintptr_t)items[place]) * UINT64_C(0x9E3779B97F4A7C15);
        hash ^= hash >> 29;
    }
    return hash;
}

static PyObject *const *items_of(PyObject *list)
{
    return ((PyListObject *)list)->ob_item;
}

static int same(PyObject *known, PyObject *list)
{
    Py_ssize_t count = PyList_GET_SIZE(list);
    return PyTuple_GET_SIZE(known) == count
        && memcmp(((PyTupleObject *)known)->ob_item, items_of(list), count * sizeof(PyObject *)) == 0;
}

/* The slot that holds `list`, or the empty one where it belongs. */
static Slot *slot_of(Known *self, uint64_t hash, PyObject *list)
{
    for (size_t place = hash & (self->size - 1);; place = (place + 1) & (self->size - 1)) {
        Slot *slot = &self->slots[place];
        if (slot->items == NULL || (slot->hash == hash && same(slot->items, list)))
            return slot;
    }
}

static int grow(Known *self)
{
    size_t size = self->size * 2;
    Slot *slots = PyMem_Calloc(size, sizeof(Slot));
    if (slots == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    for (size_t old = 0; old < self->size; old++) {
        if (self->slots[old].items == NULL)
            continue;
        size_t place = self->slots[old].hash & (size - 1);
        while (slots[place].items != NULL)
            place = (place + 1) & (size - 1);
        slots[place] = self->slots[old];
    }
    PyMem_Free(self->slots);
    self->slots = slots;
    self->size = size;
    return 0;
}

/* The number `unknown` has for a list, which is then known. -1 with an error set. */
static int32_t ask(Known *self, PyObject *list, uint64_t hash, PyObject *unknown)
{
    PyObject *items = PyList_AsTuple(list);
    if (items == NULL)
        return -1;
    PyObject *answer = PyObject_CallOneArg(unknown, list);
    if (answer == NULL) {
        Py_DECREF(items);
        return -1;
    }
    long number = PyLong_AsLong(answer);
    Py_DECREF(answer);
    if (number < 0 || number > INT32_MAX) {
        Py_DECREF(items);
        if (!PyErr_Occurred())
            PyErr_SetString(PyExc_ValueError, "a number of 31 bits is needed");
        return -1;
    }
    if (self->used >= self->most) {
        Py_DECREF(items);
        return (int32_t)number;
    }
    if (self->used * 2 >= self->size && grow(self) < 0) {
        Py_DECREF(items);
        return -1;
    }
    size_t place = hash & (self->size - 1);
    while (self->slots[place].items != NULL)
        place = (place + 1) & (self->size - 1);
    self->slots[place] = (Slot){hash, items, (int32_t)number};
    self->used++;
    return (int32_t)number;
}

PyDoc_STRVAR(numbers_doc,
"numbers(entries, key, unknown) -> bytes | None\n\n"
"Every entry's list as a number of 4 bytes: the one it is known by, or else `unknown(list)`; -1\n"
"for none and for an empty one. None unless all values are lists (or None).");

static PyObject *numbers(Known *self, PyObject *const *arguments, Py_ssize_t given)
{
    if (!checked(arguments, given, 3))
        return NULL;
    PyObject *entries = arguments[0], *key = arguments[1], *unknown = arguments[2];
    Py_ssize_t count = PyList_GET_SIZE(entries);
    PyObject *made = PyBytes_FromStringAndSize(NULL, count * (Py_ssize_t)sizeof(int32_t));
    if (made == NULL)
        return NULL;
    char *out = PyBytes_AS_STRING(made);
    for (Py_ssize_t row = 0; row < count; row++, out += sizeof(int32_t)) {
        if (row >= PyList_GET_SIZE(entries)) /* `unknown` may do anything */
            return irregular(made);
        PyObject *list = value_of(PyList_GET_ITEM(entries, row), key);
        if (list == NULL && PyErr_Occurred())
            return irregular(made);
        int32_t number = -1;
        if (list != NULL && list != Py_None) {
            if (!PyList_CheckExact(list))
                return irregular(made);
            if (PyList_GET_SIZE(list) > 0) {
                uint64_t hash = hash_of(items_of(list), PyList_GET_SIZE(list));
                Slot *slot = slot_of(self, hash, list);
                if (slot->items != NULL) {
                    number = slot->number;
                } else {
                    Py_INCREF(list);
                    number = ask(self, list, hash, unknown);
                    Py_DECREF(list);
                    if (number < 0)
                        return irregular(made);
                }
            }
        }
        memcpy(out, &number, sizeof number);
    }
    return made;
}

static PyObject *known_new(PyTypeObject *type, PyObject *arguments, PyObject *named)
{
    static char *names[] = {"most", NULL};
    Py_ssize_t most;
    if (!PyArg_ParseTupleAndKeywords(arguments, named, "n", names, &most))
        return NULL;
    Known *self = (Known *)type->tp_alloc(type, 0);
    if (self == NULL)
        return NULL;
    self->most = most < 0 ? 0 : (size_t)most;
    self->size = 1024;
    self->slots = PyMem_Calloc(self->size, sizeof(Slot));
    if (self->slots == NULL) {
        Py_DECREF(self);
        return PyErr_NoMemory();
    }
    return (PyObject *)self;
}

static void known_free(Known *self)
{
    PyTypeObject *type = Py_TYPE(self);
    for (size_t place = 0; self->slots != NULL && place < self->size; place++)
        Py_XDECREF(self->slots[place].items);
    PyMem_Free(self->slots);
    type->tp_free(self);
    Py_DECREF(type);
}

static PyMethodDef known_methods[] = {
    {"numbers", (PyCFunction)(void (*)(void))numbers, METH_FASTCALL, numbers_doc},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot known_slots[] = {
    {Py_tp_doc, "Lists told apart by the identity of their items; at most `most` are kept."},
    {Py_tp_new, known_new},
    {Py_tp_dealloc, known_free},
    {Py_tp_methods, known_methods},
    {0, NULL},
};

static PyType_Spec known_spec = {
    "tb_memory_plugin.readers._entries.Known", sizeof(Known), 0, Py_TPFLAGS_DEFAULT, known_slots,
};

static int fill(PyObject *module)
{
    PyObject *type = PyType_FromSpec(&known_spec);
    if (type == NULL)
        return -1;
    if (PyModule_AddObject(module, "Known", type) < 0) {
        Py_DECREF(type);
        return -1;
    }
    return 0;
}

static PyMethodDef functions[] = {
    {"integers", (PyCFunction)(void (*)(void))integers, METH_FASTCALL, integers_doc},
    {"codes", (PyCFunction)(void (*)(void))codes, METH_FASTCALL, codes_doc},
    {"values", (PyCFunction)(void (*)(void))values, METH_FASTCALL, values_doc},
    {NULL, NULL, 0, NULL},
};

static PyModuleDef_Slot slots[] = {{Py_mod_exec, fill}, {0, NULL}};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "_entries", "Columns out of a list of dictionaries.", 0, functions, slots,
    NULL, NULL, NULL,
};

PyMODINIT_FUNC PyInit__entries(void)
{
    return PyModuleDef_Init(&definition);
}
