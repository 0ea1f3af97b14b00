import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, realpathSync, renameSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { execa } from 'execa'
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest'
import { removeFolder } from '../../bench/lib/removed-folder.js'
import { hashFile } from '../../src/cli/ingest/hash-cache.js'
import { type FoundFile, type WalkOptions, walk, walkPaths } from '../../src/cli/ingest/walk.js'
import { buildMultipartBody } from '../../src/client/multipart.js'
import { NOTHING_PROTECTED } from '../helpers/own-files.js'

/**
 * A28, symlink-swap-race: an attacker with write access replaces files and subfolders by links while the folder is
 * being read. No outside data may be read at any moment.
 */
const base = realpathSync(mkdtempSync(join(tmpdir(), 'ks-swapped-')))
const OPTIONS: WalkOptions = {
  ignore: [],
  glob: [],
  ignoreFiles: true,
  hidden: false,
  protectedFiles: NOTHING_PROTECTED,
}
const SECRET = 'SECRET of somebody else '.repeat(40)
const PLAIN = 'what the folder really has '.repeat(40).slice(0, SECRET.length)
const RACE_MS = 2500

/** Swaps `path` between its original and a link to `target`, by renames, as fast as possible. */
const RACER = `
  const fs = require('node:fs')
  const [, path, target] = process.argv
  fs.symlinkSync(target, path + '.link')
  process.stdout.write('racing')
  for (;;) {
    try {
      fs.renameSync(path, path + '.real')
      fs.renameSync(path + '.link', path)
      fs.renameSync(path, path + '.link')
      fs.renameSync(path + '.real', path)
    } catch (error) { if (error.code !== 'ENOENT') throw error }
  }`

let root = ''
let outside = ''
let number = 0
let racer: ChildProcess | undefined

beforeEach(() => {
  root = join(base, `inside-${number}`)
  outside = join(base, `outside-${number}`)
  number += 1
  mkdirSync(join(root, 'sub'), { recursive: true })
  mkdirSync(join(outside, 'deep'), { recursive: true })
  for (const file of ['a.md', 'sub/a.md']) writeFileSync(join(root, file), PLAIN)
  for (const file of ['a.md', 'only-outside.md', 'deep/b.md']) writeFileSync(join(outside, file), SECRET)
})
afterEach(async () => {
  if (racer === undefined) return
  racer.kill('SIGKILL')
  await once(racer, 'exit')
  racer = undefined
})
afterAll(() => removeFolder(base))

async function race(path: string, target: string): Promise<void> {
  racer = execa(process.execPath, ['-e', RACER, path, target], {
    stdio: ['ignore', 'pipe', 'inherit'],
    buffer: false,
    reject: false,
  })
  if (racer.stdout !== null) await once(racer.stdout, 'data')
}

async function sentBytes(file: FoundFile): Promise<string> {
  const { path, root: real } = file
  const content = { path, size: SECRET.length, ...(real === undefined ? {} : { root: real }) }
  const { body } = buildMultipartBody('file', [{ filename: 'x.md', content }])
  const pieces: Uint8Array[] = []
  await body(async (piece) => void pieces.push(piece))
  return Buffer.concat(pieces).toString()
}

/** Walks, hashes and sends until the time is over. @returns how often each event happened */
async function readAgainAndAgain() {
  const seen = { tries: 0, read: 0, refused: 0, outside: 0, names: new Set<string>() }
  const secret = await hashFile(join(outside, 'a.md'), SECRET.length, undefined)
  const count = async (reading: Promise<boolean>) => {
    seen.tries += 1
    await reading.then(
      (isOutside) => void seen[isOutside ? 'outside' : 'read']++,
      () => void seen.refused++,
    )
  }
  for (const end = performance.now() + RACE_MS; performance.now() < end; ) {
    for (const file of walk([root], OPTIONS).files) {
      seen.names.add(file.filename.slice(basename(root).length + 1))
      for (let again = 0; again < 5; again++) {
        await count(hashFile(file.path, SECRET.length, file.root).then((hash) => hash === secret))
        await count(sentBytes(file).then((bytes) => bytes.includes('SECRET')))
      }
    }
  }
  return seen
}

describe('A28: a walk over a folder while links replace its files', () => {
  it('reads no byte from outside the folder while a file is swapped for a link', async () => {
    await race(join(root, 'a.md'), join(outside, 'a.md'))
    const seen = await readAgainAndAgain()
    expect(seen.outside).toBe(0)
    expect(seen.read).toBeGreaterThan(0)
  })

  it('reads no byte and no name from outside the folder while a subfolder is swapped for a link', async () => {
    await race(join(root, 'sub'), outside)
    const seen = await readAgainAndAgain()
    expect(seen.outside).toBe(0)
    expect([...seen.names].filter((name) => /only-outside|deep/.test(name))).toEqual([])
    expect(seen.read).toBeGreaterThan(0)
  })

  it('finds nothing below a subfolder that a link has replaced since the previous walk', () => {
    const look = () =>
      walkPaths(root, ['sub/a.md', 'a.md'], OPTIONS, { onFolder: () => undefined, onUnread: () => undefined })
    expect(look().files.map((file) => file.relativePath)).toEqual(['sub/a.md', 'a.md'])
    renameSync(join(root, 'sub'), join(base, `was-sub-${number}`))
    symlinkSync(outside, join(root, 'sub'))
    expect(look().files.map((file) => file.relativePath)).toEqual(['a.md'])
  })

  it('reads a link to a file inside the folder, and a link that is named on the command line', async () => {
    symlinkSync(join(root, 'sub', 'a.md'), join(root, 'link.md'))
    symlinkSync(join(outside, 'a.md'), join(base, `named-${number}.md`))
    const link = walk([root], OPTIONS).files.find((file) => file.relativePath === 'link.md')
    expect(link && (await sentBytes(link)).includes(PLAIN)).toBe(true)
    const [named] = walk([join(base, `named-${number}.md`)], OPTIONS).files
    expect(named && (await sentBytes(named)).includes('SECRET')).toBe(true)
  })
})
