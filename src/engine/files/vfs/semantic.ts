import type { VirtualItem } from '../../../contract/gateway/fs.js'
import { compareNames, joinVirtualPath } from '../../base/virtual-paths.js'
import {
  type CoverageFunction,
  type Derivations,
  describeUnread,
  type GraphView,
  loadCommunityReport,
  MAX_FIRST_WAIT_MS,
  renderReport,
  type SemanticViews,
  type ViewCoverage,
} from '../../knowledge/index.js'
import type { Read } from '../../store/program.js'
import { mapReadable } from '../../store/readable.js'
import { type EntityRow, findEntityByRowKey, isVisible } from '../../store/rows/graph/entities.js'
import {
  findLastBuild,
  findView,
  listViewMembers,
  listViews,
  type ViewKind,
  type ViewRow,
} from '../../store/rows/views/views.js'
import type { DocumentEntry } from '../rows/vfs/documents.js'
import { toDocumentItem } from './document-item.js'
import { findVisibleByKey } from './documents.js'
import { ENTITIES_FOLDER, Entities } from './entities.js'
import { toEntityItems } from './entity-text.js'
import { DOCUMENTS_FOLDER, makeDocumentFolder } from './knowledge-items.js'
import {
  type CursorPosition,
  getCursorInteger,
  makeNode,
  PLAIN_TEXT,
  type TextUnit,
  type VfsNode,
  type WalkStep,
} from './namespace.js'
import {
  describeCoverage,
  getDocumentsPath,
  makeFixedFolder,
  makeKnowledgeFolder,
  makeReportFile,
  makeViewFolder,
  REPORT_FILE,
} from './semantic-items.js'
import { findElementAt, type StoredTexts } from './stored-text.js'
import { toChildView, type VfsView } from './view.js'

/** Brings views and graph up to date before they are listed. */
export interface SemanticReadiness {
  derivations: Pick<Derivations, 'catchUp'>
  views: Pick<SemanticViews, 'ready' | 'coverage'>
}

const VIEW_KINDS = { topics: 'topic', communities: 'community' } as const
type KindFolder = keyof typeof VIEW_KINDS
const MARKDOWN = 'text/markdown; charset=utf-8'
/** Maximum wait of a listing of entities for documents that were not read yet. */
const CATCH_UP_MILLISECONDS = 2500

interface DocumentMember {
  row: DocumentEntry
  item: VirtualItem
}

/** Topics as folders of documents, communities as folders of documents and entities, and all entities by type. */
export class Semantic {
  readonly #view: VfsView
  readonly #texts: StoredTexts
  readonly #readiness: SemanticReadiness
  #graph: GraphView | undefined

  constructor(view: VfsView, texts: StoredTexts, readiness: SemanticReadiness) {
    this.#view = view
    this.#texts = texts
    this.#readiness = readiness
  }

  /** The folders next to `documents`. */
  folders(): VirtualItem[] {
    return ['communities', ENTITIES_FOLDER, 'topics'].map((name) => makeKnowledgeFolder([name]))
  }

