// scene/document: the YAML tree, its positions, aliases, merge keys and limits.
#include "test.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "scene/text/document.h"

struct loaded {
    struct scene_document *document;
    struct diagnostics diagnostics;
    bool sound;
};

static struct loaded load_bytes(const char *text, size_t length)
{
    struct loaded loaded = {.document = document_create(text, length, "t.yaml", 0)};
    assert_non_null(loaded.document);
    loaded.sound = document_load(loaded.document, &loaded.diagnostics);
    return loaded;
}

static struct loaded load(const char *text)
{
    return load_bytes(text, strlen(text));
}

static void release(struct loaded *loaded)
{
    diagnostics_free(&loaded->diagnostics);
    document_free(loaded->document);
}

static const struct dom_node *get(const struct dom_node *mapping, const char *key)
{
    const struct dom_pair *pair = dom_find(mapping, key);
    assert_non_null(pair);
    return pair->value.node;
}

// Loads the text, and expects one error with that text at that position.
static void expect_error(const char *text, size_t length, int line, int column, const char *message)
{
    struct loaded loaded = load_bytes(text, length);
    assert_int_equal(loaded.diagnostics.count, 1);
    const struct diagnostic *item = &loaded.diagnostics.items[0];
    assert_string_equal(item->text, message);
    assert_int_equal(item->at.line, line);
    assert_int_equal(item->at.column, column);
    release(&loaded);
}

static void test_tree(void **state)
{
    (void)state;
    struct loaded loaded = load("# comment\na: 1\nb: [x, \"y z\", {c: 'd'}]\ne:\n  - f: g\n");
    assert_true(loaded.sound);
    const struct dom_node *root = loaded.document->root.node;
    assert_int_equal(root->kind, DOM_MAPPING);
    assert_false(root->flow);
    assert_int_equal(root->count, 3);
    assert_string_equal(get(root, "a")->text, "1");
    assert_true(get(root, "a")->plain);
    const struct dom_node *list = get(root, "b");
    assert_int_equal(list->kind, DOM_LIST);
    assert_true(list->flow);
    assert_int_equal(list->count, 3);
    assert_string_equal(list->items[1].node->text, "y z");
    assert_false(list->items[1].node->plain);
    assert_string_equal(get(list->items[2].node, "c")->text, "d");
    assert_string_equal(get(get(root, "e")->items[0].node, "f")->text, "g");
    assert_null(dom_find(root, "z"));
    assert_int_equal(root->height, 3);
    assert_int_equal(root->weight, 1 + 2 + 1 + (1 + 2 + 3) + 1 + (1 + 3));
    release(&loaded);
}

static void test_lines_and_columns(void **state)
{
    (void)state;
    struct loaded loaded = load("\xEF\xBB\xBFkey: value\r\n\xC5\xBElu\xC5\xA5: [1,\n  2]\n");
    assert_true(loaded.sound);
    const struct dom_node *root = loaded.document->root.node;
    assert_int_equal(root->pairs[0].key_at.line, 1);
    assert_int_equal(root->pairs[0].key_at.column, 1);
    assert_int_equal(root->pairs[0].value.at.column, 6);
    assert_int_equal(root->pairs[1].value.at.line, 2);
    assert_int_equal(root->pairs[1].value.at.column, 7); // characters, not bytes
    assert_int_equal(root->pairs[1].value.node->items[1].at.line, 3);
    assert_int_equal(root->pairs[1].value.node->items[1].at.column, 3);
    release(&loaded);
}

static void test_aliases(void **state)
{
    (void)state;
    struct loaded loaded = load("a: &x {k: 1}\nb: *x\nc: &x 2\nd: *x\n");
    assert_true(loaded.sound);
    const struct dom_node *root = loaded.document->root.node;
    assert_ptr_equal(get(root, "a"), get(root, "b"));
    assert_true(root->pairs[1].value.shared);
    assert_false(root->pairs[0].value.shared);
    assert_int_equal(root->pairs[1].value.at.line, 2);       // the position of the alias
    assert_int_equal(root->pairs[1].value.node->at.line, 1); // and of the node that it refers to
    assert_string_equal(get(root, "d")->text, "2");          // the later definition applies
    release(&loaded);
}

