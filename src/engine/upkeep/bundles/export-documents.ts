import type { EngineContext } from '../../library/index.js'
import type { Read } from '../../store/program.js'
import {
  type BundledDocument,
  type BundledNode,
  type BundledVersion,
  type BundleRow,
  filterVersionsWithRows,
  listAssetsAfter,
  listBundledModelReads,
  listBundledNodes,
  listBundledVersions,
  listPartsAfter,
} from '../rows/bundles/read.js'
import type { RowsWriter } from './bundle-writer.js'
import { formatLine, toBase64 } from './rows.js'
import { exportObjects, type SpaceExport, yieldToForeground } from './space-export.js'

/** Passages of a large version that are read together. */
const SLICE_NODES = 500
/** Maximum total of passages of versions that are read together. */
const MAX_GROUP_NODES = 2000

/** Consecutive documents, with the data for writing them. */
export interface DocumentsPage {
  rows: RowsWriter
  page: readonly BundledDocument[]
  /** ids of sources in the bundle, or whose readers it has */
  sources: ReadonlySet<string>
  /** row key of the vector space in the bundle */
  vectorSpace: number | undefined
}

/** Writes documents with everything that belongs to them. */
export async function* exportDocuments(
  context: EngineContext,
  spaceExport: SpaceExport,
  page: DocumentsPage,
): AsyncGenerator<Uint8Array> {
  const { snapshot, space } = spaceExport
  const { rows, sources } = page
  yield* rows.flush()
  yield* exportObjects(context, spaceExport, page.page)
  yield* rows.page(
    'documents',
    page.page.map((row) => formatLine('documents', toPortableDocument(row, sources))),
  )
  const ids = new Map(page.page.map(({ key, id }) => [key, id]))
  const versions = await snapshot.read(listBundledVersions(space.key, [...ids.keys()]))
  const getVersionName = (version: BundledVersion) => ({ document: ids.get(version.doc_key), version: version.version })
  yield* rows.add(
    'versions',
    versions.map((row) =>
      formatLine('versions', row, { ...getVersionName(row), nodes: row.first_node === null ? 0 : row.node_count }),
    ),
  )
  const keys = versions.map(({ key }) => key)
  const parted = await snapshot.read(filterVersionsWithRows('version_parts', keys))
  for (const version of versions.filter(({ key }) => parted.has(key))) {
    let after = { part: '', place: -1 }
    for await (const parts of readSlices(context, spaceExport, () => listPartsAfter(version.key, after))) {
      yield* rows.add(
        'version_parts',
        parts.map((row) => formatLine('version_parts', row, getVersionName(version))),
      )
      const last = parts.at(-1)
      after = { part: String(last?.part), place: Number(last?.place) }
    }
  }
  const pictured = await snapshot.read(filterVersionsWithRows('item_assets', keys))
  for (const version of versions.filter(({ key }) => pictured.has(key))) {
    let after = ''
    for await (const assets of readSlices(context, spaceExport, () => listAssetsAfter(version.key, after))) {
      yield* rows.add(
        'item_assets',
        assets.map((row) => formatLine('item_assets', row, getVersionName(version))),
      )
      after = String(assets.at(-1)?.item_id)
    }
  }
  const byKey = new Map(versions.map((version) => [version.key, getVersionName(version)]))
  for (const group of groupVersions(versions))
    for await (const nodes of readNodes(context, spaceExport, group, page.vectorSpace))
      yield* rows.add('nodes', await formatNodeLines(spaceExport, nodes, byKey))
}

/** A document as another store can have it: not in progress, and without a source that the bundle lacks. */
function toPortableDocument(row: BundledDocument, sources: ReadonlySet<string>): BundleRow {
  const parserStatus = row.is_shown === 1 && row.parser_status === 'pending' ? 'parsed' : row.parser_status
  const sourceId = row.source_id !== null && sources.has(row.source_id) ? row.source_id : null
  return { ...row, parser_status: parserStatus, source_id: sourceId }
}

/** Slices of rows until one is empty. */
async function* readSlices(context: EngineContext, { snapshot, signal }: SpaceExport, next: () => Read<BundleRow[]>) {
  for (;;) {
    await yieldToForeground(context, signal)
    const rows = await snapshot.read(next())
    if (rows.length === 0) return
    yield rows
  }
}

/** Groups versions whose passages are read together; a large one is alone. */
function* groupVersions(versions: readonly BundledVersion[]): Generator<BundledVersion[]> {
  let group: BundledVersion[] = []
  let nodes = 0
  for (const version of versions) {
    if (group.length > 0 && nodes + version.node_count > MAX_GROUP_NODES) {
      yield group
      group = []
      nodes = 0
    }
    group.push(version)
    nodes += version.node_count
  }
  if (group.length > 0) yield group
}

async function* readNodes(
  context: EngineContext,
  { snapshot, signal }: SpaceExport,
  group: readonly BundledVersion[],
  vectorSpace: number | undefined,
) {
  const keys = group.map(({ key }) => key)
  if (keys.length > 1) {
    await yieldToForeground(context, signal)
    yield await snapshot.read(listBundledNodes(keys, vectorSpace, -1, MAX_GROUP_NODES))
    return
  }
  for (let after = -1; ; ) {
    await yieldToForeground(context, signal)
    const nodes = await snapshot.read(listBundledNodes(keys, vectorSpace, after, SLICE_NODES))
    yield nodes
    if (nodes.length < SLICE_NODES) return
    after = nodes.at(-1)?.ordinal ?? after
  }
}

async function formatNodeLines(
  { snapshot, space }: SpaceExport,
  nodes: readonly BundledNode[],
  versions: ReadonlyMap<number, { document: string | undefined; version: number }>,
): Promise<string[]> {
  const reads = new Map<number, [string, string, string][]>()
  for (const { node_key, model, text_hash, said } of await snapshot.read(
    listBundledModelReads(
      space.key,
      nodes.map(({ key }) => key),
    ),
  ))
    reads.set(node_key, [...(reads.get(node_key) ?? []), [model, text_hash, said]])
  return nodes.map((node) =>
    formatLine('nodes', node, {
      ...versions.get(node.version_key),
      vector: node.vector === null ? undefined : toBase64(node.vector),
      reads: reads.get(node.key),
    }),
  )
}
