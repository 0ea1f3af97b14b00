import type { VirtualItem } from '../../contract/gateway/fs.js'
import { compareNames, joinPath } from '../base/virtual-paths.js'
import { type Derivations, graphBehind } from '../derived/derivation.js'
import type { GraphView } from '../graph/read.js'
import { type EntityRow, entityByKey, isShown } from '../rows/graph/entities.js'
import type { DocumentEntry } from '../rows/vfs/documents.js'
import { lastBuild, membersOf, type ViewKind, type ViewRow, viewNamed, viewsOf } from '../rows/views/views.js'
import type { Read } from '../storage/program.js'
import { readable } from '../storage/readable.js'
import type { Coverage, CoverageOf } from '../views/coverage.js'
import { communityReport, reportMarkdown } from '../views/reports.js'
import { FIRST_MILLISECONDS, type SemanticViews } from '../views/views.js'
import { documentItem } from './document-item.js'
import { visibleByKey } from './documents.js'
import { ENTITIES, Entities } from './entities.js'
import { entityItems } from './entity-text.js'
import { DOCUMENTS, documentFolder } from './knowledge-items.js'
import { type After, integerAt, PLAIN_TEXT, type Place, placeOf, type Step, type TextUnit } from './namespace.js'
import { fixedFolder, knowledgeFolder, REPORT, reportFile, viewFolder } from './semantic-items.js'
import { elementAt, type StoredTexts } from './stored-text.js'
import { passing, type View } from './view.js'

/** Brings views and graph up to date before they are listed. */
export interface SemanticReadiness {
  derivations: Pick<Derivations, 'catchUp'>
  views: Pick<SemanticViews, 'ready' | 'coverage'>
}

const KINDS = { topics: 'topic', communities: 'community' } as const
type KindFolder = keyof typeof KINDS
const MARKDOWN = 'text/markdown; charset=utf-8'
/** Maximum wait of a listing of entities for documents that were not read yet. */
const CATCH_UP_MILLISECONDS = 2500

interface DocumentMember {
  row: DocumentEntry
  item: VirtualItem
}

/** Topics as folders of documents, communities as folders of documents and entities, and all entities by type. */
export class Semantic {
  readonly #view: View
  readonly #texts: StoredTexts
  readonly #readiness: SemanticReadiness
  #graph: GraphView | undefined

  constructor(view: View, texts: StoredTexts, readiness: SemanticReadiness) {
    this.#view = view
    this.#texts = texts
    this.#readiness = readiness
  }

  /** The folders next to `documents`. */
  folders(): VirtualItem[] {
    return ['communities', ENTITIES, 'topics'].map((name) => knowledgeFolder([name]))
  }