static void test_merge(void **state)
{
    (void)state;
    struct loaded loaded = load("a: &a {k: 1, l: 2}\nb: &b {l: 3, m: 4}\n"
                                "c: {l: 9, <<: *a}\nd: {<<: [*b, *a], n: 5}\ne: {\"<<\": 1}\n");
    assert_true(loaded.sound);
    const struct dom_node *root = loaded.document->root.node;
    const struct dom_node *c = get(root, "c"), *d = get(root, "d");
    assert_int_equal(c->count, 2);
    assert_string_equal(get(c, "l")->text, "9"); // its own key takes precedence
    assert_string_equal(get(c, "k")->text, "1");
    assert_int_equal(d->count, 4);
    assert_string_equal(get(d, "l")->text, "3"); // the earlier merge takes precedence
    assert_string_equal(get(d, "k")->text, "1");
    assert_string_equal(get(d, "n")->text, "5");
    assert_string_equal(get(get(root, "e"), "<<")->text, "1"); // in quotes it is an ordinary key
    release(&loaded);
}

static void test_duplicates(void **state)
{
    (void)state;
    struct loaded loaded = load("a: 1\nb: {c: 1, d: 2, c: 3}\na: 2\n");
    assert_true(loaded.sound); // a tree, with errors
    assert_int_equal(loaded.diagnostics.error_count, 2);
    assert_string_equal(loaded.diagnostics.items[0].text,
                        "duplicate key 'c'; it is given before at line 2");
    assert_int_equal(loaded.diagnostics.items[1].at.line, 3);
    assert_string_equal(get(loaded.document->root.node, "a")->text, "1");
    release(&loaded);
}

// More keys than are compared pairwise.
static void test_duplicates_of_many(void **state)
{
    (void)state;
    char text[4000] = "";
    size_t used = 0;
    for (int i = 0; i < 100; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "k%d: %d\n", i * 37 % 90, i);
    struct loaded loaded = load(text);
    assert_int_equal(loaded.diagnostics.error_count, 10); // 90 to 99 repeat 0 to 9
    assert_int_equal(loaded.document->root.node->count, 90);
    for (size_t i = 0; i < 90; i++) // in the order of the file
        assert_int_equal(loaded.document->root.node->pairs[i].key_at.line, (int)i + 1);
    release(&loaded);
}

static void test_depth(void **state)
{
    (void)state;
    char text[200];
    memset(text, '[', DOCUMENT_DEPTH_MAX);
    memset(text + DOCUMENT_DEPTH_MAX, ']', DOCUMENT_DEPTH_MAX);
    struct loaded loaded = load_bytes(text, 2 * DOCUMENT_DEPTH_MAX);
    assert_true(loaded.sound);
    release(&loaded);
    memset(text, '[', DOCUMENT_DEPTH_MAX + 1);
    expect_error(text, DOCUMENT_DEPTH_MAX + 1, 1, DOCUMENT_DEPTH_MAX + 1,
                 "lists and mappings are nested more than 64 deep");
}

// Each anchor contains the one before it: no single text is deep, but their expansion is.
static void test_depth_through_aliases(void **state)
{
    (void)state;
    static const char text[] = "a: &a [[[[[[[[[[[[[[[[[[[[x]]]]]]]]]]]]]]]]]]]]\n"
                               "b: &b [[[[[[[[[[[[[[[[[[[[*a]]]]]]]]]]]]]]]]]]]]\n"
                               "c: &c [[[[[[[[[[[[[[[[[[[[*b]]]]]]]]]]]]]]]]]]]]\n"
                               "d: &d [[[[[[[[[[[[[[[[[[[[*c]]]]]]]]]]]]]]]]]]]]\n";
    expect_error(text, sizeof text - 1, 4, 27,
                 "lists and mappings are nested more than 64 deep, aliases expanded");
}

static void test_alias_bomb(void **state)
{
    (void)state;
    char text[2000];
    size_t used = (size_t)snprintf(text, sizeof text, "a0: &a0 [x]\n");
    for (int i = 1; i < 30; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "a%d: &a%d [*a%d, *a%d, *a%d]\n",
                                 i, i, i - 1, i - 1, i - 1);
    struct timespec before, after;
    timespec_get(&before, TIME_UTC);
    struct loaded loaded = load(text);
    timespec_get(&after, TIME_UTC);
    assert_false(loaded.sound);
    assert_int_equal(loaded.diagnostics.count, 1);
    assert_non_null(strstr(loaded.diagnostics.items[0].text, "more than 4000000 values"));
    assert_int_equal(loaded.diagnostics.items[0].at.line, 14);
    assert_true(after.tv_sec - before.tv_sec < 5);
    release(&loaded);
}

// The same through merge keys, which copy the pairs of the node that they refer to.
static void test_merge_bomb(void **state)
{
    (void)state;
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    fputs("a: &a {", out);
    for (int i = 0; i < 3000; i++)
        fprintf(out, "k%d: 1, ", i);
    fputs("}\nb: [", out);
    for (int i = 0; i < 3000; i++)
        fputs("{<<: *a}, ", out);
    fputs("]\n", out);
    assert_int_equal(fclose(out), 0);
    struct loaded loaded = load(text);
    assert_false(loaded.sound);
    assert_non_null(strstr(loaded.diagnostics.items[0].text, "more than 4000000 values"));
    release(&loaded);
    free(text);
}

