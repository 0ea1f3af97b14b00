import {
  appendFileSync,
  chmodSync,
  cpSync,
  existsSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { removeFolder } from '../../bench/lib/removed-folder.js'
import { takeBackup } from '../../src/local/backup/take.js'
import { resolveDataLayout } from '../../src/local/layout.js'
import { type CliHome, cliHome } from '../helpers/cli.js'
import { until } from '../helpers/until.js'

let home: CliHome
beforeEach(() => {
  home = cliHome()
})
afterEach(() => home.end())

const LONG = { timeoutMs: 240_000 }

async function ks(...args: string[]) {
  const ended = await home.ks(args, LONG)
  expect(ended.code, `ks ${args.join(' ')}\n${ended.stderr}${ended.stdout}`).toBe(0)
  return ended.stdout
}

async function filled(files: number): Promise<void> {
  await ks('spaces', 'create', 'Kept', '--slug', 'kept')
  for (let file = 0; file < files; file++)
    home.file(`notes/n${file}.md`, `# Note ${file}\n\nThe words of note ${file}.\n`)
  await ks('ingest', 'notes', '--space', 'kept', '--wait')
}

const at = (...parts: string[]) => join(home.dir, ...parts)
const objectsIn = (folder: string) =>
  readdirSync(folder, { recursive: true })
    .map(String)
    .filter((name) => /[0-9a-f]{64}$/.test(name))

test('a backup that is made during uploads restores everything acknowledged before its start', {
  timeout: 600_000,
}, async () => {
  await filled(5)
  let uploads = 0
  let stop = false
  const load = (async () => {
    while (!stop) {
      home.file(`load/l${uploads}.md`, `# Load ${uploads}\n\nNumber ${uploads}.\n`)
      await home.ks(['ingest', 'load', '--space', 'kept'], LONG)
      uploads++
    }
  })()
  await until(() => uploads > 0, 120_000)
  const taken = JSON.parse(await ks('backup', 'kept-here', '--json'))
  const before = uploads
  expect(taken.missing).toEqual([])
  await until(() => uploads > before, 120_000)
  const again = JSON.parse(await ks('backup', 'kept-here', '--json'))
  expect(again.alreadyThere).toBeGreaterThanOrEqual(taken.objects)
  expect(taken.addedBytes).toBeGreaterThan(taken.bytes)
  expect(again.diskBytes).toBeGreaterThan(taken.diskBytes)
  stop = true
  await load

  const restored = JSON.parse(
    await ks('restore', 'kept-here', '--into', 'restored', '--snapshot', taken.snapshot, '--json'),
  )
  expect(restored).toMatchObject({ spaces: 1, objects: taken.objects })
  expect(restored.issues.filter((issue: { severity: string }) => issue.severity !== 'info')).toEqual([])
  const elsewhere = { KS_DATA_DIR: at('restored') }
  const docs = await home.ks(['docs', '--space', 'kept', '--all', '--json'], { ...LONG, env: elsewhere })
  const names = (JSON.parse(docs.stdout) as { filename: string }[]).map(({ filename }) => filename)
  for (let file = 0; file < 5; file++) expect(names.some((name) => name.endsWith(`n${file}.md`))).toBe(true)
  expect(
    names.some((name) => name.endsWith('l0.md')),
    'acknowledged before the backup began',
  ).toBe(true)
  expect(existsSync(resolveDataLayout(at('restored')).keepUnknown)).toBe(false)
  expect(statSync(resolveDataLayout(at('restored')).signingKey).mode & 0o077).toBe(0)
  await home.ks(['daemon', 'stop'], { ...LONG, env: elsewhere })
})

test('ks restore refuses an incomplete backup, a backup that differs from its manifest, and a folder with files', {
  timeout: 600_000,
}, async () => {
  await filled(3)
  await ks('daemon', 'stop')
  const { snapshot } = JSON.parse(await ks('backup', 'good', '--json'))
  const refused = async (exit: number, into = 'restored') => {
    const ended = await home.ks(['restore', 'broken', '--into', into], LONG)
    expect(ended.code, ended.stderr).toBe(exit)
    rmSync(at('broken'), { recursive: true })
    removeFolder(at('restored'))
  }
  const broken = (path: string, change: (path: string) => void) => {
    cpSync(at('good'), at('broken'), { recursive: true })
    const full = at('broken', path)
    chmodSync(full, 0o700)
    change(full)
  }
  const [object = ''] = objectsIn(at('good', 'objects'))
  broken(`snapshots/${snapshot}/manifest.json`, (path) => rmSync(path))
  await refused(5)
  broken(`snapshots/${snapshot}`, (path) => renameSync(path, `${path}.partial`))
  await refused(5)
  broken(`snapshots/${snapshot}/manifest.json`, (path) => writeFileSync(path, '{'))
  await refused(8)
  broken(`snapshots/${snapshot}/main.sqlite`, (path) => appendFileSync(path, 'x'))
  await refused(8)
  broken(`objects/${object}`, (path) => rmSync(path))
  await refused(8)
  broken(`objects/${object}`, (path) => {
    const bytes = readFileSync(path)
    bytes[0] = (bytes[0] ?? 0) ^ 1
    writeFileSync(path, bytes)
  })
  await refused(8)
  broken('', () => {})
  home.file('taken/mine.txt', 'mine')
  await refused(6, 'taken')
  expect(readdirSync(at('taken'))).toEqual(['mine.txt'])
  await ks('restore', 'good', '--into', 'restored')
})

test('an interrupted backup does not affect earlier backups; the daemon keeps deleted objects while a backup runs', {
  timeout: 600_000,
}, async () => {
  await filled(4)
  const layout = resolveDataLayout(home.dataDir)
  const first = JSON.parse(await ks('backup', 'kept-here', '--json'))
  const options = { layout, folder: at('kept-here'), version: '0', now: new Date() }
  const cut = new Error('cut off')
  home.file('notes/n9.md', '# Note 9\n\nnew\n')
  await ks('ingest', 'notes', '--space', 'kept', '--wait')
  await expect(
    takeBackup({
      ...options,
      onProgress() {
        throw cut
      },
    }),
  ).rejects.toBe(cut)
  expect(readdirSync(at('kept-here', 'snapshots'))).toEqual([first.snapshot])
  expect(existsSync(layout.pin)).toBe(false)

  const held = objectsIn(layout.objects).length
  writeFileSync(layout.pin, '1')
  await ks('docs', 'delete', 'notes/n0.md', '--space', 'kept', '--yes')
  const names = JSON.parse(await ks('docs', '--space', 'kept', '--all', '--json')) as unknown[]
  expect(names).toHaveLength(4)
  await ks('gc', 'kept', '--execute', '--yes')
  expect(objectsIn(layout.objects)).toHaveLength(held)
  rmSync(layout.pin)
  await ks('ingest', 'notes', '--space', 'kept', '--wait') // Triggers the clean-up of the daemon.
  await ks('restore', 'kept-here', '--into', 'restored')
})
