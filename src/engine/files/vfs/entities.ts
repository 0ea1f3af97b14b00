import type { VirtualItem } from '../../../contract/gateway/fs.js'
import { ENTITY_TYPES, type ExtractedEntityType, type GraphView } from '../../knowledge/index.js'
import { isDamaged } from '../../store/guarded-rows.js'
import type { Read } from '../../store/program.js'
import {
  type EntityRow,
  findEntityByCanonicalKey,
  isVisible,
  listEntityRowsAfter,
} from '../../store/rows/graph/entities.js'
import { buildEntityText, toEntityItem } from './entity-text.js'
import {
  type CursorPosition,
  getCursorInteger,
  getCursorText,
  makeNode,
  PLAIN_TEXT,
  type TextUnit,
  type VfsEntry,
  type VfsEntryPage,
  type VfsNode,
  type WalkStep,
} from './namespace.js'
import { makeFixedFolder, makeKnowledgeFolder } from './semantic-items.js'
import type { VfsView } from './view.js'

/** The folder of entities under `/knowledge`. */
export const ENTITIES_FOLDER = 'entities'
/** Entities of one slice. */
const SLICE_ENTITIES = 200

/** Entities of the graph as files, by type and canonical key. */
export class Entities {
  readonly #view: VfsView
  readonly #graph: GraphView

  constructor(view: VfsView, graph: GraphView) {
    this.#view = view
    this.#graph = graph
  }

  /** @param path segments after `/knowledge/entities` */
  async resolve(path: readonly string[]): Promise<VfsNode | undefined> {
    const [type, key, ...rest] = path
    if (type === undefined) return this.#types()
    const knownType = ENTITY_TYPES.find((option) => option === type)
    if (knownType === undefined || rest.length > 0) return undefined
    if (key === undefined) return this.#typeFolder(knownType)
    const entity = await this.#graph.db.read(findEntityByCanonicalKey(this.#graph, knownType, key))
    return entity === undefined ? undefined : this.makeEntityNode(entity, [ENTITIES_FOLDER, knownType])
  }

  /** One entity, in any folder. */
  async makeEntityNode(row: EntityRow, folder: readonly string[]): Promise<VfsNode> {
    const { item, unit } = await this.#graph.db.read(readEntityFile(this.#graph, row, folder))
    return makeNode(item, {
      texts: async function* (after) {
        if (after === undefined) yield unit
      },
      read: () => Promise.resolve({ text: unit.text, contentType: PLAIN_TEXT }),
    })
  }

  #item(row: EntityRow, folder: readonly string[]): Promise<VirtualItem> {
    return this.#graph.db.read(toEntityItem(this.#graph, row, folder))
  }

  #types(): VfsNode {
    const folders = ENTITY_TYPES.map((type) => makeKnowledgeFolder([ENTITIES_FOLDER, type]))
    return makeFixedFolder(makeKnowledgeFolder([ENTITIES_FOLDER]), folders, {
      walk: (after) => this.#walkTypes(after),
      texts: (after) => this.#textsOfTypes(after),
    })
  }

  async *#walkTypes(after: CursorPosition | undefined): AsyncGenerator<WalkStep> {
    const started = after === undefined ? 0 : getCursorInteger(after, 0)
    for (const [index, type] of ENTITY_TYPES.entries()) {
      if (index < started) continue
      const afterKey = index === started && after !== undefined ? getCursorText(after, 1) : undefined
      if (afterKey === undefined) yield { item: makeKnowledgeFolder([ENTITIES_FOLDER, type]), after: [index, ''] }
      for await (const row of this.#rows(type, afterKey ?? ''))
        yield { item: await this.#item(row, [ENTITIES_FOLDER, type]), after: [index, row.canonical_key] }
    }
  }

  async *#textsOfTypes(after: CursorPosition | undefined): AsyncGenerator<TextUnit> {
    const started = after === undefined ? 0 : getCursorInteger(after, 0)
    for (const [index, type] of ENTITY_TYPES.entries()) {
      if (index < started) continue
      const afterKey = index === started && after !== undefined ? getCursorText(after, 1) : ''
      for await (const row of this.#rows(type, afterKey))
        yield { ...(await this.#unit(row, [ENTITIES_FOLDER, type])), after: [index, row.canonical_key] }
    }
  }

  #typeFolder(type: ExtractedEntityType): VfsNode {
    const folder = [ENTITIES_FOLDER, type]
    const rows = (after: CursorPosition | undefined) =>
      this.#rows(type, after === undefined ? '' : getCursorText(after, 0))
    const entry = async (row: EntityRow): Promise<VfsEntry> => ({
      item: await this.#item(row, folder),
      after: [row.canonical_key],
    })
    const unit = (row: EntityRow): Promise<TextUnit> => this.#unit(row, folder)
    return makeNode(makeKnowledgeFolder(folder), {
      list: async (after, limit): Promise<VfsEntryPage> => {
        const entries: VfsEntry[] = []
        for await (const row of rows(after)) {
          if (entries.length === limit) return { entries, more: true }
          entries.push(await entry(row))
        }
        return { entries, more: false }
      },
      walk: async function* (after) {
        for await (const row of rows(after)) yield await entry(row)
      },
      texts: async function* (after) {
        for await (const row of rows(after)) yield await unit(row)
      },
    })
  }

  /** Entities of a type that the reader may see, by key. */
  async *#rows(type: ExtractedEntityType, from: string): AsyncGenerator<EntityRow> {
    for (let after = from; ; ) {
      const rows = await this.#graph.db.read(listEntityRowsAfter(this.#graph, after, type, SLICE_ENTITIES))
      for (const row of rows) {
        if (!isDamaged(row) && (await this.#graph.db.read(isVisible(this.#graph, 'entity', row.key)))) yield row
        after = row.canonical_key
        await this.#view.clock.yieldIfDue()
      }
      if (rows.length < SLICE_ENTITIES) return
    }
  }

  async #unit(row: EntityRow, folder: readonly string[]): Promise<TextUnit> {
    return (await this.#graph.db.read(readEntityFile(this.#graph, row, folder))).unit
  }
}

/** An entity as a file, with its text. */
function* readEntityFile(
  graph: GraphView,
  row: EntityRow,
  folder: readonly string[],
): Read<{ item: VirtualItem; unit: TextUnit }> {
  const item = yield* toEntityItem(graph, row, folder)
  const unit: TextUnit = {
    id: row.id,
    text: yield* buildEntityText(graph, row),
    after: [row.canonical_key],
    describe: (startOffset, endOffset) =>
      Promise.resolve({
        kind: 'segment',
        path: item.path,
        startOffset,
        endOffset,
        segmentId: row.id,
        metadata: { entityId: row.id, type: row.type },
      }),
  }
  return { item, unit }
}
