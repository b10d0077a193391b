/* Events of an XPlane's line, protobuf messages, to rows: what xplane_events.py does in Python.
 *
 * It answers None where the bytes are not as regular as it needs them; its caller then asks the
 * same in Python, which finds what is wrong and says it. So nothing is refused, and nothing is
 * read differently, for being read here. The package works without this module.
 */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>
#include <stdio.h>

enum { KIND, OFFSET, DURATION, SEEN, HEAD }; /* the columns that every row begins with */
enum { INTEGER, REAL, TEXT, NUMBER_AS_TEXT }; /* what becomes of a stat's value */
enum { VARINT = 0, FIXED64 = 1, LENGTH = 2, FIXED32 = 5 };
enum { MOST_COLUMNS = 32, MOST_STATS = 32, SLOTS = 128 };

typedef struct {
    const uint8_t *at, *end;
} Bytes;

typedef struct {
    uint32_t number;
    int wire;
    uint64_t value; /* of VARINT and FIXED64 */
    Bytes part;     /* of LENGTH */
} Field;

typedef struct {
    int64_t id, column, how;
    int used;
} Stat;

typedef struct {
    Stat stats[SLOTS]; /* by id, open addressing */
    const char *wanted;
    Py_ssize_t wanted_count;
    uint64_t telling;
    int every;
    Py_ssize_t width;
    PyObject *texts;
} Wish;

static int64_t integer_at(const char *data, Py_ssize_t place)
{
    int64_t value;
    memcpy(&value, data + place * (Py_ssize_t)sizeof value, sizeof value);
    return value;
}

static int varint(Bytes *from, uint64_t *value)
{
    uint64_t found = 0;
    if (from->at < from->end && *from->at < 0x80) { /* as most are */
        *value = *from->at++;
        return 1;
    }
    for (int shift = 0; shift < 70 && from->at < from->end; shift += 7) {
        uint64_t byte = *from->at++;
        if (shift == 63 && byte > 1)
            return 0;
        found |= (byte & 0x7F) << shift;
        if (byte < 0x80) {
            *value = found;
            return 1;
        }
    }
    return 0;
}

static int next_field(Bytes *from, Field *field)
{
    uint64_t tag, length;
    if (!varint(from, &tag) || tag > UINT32_MAX || tag >> 3 == 0)
        return 0;
    *field = (Field){.number = (uint32_t)(tag >> 3), .wire = (int)(tag & 7)};
    size_t left;
    switch (field->wire) {
    case VARINT:
        return varint(from, &field->value);
    case FIXED64:
        if (from->end - from->at < 8)
            return 0;
        for (int place = 0; place < 8; place++)
            field->value |= (uint64_t)from->at[place] << 8 * place;
        from->at += 8;
        return 1;
    case FIXED32:
        if (from->end - from->at < 4)
            return 0;
        from->at += 4;
        return 1;
    case LENGTH:
        if (!varint(from, &length))
            return 0;
        left = (size_t)(from->end - from->at);
        if (length > left)
            return 0;
        field->part = (Bytes){from->at, from->at + length};
        from->at += length;
        return 1;
    default:
        return 0;
    }
}

static Stat *stat_of(Wish *wish, int64_t id)
{
    for (uint64_t slot = (uint64_t)id % SLOTS;; slot = (slot + 1) % SLOTS) {
        Stat *stat = &wish->stats[slot];
        if (!stat->used || stat->id == id)
            return stat;
    }
}

/* The code of a text; -1 with an error set. */
static int64_t code_of(PyObject *texts, const void *text, Py_ssize_t length)
{
    PyObject *key = PyBytes_FromStringAndSize(text, length);
    if (key == NULL)
        return -1;
    PyObject *code = PyDict_GetItemWithError(texts, key);
    int64_t found = -1;
    if (code != NULL) {
        found = PyLong_AsLongLong(code);
    } else if (!PyErr_Occurred()) {
        code = PyLong_FromSsize_t(PyDict_GET_SIZE(texts));
        if (code != NULL && PyDict_SetItem(texts, key, code) == 0)
            found = PyLong_AsLongLong(code);
        Py_XDECREF(code);
    }
    Py_DECREF(key);
    return found;
}

/* What a stat says, into the row. 0 where it is irregular, or with an error set. */
static int take_stat(Wish *wish, Bytes from, int64_t *row)
{
    uint64_t id = 0, real = 0, natural = 0, integer = 0, reference = 0;
    Bytes text = {NULL, NULL};
    Field field;
    while (from.at < from.end) {
        if (!next_field(&from, &field))
            return 0;
        int wire = VARINT;
        switch (field.number) {
        case 1: id = field.value; break;
        case 2: wire = FIXED64, real = field.value; break;
        case 3: natural = field.value; break;
        case 4: integer = field.value; break;
        case 5: wire = LENGTH, text = field.part; break;
        case 7: reference = field.value; break;
        default: wire = field.wire;
        }
        if (wire != field.wire)
            return 0;
    }
    Stat *stat = stat_of(wish, (int64_t)id);
    if (!stat->used)
        return 1;
    int64_t value = (int64_t)(integer ? integer : natural);
    char digits[24];
    switch (stat->how) {
    case INTEGER:
        break;
    case REAL:
        value = (int64_t)real;
        break;
    case TEXT:
        if (text.at != text.end) {
            value = code_of(wish->texts, text.at, text.end - text.at);
            if (value < 0)
                return 0;
        } else {
            if (reference > (uint64_t)1 << 62)
                return 0;
            value = reference ? -2 - (int64_t)reference : -1;
        }
        break;
    default:
        value = code_of(wish->texts, digits, snprintf(digits, sizeof digits, "%lld", (long long)value));
        if (value < 0)
            return 0;
    }
    row[HEAD + stat->column] = value;
    row[SEEN] |= (int64_t)((uint64_t)1 << stat->column);
    return 1;
}

