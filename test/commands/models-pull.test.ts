import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { execa } from 'execa'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { getFileSize } from '../../src/local/file-system.js'
import { type CliHome, cliHome, KS, plainEnv } from '../helpers/cli.js'
import { installFakeNpm } from '../helpers/fake-llama.js'
import { buildEmbedderGguf } from '../helpers/gguf.js'
import { mountSmallDisk } from '../helpers/small-disk.js'
import { until } from '../helpers/until.js'

const FILE = buildEmbedderGguf(1_000_000)
const SHA256 = createHash('sha256').update(FILE).digest('hex')
const REFERENCE = `local/llama/all-minilm-l6-v2@${SHA256.slice(0, 12)}`

let home: CliHome
let hub: Server
let env: Record<string, string>
/** offset after which the hub sends nothing more, until the client disconnects */
let stopAt: number
let seen: string[]
let sent: number
let onStop = () => {}

beforeAll(async () => {
  home = cliHome()
  hub = createServer((request, response) => {
    const { method, headers } = request
    seen.push([method, headers.range].filter((one) => one !== undefined).join(' '))
    const start = Number(/^bytes=(\d+)-$/.exec(headers.range ?? '')?.[1] ?? 0)
    const linked = { 'x-linked-etag': `"${SHA256}"`, 'x-linked-size': String(FILE.length) }
    const range = { 'content-range': `bytes ${start}-${FILE.length - 1}/${FILE.length}` }
    response.writeHead(start > 0 ? 206 : 200, { ...linked, ...(start > 0 ? range : {}) })
    if (method === 'HEAD') return void response.end()
    const end = Math.max(start, stopAt)
    response.write(FILE.subarray(start, end), () => {
      sent = end
      if (stopAt < FILE.length) onStop()
    })
    if (stopAt >= FILE.length) response.end()
  })
  await new Promise<void>((resolve) => hub.listen(0, '127.0.0.1', resolve))
  const path = `${installFakeNpm(home.dir)}:${process.env.PATH}`
  env = { HF_ENDPOINT: `http://127.0.0.1:${(hub.address() as AddressInfo).port}/`, PATH: path }
  reset()
})
afterAll(async () => {
  hub.closeAllConnections()
  hub.close()
  await home.end()
})

function reset(): void {
  stopAt = FILE.length
  seen = []
  sent = 0
  rmSync(join(home.dataDir, 'models'), { recursive: true, force: true })
}

const models = (path = '') => join(home.dataDir, 'models', path)
const pull = (...args: string[]) => home.ks(['models', 'pull', 'all-minilm-l6-v2', ...args], { env })
const listed = async () => {
  const { stdout } = await home.ks(['models', 'pull', '--list', '--json'], { env })
  const rows: { model: string }[] = JSON.parse(stdout)
  return rows.map(({ model }) => model).filter((model) => model !== '')
}

/** Starts a pull and ends it with SIGKILL when a condition holds. */
async function killedAt(isReached: () => boolean): Promise<void> {
  const child = execa(process.execPath, [KS, 'models', 'pull', 'all-minilm-l6-v2', '--yes'], {
    env: { ...plainEnv(), ...home.env, ...env },
    extendEnv: false,
    reject: false,
  })
  await until(isReached).finally(() => child.kill('SIGKILL'))
  expect((await child).signal).toBe('SIGKILL')
}

it('ks models pull without confirmation refuses to download a model, and sends no request', async () => {
  reset()
  expect(await pull()).toMatchObject({
    code: 2,
    stdout: '',
    stderr: 'ks: fetching all-minilm-l6-v2 needs confirmation\nhint: use `--yes`\n',
  })
  expect([seen, existsSync(models())]).toEqual([[], false])
})

it('ks models pull shows size and licence, runs no install scripts, and ks models lists the model until its removal', async () => {
  reset()
  const { code, stdout, stderr } = await pull('--yes', '--json')
  expect([code, stderr]).toEqual([0, expect.stringContaining('977 KiB, licence: Apache-2.0')])
  expect(stderr).toContain('node-llama-cpp 3.21.1, its runtime: 85.0 MiB, licence: MIT')
  expect(JSON.parse(stdout)).toMatchObject({ model: REFERENCE, sha256: SHA256, dimension: 8, pooling: 'mean' })
  expect(readFileSync(join(home.dir, 'npm-arguments'), 'utf8')).toContain('--ignore-scripts --omit=optional')
  expect(await listed()).toEqual([REFERENCE])
  expect(await pull('--yes')).toMatchObject({ code: 0, stdout: expect.stringContaining(REFERENCE) })
  expect(seen.filter((line) => line.startsWith('GET'))).toEqual(['GET'])
  rmSync(models('runtime'), { recursive: true })
  expect(await pull('--yes')).toMatchObject({ code: 0, stderr: expect.stringContaining('fetching node-llama-cpp') })
  expect([existsSync(models('runtime/node-llama-cpp-3.21.1')), seen.filter((line) => line.startsWith('GET'))]).toEqual([
    true,
    ['GET'],
  ])
  expect(await home.ks(['models', 'remove', 'all-minilm-l6-v2'])).toMatchObject({ code: 0 })
  expect([await listed(), readdirSync(models())]).toEqual([[], ['lock']])
  expect(await home.ks(['models', 'remove', 'all-minilm-l6-v2'])).toMatchObject({ code: 5 })
})

