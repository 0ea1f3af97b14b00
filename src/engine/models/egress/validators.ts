import { omitUndefined } from '../../../lib/omit-undefined.js'

/** Validators of a resource's state (RFC 9110, 8.8), as the server sent them. */
export interface Validators {
  etag?: string
  lastModified?: string
}

/** One tag, weak or strong. `*` and lists would have another meaning when sent back. */
const ENTITY_TAG = /^(?:W\/)?"[\x21\x23-\x7e]{0,1024}"$/
const HTTP_DATE =
  /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d\d (?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) \d{4} \d\d:\d\d:\d\d GMT$/
/** A modification time closer than this to the response may belong to two states (RFC 9110, 8.8.2.2). */
const MIN_SETTLED_MS = 1000

/** Extracts the validators of a response; undefined where there are none to rely on. */
export function extractValidators(headers: Readonly<Record<string, string>>): Validators | undefined {
  const { etag = '', date = '', 'last-modified': modified = '' } = headers
  const isSettled =
    HTTP_DATE.test(modified) && HTTP_DATE.test(date) && Date.parse(date) - Date.parse(modified) >= MIN_SETTLED_MS
  const validators = {
    ...(ENTITY_TAG.test(etag) ? { etag } : {}),
    ...(isSettled ? { lastModified: modified } : {}),
  }
  return Object.keys(validators).length === 0 ? undefined : validators
}

/** Headers of a conditional request for a changed resource. */
export function toConditionHeaders({ etag, lastModified }: Validators): Record<string, string> {
  return omitUndefined({ 'if-none-match': etag, 'if-modified-since': lastModified })
}

/** Whether a 304 response refers to the state of these validators: another tag or a later time means another state. */
export function confirmsState(known: Validators, headers: Readonly<Record<string, string>>): boolean {
  const { etag, 'last-modified': modified } = headers
  // weak comparison: the content counts, not its bytes
  if (etag !== undefined && known.etag !== undefined) return stripWeakPrefix(etag) === stripWeakPrefix(known.etag)
  if (modified === undefined || known.lastModified === undefined) return true
  return !(Date.parse(modified) > Date.parse(known.lastModified))
}

function stripWeakPrefix(etag: string): string {
  return etag.replace(/^W\//, '')
}
