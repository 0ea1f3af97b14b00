import { jwtVerify, SignJWT } from 'jose'
import { isOpenToVisit } from '../../contract/callers.js'
import { ChatError } from '../../contract/chat/errors.js'
import { KsError } from '../../contract/errors.js'
import { quoteClipped } from '../../contract/issues.js'
import type { RouteDefinition } from '../../contract/route.js'
import type { Caller } from '../../engine/base/caller.js'
import { newId } from '../../lib/ids.js'
import { LOCAL_ISSUER, LOCAL_TENANT } from '../../local/keys.js'
import { createRateLimit } from '../http/rate-limit.js'

/** Differs from the audience of API tokens: a visit only opens the chat of one application. */
const AUDIENCE = 'knowledge-spaces-chat'
const VISITOR_SECONDS = 60 * 60
const OWNER_SECONDS = 15 * 60
/** A visitor who returns within this time keeps their conversations. */
const RETURN_SECONDS = 24 * 60 * 60

/**
 * Limits per minute. A request counts for the visitor first, then for the address, then for all visitors of the
 * application. A request rejected by one limit does not count for the next ones.
 */
const MAX_REQUESTS_PER_VISITOR = 60
const MAX_MODEL_CALLS_PER_VISITOR = 8
const MAX_MODEL_CALLS_PER_ADDRESS = 30
const MAX_MODEL_CALLS_TOTAL = 60
const MAX_NEW_VISITORS_PER_ADDRESS = 20
const MAX_NEW_VISITORS_TOTAL = 60
/** Fraction of `rateLimit` for all visitors of an application, in addition to the limit of its keys. */
const VISITOR_RATE_FRACTION = 0.5
/** Maximum characters of one question. */
const MAX_QUESTION_CHARS = 4_000

/** The identity of a page's requests, instead of an application key. */
export interface ChatVisit {
  tenant: string
  appId: string
  /** The end user id of a visitor, or the subject of an owner. */
  user: string
  isOwner: boolean
}

export interface SignedVisit {
  token: string
  /** The end user for requests. */
  user: string
  expiresInSeconds: number
}

/** Visits of applications: signed and not stored, so that they are valid across restarts and gateways. */
export interface ChatVisits {
  /** Origins that may show the page of an application; undefined if it has no page. */
  getFrames(appId: string): readonly string[] | undefined
  /**
   * Signs a visit of an anonymous visitor.
   *
   * @param before a visit to continue
   * @param address address of the client
   * @throws KsError `not-found`, `rate-limited`
   */
  beginForVisitor(appId: string, before: string | undefined, address: string): Promise<SignedVisit>
  /** Signs a visit of the owner, with the permissions of an application key. */
  beginForOwner(caller: Caller, appId: string): Promise<SignedVisit>
  verify(token: string): Promise<ChatVisit | undefined>
  /**
   * Counts a request of a visitor.
   * @throws ChatError `forbidden`; KsError `rate-limited`
   */
  countRequest(visit: ChatVisit, operation: RouteDefinition | undefined): void
  /**
   * Counts a model call: a question, suggested questions or a title.
   * @throws KsError `rate-limited`
   */
  countModelCall(visit: ChatVisit, address: string): void
}

interface VisitOptions {
  signingKey: Uint8Array
  /** Applications that have a page: an id of the operator's tenant, or `tenant/id`. */
  pages: readonly string[]
  frames: readonly string[]
  /** Requests per minute of a token of the daemon; 0 is no limit. */
  rateLimit: number
  gateways: () => number
}

