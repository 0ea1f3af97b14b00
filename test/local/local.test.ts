import { once } from 'node:events'
import { chmodSync, cpSync, existsSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { execa } from 'execa'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { removeFolder } from '../../bench/lib/removed-folder.js'
import { readDaemonFile, removeDaemonFile, writeDaemonFile } from '../../src/local/daemon-file.js'
import { prepareDataDir } from '../../src/local/data-dir.js'
import { resolveLocalDirs } from '../../src/local/dirs.js'
import { createToken, ensureCliToken, loadSigningKey, readCliToken, verifyLocalToken } from '../../src/local/keys.js'
import { resolveDataLayout } from '../../src/local/layout.js'
import { acquireLock, isLocked } from '../../src/local/lock.js'
import { createPrivateFile } from '../../src/local/private-file.js'

let root = ''
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'ks-local-'))
})
afterEach(() => removeFolder(root))

const prepare = () => prepareDataDir(root, { allowNetworkDisk: true })

describe('the folders of a user', () => {
  const unix = { platform: 'linux' as const, home: '/home/ada' }

  test('follow the platform', () => {
    expect(resolveLocalDirs({ ...unix, env: {} })).toEqual({
      data: '/home/ada/.local/share/ks',
      config: '/home/ada/.config/ks',
      cache: '/home/ada/.cache/ks',
      state: '/home/ada/.local/state/ks',
    })
    expect(resolveLocalDirs({ platform: 'darwin', home: '/nowhere', env: {} }).data).toBe(
      '/nowhere/Library/Application Support/ks',
    )
  })

  test('follow absolute XDG variables, and KS_* before those', () => {
    const env = { XDG_DATA_HOME: '/data', XDG_CONFIG_HOME: 'relative', KS_CACHE_DIR: '/mine', XDG_CACHE_HOME: '/other' }
    expect(resolveLocalDirs({ ...unix, env })).toMatchObject({
      data: '/data/ks',
      config: '/home/ada/.config/ks',
      cache: '/mine',
    })
  })
})

describe('the data directory', () => {
  test('gets mode 700 and the version of its layout', () => {
    const layout = prepare()
    expect(statSync(layout.runDir).mode & 0o777).toBe(0o700)
    expect(prepare().version).toBe(layout.version)
  })

  test.each(['2\n', '', 'one'])('with a VERSION of %j is refused', (text) => {
    writeFileSync(resolveDataLayout(root).version, text)
    expect(prepare).toThrow(/layout/)
  })
})

describe('the owner lock', () => {
  test('can be acquired once, and again after its release', () => {
    const { lock } = prepare()
    expect(isLocked(lock)).toBe(false)
    const first = acquireLock(lock)
    expect(first).toBeDefined()
    expect(isLocked(lock)).toBe(true)
    expect(acquireLock(lock)).toBeUndefined()
    first?.release()
    expect(isLocked(lock)).toBe(false)
    acquireLock(lock)?.release()
  })

  test('keeps its name between owners, and gets another one in a copy of the directory', () => {
    const { lock } = prepare()
    const copy = `${lock}-copy`
    const names = [lock, lock].map((path) => {
      const held = acquireLock(path)
      held?.release()
      return held?.name
    })
    cpSync(lock, copy, { preserveTimestamps: true })
    const copied = acquireLock(copy)
    copied?.release()
    expect(names[0]).toBeTruthy()
    expect(names[1]).toBe(names[0])
    expect(copied?.name).toBeTruthy()
    expect(copied?.name).not.toBe(names[0])
  })

  test('becomes free at once when its owner is killed', async () => {
    const { lock } = prepare()
    const script = `
      const Sqlite = require('better-sqlite3')
      const file = new Sqlite(${JSON.stringify(lock)})
      file.pragma('locking_mode = EXCLUSIVE'); file.exec('BEGIN EXCLUSIVE')
      console.log('held'); setInterval(() => {}, 1000)`
    const holder = execa(process.execPath, ['-e', script], {
      cwd: process.cwd(),
      stdio: ['ignore', 'pipe', 'inherit'],
      buffer: false,
      reject: false,
    })
    await once(holder.stdout, 'data')
    expect(acquireLock(lock)).toBeUndefined()
    holder.kill('SIGKILL')
    await once(holder, 'exit')
    const next = acquireLock(lock)
    expect(next).toBeDefined()
    next?.release()
  })
})

