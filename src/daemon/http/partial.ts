import parseRange from 'range-parser'

/** What a request gets of a file: all of it, a part, or neither. */
export type RequestedRange =
  | { kind: 'complete' }
  | { kind: 'unchanged' }
  /** Both ends are inclusive. */
  | { kind: 'part'; start: number; end: number }
  | { kind: 'unsatisfiable' }

/**
 * Evaluates a conditional or range GET (RFC 9110, 13.2.2 and 14.2). Adjacent ranges are merged; several separate ranges
 * are not supported.
 *
 * @param etag strong, with its quotes
 */
export function selectRange(request: Request, size: number, etag: string): RequestedRange {
  const { headers } = request
  if (includesTag(headers.get('if-none-match'), etag)) return { kind: 'unchanged' }
  const range = headers.get('range')
  const condition = headers.get('if-range')
  if (range === null || request.method !== 'GET' || (condition !== null && condition.trim() !== etag))
    return { kind: 'complete' }
  const ranges = parseRange(size, range, { combine: true })
  if (ranges === -2 || (ranges !== -1 && ranges.type !== 'bytes')) return { kind: 'complete' } // Unknown range unit.
  const [only, ...more] = ranges === -1 ? [] : ranges
  return only === undefined || more.length > 0 ? { kind: 'unsatisfiable' } : { kind: 'part', ...only }
}

/** Whether a list of entity tags includes one; weak comparison, as in RFC 9110, 13.1.2. */
function includesTag(list: string | null, etag: string): boolean {
  if (list === null) return false
  return list.trim() === '*' || list.split(',').some((tag) => tag.trim().replace(/^W\//, '') === etag)
}
