import type { VirtualItem } from '../../contract/gateway/fs.js'
import type { EvidenceBundle, EvidenceItem } from '../../contract/gateway/queries.js'
import { defined } from '../../lib/defined.js'
import { isUuid } from '../../lib/ids.js'
import { compareNames, joinPath } from '../base/virtual-paths.js'
import { knownDocuments } from '../rows/documents.js'
import { type TraceEntry, traceById, tracesAfter } from '../rows/vfs/traces.js'
import { isDamaged } from '../storage/guarded-rows.js'
import type { Read } from '../storage/program.js'
import { fromCell, readable } from '../storage/readable.js'
import { evidenceEntry } from '../traces/traces.js'
import {
  type After,
  type Entry,
  type EntryPage,
  PLAIN_TEXT,
  type Place,
  placeOf,
  type TextUnit,
  textAt,
} from './namespace.js'
import type { View } from './view.js'

/** traces of one slice; a bundle is some ten kilobytes of JSON */
const TRACES_PER_SLICE = 20

/** A trace with its evidence, by node id. */
interface Opened {
  trace: TraceEntry
  items: EvidenceItem[]
}

/** Evidence of the caller's own queries. A trace that cites a deleted document is hidden. */
export class Evidence {
  readonly #view: View

  constructor(view: View) {
    this.#view = view
  }

  async resolve(segments: readonly string[]): Promise<Place | undefined> {
    const [traceId, nodeId, ...rest] = segments
    if (traceId === undefined) return this.#root()
    if (!isUuid(traceId) || rest.length > 0) return undefined
    const opened = await this.#view.db.read(openedById(this.#view, traceId))
    if (opened === undefined) return undefined
    if (nodeId === undefined) return this.#trace(opened)
    const item = opened.items.find((candidate) => candidate.nodeId === nodeId)
    if (item === undefined) return undefined
    return placeOf(evidenceEntry(`/evidence/${traceId}`, item), {
      texts: (after) => units(after === undefined ? [unit(traceId, item)] : []),
      read: () => Promise.resolve({ text: item.text, contentType: PLAIN_TEXT }),
    })
  }

  #root(): Place {
    return placeOf(
      { kind: 'directory', name: 'evidence', path: joinPath('evidence', []), metadata: {} },
      {
        list: (after, limit) => this.#list(after, limit),
        walk: (after) => this.#walk(after),
        texts: (after) => this.#texts(after),
      },
    )
  }

  #trace({ trace, items }: Opened): Place {
    return placeOf(traceItem(trace), {
      list: (after, limit) => Promise.resolve(pageOfItems(trace.id, items, after, limit)),
      walk: (after) => units(pageOfItems(trace.id, items, after, items.length).entries),
      texts: (after) => units(itemsAfter(items, after).map((item) => unit(trace.id, item))),
    })
  }

  async #list(after: After | undefined, limit: number): Promise<EntryPage> {
    const entries: Entry[] = []
    for await (const { trace } of this.#traces(after === undefined ? '' : textAt(after, 0))) {
      if (entries.length === limit) return { entries, more: true }
      entries.push({ item: traceItem(trace), after: [trace.id, ''] })
    }
    return { entries, more: false }
  }

  async *#walk(after: After | undefined): AsyncGenerator<Entry> {
    const opened = after === undefined ? undefined : await this.#view.db.read(openedById(this.#view, textAt(after, 0)))
    if (opened !== undefined) yield* pageOfItems(opened.trace.id, opened.items, after, opened.items.length).entries
    for await (const { trace, items } of this.#traces(after === undefined ? '' : textAt(after, 0))) {
      yield { item: traceItem(trace), after: [trace.id, ''] }
      yield* pageOfItems(trace.id, items, undefined, items.length).entries
    }
  }

  async *#texts(after: After | undefined): AsyncGenerator<TextUnit> {
    const opened = after === undefined ? undefined : await this.#view.db.read(openedById(this.#view, textAt(after, 0)))
    if (opened !== undefined) for (const item of itemsAfter(opened.items, after)) yield unit(opened.trace.id, item)
    for await (const { trace, items } of this.#traces(after === undefined ? '' : textAt(after, 0)))
      for (const item of items) yield unit(trace.id, item)
  }

  async *#traces(after: string): AsyncGenerator<Opened> {
    for (let last = after; ; ) {
      const traces = await this.#view.db.read(tracesAfter(this.#view, last, TRACES_PER_SLICE))
      for (const trace of traces) {
        const opened = isDamaged(trace) ? undefined : await this.#view.db.read(open(this.#view, trace))
        if (opened !== undefined) yield opened
      }
      if (traces.length < TRACES_PER_SLICE) return
      const reached = last
      last = readable(traces, ({ id }) => id).at(-1) ?? last
      // a slice whose ids are all damaged gives no position to continue from
      if (last === reached) return
      await this.#view.clock.turn()
    }
  }
}

function* openedById(view: View, id: string): Read<Opened | undefined> {
  const trace = yield* traceById(view, id)
  return trace === undefined ? undefined : yield* open(view, trace)
}

function* open({ caller, space }: View, trace: TraceEntry): Read<Opened | undefined> {
  if (trace.body === null) return { trace, items: [] }
  const items = itemsOf(trace.body).sort((a, b) => compareNames(a.nodeId, b.nodeId))
  const cited = items.flatMap((item) => item.citations.map((citation) => citation.documentAssetId))
  const ids = [...new Set(cited)]
  return (yield* knownDocuments(caller, space.key, ids)).size === ids.length ? { trace, items } : undefined
}

/** The items of a stored bundle, which only this program writes. */
function itemsOf(body: string): EvidenceItem[] {
  const bundle: Pick<EvidenceBundle, 'items'> = fromCell(body)
  return bundle.items
}

function itemsAfter(items: readonly EvidenceItem[], after: After | undefined): EvidenceItem[] {
  const last = after === undefined ? '' : textAt(after, 1)
  return items.filter((item) => compareNames(item.nodeId, last) > 0)
}

function pageOfItems(
  traceId: string,
  items: readonly EvidenceItem[],
  after: After | undefined,
  limit: number,
): EntryPage {
  const rest = itemsAfter(items, after)
  return {
    entries: rest
      .slice(0, limit)
      .map((item) => ({ item: evidenceEntry(`/evidence/${traceId}`, item), after: [traceId, item.nodeId] })),
    more: rest.length > limit,
  }
}

function traceItem(trace: TraceEntry): VirtualItem {
  return {
    kind: 'directory',
    name: trace.id,
    path: joinPath('evidence', [trace.id]),
    metadata: {
      query: trace.query,
      mode: trace.mode,
      ...defined({ state: trace.evidence_state ?? undefined }),
      createdAt: new Date(trace.created_at).toISOString(),
    },
    resourceType: 'evidence',
    targetId: trace.id,
  }
}

function unit(traceId: string, item: EvidenceItem): TextUnit {
  const { path } = evidenceEntry(`/evidence/${traceId}`, item)
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
        metadata: { traceId, ...defined({ documentId: citation?.documentAssetId }) },
      }),
  }
}

async function* units<T>(values: readonly T[]): AsyncGenerator<T> {
  yield* values
}
