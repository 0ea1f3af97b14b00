import pLimit from 'p-limit'
import { sleep } from '../../../../lib/abort.js'
import {
  confirmsState,
  EgressFailure,
  extractValidators,
  type FetchedResource,
  type SafeFetch,
  toConditionHeaders,
  type Validators,
} from '../../../models/index.js'
import { findHeaderCharset } from '../../../readers/index.js'
import type { QueuedAddress } from './site.js'

const MAX_CONCURRENT_FETCHES = 4
/** Other responses contain no page, or a part of one. */
const COMPLETE_STATUSES = new Set([200, 203])
const NOT_MODIFIED = 304
const PRECONDITION_FAILED = 412

/** Stored pages of earlier crawls, so that unchanged ones are not sent again. */
export interface StoredSite {
  /** validators that the server sent with the stored page; undefined where none can be relied on */
  validators(address: string): Validators | undefined
  /** @returns undefined when its bytes are no longer available */
  page(address: string): Promise<{ mediaType: string; charset?: string; body: Buffer } | undefined>
}

export interface SiteAccess {
  fetch: SafeFetch
  credentials: Record<string, string>
  signal: AbortSignal
  kept: StoredSite
}

export type PageResponse = FetchedResource & {
  /** the server confirmed the stored page */
  isUnchanged: boolean
  validators: Validators | undefined
  /** charset of the response header */
  charset: string | undefined
}

export type PageVisit = QueuedAddress & ({ fetched: PageResponse } | { failure: string; status?: number })

/** Creates the fetcher of pages: four concurrently, or one after the other with the delay that the site requests. */
export function createVisitor(access: SiteAccess, delayMs: number): (batch: QueuedAddress[]) => Promise<PageVisit[]> {
  const limit = pLimit(delayMs > 0 ? 1 : MAX_CONCURRENT_FETCHES)
  const pause = async () => {
    if (delayMs > 0) await sleep(delayMs, access.signal)
  }
  const visit = async (waiting: QueuedAddress): Promise<PageVisit> => {
    await pause()
    return visitPage(waiting, access, pause)
  }
  return (batch) => Promise.all(batch.map((waiting) => limit(() => visit(waiting))))
}

async function visitPage(waiting: QueuedAddress, access: SiteAccess, pause: () => Promise<void>): Promise<PageVisit> {
  try {
    const fetched = (await fetchIfChanged(waiting.address, access, pause)) ?? (await fetchPage(waiting.address, access))
    const { status } = fetched
    return COMPLETE_STATUSES.has(status)
      ? { ...waiting, fetched }
      : { ...waiting, failure: `answered ${status}`, status }
  } catch (error) {
    if (error instanceof EgressFailure) return { ...waiting, failure: error.message }
    throw error
  }
}

async function fetchPage(address: string, { fetch, credentials, signal }: SiteAccess): Promise<PageResponse> {
  return toPageResponse(await fetch.get(address, { credentials, signal }))
}

function toPageResponse(resource: FetchedResource): PageResponse {
  const { headers } = resource
  const charset = findHeaderCharset(headers['content-type'])
  return { ...resource, charset, isUnchanged: false, validators: extractValidators(headers) }
}

/**
 * Requests a page with validators, and returns the stored one where the server confirms it.
 *
 * @returns undefined where the page must be requested without validators: none are stored, or the response does not
 * confirm it
 */
async function fetchIfChanged(
  address: string,
  { fetch, credentials, signal, kept }: SiteAccess,
  pause: () => Promise<void>,
): Promise<PageResponse | undefined> {
  const validators = kept.validators(address)
  if (validators === undefined) return undefined
  const answer = await fetch.get(address, { credentials, signal, condition: toConditionHeaders(validators) })
  if (answer.status === NOT_MODIFIED && answer.url === address && confirmsState(validators, answer.headers)) {
    const page = await kept.page(address)
    if (page !== undefined)
      return { ...answer, ...page, charset: page.charset, status: 200, isUnchanged: true, validators }
  }
  if (answer.status !== NOT_MODIFIED && answer.status !== PRECONDITION_FAILED) return toPageResponse(answer)
  await pause()
  return undefined
}
