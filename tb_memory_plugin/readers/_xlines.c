/* Lines of an XPlane, protobuf messages, to columns: what xplane_events.py does in Python.
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
enum { INTEGER, REAL, TEXT, NUMBER_AS_TEXT, NOTHING_OF_IT }; /* what becomes of a stat's value */
enum { VARINT = 0, FIXED64 = 1, LENGTH = 2, FIXED32 = 5 };
enum { KIND_TAG = 1 << 3 | VARINT };
enum { MOST_COLUMNS = 32, MOST_STATS = 64, SLOTS = 256 };
enum { MOST_OTHERS = 4096, COST_OF_OTHERS = 64 }; /* bytes */

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
    const char *kinds; /* ids of events */
    Py_ssize_t kind_count;
    int listed; /* whether those are wanted, or all others */
    Py_ssize_t width;
    PyObject *texts;
    Py_ssize_t others; /* the column for the stats that are not named, or -1 */
    PyObject *known;   /* their bytes, and the code of each */
    int64_t *room;     /* bytes that there may still be more of those */
    uint8_t gathered[MOST_OTHERS];
} Wish;

enum { IRREGULAR, TAKEN, NOT_NAMED };

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

/* What a stat says, into the row. IRREGULAR with or without an error set. */
static int take_stat(Wish *wish, Bytes from, int64_t *row)
{
    uint64_t id = 0, real = 0, natural = 0, integer = 0, reference = 0;
    Bytes text = {NULL, NULL};
    Field field;
    while (from.at < from.end) {
        if (!next_field(&from, &field))
            return IRREGULAR;
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
            return IRREGULAR;
    }
    Stat *stat = stat_of(wish, (int64_t)id);
    if (!stat->used)
        return NOT_NAMED;
    if (stat->how == NOTHING_OF_IT)
        return TAKEN;
    int64_t value = (int64_t)(integer ? integer : natural);
    char digits[24];
    switch (stat->how) {
    case INTEGER:
        break;
    case REAL:
        if (real << 1 == 0) { /* a whole number is written as an integer */
            const double whole = (double)value;
            memcpy(&real, &whole, sizeof real);
        }
        value = (int64_t)real;
        break;
    case TEXT:
        if (text.at != text.end) {
            value = code_of(wish->texts, text.at, text.end - text.at);
            if (value < 0)
                return IRREGULAR;
        } else {
            if (reference > (uint64_t)1 << 62)
                return IRREGULAR;
            value = reference ? -2 - (int64_t)reference : -1;
        }
        break;
    default:
        value = code_of(wish->texts, digits, snprintf(digits, sizeof digits, "%lld", (long long)value));
        if (value < 0)
            return IRREGULAR;
    }
    row[HEAD + stat->column] = value;
    row[SEEN] |= (int64_t)((uint64_t)1 << stat->column);
    return TAKEN;
}

/* Whether an event of this kind is wanted. */
static int is_wanted(const Wish *wish, int64_t kind)
{
    for (Py_ssize_t place = 0; place < wish->kind_count; place++)
        if (integer_at(wish->kinds, place) == kind)
            return wish->listed;
    return !wish->listed;
}

/* The code of the stats that were gathered: -1 for none, -2 where there is no room for them, -3 with
 * an error set. */
static int64_t code_of_others(Wish *wish, size_t length)
{
    if (length == 0 || length > MOST_OTHERS)
        return length ? -2 : -1;
    PyObject *key = PyBytes_FromStringAndSize((const char *)wish->gathered, (Py_ssize_t)length);
    if (key == NULL)
        return -3;
    PyObject *code = PyDict_GetItemWithError(wish->known, key);
    int64_t found = -2;
    if (code != NULL) {
        found = PyLong_AsLongLong(code);
    } else if (PyErr_Occurred()) {
        found = -3;
    } else if (*wish->room >= (int64_t)length + COST_OF_OTHERS) {
        *wish->room -= (int64_t)length + COST_OF_OTHERS;
        found = code_of(wish->known, wish->gathered, (Py_ssize_t)length);
        found = found < 0 ? -3 : found;
    }
    Py_DECREF(key);
    return found;
}

