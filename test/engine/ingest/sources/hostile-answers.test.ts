import fc from 'fast-check'
import { expect, test } from 'vitest'
import { escapeMarkdown, pageToMarkdown } from '../../../../src/engine/ingest/sources/connectors/notion-markdown.js'
import { reduceS3Response } from '../../../../src/engine/ingest/sources/connectors/s3-xml.js'
import { parseRobots } from '../../../../src/engine/ingest/sources/web/robots.js'

/** The rule of RFC 9309, applied rule by rule. */
function allowsByTheBook(rules: readonly [allow: boolean, path: string][], path: string): boolean {
  let best: [boolean, string] | undefined
  for (const rule of rules) {
    const [allow, pattern] = rule
    const body = pattern
      .replace(/\$$/, '')
      .replace(/[.+?^${}()|[\]\\]/g, '\\$&')
      .replaceAll('*', '.*')
    if (!new RegExp(`^${body}${pattern.endsWith('$') ? '$' : ''}`).test(path)) continue
    const length = best?.[1].length ?? -1
    if (pattern.length > length || (pattern.length === length && allow)) best = rule
  }
  return best?.[0] ?? true
}

test('a compiled robots.txt decides like its rules applied one by one', () => {
  const part = fc.constantFrom('a', 'b', 'ab', '*', '/', 'aa')
  const path = fc.array(part, { maxLength: 5 }).map((parts) => `/${parts.join('')}`)
  const rule = fc.tuple(
    fc.boolean(),
    fc.tuple(path, fc.constantFrom('', '$')).map((parts) => parts.join('')),
  )
  const asked = fc.array(fc.constantFrom('a', 'b', '/'), { maxLength: 7 }).map((parts) => `/${parts.join('')}`)
  fc.assert(
    fc.property(fc.array(rule, { maxLength: 12 }), asked, (rules, at) => {
      const lines = rules.map(([allow, pattern]) => `${allow ? 'Allow' : 'Disallow'}: ${pattern}`)
      const robots = parseRobots(['User-agent: *', ...lines].join('\n'), 'us')
      expect(robots.allows(new URL(`https://h${at.replaceAll('//', '/')}`))).toBe(
        allowsByTheBook(rules, at.replaceAll('//', '/')),
      )
    }),
    { numRuns: 3000 },
  )
})

test('A52: every rule of a robots.txt counts, and its requested delay is limited to 10 s', () => {
  const rules = Array.from({ length: 20_000 }, (_, n) => `Disallow: /p${n}/`)
  const robots = parseRobots(`User-agent: us/2.0\nCrawl-delay: 3600\n${rules.join('\n')}`, 'us')
  expect(robots.allows(new URL('https://h/p19999/x'))).toBe(false)
  expect(robots.allows(new URL('https://h/p20000/x'))).toBe(true)
  expect(robots.delayMs).toBe(10_000)
  expect(parseRobots('User-agent: *\nCrawl-delay: 0.5\nDisallow:', 'us').delayMs).toBe(500)
})

test('a Notion page with 400,000 blanks or line ends is converted, and its title is truncated', () => {
  const blanks = `x${' '.repeat(400_000)}x`
  const rich = (text: string) => [{ plain_text: text, annotations: {} }]
  const block = (type: string, text: string) => ({ type, value: { rich_text: rich(text) }, children: [] })
  const properties = { Name: { type: 'title', title: rich(blanks) } }
  const { title } = pageToMarkdown(properties, [
    block('paragraph', blanks),
    block('heading_1', blanks),
    block('paragraph', '\n'.repeat(400_000)),
    block('code', '` '.repeat(300_000)),
  ])
  expect(title).toHaveLength(200)
  expect(escapeMarkdown('a\n  # b\n1. c\n\n- d')).toBe('a\n  \\# b\n1\\. c\n\n\\- d')
})

test('a response of S3 is reduced to the elements that the client uses, and rejected with too many elements', () => {
  const answer =
    '<?xml version="1.0"?><ListBucketResult xmlns="x"><Name>b</Name><Contents a="1"><Key> a&amp;b&#13; </Key><Owner><ID>1</ID><Key>no</Key></Owner><Size>3</Size></Contents><x/><IsTruncated>false</IsTruncated></ListBucketResult>'
  expect(reduceS3Response(answer)).toBe(
    '<ListBucketResult><Name>b</Name><Contents><Key> a&amp;b&#13; </Key><Size>3</Size></Contents><IsTruncated>false</IsTruncated></ListBucketResult>',
  )
  expect(reduceS3Response('<a>'.repeat(100_000))).toBe('')
  expect(() => reduceS3Response(`<ListBucketResult>${'<Contents></Contents>'.repeat(30_000)}`)).toThrow('not from S3')
})
