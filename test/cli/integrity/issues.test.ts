import { setTimeout as sleep } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { listIssues } from '../../../src/cli/integrity/issues.js'
import type { Client } from '../../../src/client/client.js'

const CHECKS = ['raw-objects', 'artifact-segments', 'references'] as const
const PAGES = 40

/** A service whose checks have one issue a page. @param fails the page at which it fails */
function service(fails?: string) {
  const seen = { atOnce: 0, most: 0 }
  const request = async (_route: string, { query }: { query: { check: string; cursor?: string } }) => {
    seen.most = Math.max(seen.most, ++seen.atOnce)
    await sleep(1)
    seen.atOnce--
    const page = Number(query.cursor ?? 0)
    const message = `${query.check} ${page}`
    if (message === fails) throw new Error(`${message} failed`)
    const more = page + 1 < PAGES ? { cursor: String(page + 1) } : {}
    return { summary: { scanned: 10 }, issues: [{ message }], ...more }
  }
  // The only method of a client that is used.
  return { seen, client: { request } as unknown as Client }
}

it('issues of an integrity check appear in the order of the checks, although the checks run in parallel', async () => {
  const { seen, client } = service()
  const found: string[] = []
  let scanned = 0
  const which = { id: 'space', checks: CHECKS, deep: false }
  for await (const { message } of listIssues(client, which, (more) => (scanned += more))) found.push(message)
  expect(found).toEqual(CHECKS.flatMap((check) => Array.from({ length: PAGES }, (_, page) => `${check} ${page}`)))
  expect(scanned).toBe(CHECKS.length * PAGES * 10)
  expect(seen.most).toBe(CHECKS.length)
})

it('a failed part of an integrity check is reported after the issues of the parts before it', async () => {
  const { client } = service('references 1')
  const found: string[] = []
  const all = async () => {
    for await (const { message } of listIssues(client, { id: 'space', checks: CHECKS, deep: false }, () => undefined))
      found.push(message)
  }
  await expect(all()).rejects.toThrow('references 1 failed')
  expect(found.at(-1)).toBe('references 0')
  expect(found).toHaveLength(2 * PAGES + 1)
})
