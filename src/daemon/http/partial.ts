import parseRange from 'range-parser'

/** What of some bytes a request asks for. */
export type Part =
  | { kind: 'whole' }
  | { kind: 'unchanged' }
  /** both ends belong to it */
  | { kind: 'part'; start: number; end: number }
  | { kind: 'unsatisfiable' }

/**
 * What a conditional or partial GET is answered with (RFC 9110, 13.2.2 and 14.2). Ranges that touch are one; several
 * that do not are not served.
 *
 * @param etag strong, with its quotes
 */
export function partOf(request: Request, size: number, etag: string): Part {
  const { headers } = request
  if (names(headers.get('if-none-match'), etag)) return { kind: 'unchanged' }
  const range = headers.get('range')
  const condition = headers.get('if-range')
  if (range === null || request.method !== 'GET' || (condition !== null && condition.trim() !== etag))
    return { kind: 'whole' }
  const ranges = parseRange(size, range, { combine: true })
  if (ranges === -2 || (ranges !== -1 && ranges.type !== 'bytes')) return { kind: 'whole' } // not one that is known
  const [only, ...more] = ranges === -1 ? [] : ranges
  return only === undefined || more.length > 0 ? { kind: 'unsatisfiable' } : { kind: 'part', ...only }
}

/** Whether a list of entity tags has one; compared weakly, as RFC 9110, 13.1.2 wants it. */
function names(list: string | null, etag: string): boolean {
  if (list === null) return false
  return list.trim() === '*' || list.split(',').some((tag) => tag.trim().replace(/^W\//, '') === etag)
}