export function createChatVisits({ signingKey, pages, frames, rateLimit, gateways }: VisitOptions): ChatVisits {
  const tenantByAppId = new Map(pages.map(parsePage))
  const createLimit = (perMinute: number) => createRateLimit(perMinute, gateways)
  const countRequests = {
    perVisitor: createLimit(MAX_REQUESTS_PER_VISITOR),
    total: createLimit(Math.ceil(rateLimit * VISITOR_RATE_FRACTION)),
  }
  const countModelCalls = {
    perVisitor: createLimit(MAX_MODEL_CALLS_PER_VISITOR),
    perAddress: createLimit(MAX_MODEL_CALLS_PER_ADDRESS),
    total: createLimit(MAX_MODEL_CALLS_TOTAL),
  }
  const countNewVisitors = {
    perAddress: createLimit(MAX_NEW_VISITORS_PER_ADDRESS),
    total: createLimit(MAX_NEW_VISITORS_TOTAL),
  }

  const signVisit = async (
    { tenant, appId, user, isOwner }: ChatVisit,
    lifetimeSeconds: number,
  ): Promise<SignedVisit> => {
    const token = await new SignJWT({ tenant, app: appId, owner: isOwner })
      .setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
      .setIssuer(LOCAL_ISSUER)
      .setAudience(AUDIENCE)
      .setSubject(user)
      .setIssuedAt()
      .setExpirationTime(`${lifetimeSeconds}s`)
      .sign(signingKey)
    return { token, user, expiresInSeconds: lifetimeSeconds }
  }

  const verifyClaims = async (token: string, toleranceSeconds = 0): Promise<ChatVisit | undefined> => {
    try {
      const { payload } = await jwtVerify(token, signingKey, {
        algorithms: ['HS256'],
        issuer: LOCAL_ISSUER,
        audience: AUDIENCE,
        requiredClaims: ['exp', 'sub'],
        clockTolerance: toleranceSeconds,
      })
      const { sub, tenant, app, owner } = payload
      if (typeof sub !== 'string' || typeof tenant !== 'string' || typeof app !== 'string') return undefined
      return { tenant, appId: app, user: sub, isOwner: owner === true }
    } catch {
      return undefined
    }
  }

  return {
    getFrames: (appId) => (tenantByAppId.has(appId) ? frames : undefined),
    beginForVisitor: async (appId, before, address) => {
      const tenant = tenantByAppId.get(appId)
      if (tenant === undefined)
        throw new KsError('not-found', `the application ${quoteClipped(appId)} has no page here`)
      const previous = before === undefined ? undefined : await verifyClaims(before, RETURN_SECONDS)
      const isContinued = previous !== undefined && !previous.isOwner && previous.appId === appId
      if (isContinued) countRequests.perVisitor(previous.user)
      else {
        countNewVisitors.perAddress(`${appId} ${address}`)
        countNewVisitors.total(appId)
      }
      const user = isContinued ? previous.user : `visitor-${newId()}`
      return await signVisit({ tenant, appId, user, isOwner: false }, VISITOR_SECONDS)
    },
    beginForOwner: ({ tenant, subject }, appId) =>
      signVisit({ tenant, appId, user: subject, isOwner: true }, OWNER_SECONDS),
    verify: async (token) => {
      const visit = await verifyClaims(token)
      if (visit === undefined || visit.isOwner) return visit
      // Removing a page ends its visits.
      return tenantByAppId.get(visit.appId) === visit.tenant ? visit : undefined
    },
    countRequest: ({ appId, user }, operation) => {
      countRequests.perVisitor(user)
      if (operation === undefined || !isOpenToVisit(operation, { isOwner: false }))
        throw new ChatError('forbidden', 'A visitor of the page may not do this.')
      countRequests.total(appId)
    },
    countModelCall: ({ appId, user }, address) => {
      countModelCalls.perVisitor(user)
      countModelCalls.perAddress(`${appId} ${address}`)
      countModelCalls.total(appId)
    },
  }
}

/**
 * Restricts a visitor to their own user id and short questions.
 *
 * @throws ChatError `forbidden`, `invalid_param`
 */
export function checkVisitorInput({ user, isOwner }: ChatVisit, input: { query?: unknown; body?: unknown }): void {
  if (isOwner) return
  for (const part of [input.query, input.body]) {
    if (typeof part !== 'object' || part === null) continue
    if ('user' in part && part.user !== user) throw new ChatError('forbidden', 'The user is not the one of this visit.')
    if ('query' in part && typeof part.query === 'string' && part.query.length > MAX_QUESTION_CHARS)
      throw new ChatError('invalid_param', `A question has at most ${MAX_QUESTION_CHARS} characters here.`)
    // An address that the daemon would fetch, or a file of another user.
    if ('files' in part && Array.isArray(part.files) && part.files.length > 0)
      throw new ChatError('invalid_param', 'The page does not accept images.')
  }
}

function parsePage(entry: string): [appId: string, tenant: string] {
  const slashIndex = entry.lastIndexOf('/')
  return slashIndex < 0 ? [entry, LOCAL_TENANT] : [entry.slice(slashIndex + 1), entry.slice(0, slashIndex)]
}
