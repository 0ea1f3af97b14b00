import { EgressFailure } from '../../../models/index.js'
import { readMarkup } from '../../../readers/index.js'

/** Elements that are read from listings and errors. */
const KEPT_ELEMENTS = new Set([
  'ListBucketResult',
  'Contents',
  'Key',
  'Size',
  'CommonPrefixes',
  'Prefix',
  'IsTruncated',
  'EncodingType',
  'NextContinuationToken',
  'ListAllMyBucketsResult',
  'Buckets',
  'Bucket',
  'Name',
  'Error',
  'Code',
  'Message',
])
/** An account has at most ten thousand buckets, a listing a thousand keys. */
const MAX_ELEMENTS = 25_000
const MAX_TEXT_LENGTH = 4 * 1024 * 1024
const ESCAPED: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '\r': '&#13;' }

/**
 * Removes everything unused from a response of S3: the client of the SDK takes a second for each megabyte of invented
 * content, and it parses on the event loop.
 *
 * @throws EgressFailure for a response larger than those of S3
 */
export function reduceS3Response(xml: string): string {
  const out: string[] = []
  /** open elements that are kept */
  const open: string[] = []
  /** count of open elements within one that is not kept */
  let skippedDepth = 0
  let elements = 0
  let characters = 0
  readMarkup(
    xml,
    {
      open(name) {
        if (skippedDepth > 0 || !KEPT_ELEMENTS.has(name)) {
          skippedDepth++
          return
        }
        if (++elements > MAX_ELEMENTS) throw new EgressFailure('a response that is not from S3')
        open.push(name)
        out.push(`<${name}>`)
      },
      close(name) {
        if (skippedDepth > 0) {
          skippedDepth--
          return
        }
        if (open.at(-1) !== name) return
        open.pop()
        out.push(`</${name}>`)
      },
      text(text) {
        if (skippedDepth > 0 || open.length === 0) return
        characters += text.length
        if (characters > MAX_TEXT_LENGTH) throw new EgressFailure('a response that is not from S3')
        out.push(text.replace(/[&<>\r]/g, (char) => ESCAPED[char] ?? ''))
      },
    },
    'xml',
  )
  for (const name of open.reverse()) out.push(`</${name}>`)
  return out.join('')
}