// A million anchors and aliases take linear time.
static void test_many_anchors(void **state)
{
    (void)state;
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    for (int i = 0; i < 100000; i++)
        fprintf(out, "- &a%d %d\n", i, i);
    for (int i = 0; i < 100000; i++)
        fprintf(out, "- *a%d\n", i);
    assert_int_equal(fclose(out), 0);
    struct loaded loaded = load(text);
    assert_true(loaded.sound);
    assert_int_equal(loaded.document->root.node->count, 200000);
    assert_string_equal(loaded.document->root.node->items[199999].node->text, "99999");
    release(&loaded);
    free(text);
}

static void test_size(void **state)
{
    (void)state;
    size_t size = (size_t)DOCUMENT_BYTES_MAX + 1;
    char *text = malloc(size);
    assert_non_null(text);
    memset(text, ' ', size);
    expect_error(text, size, 0, 0, "the scene is larger than 64 MiB");
    free(text);
}

static void test_encoding(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int column;
    } broken[] = {
        {"a: \xFF", 4},             // no lead byte
        {"a: \xC3", 4},             // cut at the end
        {"a: \xE2\x82", 4},         // cut at the end
        {"a: \xE2\x82 x", 4},       // cut in the middle
        {"a: \xC0\xAF", 4},         // overlong
        {"a: \xE0\x80\x80", 4},     // overlong
        {"a: \xED\xA0\x80", 4},     // a surrogate
        {"a: \xF4\x90\x80\x80", 4}, // beyond Unicode
        {"\xC5\xBE: \x80", 4},      // after a valid one
    };
    for (size_t i = 0; i < sizeof broken / sizeof broken[0]; i++)
        expect_error(broken[i].text, strlen(broken[i].text), 1, broken[i].column,
                     "the text is not UTF-8 here");
    expect_error("a: 1\nb\0: 2", 10, 2, 2, "a NUL byte; is this a text file?");
    expect_error("a: 1\n\x1b[2J", 9, 2, 1, "a control character, which YAML does not allow");
}

static void test_syntax(void **state)
{
    (void)state;
    expect_error("a: [1\n", 6, 2, 1, "expected ',' or ']' of the list that begins at line 1");
    expect_error("a: {b: 1\nc: 2\n", 14, 2, 2,
                 "expected ',' or '}' of the mapping that begins at line 1");
    expect_error("a: 1\n b: 2\n", 11, 2, 3,
                 "unexpected ':'; check the indentation, and quote text that contains ': '");
    expect_error("a:\n  b: 1\n c: 2\n", 16, 3, 2,
                 "expected a key, indented like those before it, or a bracket is too many");
    expect_error("a:\n  b: 1\n  c 2\n  d: 3\n", 23, 3, 3,
                 "expected ':' and a blank after this key");
    expect_error("a: 'b\n", 6, 1, 4, "the quotation mark is never closed");
    expect_error("a: @b\n", 6, 1, 4,
                 "text cannot begin with this character; put it in quotation marks");
    expect_error("a: [1]]\n", 8, 1, 7,
                 "expected a key, indented like those before it, or a bracket is too many");
    expect_error("a:\n\tb: 1\n", 9, 2, 1, "a tab in the indentation; YAML requires spaces");
    expect_error("a: *b\n", 6, 1, 4, "no anchor '&b' precedes this alias");
    expect_error("a: &b [*b]\n", 11, 1, 8, "the alias '*b' is inside what it names");
    expect_error("", 0, 1, 1, "the scene is empty");
    expect_error("a: !!int 3\n", 11, 1, 4,
                 "tags such as 'tag:yaml.org,2002:int' are not used in scenes");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tree),         cmocka_unit_test(test_lines_and_columns),
        cmocka_unit_test(test_aliases),      cmocka_unit_test(test_merge),
        cmocka_unit_test(test_duplicates),   cmocka_unit_test(test_duplicates_of_many),
        cmocka_unit_test(test_depth),        cmocka_unit_test(test_depth_through_aliases),
        cmocka_unit_test(test_alias_bomb),   cmocka_unit_test(test_merge_bomb),
        cmocka_unit_test(test_many_anchors), cmocka_unit_test(test_size),
        cmocka_unit_test(test_encoding),     cmocka_unit_test(test_syntax),
    };
    return cmocka_run_group_tests_name("document", tests, NULL, NULL);
}
