// docs/scene.md compared with the schema: its tables are between <!-- keys: NAME --> and
// <!-- end --> and must equal those generated from the reader's tables. TAUT_UPDATE_DOCS=1 writes
// them again.
#include "test.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scene/schema/schema.h"

static const char docs_path[] = TAUT_TEST_SOURCE "/docs/scene.md";

static char *read_docs(void)
{
    FILE *file = fopen(docs_path, "rb");
    if (!file)
        fail_msg("%s is missing", docs_path);
    char *text = NULL;
    size_t size = 0;
    FILE *copy = open_memstream(&text, &size);
    assert_non_null(copy);
    for (int c; (c = fgetc(file)) != EOF;)
        fputc(c, copy);
    fclose(file);
    assert_int_equal(fclose(copy), 0);
    return text;
}

static char *make_table(const char *name)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    assert_true(schema_markdown(out, name));
    assert_int_equal(fclose(out), 0);
    return text;
}

// The text between the markers of a table; NULL if they are missing.
static const char *find_block(const char *docs, const char *name, size_t *length)
{
    char marker[100];
    snprintf(marker, sizeof marker, "<!-- keys: %s -->\n", name);
    const char *start = strstr(docs, marker);
    if (!start)
        return NULL;
    start += strlen(marker);
    const char *end = strstr(start, "<!-- end -->");
    *length = end ? (size_t)(end - start) : 0;
    return end ? start : NULL;
}

static void update(const char *docs, const char *block, size_t length, const char *table)
{
    FILE *file = fopen(docs_path, "wb");
    assert_non_null(file);
    fprintf(file, "%.*s%s%s", (int)(block - docs), docs, table, block + length);
    assert_int_equal(fclose(file), 0);
}

static void test_table(void **state)
{
    const char *name = *state;
    char *docs = read_docs(), *table = make_table(name);
    size_t length = 0;
    const char *block = find_block(docs, name, &length);
    if (!block)
        fail_msg("docs/scene.md has no <!-- keys: %s --> ... <!-- end -->", name);
    if (getenv("TAUT_UPDATE_DOCS")) {
        update(docs, block, length, table);
    } else if (strlen(table) != length || memcmp(table, block, length) != 0) {
        fail_msg("the table '%s' of docs/scene.md differs from the schema; run this test with "
                 "TAUT_UPDATE_DOCS=1",
                 name);
    }
    free(docs);
    free(table);
}

static bool is_table(const char *name, size_t length)
{
    for (size_t i = 0; schema_table_name(i); i++)
        if (strlen(schema_table_name(i)) == length &&
            memcmp(schema_table_name(i), name, length) == 0)
            return true;
    return false;
}

static void test_no_other_tables(void **state)
{
    (void)state;
    static const char marker[] = "<!-- keys: ";
    char *docs = read_docs();
    size_t count = 0, tables = 0;
    for (const char *at = docs; (at = strstr(at, marker)); count++) {
        at += sizeof marker - 1;
        assert_true(is_table(at, strcspn(at, " ")) || is_table(at, strstr(at, " -->") - at));
    }
    while (schema_table_name(tables))
        tables++;
    assert_int_equal(count, tables);
    free(docs);
}

// Properties that the binder and the documentation rely on.
static void check_key(const struct schema_table *table, const struct schema_key *key)
{
    assert_true(table->count <= 64);
    assert_non_null(key->meaning);
    if (key->type != VALUE_LATER) // which may list names for messages
        assert_int_equal(key->type == VALUE_NAME, key->names != NULL);
    if (key->type == VALUE_LATER && !key->shown)
        fail_msg("key '%s' of %s: 'shown' is missing", key->name, table->name);
    if (key->required + (key->initial != NULL) + (key->absent != NULL) != 1)
        fail_msg("key '%s' of %s: required, initial or absent, one of them", key->name,
                 table->name);
}

static void test_schema(void **state)
{
    (void)state;
    const struct schema_table *tables[] = {
        &schema_scene,   &schema_simulation, &schema_environment, &schema_wind, &schema_gust,
        &schema_output,  &schema_probe,      &schema_material,    &schema_body, &schema_pressure,
        &schema_drive,   &schema_collider,   &schema_implicit,    &schema_vtp,  &schema_checkpoint,
        &schema_elastic, &schema_fabric,     &schema_rayleigh};
    for (size_t t = 0; t < sizeof tables / sizeof tables[0]; t++)
        for (size_t k = 0; k < tables[t]->count; k++)
            check_key(tables[t], &tables[t]->keys[k]);
    for (size_t t = 0; t < BODY_TYPE_COUNT; t++)
        for (size_t k = 0; k < schema_shapes[t].count; k++)
            check_key(&schema_shapes[t], &schema_shapes[t].keys[k]);
    for (size_t t = 0; t < COLLIDER_TYPE_COUNT; t++)
        for (size_t k = 0; k < schema_collider_shapes[t].count; k++)
            check_key(&schema_collider_shapes[t], &schema_collider_shapes[t].keys[k]);
    assert_false(schema_markdown(stdout, "no such table"));
}

int main(void)
{
    enum { TABLES_MAX = 60 };
    struct CMUnitTest tests[TABLES_MAX + 2];
    size_t count = 0;
    for (; count < TABLES_MAX && schema_table_name(count); count++)
        tests[count] = (struct CMUnitTest){.name = schema_table_name(count),
                                           .test_func = test_table,
                                           .initial_state = (void *)schema_table_name(count)};
    tests[count++] = (struct CMUnitTest)cmocka_unit_test(test_no_other_tables);
    tests[count++] = (struct CMUnitTest)cmocka_unit_test(test_schema);
    return _cmocka_run_group_tests("scene_docs", tests, count, NULL, NULL);
}
