import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { execaSync } from 'execa'
import { afterAll, afterEach, expect, test } from 'vitest'
import { privateEnv, ROOT, startDaemon } from '../../bench/lib/daemon.js'
import { openRotatingFile } from '../../src/daemon/rotating-file.js'
import { writePrivateFile } from '../../src/local/private-file.js'
import { mountSmallDisk } from '../helpers/small-disk.js'

const disk = mountSmallDisk('full-disk-files', 16)
afterEach(() => disk.free())
afterAll(() => disk.remove())

test.skipIf(!disk.isMounted)('a log line that a full disk truncated does not damage the next line', () => {
  const path = join(disk.path, 'log')
  const log = openRotatingFile(path, { maxBytes: 10_000_000, files: 2 })
  log.write('first\n')
  disk.fill(0)
  // More than the rest of the page that contains the first line.
  log.write(`${'x'.repeat(100_000)}\n`)
  disk.free()
  log.write('second\n')
  log.close()
  const again = openRotatingFile(path, { maxBytes: 10_000_000, files: 2 })
  again.write('third\n')
  again.close()
  const lines = readFileSync(path, 'utf8').trimEnd().split('\n')
  expect(lines.at(0)).toBe('first')
  expect(lines.slice(-2)).toEqual(['second', 'third'])
})

test.skipIf(!disk.isMounted)(
  'a private file on a full disk keeps its previous content, without temporary files',
  () => {
    const folder = join(disk.path, 'private')
    mkdirSync(folder)
    const path = join(folder, 'settings.json')
    writePrivateFile(path, 'before')
    disk.fill(8192)
    expect(() => writePrivateFile(path, 'y'.repeat(100_000))).toThrow(/ENOSPC/)
    expect([readFileSync(path, 'utf8'), readdirSync(folder)]).toEqual(['before', ['settings.json']])
  },
)

test.skipIf(!disk.isMounted)(
  'a daemon that cannot create its data directory reports the full disk, and starts after space is freed',
  async () => {
    const dataDir = join(disk.path, 'store')
    mkdirSync(dataDir, { mode: 0o700 })
    const ksd = () => {
      const args = [join(ROOT, 'bin', 'ksd.js'), '--data-dir', dataDir, '--listen', '127.0.0.1:0']
      const env = privateEnv(join(disk.home, 'state'))
      const { exitCode, stderr } = execaSync(process.execPath, args, {
        env,
        extendEnv: false,
        timeout: 60_000,
        reject: false,
        stripFinalNewline: false,
      })
      return [exitCode, stderr]
    }
    const FULL = [8, 'ksd: the disk of the data directory is full\n']
    disk.fill(0)
    expect(ksd()).toEqual(FULL)
    expect(existsSync(join(dataDir, 'VERSION'))).toBe(false)
    expect(readdirSync(dataDir).filter((name) => name.endsWith('.tmp'))).toEqual([])
    disk.free()
    await (await startDaemon(dataDir)).stop()
  },
  120_000,
)
