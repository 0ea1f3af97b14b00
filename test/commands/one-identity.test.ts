import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { type CliHome, cliHome } from '../helpers/cli.js'

let home: CliHome

beforeEach(async () => {
  home = cliHome()
  expect((await home.ks(['spaces', 'create', 'Notes', '--slug', 'notes'])).code).toBe(0)
})
afterEach(() => home.end())

const write = (edit: number) => home.file('notes/ops/vpn.md', `# VPN\n\nThe tunnel listens on port ${5000 + edit}.\n`)

/** Runs a command that has to succeed. */
async function run(args: string[], cwd = home.dir): Promise<string> {
  const { code, stdout, stderr } = await home.ks([...args, '--space', 'notes'], { cwd })
  expect({ args, code, stderr: code === 0 ? '' : stderr }).toEqual({ args, code: 0, stderr: '' })
  return stderr + stdout
}

async function documents(): Promise<{ id: string; filename: string; version: number }[]> {
  return JSON.parse((await home.ks(['docs', '--space', 'notes', '--json'])).stdout)
}

async function upload(path: string, name: string): Promise<void> {
  const { readFileSync } = await import('node:fs')
  const { code, stderr } = await home.ks(
    ['ingest', '-', '--name', name, '--type', 'text/markdown', '--space', 'notes', '--wait'],
    { stdin: readFileSync(path, 'utf8') },
  )
  expect(stderr + code).toMatch(/0$/)
}

it('one file by every way of ingesting makes one document, and ten edits keep its id', async () => {
  const path = write(0)
  const notes = join(home.dir, 'notes')
  await run(['ingest', notes, '--wait'])
  const [first] = await documents()
  const ways: (() => Promise<unknown>)[] = [
    () => run(['ingest', 'ops/vpn.md', '--wait'], notes),
    () => run(['ingest', join(notes, 'ops'), '--wait']),
    () => run(['watch', notes, '--once']),
    () => run(['watch', join(notes, 'ops'), '--once']),
    () => upload(path, 'notes/ops/vpn.md'),
  ]
  for (let edit = 1; edit <= 10; edit++) {
    write(edit)
    await ways[edit % ways.length]?.()
  }
  write(11)
  await run(['ingest', notes, '--wait'])
  const all = await documents()
  expect(all.map(({ id, filename }) => ({ id, filename }))).toEqual([{ id: first?.id, filename: 'notes/ops/vpn.md' }])
  expect(all[0]?.version).toBeGreaterThan(1)
})

it('a machine without a memory finds the names of the space, and states which one it updates', async () => {
  write(0)
  const notes = join(home.dir, 'notes')
  await run(['ingest', notes, '--wait'])
  rmSync(join(home.dir, 'state'), { recursive: true, force: true })
  write(1)
  const told = await run(['ingest', 'ops/vpn.md', '--wait'], notes)
  expect(told).toContain('vpn.md updates notes/ops/vpn.md of the space')
  expect(await documents()).toMatchObject([{ filename: 'notes/ops/vpn.md', version: 2 }])
})

it('a file that was ingested alone keeps its name when its folder is ingested', async () => {
  write(0)
  const notes = join(home.dir, 'notes')
  expect(await run(['ingest', join(notes, 'ops', 'vpn.md'), '--wait'])).toContain('new document vpn.md')
  home.file('notes/index.md', '# Index\n\nAll notes of the house.\n')
  await run(['ingest', notes, '--wait'])
  expect((await documents()).map(({ filename }) => filename).sort()).toEqual(['notes/index.md', 'vpn.md'])
})

it('--as names a file or folder, and later runs keep the name', async () => {
  const path = write(0)
  await run(['ingest', path, '--as', './manuals/tunnel.md', '--wait'])
  write(1)
  await run(['ingest', path, '--wait'])
  expect(await documents()).toMatchObject([{ filename: 'manuals/tunnel.md', version: 2 }])
  const folder = join(home.dir, 'specs')
  mkdirSync(folder)
  home.file('specs/a.md', '# A\n\nThe first letter.\n')
  await run(['ingest', folder, '--as', 'handbook/specs', '--wait'])
  await run(['watch', folder, '--once'])
  expect((await documents()).map(({ filename }) => filename).sort()).toEqual([
    'handbook/specs/a.md',
    'manuals/tunnel.md',
  ])
  const refused = await home.ks(['ingest', path, folder, '--as', 'x', '--space', 'notes'])
  expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining('--as names one file or folder') })
  const outside = await home.ks(['ingest', path, '--as', '../x', '--space', 'notes'])
  expect(outside).toMatchObject({ code: 2, stderr: expect.stringContaining('no path inside the space') })
})

it('a dry run states the name and remembers nothing', async () => {
  const path = write(0)
  expect(await run(['ingest', path, '--dry-run'])).toContain('new document vpn.md')
  expect(await run(['ingest', path, '--dry-run'])).toContain('new document vpn.md')
})
