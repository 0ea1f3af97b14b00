import { afterAll, beforeAll, expect, it } from 'vitest'
import { cliHome } from '../helpers/cli.js'
import { type NotionServer, startNotion } from '../helpers/places/notion.js'
import type { RemoteServer } from '../helpers/places/place.js'
import { startS3 } from '../helpers/places/s3.js'

const home = cliHome()
let notion: NotionServer
let s3: RemoteServer
beforeAll(async () => {
  home.env['KS_DAEMON_EGRESS_ALLOW'] = '127.0.0.2'
  notion = await startNotion()
  s3 = await startS3()
  expect((await home.ks(['spaces', 'create', 'Sea'])).code).toBe(0)
  expect((await home.ks(['config', 'space', 'sea'])).code).toBe(0)
})
afterAll(async () => {
  await home.end()
  await Promise.all([notion.end(), s3.end()])
})

async function ks(...args: string[]) {
  const { stdout, stderr, code } = await home.ks([...args, '--json'])
  expect([code, stderr]).toEqual([0, ''])
  return JSON.parse(stdout)
}

async function add({ type, uri, metadata }: RemoteServer): Promise<string> {
  const keys = home.file('keys.json', JSON.stringify(metadata['credentials']))
  const how = ['--type', type, '--uri', uri, '--provider', String(metadata['provider']), '--credentials-file', keys]
  return (await ks('sources', 'add', 'Place', ...how)).id
}

it('ks sources import imports pages by id or all pages, and exits with 3 if an id is unknown', async () => {
  await notion.put('tides.md', 'The moon pulls the sea.')
  await notion.put('winds.md', 'The trade winds blow west.')
  const id = await add(notion)
  const pages = await ks('sources', 'show', '--pages', id)
  expect(pages.map(({ pageName }: { pageName: string }) => pageName)).toEqual(['tides', 'winds'])
  const one = await home.ks(['sources', 'import', id, pages[0].pageId, 'none'])
  expect(one).toMatchObject({ code: 3, stderr: 'ks: none: does not exist\n' })
  expect(one.stdout).toMatch(/^[0-9a-f-]{36}\ttides~[0-9a-f]{16}\.md\n$/)
  const all = await ks('sources', 'import', id, '--all')
  expect(all).toMatchObject({ documents: [{}], failed: [], skipped: [pages[0].pageId] })
  for (const wrong of [[], ['x', '--all']]) expect((await home.ks(['sources', 'import', id, ...wrong])).code).toBe(2)
  expect((await home.ks(['sources', 'show', '--files', id])).code).toBe(2)
})

it('ks sources show lists --files the files of a bucket, and ks sources import imports named files', async () => {
  await s3.put('tides.md', '# Tides\n\nThe moon pulls the sea.')
  const id = await add(s3)
  expect(await ks('sources', 'show', '--files', id)).toMatchObject([
    { id: 'notes/tides.md', type: 'file', bucket: 'docs' },
  ])
  const done = await ks('sources', 'import', id, 'notes/tides.md')
  expect(done.documents).toMatchObject([{ filename: 'notes/tides.md' }])
  expect((await home.ks(['sources', 'import', id, 'notes/none.md'])).code).toBe(1)
  expect((await home.ks(['sources', 'show', '--pages', id])).code).toBe(2)
  const odd = [
    'sources',
    'add',
    'Odd',
    '--type',
    'object-storage',
    '--provider',
    's3',
    '--uri',
    's3://docs/',
    '--set',
    'x',
  ]
  expect((await home.ks(odd)).code).toBe(2)
  expect(await home.ks(['sources', 'add', 'Site', '--uri', 'example.com/handbook'])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('--uri of a web source must be an http or https URL'),
  })
})
