import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { execa } from 'execa'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createToken } from '../../src/local/keys.js'
import { type DaemonProcess, spawnKsd, startKsd, temporaryDir } from '../helpers/daemon.js'
import { type StrictS3, startStrictS3 } from '../helpers/places/strict-s3.js'

const EXIT_DATA = 65

let server: StrictS3
let folder: ReturnType<typeof temporaryDir>
let daemon: DaemonProcess | undefined
beforeEach(async () => {
  server = await startStrictS3()
  folder = temporaryDir()
})
afterEach(async () => {
  await daemon?.end('SIGKILL')
  daemon = undefined
  folder.remove()
  await server.end()
})

async function calls() {
  const claims = { tenant: 'tenant-a', subject: 'ada', scopes: ['knowledge-spaces:*' as const] }
  const { token } = await createToken(folder.path, claims)
  return async (method: string, path: string, body?: unknown) =>
    await fetch(`${daemon?.ready.url}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        ...(body === undefined || body instanceof FormData ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: body instanceof FormData ? body : JSON.stringify(body) }),
    })
}

function fileOf(text: string): FormData {
  const form = new FormData()
  form.set('file', new File([text], 'a.md'))
  return form
}

test('a daemon with --objects stores objects in the bucket, and answers 503 while the bucket is unavailable', {
  timeout: 120_000,
}, async () => {
  daemon = await startKsd(folder.path, ['--objects', server.address], server.env)
  const call = await calls()
  const made = await call('POST', '/knowledge-spaces', { name: 'Shop', slug: 'shop' })
  const { id } = (await made.json()) as { id: string }
  expect((await call('POST', `/knowledge-spaces/${id}/documents`, fileOf('The shop opens at nine.'))).status).toBe(202)
  expect([...server.objects.keys()].filter((key) => key.startsWith('ks/') && key.includes('/sha256/'))).toHaveLength(1)
  server.fault = () => ({ status: 503 })
  const refused = await call('POST', `/knowledge-spaces/${id}/documents`, fileOf('The shop in Rome opens at ten.'))
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '5'])
  expect((await refused.json()) as unknown).toMatchObject({ error: expect.stringContaining('does not answer') })
  expect((await call('GET', '/health')).status).toBe(200)
  server.fault = () => undefined
  expect((await call('POST', `/knowledge-spaces/${id}/documents`, fileOf('It closes at six.'))).status).toBe(202)
  const log = readFileSync(join(folder.path, 'logs', 'daemon.log'), 'utf8')
  expect(log).not.toContain(server.secretAccessKey)
  // A backup of local files would contain no objects.
  const backup = await execa(process.execPath, ['bin/ks.js', 'backup', join(folder.path, 'backup')], {
    env: { KS_DATA_DIR: folder.path },
    reject: false,
  })
  expect([backup.exitCode, backup.stderr]).toEqual([2, expect.stringContaining('s3://objects/ks/')])
})

test('a daemon with wrong bucket credentials exits with the reason, without the secret', async () => {
  const { exit, stderr } = spawnKsd(folder.path, ['--listen', '127.0.0.1:0', '--objects', server.address], {
    ...server.env,
    AWS_SECRET_ACCESS_KEY: 'a-wrong-secret',
  })
  expect(await exit).toBe(EXIT_DATA)
  expect(stderr()).toContain('SignatureDoesNotMatch')
  expect(stderr()).not.toContain('a-wrong-secret')
})

test.each(['s3://user:a-secret@objects/ks', 's3://no_bucket!/x', 'https://objects/x', 's3://objects?endpoint=ftp://x'])(
  'an invalid --objects address is refused without repeating it: %s',
  async (address) => {
    const { exit, stderr } = spawnKsd(folder.path, ['--listen', '127.0.0.1:0', '--objects', address], server.env)
    expect(await exit).toBe(2)
    expect(stderr()).not.toContain('a-secret')
  },
)