  /** @param segments those after `/knowledge`, the first of them not `documents` */
  async resolve(segments: readonly string[]): Promise<Place | undefined> {
    const [first, slug, ...path] = segments
    if (first === ENTITIES) {
      const patience = this.#patience(CATCH_UP_MILLISECONDS)
      const behind = graphBehind(await this.#readiness.derivations.catchUp(this.#view.space, patience))
      if (behind !== undefined) this.#view.lacks.add(behind)
      return this.#entities().resolve(segments.slice(1))
    }
    if (first !== 'topics' && first !== 'communities') return undefined
    if (slug === undefined) return this.#kind(first)
    const row = await this.#view.db.read(viewNamed(this.#view.space.key, KINDS[first], slug))
    if (row === undefined) return undefined
    const coverageOf = await this.#coverage()
    this.#tellCoverage(`the ${KINDS[first]}`, coverageOf(row))
    const folder = folderOf(first, row, coverageOf)
    if (first === 'topics') return this.#documentPlace(row, folder, path)
    const [part, ...below] = path
    if (part === undefined) return this.#community(row, folder)
    if (part === REPORT && below.length === 0) return this.#report(row)
    if (part === DOCUMENTS) return this.#documentPlace(row, knowledgeFolder([first, slug, DOCUMENTS]), below)
    return part === ENTITIES ? this.#entityPlace(row, below) : undefined
  }

  /**
   * All folders and files of views and entities. The position of a step: index of its folder, then its position there.
   */
  async *walk(after: After | undefined): AsyncGenerator<Step> {
    const started = after === undefined ? 0 : integerAt(after, 0)
    const below = new Semantic(passing(this.#view), this.#texts, this.#readiness)
    for (const [place, item] of this.folders().entries()) {
      if (place < started) continue
      const within = place === started ? after?.slice(1) : undefined
      if (within === undefined) yield { item, after: [place] }
      const steps = (await below.resolve([item.name]))?.walk(within?.length === 0 ? undefined : within)
      if (steps !== undefined) for await (const step of steps) yield { ...step, after: [place, ...step.after] }
    }
  }

  async #kind(name: KindFolder): Promise<Place> {
    const { db, space } = this.#view
    await this.#readiness.views.ready(space, KINDS[name], this.#patience(FIRST_MILLISECONDS))
    const { build, rows } = await db.read(listed(space.key, KINDS[name]))
    const coverageOf = await this.#coverage()
    this.#tellCoverage(`the ${name}`, build === undefined ? undefined : coverageOf(build))
    return fixedFolder(
      knowledgeFolder([name]),
      readable(rows, (row) => folderOf(name, row, coverageOf)),
      {
        walk: (after) => this.#walkViews(name, rows, after),
        texts: (after) => this.#textsOfViews(name, rows, after),
      },
    )
  }

  /** The position of a step: count of views before it, then count of entries of the next view. */
  async *#walkViews(name: KindFolder, rows: readonly ViewRow[], after: After | undefined): AsyncGenerator<Step> {
    const started = after === undefined ? 0 : integerAt(after, 0)
    const coverageOf = await this.#coverage()
    for (const [place, row] of rows.entries()) {
      if (place < started) continue
      const seen = place === started && after !== undefined ? integerAt(after, 1) : 0
      const items = [folderOf(name, row, coverageOf), ...(await this.#below(name, row))]
      for (const [index, item] of items.entries()) if (index >= seen) yield { item, after: [place, index + 1] }
    }
  }

  /** The position of a text: count of views before it, then its position among the documents of its view. */
  async *#textsOfViews(name: KindFolder, rows: readonly ViewRow[], after: After | undefined): AsyncGenerator<TextUnit> {
    const started = after === undefined ? 0 : integerAt(after, 0)
    for (const [place, row] of rows.entries()) {
      if (place < started) continue
      const within = place === started && after !== undefined ? after.slice(1) : undefined
      for await (const unit of this.#textsOfMembers(row, documentsIn(name, row), within))
        yield { ...unit, after: [place, ...unit.after] }
    }
  }

  /** Everything below a view, folder by folder. */
  async #below(name: KindFolder, row: ViewRow): Promise<VirtualItem[]> {
    const documents = (await this.#documents(row, documentsIn(name, row))).map(({ item }) => item)
    if (name === 'topics') return documents
    const at = [name, row.slug, ENTITIES]
    const entities = await this.#view.db.read(memberItems(this.#reader(), row.key, at))
    const folder = knowledgeFolder([name, row.slug, DOCUMENTS])
    return [folder, ...documents, knowledgeFolder(at), ...entities, reportFile([name, row.slug])]
  }

  /** Records that views do not cover the complete publication. */
  #tellCoverage(what: string, coverage: Coverage | undefined): void {
    const { lacks } = this.#view
    if (coverage === undefined) lacks.add(`${what}: still being made`)
    else if (coverage.stale) lacks.add(`${what}: ${wordsOf(coverage)}`)
  }

  /** In integer milliseconds, as timers of the platform require. */
  #patience(most: number): number {
    return Math.max(0, Math.min(most, Math.ceil(this.#view.waitsUntil - performance.now())))
  }

  #coverage(): Promise<CoverageOf> {
    return this.#readiness.views.coverage(this.#view.space.key)
  }

  #community(row: ViewRow, folder: VirtualItem): Place {
    const at = ['communities', row.slug]
    const folders = [...[DOCUMENTS, ENTITIES].map((name) => knowledgeFolder([...at, name])), reportFile(at)]
    const below = () => this.#below('communities', row)
    return fixedFolder(folder, folders, {
      walk: async function* (after) {
        const start = after === undefined ? 0 : integerAt(after, 0)
        for (const [place, item] of (await below()).entries()) if (place >= start) yield { item, after: [place + 1] }
      },
      texts: (after) => this.#textsOfMembers(row, [...at, DOCUMENTS], after),
    })
  }

  #report(row: ViewRow): Place {
    return placeOf(reportFile(['communities', row.slug]), {
      read: async () => ({
        text: reportMarkdown(await this.#view.db.read(communityReport(this.#reader(), row))),
        contentType: MARKDOWN,
      }),
    })
  }

  /** A folder of a view's documents, or one of them. */
  async #documentPlace(row: ViewRow, item: VirtualItem, path: readonly string[]): Promise<Place | undefined> {
    const at = item.path.split('/').slice(2)
    const [name, ...rest] = path
    const members = await this.#documents(row, at)
    if (name === undefined)
      return fixedFolder(
        item,
        members.map((member) => member.item),
        { texts: (after) => this.#textsOfMembers(row, at, after) },
      )
    const member = rest.length === 0 ? members.find((candidate) => candidate.item.name === name) : undefined
    if (member === undefined) return undefined
    return placeOf(member.item, {
      texts: (after) => this.#textsOf(after === undefined ? [member] : [], 0),
      read: async () => {
        const { version_key } = member.row
        const stored = version_key === null ? undefined : await this.#texts.load(version_key, true)
        return { text: stored?.text ?? '', contentType: PLAIN_TEXT }
      },
    })
  }

  async *#textsOfMembers(row: ViewRow, at: readonly string[], after: After | undefined): AsyncGenerator<TextUnit> {
    const start = after === undefined ? 0 : integerAt(after, 0)
    yield* this.#textsOf((await this.#documents(row, at)).slice(start), start)
  }

  async *#textsOf(members: readonly DocumentMember[], start: number): AsyncGenerator<TextUnit> {
    for (const [place, { row, item }] of members.entries()) {
      const stored = row.version_key === null ? undefined : await this.#texts.load(row.version_key, false)
      if (stored === undefined) continue
      yield {
        id: row.id,
        text: stored.text,
        after: [start + place + 1],
        describe: (startOffset, endOffset) => {
          const element = elementAt(stored.elements, startOffset)
          return Promise.resolve({
            kind: 'segment',
            path: item.path,
            startOffset,
            endOffset,
            segmentId: `${row.id}:${element?.id ?? `${startOffset}-${endOffset}`}`,
            metadata: { documentId: row.id, filename: row.filename },
          })
        },
      }
    }
  }

