import pLimit from 'p-limit'
import { sleep } from '../../../lib/abort.js'
import { EgressFailure } from '../../egress/failure.js'
import type { Fetched, SafeFetch } from '../../egress/safe-fetch.js'
import { conditionOf, confirms, type Validators, validatorsOf } from '../../egress/validators.js'
import type { Waiting } from './site.js'

const FETCHES_AT_ONCE = 4
/** Other responses contain no page, or a part of one. */
const WHOLE = new Set([200, 203])
const NOT_MODIFIED = 304
const PRECONDITION_FAILED = 412

/** Stored pages of earlier crawls, so that unchanged ones are not sent again. */
export interface KeptSite {
  /** validators that the server sent with the stored page; undefined where none can be relied on */
  validators(address: string): Validators | undefined
  /** @returns undefined when its bytes are no longer available */
  page(address: string): Promise<{ mediaType: string; body: Buffer } | undefined>
}

export interface SiteAccess {
  fetch: SafeFetch
  credentials: Record<string, string>
  signal: AbortSignal
  kept: KeptSite
}

export type Arrived = Fetched & {
  /** the server confirmed the stored page */
  isKept: boolean
  validators: Validators | undefined
}

export type Visit = Waiting & ({ fetched: Arrived } | { failure: string; status?: number })

/** Creates the fetcher of pages: four concurrently, or one after the other with the delay that the site requests. */
export function visitor(access: SiteAccess, delayMs: number): (batch: Waiting[]) => Promise<Visit[]> {
  const limit = pLimit(delayMs > 0 ? 1 : FETCHES_AT_ONCE)
  const pause = async () => {
    if (delayMs > 0) await sleep(delayMs, access.signal)
  }
  const visit = async (waiting: Waiting): Promise<Visit> => {
    await pause()
    return visitOne(waiting, access, pause)
  }
  return (batch) => Promise.all(batch.map((waiting) => limit(() => visit(waiting))))
}

async function visitOne(waiting: Waiting, access: SiteAccess, pause: () => Promise<void>): Promise<Visit> {
  try {
    const fetched =
      (await fetchUnlessKept(waiting.address, access, pause)) ?? (await fetchWhole(waiting.address, access))
    const { status } = fetched
    return WHOLE.has(status) ? { ...waiting, fetched } : { ...waiting, failure: `answered ${status}`, status }
  } catch (error) {
    if (error instanceof EgressFailure) return { ...waiting, failure: error.message }
    throw error
  }
}

async function fetchWhole(address: string, { fetch, credentials, signal }: SiteAccess): Promise<Arrived> {
  const answer = await fetch.get(address, { credentials, signal })
  return { ...answer, isKept: false, validators: validatorsOf(answer.headers) }
}

/**
 * Requests a page with validators, and returns the stored one where the server confirms it.
 *
 * @returns undefined where the page must be requested without validators: none are stored, or the response does not
 * confirm it
 */
async function fetchUnlessKept(
  address: string,
  { fetch, credentials, signal, kept }: SiteAccess,
  pause: () => Promise<void>,
): Promise<Arrived | undefined> {
  const validators = kept.validators(address)
  if (validators === undefined) return undefined
  const answer = await fetch.get(address, { credentials, signal, condition: conditionOf(validators) })
  if (answer.status === NOT_MODIFIED && answer.url === address && confirms(validators, answer.headers)) {
    const page = await kept.page(address)
    if (page !== undefined) return { ...answer, ...page, status: 200, isKept: true, validators }
  }
  if (answer.status !== NOT_MODIFIED && answer.status !== PRECONDITION_FAILED)
    return { ...answer, isKept: false, validators: validatorsOf(answer.headers) }
  await pause()
  return undefined
}
