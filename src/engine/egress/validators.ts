import { defined } from '../../lib/defined.js'

/** What a server says to tell one state of a thing from another (RFC 9110, 8.8), each as the server wrote it. */
export interface Validators {
  etag?: string
  lastModified?: string
}

/** One tag, weak or strong. `*` and lists would mean something else when they are sent back. */
const ENTITY_TAG = /^(?:W\/)?"[\x21\x23-\x7e]{0,1024}"$/
const HTTP_DATE =
  /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d\d (?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) \d{4} \d\d:\d\d:\d\d GMT$/
/** A time of modification that is not older than the answer by this much may stand for two states (RFC 9110, 8.8.2.2). */
const SETTLED_MS = 1000

/** What an answer can be asked for again by; undefined where there is nothing to rely on. */
export function validatorsOf(headers: Readonly<Record<string, string>>): Validators | undefined {
  const { etag = '', date = '', 'last-modified': modified = '' } = headers
  const isSettled =
    HTTP_DATE.test(modified) && HTTP_DATE.test(date) && Date.parse(date) - Date.parse(modified) >= SETTLED_MS
  const validators = {
    ...(ENTITY_TAG.test(etag) ? { etag } : {}),
    ...(isSettled ? { lastModified: modified } : {}),
  }
  return Object.keys(validators).length === 0 ? undefined : validators
}

/** The headers that ask for a thing only if it is in another state than that of the validators. */
export function conditionOf({ etag, lastModified }: Validators): Record<string, string> {
  return {
    ...defined({ 'if-none-match': etag, 'if-modified-since': lastModified }),
  }
}

/** Whether an answer 304 speaks of the state of these validators: one that names another tag or a later time does not. */
export function confirms(kept: Validators, headers: Readonly<Record<string, string>>): boolean {
  const { etag, 'last-modified': modified } = headers
  // weak comparison: it is about what the thing says, not its bytes
  if (etag !== undefined && kept.etag !== undefined) return opaque(etag) === opaque(kept.etag)
  if (modified === undefined || kept.lastModified === undefined) return true
  return !(Date.parse(modified) > Date.parse(kept.lastModified))
}

function opaque(etag: string): string {
  return etag.replace(/^W\//, '')
}
