import type { DegradedClass } from '../../../src/engine/base/degraded.js'
import { begun, changed, drip, endless, type Failure, status } from './failing-provider.js'

export type Kind = 'embeddings' | 'chat' | 'rerank'

/** One way in which a provider fails, and what the operator learns about it. */
export interface WayToFail {
  name: string
  failure: Failure
  /** several if it depends on the speed of the machine */
  class: DegradedClass | DegradedClass[]
  /** The operator must change something: it is not retried automatically. */
  permanent?: true
  /** the calls that can fail like this; all if absent */
  kinds?: Kind[]
}

const json = (text: string) => changed(() => text)
const number = (text: string) =>
  changed((body) => body.replace(/("embedding":\[|"relevance_score":)[^,\]}]+/, `$1${text}`))
/** truncates the lists of a response without an indication */
const listChanged = (change: (list: unknown[]) => unknown[]) =>
  changed((body) => {
    const whole: Record<string, unknown> = JSON.parse(body)
    for (const key of ['data', 'results']) if (Array.isArray(whole[key])) whole[key] = change(whole[key])
    return JSON.stringify(whole)
  })
const soon = (seconds: number) => String(seconds)
const inSeconds = (seconds: number) => new Date(Date.now() + seconds * 1000).toUTCString()

/** @param elsewhere target of a redirect */
export function waysToFail(elsewhere: string): WayToFail[] {
  const numbers: Kind[] = ['embeddings', 'rerank']
  return [
    { name: 'refuses connections', failure: 'refuses-connections', class: 'unavailable' },
    { name: 'shows a certificate nobody trusts', failure: 'untrusted-certificate', class: 'unavailable' },
    { name: 'cuts before its answer', failure: (response) => void response.destroy(), class: 'unavailable' },
    {
      name: 'cuts in its answer',
      failure: begun((response) => void response.destroy()),
      class: 'unavailable',
    },
    { name: 'never answers', failure: () => undefined, class: 'timeout' },
    { name: 'stops in its answer', failure: begun(() => undefined), class: 'timeout' },
    {
      name: 'ends too early',
      failure: begun((response) => void response.end()),
      class: 'unavailable',
    },
    { name: 'drips', failure: drip, class: 'timeout' },
    { name: '429', failure: status(429), class: 'rate-limited' },
    { name: '429, seconds', failure: status(429, { 'retry-after': soon(1) }), class: 'rate-limited' },
    {
      name: '429, a date',
      failure: (...args) => status(429, { 'retry-after': inSeconds(2) })(...args),
      class: 'rate-limited',
    },
    { name: '500', failure: status(500), class: 'unavailable' },
    { name: '502', failure: status(502), class: 'unavailable' },
    { name: '503', failure: status(503, { 'retry-after': soon(1) }), class: 'unavailable' },
    { name: '401', failure: status(401), class: 'auth', permanent: true },
    { name: '403', failure: status(403), class: 'auth', permanent: true },
    { name: '404', failure: status(404), class: 'unavailable', permanent: true },
    { name: 'leads elsewhere', failure: status(307, { location: elsewhere }), class: 'unavailable', permanent: true },
    {
      name: 'is a web page',
      failure: (response) =>
        void response.writeHead(200, { 'content-type': 'text/html' }).end('<html>SECRET-BODY: sign in</html>'),
      class: 'unavailable',
    },
    { name: 'broken JSON', failure: json('{"SECRET-BODY": [0.1, '), class: 'unavailable', kinds: numbers },
    {
      name: 'broken JSON in a stream',
      failure: changed((body) => body.replace(/\{"id"/, '{SECRET-BODY')),
      class: 'unavailable',
      kinds: ['chat'],
    },
    {
      name: 'says in a stream that it failed',
      failure: (response) => {
        const error = JSON.stringify({ error: { message: 'SECRET-BODY', type: 'server_error' } })
        response.writeHead(200, { 'content-type': 'text/event-stream' }).end(`data: ${error}\n\n`)
      },
      class: 'unavailable',
      kinds: ['chat'],
    },
    { name: 'another JSON', failure: json('{"answer": "SECRET-BODY"}'), class: 'unavailable', kinds: numbers },
    { name: 'too few', failure: listChanged((list) => list.slice(1)), class: 'unavailable', kinds: numbers },
    { name: 'too many', failure: listChanged((list) => [...list, ...list]), class: 'unavailable', kinds: numbers },
    { name: 'NaN', failure: number('NaN'), class: 'unavailable', kinds: numbers },
    { name: 'Infinity', failure: number('1e999'), class: 'unavailable', kinds: numbers },
    { name: 'null', failure: number('null'), class: 'unavailable', kinds: numbers },
    {
      name: 'other dimensions',
      failure: changed((body) => body.replace(/("embedding":\[)[^,\]]+,/g, '$1')),
      class: 'unavailable',
      kinds: ['embeddings'],
    },
    { name: 'no end', failure: endless, class: ['unavailable', 'timeout'] },
  ]
}
