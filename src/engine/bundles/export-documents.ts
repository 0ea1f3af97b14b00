import type { EngineContext } from '../context.js'
import {
  assetsAfter,
  type BundledDocument,
  type BundledNode,
  type BundledVersion,
  modelReadsFor,
  nodesFor,
  partsAfter,
  type Row,
  versionsFor,
  versionsIn,
} from '../rows/bundles/read.js'
import type { Read } from '../storage/program.js'
import { type Exporting, objectsOf, pause } from './exporting.js'
import { base64, lineOf } from './rows.js'
import type { RowsWriter } from './tar-writer.js'

/** Passages of a large version that are read together. */
const NODES = 500
/** Maximum total of passages of versions that are read together. */
const NODES_TOGETHER = 2000

/** Consecutive documents, with the data for writing them. */
export interface Page {
  rows: RowsWriter
  page: readonly BundledDocument[]
  /** ids of sources in the bundle, or whose readers it has */
  sources: ReadonlySet<string>
  /** row key of the vector space in the bundle */
  vectorSpace: number | undefined
}

/** Writes documents with everything that belongs to them. */
export async function* ofDocuments(context: EngineContext, of: Exporting, page: Page): AsyncGenerator<Uint8Array> {
  const { snapshot, space } = of
  const { rows, sources } = page
  yield* rows.flush()
  yield* objectsOf(context, of, page.page)
  yield* rows.page(
    'documents',
    page.page.map((row) => lineOf('documents', shown(row, sources))),
  )
  const ids = new Map(page.page.map(({ key, id }) => [key, id]))
  const versions = await snapshot.read(versionsFor(space.key, [...ids.keys()]))
  const named = (version: BundledVersion) => ({ document: ids.get(version.doc_key), version: version.version })
  yield* rows.add(
    'versions',
    versions.map((row) =>
      lineOf('versions', row, { ...named(row), nodes: row.first_node === null ? 0 : row.node_count }),
    ),
  )
  const keys = versions.map(({ key }) => key)
  const parted = await snapshot.read(versionsIn('version_parts', keys))
  for (const version of versions.filter(({ key }) => parted.has(key))) {
    let after = { part: '', place: -1 }
    for await (const parts of slices(context, of, () => partsAfter(version.key, after))) {
      yield* rows.add(
        'version_parts',
        parts.map((row) => lineOf('version_parts', row, named(version))),
      )
      const last = parts.at(-1)
      after = { part: String(last?.part), place: Number(last?.place) }
    }
  }
  const pictured = await snapshot.read(versionsIn('item_assets', keys))
  for (const version of versions.filter(({ key }) => pictured.has(key))) {
    let after = ''
    for await (const assets of slices(context, of, () => assetsAfter(version.key, after))) {
      yield* rows.add(
        'item_assets',
        assets.map((row) => lineOf('item_assets', row, named(version))),
      )
      after = String(assets.at(-1)?.item_id)
    }
  }
  const byKey = new Map(versions.map((version) => [version.key, named(version)]))
  for (const group of together(versions))
    for await (const nodes of nodesOf(context, of, group, page.vectorSpace))
      yield* rows.add('nodes', await nodeLines(of, nodes, byKey))
}

/** A document as another store can have it: not in progress, and without a source that the bundle lacks. */
function shown(row: BundledDocument, sources: ReadonlySet<string>): Row {
  const parserStatus = row.is_shown === 1 && row.parser_status === 'pending' ? 'parsed' : row.parser_status
  const sourceId = row.source_id !== null && sources.has(row.source_id) ? row.source_id : null
  return { ...row, parser_status: parserStatus, source_id: sourceId }
}

/** Slices of rows until one is empty. */
async function* slices(context: EngineContext, { snapshot, signal }: Exporting, next: () => Read<Row[]>) {
  for (;;) {
    await pause(context, signal)
    const rows = await snapshot.read(next())
    if (rows.length === 0) return
    yield rows
  }
}

/** Groups versions whose passages are read together; a large one is alone. */
function* together(versions: readonly BundledVersion[]): Generator<BundledVersion[]> {
  let group: BundledVersion[] = []
  let nodes = 0
  for (const version of versions) {
    if (group.length > 0 && nodes + version.node_count > NODES_TOGETHER) {
      yield group
      group = []
      nodes = 0
    }
    group.push(version)
    nodes += version.node_count
  }
  if (group.length > 0) yield group
}

async function* nodesOf(
  context: EngineContext,
  { snapshot, signal }: Exporting,
  group: readonly BundledVersion[],
  vectorSpace: number | undefined,
) {
  const keys = group.map(({ key }) => key)
  if (keys.length > 1) {
    await pause(context, signal)
    yield await snapshot.read(nodesFor(keys, vectorSpace, -1, NODES_TOGETHER))
    return
  }
  for (let after = -1; ; ) {
    await pause(context, signal)
    const nodes = await snapshot.read(nodesFor(keys, vectorSpace, after, NODES))
    yield nodes
    if (nodes.length < NODES) return
    after = nodes.at(-1)?.ordinal ?? after
  }
}

async function nodeLines(
  { snapshot, space }: Exporting,
  nodes: readonly BundledNode[],
  versions: ReadonlyMap<number, { document: string | undefined; version: number }>,
): Promise<string[]> {
  const reads = new Map<number, [string, string, string][]>()
  for (const { node_key, model, text_hash, said } of await snapshot.read(
    modelReadsFor(
      space.key,
      nodes.map(({ key }) => key),
    ),
  ))
    reads.set(node_key, [...(reads.get(node_key) ?? []), [model, text_hash, said]])
  return nodes.map((node) =>
    lineOf('nodes', node, {
      ...versions.get(node.version_key),
      vector: node.vector === null ? undefined : base64(node.vector),
      reads: reads.get(node.key),
    }),
  )
}