  /** A view's documents that the reader may see, by name. */
  async #documents(row: ViewRow, at: readonly string[]): Promise<DocumentMember[]> {
    const members = await this.#view.db.read(memberDocuments(this.#view, row.key))
    const { denied } = this.#reader()
    const found: DocumentMember[] = []
    for (const { document, score: exact } of members) {
      if (document.source_id !== null && denied.includes(document.source_id)) continue
      const { name, path } = await documentFolder(this.#view, document)
      const item = documentItem(document, { kind: 'resource', name, path: joinPath('knowledge', [...at, name]) })
      const score = Math.round(exact * 10_000) / 10_000
      found.push({ row: document, item: { ...item, metadata: { ...item.metadata, score, knowledgePath: path } } })
      await this.#view.clock.turn()
    }
    return found.sort((a, b) => compareNames(a.item.name, b.item.name))
  }

  /** A community's folder of entities, or one of them. */
  async #entityPlace(row: ViewRow, path: readonly string[]): Promise<Place | undefined> {
    const at = ['communities', row.slug, ENTITIES]
    const graph = this.#reader()
    const [key, ...rest] = path
    if (key === undefined) return fixedFolder(knowledgeFolder(at), await graph.db.read(memberItems(graph, row.key, at)))
    const entities = await graph.db.read(memberEntities(graph, row.key))
    const entity = rest.length === 0 ? entities.find(({ canonical_key }) => canonical_key === key) : undefined
    return entity === undefined ? undefined : this.#entities().place(entity, at)
  }

  #entities(): Entities {
    return new Entities(this.#view, this.#reader())
  }

  #reader(): GraphView {
    const { db, space, revision, denied } = this.#view
    this.#graph ??= { db, space, revision, denied }
    return this.#graph
  }
}

function* listed(spaceKey: number, kind: ViewKind) {
  const build = yield* lastBuild(spaceKey, kind)
  return { build, rows: yield* viewsOf(spaceKey, kind) }
}

/** A view's visible documents, with their scores. */
function* memberDocuments(view: View, viewKey: number): Read<{ document: DocumentEntry; score: number }[]> {
  const scores = new Map((yield* membersOf(viewKey, 'document')).map(({ key, score }) => [key, score]))
  const documents = yield* visibleByKey(view, [...scores.keys()])
  return documents.map((document) => ({ document, score: scores.get(document.key) ?? 0 }))
}

/** A community's entities that the reader may see, by name. */
function* memberEntities(graph: GraphView, viewKey: number): Read<EntityRow[]> {
  const shown: EntityRow[] = []
  for (const { key } of yield* membersOf(viewKey, 'entity')) {
    const row = yield* entityByKey(graph, key)
    if (row !== undefined && (yield* isShown(graph, 'entity', key))) shown.push(row)
  }
  return shown.sort((a, b) => compareNames(a.canonical_key, b.canonical_key))
}

function* memberItems(graph: GraphView, viewKey: number, at: readonly string[]): Read<VirtualItem[]> {
  return yield* entityItems(graph, yield* memberEntities(graph, viewKey), at)
}

function folderOf(name: KindFolder, row: ViewRow, coverageOf: CoverageOf): VirtualItem {
  return viewFolder([name, row.slug], row, coverageOf(row))
}

function wordsOf({ coveredDocuments, totalDocuments }: Coverage): string {
  return coveredDocuments === totalDocuments
    ? 'made of an earlier publication'
    : `made of ${coveredDocuments} of ${totalDocuments} documents`
}

function documentsIn(name: KindFolder, row: ViewRow): string[] {
  return name === 'topics' ? [name, row.slug] : [name, row.slug, DOCUMENTS]
}