/* An event into the row. 0 where it is irregular. */
static int take_event(Wish *wish, Bytes from, int64_t *row)
{
    Field field;
    size_t length = 0;
    memset(row, 0, sizeof *row * (size_t)(HEAD + wish->width));
    while (from.at < from.end) {
        const uint8_t *const begin = from.at;
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
        if (field.number != 4)
            continue;
        const int done = take_stat(wish, field.part, row);
        if (done == IRREGULAR)
            return 0;
        if (done == NOT_NAMED && wish->others >= 0) {
            const size_t more = (size_t)(from.at - begin);
            if (length + more <= MOST_OTHERS)
                memcpy(wish->gathered + length, begin, more);
            length += more;
        }
    }
    if (wish->others >= 0) {
        row[HEAD + wish->others] = code_of_others(wish, length);
        return row[HEAD + wish->others] != -3;
    }
    return 1;
}

/* The kind of an event. 0 where it is not plainly its first field, or there twice. */
static int take_kind(Bytes from, int64_t *kind)
{
    Field field;
    *kind = 0;
    for (int first = 1; from.at < from.end; first = 0) {
        const uint8_t tag = *from.at;
        if (!next_field(&from, &field))
            return 0;
        if (field.number == 1) {
            if (!first || tag != KIND_TAG)
                return 0;
            *kind = (int64_t)field.value;
        }
    }
    return 1;
}

/* The kind of an event of which `take_kind` is known to say it. */
static int64_t known_kind(Bytes from)
{
    uint64_t kind;
    if (from.at < from.end && *from.at++ == KIND_TAG && varint(&from, &kind))
        return (int64_t)kind;
    return 0;
}

static int fill_wish(Wish *wish, const char *stats, Py_ssize_t count)
{
    for (Py_ssize_t place = 0; place < count; place++) {
        Stat stat = {integer_at(stats, 3 * place), integer_at(stats, 3 * place + 1),
                     integer_at(stats, 3 * place + 2), 1};
        if (stat.column < 0 || stat.column >= wish->width || stat.how < INTEGER || stat.how > NOTHING_OF_IT)
            return 0;
        *stat_of(wish, stat.id) = stat;
    }
    return 1;
}

/* The part `begin` ... `end` of `data`; 0 where it has no such part. */
static int part_of(const Py_buffer *data, Py_ssize_t begin, Py_ssize_t end, Bytes *part)
{
    if (begin < 0 || begin > end || end > data->len)
        return 0;
    *part = (Bytes){(const uint8_t *)data->buf + begin, (const uint8_t *)data->buf + end};
    return 1;
}

static const char *const NOTHING = "";

static PyObject *text_of(Bytes text)
{
    return PyBytes_FromStringAndSize(text.at ? (const char *)text.at : NOTHING, text.end - text.at);
}

PyDoc_STRVAR(outline_doc,
"outline(data, begin, end, kinds) -> (listed, others, timestamp_ns, name, display_name) | None\n\n"
"How many events of a line are of `kinds` (int64 ids) and how many are not, and its fields.");

static PyObject *outline(PyObject *Py_UNUSED(module), PyObject *arguments)
{
    Py_buffer data, kinds;
    Py_ssize_t begin, end, counts[2] = {0, 0};
    if (!PyArg_ParseTuple(arguments, "y*nny*", &data, &begin, &end, &kinds))
        return NULL;
    Wish wish = {.kinds = kinds.buf, .kind_count = kinds.len / (Py_ssize_t)sizeof(int64_t), .listed = 1};
    Bytes from, name = {NULL, NULL}, display_name = {NULL, NULL};
    int64_t timestamp = 0, kind;
    int regular = part_of(&data, begin, end, &from);
    Field field;
    while (regular && from.at < from.end) {
        regular = next_field(&from, &field);
        if (!regular)
            break;
        int wire = LENGTH;
        switch (field.number) {
        case 2: name = field.part; break;
        case 3: wire = VARINT, timestamp = (int64_t)field.value; break;
        case 4:
            regular = field.wire == LENGTH && take_kind(field.part, &kind);
            counts[regular && !is_wanted(&wish, kind)]++;
            break;
        case 11: display_name = field.part; break;
        default: wire = field.wire;
        }
        regular = regular && wire == field.wire;
    }
    PyObject *made = NULL;
    if (!regular) {
        made = Py_None;
        Py_INCREF(made);
    } else {
        PyObject *called = text_of(name), *shown = text_of(display_name);
        if (called != NULL && shown != NULL)
            made = Py_BuildValue("nnLOO", counts[0], counts[1], (long long)timestamp, called, shown);
        Py_XDECREF(called);
        Py_XDECREF(shown);
    }
    PyBuffer_Release(&data);
    PyBuffer_Release(&kinds);
    return made;
}