/* An event into the row; `*kept`: whether it is wanted. 0 where it is irregular. */
static int take_event(Wish *wish, Bytes from, int64_t *row, int *kept)
{
    Field field;
    memset(row, 0, sizeof *row * (size_t)(HEAD + wish->width));
    while (from.at < from.end) {
        if (!next_field(&from, &field))
            return 0;
        int wire = VARINT;
        switch (field.number) {
        case 1: row[KIND] = (int64_t)field.value; break;
        case 2: row[OFFSET] = (int64_t)field.value; break;
        case 3: row[DURATION] = (int64_t)field.value; break;
        case 4: wire = LENGTH; break;
        default: wire = field.wire;
        }
        if (wire != field.wire)
            return 0;
        if (field.number == 4 && !take_stat(wish, field.part, row))
            return 0;
    }
    *kept = wish->every || ((uint64_t)row[SEEN] & wish->telling) != 0;
    for (Py_ssize_t place = 0; !*kept && place < wish->wanted_count; place++)
        *kept = integer_at(wish->wanted, place) == row[KIND];
    return 1;
}

static int fill_wish(Wish *wish, const char *stats, Py_ssize_t count)
{
    for (Py_ssize_t place = 0; place < count; place++) {
        Stat stat = {integer_at(stats, 3 * place), integer_at(stats, 3 * place + 1),
                     integer_at(stats, 3 * place + 2), 1};
        if (stat.column < 0 || stat.column >= wish->width || stat.how < INTEGER || stat.how > NUMBER_AS_TEXT)
            return 0;
        *stat_of(wish, stat.id) = stat;
    }
    return 1;
}

PyDoc_STRVAR(rows_doc,
"rows(events, stats, wanted, telling, every, width, texts) -> bytes | None\n\n"
"See xplane_events.py. `stats` are triples of int64 (id, column, how), `wanted` int64 ids.");

static PyObject *rows(PyObject *Py_UNUSED(module), PyObject *arguments)
{
    PyObject *events, *texts;
    Py_buffer stats, wanted;
    unsigned long long telling;
    int every;
    Py_ssize_t width;
    if (!PyArg_ParseTuple(arguments, "O!y*y*KpnO!", &PyList_Type, &events, &stats, &wanted, &telling,
                          &every, &width, &PyDict_Type, &texts))
        return NULL;
    Wish wish = {.wanted = wanted.buf, .wanted_count = wanted.len / (Py_ssize_t)sizeof(int64_t),
                 .telling = telling, .every = every, .width = width, .texts = texts};
    Py_ssize_t stat_count = stats.len / (Py_ssize_t)(3 * sizeof(int64_t));
    PyObject *made = NULL;
    char *table = NULL;
    size_t used = 0, room = 0;
    int regular = width >= 0 && width <= MOST_COLUMNS && stat_count <= MOST_STATS;
    regular = regular && fill_wish(&wish, stats.buf, stat_count);
    const size_t bytes = regular ? sizeof(int64_t) * (size_t)(HEAD + width) : 0;
    for (Py_ssize_t place = 0; regular && place < PyList_GET_SIZE(events); place++) {
        int64_t row[HEAD + MOST_COLUMNS];
        int kept;
        PyObject *event = PyList_GET_ITEM(events, place);
        if (!PyBytes_CheckExact(event)) {
            regular = 0;
            break;
        }
        const uint8_t *data = (const uint8_t *)PyBytes_AS_STRING(event);
        regular = take_event(&wish, (Bytes){data, data + PyBytes_GET_SIZE(event)}, row, &kept);
        if (!regular || !kept)
            continue;
        if (used == room) {
            size_t more = room ? room * 2 : 64;
            char *moved = more <= PY_SSIZE_T_MAX / bytes ? PyMem_Realloc(table, more * bytes) : NULL;
            if (moved == NULL) {
                PyErr_NoMemory();
                break;
            }
            table = moved;
            room = more;
        }
        memcpy(table + used * bytes, row, bytes);
        used++;
    }
    if (!PyErr_Occurred()) {
        made = regular ? PyBytes_FromStringAndSize(table, (Py_ssize_t)(used * bytes)) : Py_None;
        if (!regular)
            Py_INCREF(made);
    }
    PyMem_Free(table);
    PyBuffer_Release(&stats);
    PyBuffer_Release(&wanted);
    return made;
}

static PyMethodDef functions[] = {
    {"rows", rows, METH_VARARGS, rows_doc},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "_xevents", "Events of an XPlane's line to rows.", 0, functions, NULL,
    NULL, NULL, NULL,
};

PyMODINIT_FUNC PyInit__xevents(void)
{
    return PyModuleDef_Init(&definition);
}
