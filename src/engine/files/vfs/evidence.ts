import type { VirtualItem } from '../../../contract/gateway/fs.js'
import type { EvidenceBundle, EvidenceItem } from '../../../contract/gateway/queries.js'
import { isUuid } from '../../../lib/ids.js'
import { omitUndefined } from '../../../lib/omit-undefined.js'
import { compareNames, joinVirtualPath } from '../../base/virtual-paths.js'
import { toEvidenceEntry } from '../../library/index.js'
import { isDamaged } from '../../store/guarded-rows.js'
import type { Read } from '../../store/program.js'
import { mapReadable, parseJsonCell } from '../../store/readable.js'
import { filterReadableDocuments } from '../../store/rows/documents.js'
import { findTraceEntry, listTraceEntriesAfter, type TraceEntry } from '../rows/vfs/traces.js'
import {
  type CursorPosition,
  getCursorText,
  makeNode,
  PLAIN_TEXT,
  type TextUnit,
  type VfsEntry,
  type VfsEntryPage,
  type VfsNode,
} from './namespace.js'
import type { VfsView } from './view.js'

/** traces of one slice; a bundle is some ten kilobytes of JSON */
const TRACES_PER_SLICE = 20

/** A trace with its evidence, by node id. */
interface OpenedTrace {
  trace: TraceEntry
  items: EvidenceItem[]
}

/** Evidence of the caller's own queries. A trace that cites a deleted document is hidden. */
export class Evidence {
  readonly #view: VfsView

  constructor(view: VfsView) {
    this.#view = view
  }

  async resolve(segments: readonly string[]): Promise<VfsNode | undefined> {
    const [traceId, nodeId, ...rest] = segments
    if (traceId === undefined) return this.#root()
    if (!isUuid(traceId) || rest.length > 0) return undefined
    const opened = await this.#view.db.read(openTraceById(this.#view, traceId))
    if (opened === undefined) return undefined
    if (nodeId === undefined) return this.#trace(opened)
    const item = opened.items.find((candidate) => candidate.nodeId === nodeId)
    if (item === undefined) return undefined
    return makeNode(toEvidenceEntry(`/evidence/${traceId}`, item), {
      texts: (after) => yieldAll(after === undefined ? [toTextUnit(traceId, item)] : []),
      read: () => Promise.resolve({ text: item.text, contentType: PLAIN_TEXT }),
    })
  }

  #root(): VfsNode {
    return makeNode(
      { kind: 'directory', name: 'evidence', path: joinVirtualPath('evidence', []), metadata: {} },
      {
        list: (after, limit) => this.#list(after, limit),
        walk: (after) => this.#walk(after),
        texts: (after) => this.#texts(after),
      },
    )
  }

  #trace({ trace, items }: OpenedTrace): VfsNode {
    return makeNode(toTraceItem(trace), {
      list: (after, limit) => Promise.resolve(makeItemPage(trace.id, items, after, limit)),
      walk: (after) => yieldAll(makeItemPage(trace.id, items, after, items.length).entries),
      texts: (after) => yieldAll(listItemsAfter(items, after).map((item) => toTextUnit(trace.id, item))),
    })
  }

  async #list(after: CursorPosition | undefined, limit: number): Promise<VfsEntryPage> {
    const entries: VfsEntry[] = []
    for await (const { trace } of this.#traces(after === undefined ? '' : getCursorText(after, 0))) {
      if (entries.length === limit) return { entries, more: true }
      entries.push({ item: toTraceItem(trace), after: [trace.id, ''] })
    }
    return { entries, more: false }
  }

  async *#walk(after: CursorPosition | undefined): AsyncGenerator<VfsEntry> {
    const opened =
      after === undefined ? undefined : await this.#view.db.read(openTraceById(this.#view, getCursorText(after, 0)))
    if (opened !== undefined) yield* makeItemPage(opened.trace.id, opened.items, after, opened.items.length).entries
    for await (const { trace, items } of this.#traces(after === undefined ? '' : getCursorText(after, 0))) {
      yield { item: toTraceItem(trace), after: [trace.id, ''] }
      yield* makeItemPage(trace.id, items, undefined, items.length).entries
    }
  }

  async *#texts(after: CursorPosition | undefined): AsyncGenerator<TextUnit> {
    const opened =
      after === undefined ? undefined : await this.#view.db.read(openTraceById(this.#view, getCursorText(after, 0)))
    if (opened !== undefined)
      for (const item of listItemsAfter(opened.items, after)) yield toTextUnit(opened.trace.id, item)
    for await (const { trace, items } of this.#traces(after === undefined ? '' : getCursorText(after, 0)))
      for (const item of items) yield toTextUnit(trace.id, item)
  }

  async *#traces(after: string): AsyncGenerator<OpenedTrace> {
    for (let last = after; ; ) {
      const traces = await this.#view.db.read(listTraceEntriesAfter(this.#view, last, TRACES_PER_SLICE))
      for (const trace of traces) {
        const opened = isDamaged(trace) ? undefined : await this.#view.db.read(openTrace(this.#view, trace))
        if (opened !== undefined) yield opened
      }
      if (traces.length < TRACES_PER_SLICE) return
      const previous = last
      last = mapReadable(traces, ({ id }) => id).at(-1) ?? last
      // a slice whose ids are all damaged gives no position to continue from
      if (last === previous) return
      await this.#view.clock.yieldIfDue()
    }
  }
}

