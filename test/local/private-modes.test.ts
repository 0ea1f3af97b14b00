import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { removeFolder } from '../../bench/lib/removed-folder.js'
import { prepareDataDir } from '../../src/local/data-dir.js'
import { loadDataKey, loadSigningKey } from '../../src/local/keys.js'
import { type DataLayout, resolveDataLayout } from '../../src/local/layout.js'

const FOLDERS = ['runDir', 'logsDir', 'databaseDir', 'objects', 'indexes'] as const
const FILES = ['version', 'lock', 'daemonFile', 'cliToken', 'config', 'log', 'database'] as const
const KEYS = ['signingKey', 'dataKey'] as const
let home = ''
let layout: DataLayout

const prepare = () => prepareDataDir(layout.root, { allowNetworkDisk: true })
const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8)

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'ks-modes-'))
  layout = resolveDataLayout(join(home, 'data'))
  prepare()
  for (const name of ['databaseDir', 'objects', 'indexes'] as const) mkdirSync(layout[name], { mode: 0o700 })
  for (const name of FILES) if (name !== 'version') writeFileSync(layout[name], 'text', { mode: 0o600 })
  loadSigningKey(layout.root)
  loadDataKey(layout.root)
})
afterEach(() => removeFolder(home))

describe('the start on a data directory', () => {
  it.each(['root', ...FOLDERS] as const)('removes the rights of other users on %s', (name) => {
    chmodSync(layout[name], 0o777)
    prepare()
    expect(modeOf(layout[name])).toBe('700')
  })

  it.each(FILES)('removes the rights of other users on the file %s', (name) => {
    chmodSync(layout[name], 0o666)
    prepare()
    expect(modeOf(layout[name])).toBe('600')
  })

  it('corrects the modes of the database log and older logs', () => {
    for (const path of [`${layout.database}-wal`, `${layout.log}.1`]) {
      writeFileSync(path, 'x')
      chmodSync(path, 0o644)
      prepare()
      expect(modeOf(path)).toBe('600')
    }
  })

  it.each([...FOLDERS, ...FILES, ...KEYS])('refuses a link in place of %s', (name) => {
    const elsewhere = join(home, 'elsewhere')
    renameSync(layout[name], elsewhere)
    symlinkSync(elsewhere, layout[name])
    expect(prepare).toThrow(/must be a (folder|file), it is a link/)
  })

  it.each(FOLDERS)('refuses a file in place of the folder %s', (name) => {
    rmSync(layout[name], { recursive: true })
    writeFileSync(layout[name], '')
    expect(prepare).toThrow('must be a folder')
  })

  it.each([
    ...(['daemonFile', 'cliToken', 'reserve', 'socket', 'log'] as const).map((name) => [name, 'folder'] as const),
    ...(['runDir', 'logsDir', 'indexes'] as const).map((name) => [name, 'file'] as const),
  ])('renames %s if a %s is in its path, reports it once, and continues with a new one', (name, kind) => {
    rmSync(layout[name], { recursive: true, force: true })
    if (kind === 'folder') mkdirSync(join(layout[name], 'inner'), { recursive: true })
    else writeFileSync(layout[name], 'text')
    const asides: string[][] = []
    const start = () =>
      prepareDataDir(layout.root, { allowNetworkDisk: true, onRenamed: (...one) => void asides.push(one) })
    start()
    start()
    expect(asides).toEqual([[layout[name], expect.stringMatching(/\.aside-\d+$/)]])
    const [aside = ''] = asides[0]?.slice(1) ?? []
    expect(kind === 'folder' ? existsSync(join(aside, 'inner')) : readFileSync(aside, 'utf8')).toEqual(
      kind === 'folder' ? true : 'text',
    )
  })

  it.each(['lock', 'config', 'database'] as const)(
    'refuses a folder in place of %s, which cannot be created again',
    (name) => {
      rmSync(layout[name])
      mkdirSync(layout[name])
      const start = () => prepareDataDir(layout.root, { allowNetworkDisk: true, onRenamed: () => undefined })
      expect(start).toThrow('must be a file')
    },
  )

  it('leaves keys that others could read unchanged, and loading them is refused', () => {
    chmodSync(layout.signingKey, 0o644)
    chmodSync(layout.dataKey, 0o604)
    prepare()
    expect(() => loadSigningKey(layout.root)).toThrow('readable by its owner only')
    expect(() => loadDataKey(layout.root)).toThrow('readable by its owner only')
  })
})
