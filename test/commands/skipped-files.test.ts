import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { type CliHome, cliHome } from '../helpers/cli.js'

let home: CliHome
let notes: string

beforeEach(async () => {
  home = cliHome()
  expect((await home.ks(['spaces', 'create', 'Notes', '--slug', 'notes'])).code).toBe(0)
  notes = join(home.dir, 'notes')
  home.file('notes/good.md', '# Tides\n\nThe tide of Brest is high.\n')
  home.file('notes/empty.md', '')
  home.file('notes/blob.xyz', Uint8Array.from([0, 1, 2, 3, 255, 254, 0, 0, 7]))
})
afterEach(() => home.end())

const skipped = async (): Promise<[string, string][]> =>
  JSON.parse((await home.ks(['docs', '--skipped', '--space', 'notes', '--json'])).stdout).map(
    ({ filename, reason }: { filename: string; reason: string }) => [filename, reason],
  )
const names = async (): Promise<string[]> =>
  JSON.parse((await home.ks(['docs', '--space', 'notes', '--json'])).stdout).map(
    ({ filename }: { filename: string }) => filename,
  )

it('empty files and those of unknown types are skipped with a reason, and are no documents', async () => {
  const { code, stderr } = await home.ks(['ingest', notes, '--space', 'notes', '--wait'])
  expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringContaining('1 published, 2 skipped') })
  expect(await names()).toEqual(['notes/good.md'])
  const list = await skipped()
  expect(list.map(([name]) => name)).toEqual(['notes/blob.xyz', 'notes/empty.md'])
  expect(list[1]?.[1]).toBe('is empty')
})

it('a file leaves the list of skipped files when it is read, and when it is deleted', async () => {
  await home.ks(['ingest', notes, '--space', 'notes', '--wait'])
  home.file('notes/empty.md', '# Now\n\nSomething to read at last.\n')
  await home.ks(['ingest', notes, '--space', 'notes', '--wait'])
  expect((await skipped()).map(([name]) => name)).toEqual(['notes/blob.xyz'])
  home.file('notes/other.md', '')
  await home.ks(['ingest', notes, '--space', 'notes', '--wait'])
  expect((await skipped()).map(([name]) => name)).toContain('notes/other.md')
  rmSync(join(notes, 'other.md'))
  await home.ks(['ingest', notes, '--space', 'notes', '--wait'])
  expect((await skipped()).map(([name]) => name)).toEqual(['notes/blob.xyz'])
})

it('a watch skips the same files for the same reasons as an ingest', async () => {
  const { code } = await home.ks(['watch', notes, '--once', '--space', 'notes'])
  expect(code).toBe(0)
  await home.ks(['ingest', notes, '--space', 'notes', '--wait'])
  const list = await skipped()
  expect(list.map(([name]) => name)).toEqual(['notes/blob.xyz', 'notes/empty.md'])
  expect(list[1]?.[1]).toBe('is empty')
  expect(await names()).toEqual(['notes/good.md'])
})

it.each([
  ['an ingest', ['ingest', '--wait']],
  ['a watch', ['watch', '--once']],
])(
  '%s of a file that was emptied removes its passages, and skips other empty files',
  async (_, [command = '', flag = '']) => {
    await home.ks([command, notes, flag, '--space', 'notes'])
    const search = async () => (await home.ks(['search', 'tide of Brest', '--space', 'notes', '--json'])).stdout
    await vi.waitFor(async () => expect(await search()).toContain('good.md'), { timeout: 60_000, interval: 200 })
    home.file('notes/good.md', '')
    const { code } = await home.ks([command, notes, flag, '--space', 'notes'])
    expect(code).toBe(0)
    await vi.waitFor(async () => expect(await search()).not.toContain('good.md'), { timeout: 60_000, interval: 200 })
    expect(await names()).toEqual(['notes/good.md'])
    expect((await skipped()).map(([name]) => name)).toEqual(['notes/blob.xyz', 'notes/empty.md'])
  },
)

it('an ingest names the command that sets a transcription model, which the reason of the daemon does not', async () => {
  home.file('calls/call.mp3', Uint8Array.from([0xff, 0xfb, 0x90, 0x64, ...new Array(600).fill(0)]))
  const { stderr } = await home.ks(['ingest', join(home.dir, 'calls'), '--space', 'notes', '--wait'])
  expect(stderr).toMatch(/skipped calls\/call\.mp3: .*`defaultTranscription` in the configuration of the daemon\n/)
  expect(stderr).toContain('hint: `ks config defaultTranscription --daemon` shows it')
  expect((await skipped()).find(([name]) => name === 'calls/call.mp3')?.[1]).not.toContain('`ks ')
})