function* openTraceById(view: VfsView, id: string): Read<OpenedTrace | undefined> {
  const trace = yield* findTraceEntry(view, id)
  return trace === undefined ? undefined : yield* openTrace(view, trace)
}

function* openTrace({ caller, space }: VfsView, trace: TraceEntry): Read<OpenedTrace | undefined> {
  if (trace.body === null) return { trace, items: [] }
  const items = parseItems(trace.body).sort((a, b) => compareNames(a.nodeId, b.nodeId))
  const cited = items.flatMap((item) => item.citations.map((citation) => citation.documentAssetId))
  const ids = [...new Set(cited)]
  return (yield* filterReadableDocuments(caller, space.key, ids)).size === ids.length ? { trace, items } : undefined
}

/** The items of a stored bundle, which only this program writes. */
function parseItems(body: string): EvidenceItem[] {
  const bundle: Pick<EvidenceBundle, 'items'> = parseJsonCell(body)
  return bundle.items
}

function listItemsAfter(items: readonly EvidenceItem[], after: CursorPosition | undefined): EvidenceItem[] {
  const last = after === undefined ? '' : getCursorText(after, 1)
  return items.filter((item) => compareNames(item.nodeId, last) > 0)
}

function makeItemPage(
  traceId: string,
  items: readonly EvidenceItem[],
  after: CursorPosition | undefined,
  limit: number,
): VfsEntryPage {
  const rest = listItemsAfter(items, after)
  return {
    entries: rest
      .slice(0, limit)
      .map((item) => ({ item: toEvidenceEntry(`/evidence/${traceId}`, item), after: [traceId, item.nodeId] })),
    more: rest.length > limit,
  }
}

function toTraceItem(trace: TraceEntry): VirtualItem {
  return {
    kind: 'directory',
    name: trace.id,
    path: joinVirtualPath('evidence', [trace.id]),
    metadata: {
      query: trace.query,
      mode: trace.mode,
      ...omitUndefined({ state: trace.evidence_state ?? undefined }),
      createdAt: new Date(trace.created_at).toISOString(),
    },
    resourceType: 'evidence',
    targetId: trace.id,
  }
}

function toTextUnit(traceId: string, item: EvidenceItem): TextUnit {
  const { path } = toEvidenceEntry(`/evidence/${traceId}`, item)
  const [citation] = item.citations
  const base = citation?.startOffset ?? 0
  return {
    id: item.nodeId,
    text: item.text,
    after: [traceId, item.nodeId],
    describe: (start, end) =>
      Promise.resolve({
        kind: 'node',
        path,
        startOffset: base + start,
        endOffset: base + end,
        nodeId: item.nodeId,
        metadata: { traceId, ...omitUndefined({ documentId: citation?.documentAssetId }) },
      }),
  }
}

async function* yieldAll<T>(values: readonly T[]): AsyncGenerator<T> {
  yield* values
}
