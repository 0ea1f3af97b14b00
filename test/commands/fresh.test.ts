import { rmSync, utimesSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type CliHome, cliHome } from '../helpers/cli.js'

let home: CliHome
beforeAll(async () => {
  home = cliHome()
  home.file('trips/ferry.md', '# Ferry\n\nThe ferry leaves at nine in the morning.')
  home.file('trips/train.md', '# Train\n\nThe train leaves at seven in the evening.')
  expect((await home.ks(['ingest', 'trips', '--wait'])).code).toBe(0)
})
afterAll(() => home.end())

const QUESTION = 'when does the ferry leave?'

interface Item {
  freshness: string
  scores: { freshness: number }
  metadata: { filename: string; file?: string }
}

/** Freshness of each document in the evidence, and the state of its file. */
async function freshness(question = QUESTION): Promise<Record<string, string>> {
  const { stdout } = await home.ks(['query', question, '--format', 'jsonl'])
  const frames = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  const items: Item[] = frames.at(-1).data.metadata.evidenceBundle.items
  return Object.fromEntries(
    items.map(({ freshness, metadata }) => [metadata.filename, `${freshness}, ${metadata.file}`]),
  )
}

test('ks query labels evidence of unchanged files as fresh and verified', async () => {
  expect(await freshness()).toEqual({ 'trips/ferry.md': 'fresh, verified', 'trips/train.md': 'fresh, verified' })
})

test('ks query verifies a file with changed times by its content, and labels its evidence as fresh', async () => {
  utimesSync(`${home.dir}/trips/ferry.md`, new Date(), new Date())
  expect(await freshness()).toMatchObject({ 'trips/ferry.md': 'fresh, verified' })
})

test('ks query labels evidence of a changed file as stale, with a warning on stderr', async () => {
  home.file('trips/ferry.md', '# Ferry\n\nThe ferry leaves at half past ten in the morning.')
  expect(await freshness()).toEqual({ 'trips/ferry.md': 'stale, changed', 'trips/train.md': 'fresh, verified' })
  const { stderr, code } = await home.ks(['query', QUESTION])
  expect(code).toBe(0)
  expect(stderr).toContain('trips/ferry.md: its file changed since it was ingested')
})

test('ks query --fresh strict ingests changed files and answers from their new content', async () => {
  const { stdout, code } = await home.ks(['query', QUESTION, '--fresh', 'strict'])
  expect(stdout).toContain('half past ten')
  expect(code).toBe(0)
  expect(await freshness()).toMatchObject({ 'trips/ferry.md': 'fresh, verified' })
})

test('ks query --fresh strict exits with 10 after the answer if a file of its evidence is deleted', async () => {
  rmSync(`${home.dir}/trips/ferry.md`)
  const { stdout, stderr, code } = await home.ks(['query', QUESTION, '--fresh', 'strict', '--format', 'jsonl'])
  expect(code).toBe(10)
  const frames: { event: string }[] = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  expect(frames.filter(({ event }) => event === 'answer.done')).toHaveLength(1)
  expect(JSON.parse(stderr.trim().split('\n').at(-1) ?? '')).toMatchObject({ error: { code: 'stale-evidence' } })
  expect(await freshness()).toMatchObject({ 'trips/ferry.md': 'stale, gone' })
})

test('a daemon that accepts tokens of an identity provider does not read local files to verify evidence or watch', async () => {
  expect((await home.ks(['daemon', 'stop'])).code).toBe(0)
  const started = await home.ks(['daemon', 'start', '--listen', '127.0.0.1:0'], {
    env: {
      KS_DAEMON_JWT_PUBLIC_KEY_FILE: home.file('key.pem', KEY),
      KS_DAEMON_JWT_ISSUER: 'x',
      KS_DAEMON_JWT_AUDIENCE: 'x',
      KS_DAEMON_JWT_LOCAL_TOKENS: 'true',
    },
  })
  expect(started.stderr + started.stdout).not.toContain('hint:')
  expect(await freshness()).toEqual({ 'trips/ferry.md': 'fresh, undefined', 'trips/train.md': 'fresh, undefined' })
  const refused = await home.ks(['watch', 'add', 'trips'])
  expect(refused).toMatchObject({ code: 9 })
  expect(refused.stderr).toContain('does not read local files')
})

const KEY = `-----BEGIN PUBLIC KEY-----
MCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE=
-----END PUBLIC KEY-----
`
