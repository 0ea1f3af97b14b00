import type { CreateSourceBody } from '../../../../src/contract/gateway/sources.js'
import type { Caller } from '../../../../src/engine/base/caller.js'
import { compileBatch } from '../../../../src/engine/ingest/compile/pipeline.js'
import { createCredentialBox } from '../../../../src/engine/ingest/sources/credentials.js'
import type { ImportContext } from '../../../../src/engine/ingest/sources/import-items.js'
import { createSource, type SourceParts } from '../../../../src/engine/ingest/sources/sources.js'
import type { FetchedResource, SafeFetch } from '../../../../src/engine/models/egress/safe-fetch.js'
import { findSource, type SourceRow } from '../../../../src/engine/store/rows/sources.js'
import type { SpaceRow } from '../../../../src/engine/store/rows/spaces.js'
import { ADA } from '../../../helpers/engine.js'
import { openSmallStore, type SmallStore } from '../../../helpers/store.js'

/** Sources on a small store with a clock that the test sets; uploads are compiled when a test waits for their end. */
export interface SmallSources {
  store: SmallStore
  space: SpaceRow
  parts: SourceParts
  clock: { now: number }
  stop: AbortController
  made(body?: Partial<CreateSourceBody>, caller?: Caller): Promise<SourceRow>
  again(source: SourceRow): SourceRow
  place(source: SourceRow, caller?: Caller): ImportContext
  settled(jobId: string): Promise<void>
  /** Names, states and texts of the existing documents. */
  documents(): { id: string; filename: string; parser_status: string; metadata: string }[]
}

export async function openSmallSources(): Promise<SmallSources> {
  const clock = { now: Date.now() }
  const store = await openSmallStore({ now: () => clock.now })
  const space = store.createSpace()
  const stop = new AbortController()
  const parts = { context: store.context, box: createCredentialBox(store.dataDir), mayDial: () => true }
  const row = (id: string) => store.db.now(findSource({ ...ADA, isDaemon: true }, space, id))
  const settled = async (jobId: string) => {
    const job = store.job(jobId)
    if (job.completed_at !== null) return
    await compileBatch(store.context, store.reload(space), [store.claimJob(job.doc_key)], {
      signal: new AbortController().signal,
    })
  }
  return {
    ...{ store, space, parts, clock, stop, settled },
    async made(body = {}, caller = ADA) {
      const web: CreateSourceBody = {
        name: 's',
        type: 'web',
        uri: 'https://site.example/',
        permissionScope: [],
        metadata: {},
      }
      return row((await createSource(parts, caller, space.id, { ...web, ...body })).id)
    },
    again: ({ id }) => row(id),
    place: (source, caller = ADA) => ({
      ...{ context: store.context, caller, spaceId: space.id, source, settled, signal: stop.signal },
    }),
    documents: () =>
      store.rows('SELECT id, filename, parser_status, metadata FROM documents WHERE deleted_at IS NULL ORDER BY key'),
  }
}

/** A response of a site: its text, or more fields. */
export type SiteResponse = string | (Partial<Omit<FetchedResource, 'body'>> & { body?: string })

/** A site without a network, by address; unknown addresses get status 404. */
export class FakeSite implements SafeFetch {
  readonly asked: { url: string; condition?: Record<string, string>; credentials?: Record<string, string> }[] = []
  readonly pages: Map<string, SiteResponse | Error>
  /** Responses that take precedence over `pages`. */
  before: (url: string, condition: Record<string, string> | undefined) => SiteResponse | Error | undefined = () =>
    undefined

  constructor(pages: Record<string, SiteResponse | Error> = {}) {
    this.pages = new Map(Object.entries(pages))
  }

  async get(url: string, options: Parameters<SafeFetch['get']>[1] = {}): Promise<FetchedResource> {
    const { condition, credentials } = options
    this.asked.push({
      url,
      ...(condition === undefined ? {} : { condition }),
      ...(credentials === undefined ? {} : { credentials }),
    })
    const answer = this.before(url, condition) ?? this.pages.get(url) ?? { status: 404 }
    if (answer instanceof Error) throw answer
    const told = typeof answer === 'string' ? { body: answer } : answer
    const { body = '' } = told
    return { url, status: 200, mediaType: 'text/html', headers: {}, ...told, body: Buffer.from(body) }
  }

  /** Addresses requested since the last call. */
  urls(): string[] {
    return this.asked.splice(0).map(({ url }) => url)
  }

  async open(): Promise<never> {
    throw new Error('nothing is read as it comes here')
  }

  async close(): Promise<void> {}
}