it('ks models pull, killed at ten points, never lists an incomplete model, and continues the partial download', async () => {
  reset()
  writeFileSync(join(home.dir, 'hang'), '')
  await killedAt(() => existsSync(models('runtime/staging/node_modules/node-llama-cpp')))
  rmSync(join(home.dir, 'hang'))
  const partSize = () => getFileSize(models('all-minilm-l6-v2.part/model.gguf'))
  for (let point = 1; point <= 8; point++) {
    stopAt = Math.floor((FILE.length * point) / 9)
    await killedAt(() => sent === stopAt && partSize() === stopAt)
    sent = 0
    expect(readdirSync(models()).filter((name) => name.includes('@'))).toEqual([])
  }
  stopAt = FILE.length
  await killedAt(() => partSize() === FILE.length)
  expect(await listed()).toEqual(existsSync(models(`all-minilm-l6-v2@${SHA256.slice(0, 12)}`)) ? [REFERENCE] : [])
  expect(await pull('--yes')).toMatchObject({ code: 0 })
  expect(await listed()).toEqual([REFERENCE])
  const starts = seen.flatMap((line) => /bytes=(\d+)-/.exec(line)?.[1] ?? [])
  expect(starts.map(Number)).toEqual([1, 2, 3, 4, 5, 6, 7, 8].map((point) => Math.floor((FILE.length * point) / 9)))
})

describe('ks models pull on a full disk', () => {
  const disk = mountSmallDisk('ks-pull-full-', 140)
  afterAll(() => disk.remove())

  it.runIf(disk.isMounted)(
    'refuses a model before a byte is downloaded, and keeps the partial file if the disk fills up meanwhile',
    async () => {
      reset()
      const onDisk = { env: { ...env, KS_DATA_DIR: disk.path } }
      const run = () => home.ks(['models', 'pull', 'all-minilm-l6-v2', '--yes'], onDisk)
      disk.fill(500_000)
      expect(await run()).toMatchObject({ code: 8, stderr: expect.stringContaining('must be free on the disk') })
      expect(seen).toEqual(['HEAD'])
      disk.free()
      stopAt = 300_000
      onStop = () => {
        disk.fill(100_000)
        hub.closeAllConnections()
        stopAt = FILE.length
        onStop = () => {}
      }
      expect(await run()).toMatchObject({
        code: 8,
        stderr: expect.stringContaining('the disk of the data directory is full'),
      })
      expect(readdirSync(join(disk.path, 'models')).filter((name) => name.includes('@'))).toEqual([])
      disk.free()
      expect(await run()).toMatchObject({ code: 0, stdout: expect.stringContaining(REFERENCE) })
      expect(seen.at(-1)).toMatch(/^GET bytes=\d+-$/)
    },
  )
})

it('ks models pull downloads no model if npm, which installs the runtime, is missing', async () => {
  reset()
  const { code, stderr } = await home.ks(['models', 'pull', 'all-minilm-l6-v2', '--yes'], {
    env: { ...env, PATH: home.dir },
  })
  expect([code, stderr]).toEqual([
    9,
    expect.stringContaining('npm is required to install node-llama-cpp, but not found'),
  ])
  expect(seen).toEqual(['HEAD'])
})

it('ks models remove removes the partial download of a model, and the rest of an interrupted removal', async () => {
  reset()
  mkdirSync(models('all-minilm-l6-v2.part'), { recursive: true })
  mkdirSync(models('all-minilm-l6-v2.part.gone/left'), { recursive: true })
  expect(await home.ks(['models', 'remove', 'all-minilm-l6-v2'])).toMatchObject({ code: 0 })
  expect(readdirSync(models())).toEqual(['lock'])
})

it('ks models pull installs a model file by its local path, and refuses a file that is no model', async () => {
  reset()
  const file = home.file('My Model.gguf', FILE)
  const { stdout, stderr } = await home.ks(['models', 'pull', file, '--yes', '--json'], { env })
  expect(JSON.parse(stdout)).toMatchObject({ model: `local/llama/my-model@${SHA256.slice(0, 12)}`, task: 'embedding' })
  expect(stderr).toContain('my-model: embedding model, 977 KiB, licence: apache-2.0')
  const other = home.file('notes.txt', 'some notes')
  expect(await home.ks(['models', 'pull', other, '--yes'], { env })).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('is not a model: it is no GGUF file'),
  })
})