describe('daemon.json', () => {
  const daemon = {
    instance: 'a',
    pid: 1,
    url: 'http://127.0.0.1:1',
    version: '1.0.0',
    startedAt: '2026-01-01T00:00:00Z',
    mode: 'auto' as const,
    dataDir: '/data',
  }

  test('contains what was written, with mode 600', () => {
    const path = join(root, 'daemon.json')
    writeDaemonFile(path, { ...daemon, socket: '/data/run/sock' })
    expect(readDaemonFile(path)).toEqual({ ...daemon, socket: '/data/run/sock' })
    expect(statSync(path).mode & 0o777).toBe(0o600)
    expect(readdirSync(root)).toEqual(['daemon.json'])
  })

  test.each(['', '{', '[]', 'null', '{"instance":"a"}', JSON.stringify({ ...daemon, pid: 'x' })])(
    'counts as absent if it contains %j',
    (text) => {
      const path = join(root, 'daemon.json')
      writeFileSync(path, text)
      expect(readDaemonFile(path)).toBeUndefined()
    },
  )

  test('can only be removed by the instance that wrote it', () => {
    const path = join(root, 'daemon.json')
    writeDaemonFile(path, daemon)
    removeDaemonFile(path, 'b')
    expect(existsSync(path)).toBe(true)
    removeDaemonFile(path, 'a')
    expect(existsSync(path)).toBe(false)
  })
})

describe('the signing key', () => {
  test('consists of 256 bits, is created once, with mode 600', () => {
    prepare()
    const key = loadSigningKey(root)
    expect(key).toHaveLength(32)
    expect(loadSigningKey(root)).toEqual(key)
    expect(statSync(resolveDataLayout(root).signingKey).mode & 0o777).toBe(0o600)
  })

  test('causes an error if others may read it or if it is short', () => {
    prepare()
    loadSigningKey(root)
    chmodSync(resolveDataLayout(root).signingKey, 0o644)
    expect(() => loadSigningKey(root)).toThrow(/readable by its owner only, its mode is 644/)
    rmSync(resolveDataLayout(root).signingKey)
    writeFileSync(resolveDataLayout(root).signingKey, 'c2hvcnQ\n', { mode: 0o600 })
    expect(() => loadSigningKey(root)).toThrow(/at least 32 bytes/)
  })

  test('keeps the content of the process that creates it first', () => {
    expect(createPrivateFile(join(root, 'k'), 'first')).toBe('first')
    expect(createPrivateFile(join(root, 'k'), 'second')).toBe('first')
  })
})

describe('local tokens', () => {
  test('carry their claims, and pass verification with the signing key only', async () => {
    prepare()
    const { token, jti } = await createToken(root, { tenant: 't', subject: 's', scopes: ['knowledge-spaces:read'] })
    const { payload } = await verifyLocalToken(loadSigningKey(root), token)
    expect(payload).toMatchObject({
      iss: 'knowledge-spaces',
      aud: 'knowledge-spaces',
      sub: 's',
      tenant: 't',
      jti,
      scope: 'knowledge-spaces:read',
    })
    expect((payload.exp ?? 0) - (payload.iat ?? 0)).toBe(30 * 86_400)
    await expect(verifyLocalToken(new Uint8Array(32), token)).rejects.toThrow()
  })

  test('the command line reuses its token while it is recent, and replaces it after a change of the key', async () => {
    prepare()
    const first = await ensureCliToken(root)
    expect(await ensureCliToken(root)).toBe(first)
    expect(readCliToken(root)).toBe(first)
    expect(statSync(resolveDataLayout(root).cliToken).mode & 0o777).toBe(0o600)
    rmSync(resolveDataLayout(root).signingKey)
    expect(await ensureCliToken(root)).not.toBe(first)
  })
})
