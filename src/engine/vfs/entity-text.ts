import type { VirtualItem } from '../../contract/gateway/fs.js'
import { joinPath } from '../base/virtual-paths.js'
import type { GraphView } from '../graph/read.js'
import { type EntityRow, entityByKey, isShown, namesOf, sourceNodes } from '../rows/graph/entities.js'
import { relationEnds } from '../rows/graph/relations.js'
import type { Read } from '../storage/program.js'

/** Maximum number of relations and documents in the text of an entity. */
const RELATIONS = 50
const NODES = 50
/** Maximum number of relations that are read, since the reader may not see some. */
const LOOKED_AT = 500

/** An entity as a file. */
export function* entityItem(graph: GraphView, row: EntityRow, at: readonly string[]): Read<VirtualItem> {
  return {
    kind: 'resource',
    name: row.canonical_key,
    path: joinPath('knowledge', [...at, row.canonical_key]),
    metadata: {
      name: (yield* namesOf(graph, row))[0] ?? row.name,
      type: row.type,
      canonicalKey: row.canonical_key,
      confidence: row.confidence,
    },
    targetId: row.id,
  }
}

/** Entities as files of one folder. */
export function* entityItems(graph: GraphView, rows: readonly EntityRow[], at: readonly string[]): Read<VirtualItem[]> {
  const items: VirtualItem[] = []
  for (const row of rows) items.push(yield* entityItem(graph, row, at))
  return items
}

/** Text about an entity: its names, its relations, the documents that mention it. */
export function* entityText(graph: GraphView, row: EntityRow): Read<string> {
  const [name = row.name, ...aliases] = yield* namesOf(graph, row)
  const lines = [name, '', `type: ${row.type}`, `key: ${row.canonical_key}`, `id: ${row.id}`]
  if (aliases.length > 0) lines.push(`also written: ${aliases.join(', ')}`)
  const relations = yield* relationLines(graph, row, name)
  if (relations.length > 0) lines.push('', 'relations:', ...relations)
  const documents = new Map<string, number>()
  for (const { filename } of yield* sourceNodes(graph, 'entity', row.key, NODES))
    documents.set(filename, (documents.get(filename) ?? 0) + 1)
  lines.push('', 'mentioned in:')
  for (const [filename, passages] of documents)
    lines.push(`- ${filename} (${passages} ${passages === 1 ? 'passage' : 'passages'})`)
  return `${lines.join('\n')}\n`
}

function* relationLines(graph: GraphView, row: EntityRow, name: string): Read<string[]> {
  const lines: string[] = []
  for (const { key, subject_key, object_key, type, predicate } of yield* relationEnds(row.key, LOOKED_AT)) {
    if (lines.length === RELATIONS) break
    if (!(yield* isShown(graph, 'relation', key))) continue
    const other = yield* entityByKey(graph, subject_key === row.key ? object_key : subject_key)
    if (other === undefined) continue
    const otherName = (yield* namesOf(graph, other))[0] ?? other.name
    const said = predicate === '' ? type : predicate
    lines.push(subject_key === row.key ? `- ${name} ${said} ${otherName}` : `- ${otherName} ${said} ${name}`)
  }
  return lines
}
