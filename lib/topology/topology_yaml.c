/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads the switches of Slurm's topology.yaml, which libyaml parses. */
#include "config.h"

#include "lib/topology/topofile_parse.h"

#ifdef HAVE_YAML

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <yaml.h>

/* The kinds of topology that list hosts. */
static const struct kind {
    const char *topology, *list; /* keys of the topology, and of the list below it */
    const char *name;            /* key of an entry's name */
    bool is_block;
} kinds[] = {{"tree", "switches", "switch", false}, {"block", "blocks", "block", true}};

static const coll_lines *at_node(coll_topofile *file, const yaml_node_t *node) {
    return coll_topofile_line(file, (int)node->start_mark.line + 1);
}

/* Returns the text of NODE; NULL if it is a list or has keys. */
static const char *text_of(const yaml_node_t *node) {
    return node->type == YAML_SCALAR_NODE ? (const char *)node->data.scalar.value : NULL;
}

/* Returns the value of KEY in NODE, or NULL. */
static yaml_node_t *member(yaml_document_t *document, const yaml_node_t *node, const char *key) {
    if (node->type != YAML_MAPPING_NODE)
        return NULL;
    for (const yaml_node_pair_t *pair = node->data.mapping.pairs.start;
         pair < node->data.mapping.pairs.top; pair++) {
        const char *text = text_of(yaml_document_get_node(document, pair->key));
        if (text && strcmp(text, key) == 0)
            return yaml_document_get_node(document, pair->value);
    }
    return NULL;
}

/* Returns the text of KEY in NODE, or "". */
static const char *member_text(yaml_document_t *document, const yaml_node_t *node,
                               const char *key) {
    const yaml_node_t *value = member(document, node, key);
    const char *text = value ? text_of(value) : NULL;
    return text ? text : "";
}

/* Returns the member of ENTRY that KEY sets, or NULL if KEY is ignored. */
static const char **place_of(coll_switch *entry, const struct kind *kind, const char *key) {
    if (strcmp(key, kind->name) == 0)
        return &entry->name;
    if (strcmp(key, "nodes") == 0)
        return &entry->nodes;
    if (!kind->is_block && strcmp(key, "children") == 0)
        return &entry->switches;
    return NULL;
}

/* Appends the switch or block NODE. */
static bool read_entry(coll_topofile *file, yaml_document_t *document, const yaml_node_t *node,
                       const struct kind *kind) {
    coll_switch entry = {.path = file->lines.path,
                         .line = (int)node->start_mark.line + 1,
                         .is_block = kind->is_block};
    if (node->type != YAML_MAPPING_NODE)
        return coll_refuse(at_node(file, node), "%s: and nodes: expected; write it as for Slurm",
                           kind->name);
    for (const yaml_node_pair_t *pair = node->data.mapping.pairs.start;
         pair < node->data.mapping.pairs.top; pair++) {
        const yaml_node_t *key_node = yaml_document_get_node(document, pair->key);
        const char *key = text_of(key_node);
        const char **place = key ? place_of(&entry, kind, key) : NULL;
        if (!place)
            continue;
        if (*place)
            return coll_refuse(at_node(file, key_node), "%s: is there twice; keep one", key);
        *place = text_of(yaml_document_get_node(document, pair->value));
        if (!*place || !**place)
            return coll_refuse(at_node(file, key_node),
                               "%s: needs a text; write it like n[0-3,7], in quotes within { }",
                               key);
    }
    return coll_topofile_append(file, &entry);
}

/* Appends the switches and blocks of TOPOLOGY. */
static bool read_topology(coll_topofile *file, yaml_document_t *document,
                          const yaml_node_t *topology) {
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        const struct kind *kind = &kinds[i];
        const yaml_node_t *tree = member(document, topology, kind->topology);
        if (!tree)
            continue;
        const yaml_node_t *list = member(document, tree, kind->list);
        if (!list || list->type != YAML_SEQUENCE_NODE)
            return coll_refuse(at_node(file, tree),
                               "%s: has no list of %s; write %s: below it, and a list",
                               kind->topology, kind->list, kind->list);
        for (const yaml_node_item_t *item = list->data.sequence.items.start;
             item < list->data.sequence.items.top; item++)
            if (!read_entry(file, document, yaml_document_get_node(document, *item), kind))
                return false;
    }
    return true;
}

/* Reads the first topology that is the cluster's default; if none is, the first of the list. */
static bool read_document(coll_topofile *file, yaml_document_t *document) {
    const yaml_node_t *root = yaml_document_get_root_node(document);
    if (!root || root->type != YAML_SEQUENCE_NODE ||
        root->data.sequence.items.start == root->data.sequence.items.top)
        return coll_refuse(coll_topofile_line(file, (int)document->start_mark.line + 1),
                           "there is no list of topologies; write it as for Slurm: "
                           "- topology: NAME, and tree: or block: below");
    const yaml_node_item_t *first = root->data.sequence.items.start;
    const yaml_node_item_t *end = root->data.sequence.items.top;
    const yaml_node_t *chosen = NULL;
    for (const yaml_node_item_t *item = first; item < end && !chosen; item++) {
        const yaml_node_t *topology = yaml_document_get_node(document, *item);
        if (strcasecmp(member_text(document, topology, "cluster_default"), "true") == 0)
            chosen = topology;
    }
    if (!chosen)
        chosen = yaml_document_get_node(document, *first);
    if (end - first > 1)
        coll_topofile_add_note(file, "of its %d topologies '%.60s' is used", (int)(end - first),
                               member_text(document, chosen, "topology"));
    return read_topology(file, document, chosen);
}

/* Returns the line of PARSER's error. */
static int error_line(const coll_topofile *file, const yaml_parser_t *parser) {
    if (parser->error != YAML_READER_ERROR)
        return (int)parser->problem_mark.line + 1;
    int line = 1;
    for (size_t i = 0; i < parser->problem_offset; i++)
        line += file->lines.next[i] == '\n';
    return line;
}

bool coll_topology_yaml_parse(coll_topofile *file) {
    yaml_parser_t parser;
    yaml_document_t *document = malloc(sizeof *document);
    if (!document || !yaml_parser_initialize(&parser)) {
        free(document);
        return coll_refuse(&file->lines, "out of memory");
    }
    yaml_parser_set_input_string(&parser, (const unsigned char *)file->lines.next,
                                 (size_t)(file->lines.end - file->lines.next));
    /* Slurm, too, reads only the first document. */
    if (!yaml_parser_load(&parser, document)) {
        free(document);
        if (parser.error == YAML_MEMORY_ERROR)
            coll_refuse(&file->lines, "out of memory");
        else
            coll_refuse(coll_topofile_line(file, error_line(file, &parser)),
                        "no YAML: %s; write a list of topologies as for Slurm", parser.problem);
        yaml_parser_delete(&parser);
        return false;
    }
    yaml_parser_delete(&parser);
    file->sources[file->source_count - 1].document = document;
    return read_document(file, document);
}

void coll_topology_yaml_free(coll_topofile_source *source) {
    if (source->document)
        yaml_document_delete(source->document);
    free(source->document);
    source->document = NULL;
}

#else

bool coll_topology_yaml_parse(coll_topofile *file) {
    return coll_refuse(coll_topofile_line(file, 1),
                       "this libcoll was built without libyaml, which reads "
                       "topology.yaml; give a topology.conf, or build with libyaml");
}

void coll_topology_yaml_free(coll_topofile_source *source) {
    (void)source;
}

#endif
