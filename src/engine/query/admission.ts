import { KsError, notFound } from '../../contract/errors.js'
import type { QueryBody } from '../../contract/gateway/queries.js'
import type { RetrievalProfile } from '../../contract/gateway/retrieval-profile.js'
import type { Caller } from '../api.js'
import { embeddingReference, isTrained } from '../compile/vector-spaces.js'
import type { EngineContext } from '../context.js'
import { readableDocument } from '../documents/readable.js'
import { isBuiltin } from '../models/registry.js'
import { profileOf } from '../spaces/profile.js'
import { findSpaceOrDeleting, type SpaceRow } from '../spaces/store.js'

/** The published head that a query reads, whatever is published meanwhile. */
export interface Snapshot {
  publicationId: string
  fingerprint: string
  headRevision: number
  projectionVersion: number
}

export interface Admitted {
  /** who asks, for the scopes of sources */
  subject: string
  space: SpaceRow
  profile: RetrievalProfile
  snapshot: Snapshot
  /** row keys of the documents to search in; absent = all */
  docs?: number[]
}

/** Decides whether a query may run, before anything is streamed. */
export function admit(context: EngineContext, caller: Caller, body: QueryBody): Admitted {
  const { db, models } = context
  const space = findSpaceOrDeleting(db, caller.tenant, body.knowledgeSpaceId)
  if (space === undefined) throw notFound('knowledge space', body.knowledgeSpaceId)
  if (space.deleted_at !== null) throw new KsError('deletion-active', `knowledge space ${space.id} is being deleted`)
  const profile = profileOf(db, space.key)
  if (body.mode !== undefined && body.mode !== 'auto' && !profile.modes.includes(body.mode))
    throw new KsError(
      'profile-mode-mismatch',
      `mode must be one of ${[...profile.modes, 'auto'].join(', ')} by the space's retrieval profile, received ${body.mode}`,
    )
  if (!isTrained(space) && !models.has(embeddingReference(space), 'embedding'))
    throw new KsError(
      'unavailable',
      `this daemon has no embedding provider ${space.embedding_plugin}/${space.embedding_provider}, which the space uses`,
    )
  const { reasoningModel } = profile
  if (reasoningModel !== undefined && !isBuiltin(reasoningModel) && !models.has(reasoningModel, 'generation'))
    throw new KsError(
      'unavailable',
      `this daemon has no chat provider ${reasoningModel.pluginId}/${reasoningModel.provider}, which the profile names`,
    )
  const snapshot = {
    publicationId: space.publication_id,
    fingerprint: space.fingerprint,
    headRevision: space.head_revision,
    projectionVersion: space.head_revision,
  }
  if (body.activeDocumentIds.length === 0) return { subject: caller.subject, space, profile, snapshot }
  const docs = body.activeDocumentIds.map((id) => readableDocument(db, caller, space.key, id).key)
  return { subject: caller.subject, space, profile, snapshot, docs }
}

/** Queries that run at once, and those that wait for their turn. */
export class QueryGate {
  readonly #limit: number
  readonly #maxWaiting: number
  readonly #waiting: (() => void)[] = []
  #running = 0

  constructor(limit: number, maxWaiting: number) {
    this.#limit = limit
    this.#maxWaiting = maxWaiting
  }

  get running(): number {
    return this.#running
  }

  /** @throws KsError `busy` when too many wait already. @returns what gives the place back, once */
  async enter(signal: AbortSignal): Promise<() => void> {
    if (this.#running < this.#limit) this.#running++
    else await this.#wait(signal)
    let left = false
    return () => {
      if (left) return
      left = true
      const next = this.#waiting.shift()
      if (next === undefined) this.#running--
      else next()
    }
  }

  #wait(signal: AbortSignal): Promise<void> {
    if (this.#waiting.length >= this.#maxWaiting)
      throw new KsError('busy', `${this.#running} queries run and ${this.#waiting.length} wait, try again soon`, {
        retryAfter: 1,
      })
    return new Promise((resolve, reject) => {
      const enter = () => {
        signal.removeEventListener('abort', leave)
        resolve()
      }
      const leave = () => {
        const place = this.#waiting.indexOf(enter)
        if (place >= 0) this.#waiting.splice(place, 1)
        reject(new KsError('unavailable', 'the query was abandoned while it waited'))
      }
      this.#waiting.push(enter)
      signal.addEventListener('abort', leave, { once: true })
    })
  }
}