PyDoc_STRVAR(fill_doc,
"fill(data, begin, end, kinds, listed, stats, texts, table, row, others=-1, known={}, room=b'')\n"
"-> int | None\n\n"
"The events of a line that `outline` takes, of `kinds` or of all the others, into the columns of\n"
"`table` from `row` on; answers how many. See xplane_events.py. `stats` are triples of int64 (id,\n"
"column, how). The column `others`, if any, gets the codes in `known` of all stats that are not among\n"
"them, as bytes; `room` is one int64, how many bytes of such there may still be.");

static PyObject *fill(PyObject *Py_UNUSED(module), PyObject *arguments)
{
    Py_buffer data, kinds, stats;
    Py_ssize_t begin, end, first;
    int listed;
    PyObject *texts, *table, *known = NULL;
    Py_ssize_t others = -1;
    Py_buffer budget = {0};
    if (!PyArg_ParseTuple(arguments, "y*nny*py*O!On|nO!w*", &data, &begin, &end, &kinds, &listed, &stats,
                          &PyDict_Type, &texts, &table, &first, &others, &PyDict_Type, &known, &budget))
        return NULL;
    PyObject *made = NULL;
    Py_buffer columns;
    if (PyObject_GetBuffer(table, &columns, PyBUF_C_CONTIGUOUS | PyBUF_WRITABLE) == 0) {
        const Py_ssize_t width = columns.ndim == 2 && columns.itemsize == sizeof(int64_t) ? columns.shape[0] : 0;
        const Py_ssize_t room = width ? columns.shape[1] : 0;
        const Py_ssize_t stat_count = stats.len / (Py_ssize_t)(3 * sizeof(int64_t));
        Wish wish = {.kinds = kinds.buf, .kind_count = kinds.len / (Py_ssize_t)sizeof(int64_t),
                     .listed = listed, .width = width - HEAD, .texts = texts,
                     .others = others, .known = known, .room = budget.buf};
        Bytes from;
        Field field;
        int64_t row[HEAD + MOST_COLUMNS], *into = columns.buf;
        Py_ssize_t at = first;
        int regular = width >= HEAD && width <= HEAD + MOST_COLUMNS && stat_count <= MOST_STATS && first >= 0;
        regular = regular && others < width - HEAD
                  && (others < 0 || (known != NULL && budget.len == (Py_ssize_t)sizeof(int64_t)));
        regular = regular && fill_wish(&wish, stats.buf, stat_count) && part_of(&data, begin, end, &from);
        while (regular && from.at < from.end) {
            regular = next_field(&from, &field);
            if (!regular || field.number != 4 || !is_wanted(&wish, known_kind(field.part)))
                continue;
            regular = at < room && take_event(&wish, field.part, row);
            for (Py_ssize_t column = 0; regular && column < width; column++)
                into[column * room + at] = row[column];
            at += regular;
        }
        if (!PyErr_Occurred()) {
            made = regular ? PyLong_FromSsize_t(at - first) : Py_None;
            if (!regular)
                Py_INCREF(made);
        }
        PyBuffer_Release(&columns);
    }
    PyBuffer_Release(&data);
    PyBuffer_Release(&kinds);
    PyBuffer_Release(&stats);
    if (budget.obj != NULL)
        PyBuffer_Release(&budget);
    return made;
}

static PyMethodDef functions[] = {
    {"outline", outline, METH_VARARGS, outline_doc},
    {"fill", fill, METH_VARARGS, fill_doc},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "_xlines", "Lines of an XPlane to columns.", 0, functions, NULL,
    NULL, NULL, NULL,
};

PyMODINIT_FUNC PyInit__xlines(void)
{
    return PyModuleDef_Init(&definition);
}
