import type { VirtualItem } from '../../../contract/gateway/fs.js'
import { joinVirtualPath } from '../../base/virtual-paths.js'
import type { GraphView } from '../../knowledge/index.js'
import type { Read } from '../../store/program.js'
import {
  type EntityRow,
  findEntityByRowKey,
  isVisible,
  listEntityNames,
  listSourceNodes,
} from '../../store/rows/graph/entities.js'
import { listRelationEnds } from '../../store/rows/graph/relations.js'

/** Maximum number of relations and documents in the text of an entity. */
const MAX_RELATIONS = 50
const MAX_NODES = 50
/** Maximum number of relations that are read, since the reader may not see some. */
const MAX_READ_RELATIONS = 500

/** An entity as a file. */
export function* toEntityItem(graph: GraphView, row: EntityRow, folder: readonly string[]): Read<VirtualItem> {
  return {
    kind: 'resource',
    name: row.canonical_key,
    path: joinVirtualPath('knowledge', [...folder, row.canonical_key]),
    metadata: {
      name: (yield* listEntityNames(graph, row))[0] ?? row.name,
      type: row.type,
      canonicalKey: row.canonical_key,
      confidence: row.confidence,
    },
    targetId: row.id,
  }
}

/** Entities as files of one folder. */
export function* toEntityItems(
  graph: GraphView,
  rows: readonly EntityRow[],
  folder: readonly string[],
): Read<VirtualItem[]> {
  const items: VirtualItem[] = []
  for (const row of rows) items.push(yield* toEntityItem(graph, row, folder))
  return items
}

/** Text about an entity: its names, its relations, the documents that mention it. */
export function* buildEntityText(graph: GraphView, row: EntityRow): Read<string> {
  const [name = row.name, ...aliases] = yield* listEntityNames(graph, row)
  const lines = [name, '', `type: ${row.type}`, `key: ${row.canonical_key}`, `id: ${row.id}`]
  if (aliases.length > 0) lines.push(`also written: ${aliases.join(', ')}`)
  const relations = yield* buildRelationLines(graph, row, name)
  if (relations.length > 0) lines.push('', 'relations:', ...relations)
  const documents = new Map<string, number>()
  for (const { filename } of yield* listSourceNodes(graph, 'entity', row.key, MAX_NODES))
    documents.set(filename, (documents.get(filename) ?? 0) + 1)
  lines.push('', 'mentioned in:')
  for (const [filename, passages] of documents)
    lines.push(`- ${filename} (${passages} ${passages === 1 ? 'passage' : 'passages'})`)
  return `${lines.join('\n')}\n`
}

function* buildRelationLines(graph: GraphView, row: EntityRow, name: string): Read<string[]> {
  const lines: string[] = []
  for (const { key, subject_key, object_key, type, predicate } of yield* listRelationEnds(
    row.key,
    MAX_READ_RELATIONS,
  )) {
    if (lines.length === MAX_RELATIONS) break
    if (!(yield* isVisible(graph, 'relation', key))) continue
    const other = yield* findEntityByRowKey(graph, subject_key === row.key ? object_key : subject_key)
    if (other === undefined) continue
    const otherName = (yield* listEntityNames(graph, other))[0] ?? other.name
    const label = predicate === '' ? type : predicate
    lines.push(subject_key === row.key ? `- ${name} ${label} ${otherName}` : `- ${otherName} ${label} ${name}`)
  }
  return lines
}