  /** @param segments those after `/knowledge`, the first of them not `documents` */
  async resolve(segments: readonly string[]): Promise<VfsNode | undefined> {
    const [first, slug, ...path] = segments
    if (first === ENTITIES_FOLDER) {
      const maxWaitMs = this.#limitWait(CATCH_UP_MILLISECONDS)
      const delayReason = describeUnread(await this.#readiness.derivations.catchUp(this.#view.space, maxWaitMs))
      if (delayReason !== undefined) this.#view.degradedReasons.add(delayReason)
      return this.#entities().resolve(segments.slice(1))
    }
    if (first !== 'topics' && first !== 'communities') return undefined
    if (slug === undefined) return this.#kindFolder(first)
    const row = await this.#view.db.read(findView(this.#view.space.key, VIEW_KINDS[first], slug))
    if (row === undefined) return undefined
    const coverageOf = await this.#coverage()
    this.#addCoverageReason(`the ${VIEW_KINDS[first]} is`, coverageOf(row))
    const folder = makeViewFolder(first, row, coverageOf)
    if (first === 'topics') return this.#documentNode(row, folder, path)
    const [part, ...descendants] = path
    if (part === undefined) return this.#community(row, folder)
    if (part === REPORT_FILE && descendants.length === 0) return this.#report(row)
    if (part === DOCUMENTS_FOLDER)
      return this.#documentNode(row, makeKnowledgeFolder([first, slug, DOCUMENTS_FOLDER]), descendants)
    return part === ENTITIES_FOLDER ? this.#entityNode(row, descendants) : undefined
  }

  /**
   * All folders and files of views and entities. The position of a step: index of its folder, then its position there.
   */
  async *walk(after: CursorPosition | undefined): AsyncGenerator<WalkStep> {
    const started = after === undefined ? 0 : getCursorInteger(after, 0)
    const descendants = new Semantic(toChildView(this.#view), this.#texts, this.#readiness)
    for (const [index, item] of this.folders().entries()) {
      if (index < started) continue
      const position = index === started ? after?.slice(1) : undefined
      if (position === undefined) yield { item, after: [index] }
      const steps = (await descendants.resolve([item.name]))?.walk(position?.length === 0 ? undefined : position)
      if (steps !== undefined) for await (const step of steps) yield { ...step, after: [index, ...step.after] }
    }
  }

  async #kindFolder(name: KindFolder): Promise<VfsNode> {
    const { db, space } = this.#view
    await this.#readiness.views.ready(space, VIEW_KINDS[name], this.#limitWait(MAX_FIRST_WAIT_MS))
    const { build, rows } = await db.read(readViews(space.key, VIEW_KINDS[name]))
    const coverageOf = await this.#coverage()
    this.#addCoverageReason(`the ${name} are`, build === undefined ? undefined : coverageOf(build))
    return makeFixedFolder(
      makeKnowledgeFolder([name]),
      mapReadable(rows, (row) => makeViewFolder(name, row, coverageOf)),
      {
        walk: (after) => this.#walkViews(name, rows, after),
        texts: (after) => this.#textsOfViews(name, rows, after),
      },
    )
  }

  /** The position of a step: count of views before it, then count of entries of the next view. */
  async *#walkViews(
    name: KindFolder,
    rows: readonly ViewRow[],
    after: CursorPosition | undefined,
  ): AsyncGenerator<WalkStep> {
    const started = after === undefined ? 0 : getCursorInteger(after, 0)
    const coverageOf = await this.#coverage()
    for (const [index, row] of rows.entries()) {
      if (index < started) continue
      const seen = index === started && after !== undefined ? getCursorInteger(after, 1) : 0
      const items = [makeViewFolder(name, row, coverageOf), ...(await this.#listBelow(name, row))]
      for (const [itemIndex, item] of items.entries())
        if (itemIndex >= seen) yield { item, after: [index, itemIndex + 1] }
    }
  }

  /** The position of a text: count of views before it, then its position among the documents of its view. */
  async *#textsOfViews(
    name: KindFolder,
    rows: readonly ViewRow[],
    after: CursorPosition | undefined,
  ): AsyncGenerator<TextUnit> {
    const started = after === undefined ? 0 : getCursorInteger(after, 0)
    for (const [index, row] of rows.entries()) {
      if (index < started) continue
      const position = index === started && after !== undefined ? after.slice(1) : undefined
      for await (const unit of this.#textsOfMembers(row, getDocumentsPath(name, row), position))
        yield { ...unit, after: [index, ...unit.after] }
    }
  }

  /** Everything below a view, folder by folder. */
  async #listBelow(name: KindFolder, row: ViewRow): Promise<VirtualItem[]> {
    const documents = (await this.#documents(row, getDocumentsPath(name, row))).map(({ item }) => item)
    if (name === 'topics') return documents
    const path = [name, row.slug, ENTITIES_FOLDER]
    const entities = await this.#view.db.read(readMemberItems(this.#graphView(), row.key, path))
    const folder = makeKnowledgeFolder([name, row.slug, DOCUMENTS_FOLDER])
    return [folder, ...documents, makeKnowledgeFolder(path), ...entities, makeReportFile([name, row.slug])]
  }

  /** Records that views do not cover the complete publication. @param subject with its verb, such as `the topics are` */
  #addCoverageReason(subject: string, coverage: ViewCoverage | undefined): void {
    if (coverage?.stale === false) return
    const state = coverage === undefined ? 'not built yet' : describeCoverage(coverage)
    this.#view.degradedReasons.add(`${subject} ${state}`)
  }

  /** In integer milliseconds, as timers of the platform require. */
  #limitWait(maxMs: number): number {
    return Math.max(0, Math.min(maxMs, Math.ceil(this.#view.waitDeadline - performance.now())))
  }

  #coverage(): Promise<CoverageFunction> {
    return this.#readiness.views.coverage(this.#view.space.key)
  }

  #community(row: ViewRow, folder: VirtualItem): VfsNode {
    const path = ['communities', row.slug]
    const folders = [
      ...[DOCUMENTS_FOLDER, ENTITIES_FOLDER].map((name) => makeKnowledgeFolder([...path, name])),
      makeReportFile(path),
    ]
    const descendants = () => this.#listBelow('communities', row)
    return makeFixedFolder(folder, folders, {
      walk: async function* (after) {
        const start = after === undefined ? 0 : getCursorInteger(after, 0)
        for (const [index, item] of (await descendants()).entries())
          if (index >= start) yield { item, after: [index + 1] }
      },
      texts: (after) => this.#textsOfMembers(row, [...path, DOCUMENTS_FOLDER], after),
    })
  }

  #report(row: ViewRow): VfsNode {
    return makeNode(makeReportFile(['communities', row.slug]), {
      read: async () => ({
        text: renderReport(await this.#view.db.read(loadCommunityReport(this.#graphView(), row))),
        contentType: MARKDOWN,
      }),
    })
  }

  /** A folder of a view's documents, or one of them. */
  async #documentNode(row: ViewRow, item: VirtualItem, path: readonly string[]): Promise<VfsNode | undefined> {
    const folder = item.path.split('/').slice(2)
    const [name, ...rest] = path
    const members = await this.#documents(row, folder)
    if (name === undefined)
      return makeFixedFolder(
        item,
        members.map((member) => member.item),
        { texts: (after) => this.#textsOfMembers(row, folder, after) },
      )
    const member = rest.length === 0 ? members.find((candidate) => candidate.item.name === name) : undefined
    if (member === undefined) return undefined
    return makeNode(member.item, {
      texts: (after) => this.#textsOf(after === undefined ? [member] : [], 0),
      read: async () => {
        const { version_key } = member.row
        const stored = version_key === null ? undefined : await this.#texts.load(version_key)
        return { text: stored?.text ?? '', contentType: PLAIN_TEXT }
      },
    })
  }

  async *#textsOfMembers(
    row: ViewRow,
    path: readonly string[],
    after: CursorPosition | undefined,
  ): AsyncGenerator<TextUnit> {
    const start = after === undefined ? 0 : getCursorInteger(after, 0)
    yield* this.#textsOf((await this.#documents(row, path)).slice(start), start)
  }

  async *#textsOf(members: readonly DocumentMember[], start: number): AsyncGenerator<TextUnit> {
    for (const [index, { row, item }] of members.entries()) {
      const stored = row.version_key === null ? undefined : await this.#texts.loadOnce(row.version_key)
      if (stored === undefined) continue
      yield {
        id: row.id,
        text: stored.text,
        after: [start + index + 1],
        describe: (startOffset, endOffset) => {
          const element = findElementAt(stored.elements, startOffset)
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
  async #documents(row: ViewRow, folder: readonly string[]): Promise<DocumentMember[]> {
    const members = await this.#view.db.read(readMemberDocuments(this.#view, row.key))
    const { denied } = this.#graphView()
    const visible: DocumentMember[] = []
    for (const { document, score: exact } of members) {
      if (document.source_id !== null && denied.includes(document.source_id)) continue
      const { name, path } = await makeDocumentFolder(this.#view, document)
      const item = toDocumentItem(document, {
        kind: 'resource',
        name,
        path: joinVirtualPath('knowledge', [...folder, name]),
      })
      const score = Math.round(exact * 10_000) / 10_000
      visible.push({ row: document, item: { ...item, metadata: { ...item.metadata, score, knowledgePath: path } } })
      await this.#view.clock.yieldIfDue()
    }
    return visible.sort((a, b) => compareNames(a.item.name, b.item.name))
  }

  /** A community's folder of entities, or one of them. */
  async #entityNode(row: ViewRow, path: readonly string[]): Promise<VfsNode | undefined> {
    const folder = ['communities', row.slug, ENTITIES_FOLDER]
    const graph = this.#graphView()
    const [key, ...rest] = path
    if (key === undefined)
      return makeFixedFolder(makeKnowledgeFolder(folder), await graph.db.read(readMemberItems(graph, row.key, folder)))
    const entities = await graph.db.read(readMemberEntities(graph, row.key))
    const entity = rest.length === 0 ? entities.find(({ canonical_key }) => canonical_key === key) : undefined
    return entity === undefined ? undefined : this.#entities().makeEntityNode(entity, folder)
  }

  #entities(): Entities {
    return new Entities(this.#view, this.#graphView())
  }

  #graphView(): GraphView {
    const { db, space, revision, denied } = this.#view
    this.#graph ??= { db, space, revision, denied }
    return this.#graph
  }
}

function* readViews(spaceKey: number, kind: ViewKind) {
  const build = yield* findLastBuild(spaceKey, kind)
  return { build, rows: yield* listViews(spaceKey, kind) }
}

/** A view's visible documents, with their scores. */
function* readMemberDocuments(view: VfsView, viewKey: number): Read<{ document: DocumentEntry; score: number }[]> {
  const scores = new Map((yield* listViewMembers(viewKey, 'document')).map(({ key, score }) => [key, score]))
  const documents = yield* findVisibleByKey(view, [...scores.keys()])
  return documents.map((document) => ({ document, score: scores.get(document.key) ?? 0 }))
}

/** A community's entities that the reader may see, by name. */
function* readMemberEntities(graph: GraphView, viewKey: number): Read<EntityRow[]> {
  const shown: EntityRow[] = []
  for (const { key } of yield* listViewMembers(viewKey, 'entity')) {
    const row = yield* findEntityByRowKey(graph, key)
    if (row !== undefined && (yield* isVisible(graph, 'entity', key))) shown.push(row)
  }
  return shown.sort((a, b) => compareNames(a.canonical_key, b.canonical_key))
}

function* readMemberItems(graph: GraphView, viewKey: number, path: readonly string[]): Read<VirtualItem[]> {
  return yield* toEntityItems(graph, yield* readMemberEntities(graph, viewKey), path)
}
