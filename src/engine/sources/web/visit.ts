import pLimit from 'p-limit'
import { sleep } from '../../../lib/abort.js'
import { EgressFailure } from '../../egress/failure.js'
import type { Fetched, SafeFetch } from '../../egress/safe-fetch.js'
import { conditionOf, confirms, type Validators, validatorsOf } from '../../egress/validators.js'
import type { Waiting } from './site.js'

const FETCHES_AT_ONCE = 4
/** Other answers hold no page, or a part of one. */
const WHOLE = new Set([200, 203])
const NOT_MODIFIED = 304
const PRECONDITION_FAILED = 412

/** What earlier crawls kept of a site's pages, so that those that did not change are not sent again. */
export interface KeptSite {
  /** what the page's server said of the page that is kept; undefined where nothing can be relied on */
  validators(address: string): Validators | undefined
  /** @returns undefined when its bytes cannot be had any more */
  page(address: string): Promise<{ mediaType: string; body: Buffer } | undefined>
}

export interface SiteAccess {
  fetch: SafeFetch
  credentials: Record<string, string>
  signal: AbortSignal
  kept: KeptSite
}

export type Arrived = Fetched & {
  /** the page is the one that is kept, by the word of its server */
  isKept: boolean
  validators: Validators | undefined
}

export type Visit = Waiting & ({ fetched: Arrived } | { failure: string; status?: number })

/** How pages are fetched: four at once, or one after the other with the pause that the site asks for. */
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
 * Asks for a page unless it is the one that is kept, and takes the kept one where the server says so.
 *
 * @returns undefined where the page has to be asked for whole: nothing is kept, or the answer does not speak of it
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
