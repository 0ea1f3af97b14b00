import type { VirtualItem } from '../../contract/gateway/fs.js'
import { ENTITY_TYPES, type EntityType } from '../derived/graph/entities.js'
import type { GraphView } from '../graph/read.js'
import { type EntityRow, entityNamed, entityRowsAfter, isShown } from '../rows/graph/entities.js'
import { isDamaged } from '../storage/guarded-rows.js'
import type { Read } from '../storage/program.js'
import { entityItem, entityText } from './entity-text.js'
import {
  type After,
  type Entry,
  type EntryPage,
  integerAt,
  PLAIN_TEXT,
  type Place,
  placeOf,
  type Step,
  type TextUnit,
  textAt,
} from './namespace.js'
import { fixedFolder, knowledgeFolder } from './semantic-items.js'
import type { View } from './view.js'

/** The folder of entities under `/knowledge`. */
export const ENTITIES = 'entities'
/** Entities of one slice. */
const SLICE = 200

/** Entities of the graph as files, by type and canonical key. */
export class Entities {
  readonly #view: View
  readonly #graph: GraphView

  constructor(view: View, graph: GraphView) {
    this.#view = view
    this.#graph = graph
  }

  /** @param path segments after `/knowledge/entities` */
  async resolve(path: readonly string[]): Promise<Place | undefined> {
    const [type, key, ...rest] = path
    if (type === undefined) return this.#types()
    const known = ENTITY_TYPES.find((option) => option === type)
    if (known === undefined || rest.length > 0) return undefined
    if (key === undefined) return this.#ofType(known)
    const entity = await this.#graph.db.read(entityNamed(this.#graph, known, key))
    return entity === undefined ? undefined : this.place(entity, [ENTITIES, known])
  }

  /** One entity, in any folder. */
  async place(row: EntityRow, at: readonly string[]): Promise<Place> {
    const { item, unit } = await this.#graph.db.read(shownAt(this.#graph, row, at))
    return placeOf(item, {
      texts: async function* (after) {
        if (after === undefined) yield unit
      },
      read: () => Promise.resolve({ text: unit.text, contentType: PLAIN_TEXT }),
    })
  }

  #item(row: EntityRow, at: readonly string[]): Promise<VirtualItem> {
    return this.#graph.db.read(entityItem(this.#graph, row, at))
  }

  #types(): Place {
    const folders = ENTITY_TYPES.map((type) => knowledgeFolder([ENTITIES, type]))
    return fixedFolder(knowledgeFolder([ENTITIES]), folders, {
      walk: (after) => this.#walkTypes(after),
      texts: (after) => this.#textsOfTypes(after),
    })
  }

  async *#walkTypes(after: After | undefined): AsyncGenerator<Step> {
    const started = after === undefined ? 0 : integerAt(after, 0)
    for (const [place, type] of ENTITY_TYPES.entries()) {
      if (place < started) continue
      const within = place === started && after !== undefined ? textAt(after, 1) : undefined
      if (within === undefined) yield { item: knowledgeFolder([ENTITIES, type]), after: [place, ''] }
      for await (const row of this.#rows(type, within ?? ''))
        yield { item: await this.#item(row, [ENTITIES, type]), after: [place, row.canonical_key] }
    }
  }

  async *#textsOfTypes(after: After | undefined): AsyncGenerator<TextUnit> {
    const started = after === undefined ? 0 : integerAt(after, 0)
    for (const [place, type] of ENTITY_TYPES.entries()) {
      if (place < started) continue
      const within = place === started && after !== undefined ? textAt(after, 1) : ''
      for await (const row of this.#rows(type, within))
        yield { ...(await this.#unit(row, [ENTITIES, type])), after: [place, row.canonical_key] }
    }
  }

  #ofType(type: EntityType): Place {
    const at = [ENTITIES, type]
    const rows = (after: After | undefined) => this.#rows(type, after === undefined ? '' : textAt(after, 0))
    const entry = async (row: EntityRow): Promise<Entry> => ({
      item: await this.#item(row, at),
      after: [row.canonical_key],
    })
    const unit = (row: EntityRow): Promise<TextUnit> => this.#unit(row, at)
    return placeOf(knowledgeFolder(at), {
      list: async (after, limit): Promise<EntryPage> => {
        const entries: Entry[] = []
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
  async *#rows(type: EntityType, from: string): AsyncGenerator<EntityRow> {
    for (let after = from; ; ) {
      const rows = await this.#graph.db.read(entityRowsAfter(this.#graph, after, type, SLICE))
      for (const row of rows) {
        if (!isDamaged(row) && (await this.#graph.db.read(isShown(this.#graph, 'entity', row.key)))) yield row
        after = row.canonical_key
        await this.#view.clock.turn()
      }
      if (rows.length < SLICE) return
    }
  }

  async #unit(row: EntityRow, at: readonly string[]): Promise<TextUnit> {
    return (await this.#graph.db.read(shownAt(this.#graph, row, at))).unit
  }
}

/** An entity as a file, with its text. */
function* shownAt(
  graph: GraphView,
  row: EntityRow,
  at: readonly string[],
): Read<{ item: VirtualItem; unit: TextUnit }> {
  const item = yield* entityItem(graph, row, at)
  const unit: TextUnit = {
    id: row.id,
    text: yield* entityText(graph, row),
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
