import { once } from 'node:events'
import {
  chmodSync,
  lstatSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { execa, execaSync } from 'execa'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { removeFolder } from '../../bench/lib/removed-folder.js'
import { saveBody, saveText } from '../../src/cli/save-body.js'

let folder = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'ks-save-'))
})
afterEach(() => removeFolder(folder))

const at = (name: string) => join(folder, name)
const body = (text: string) => Readable.from([Buffer.from(text)])

describe('the output file of `-o`', () => {
  it('A28: never writes through a planted link at its path or at its temporary path', async () => {
    writeFileSync(at('victim'), 'precious')
    symlinkSync(at('victim'), at('out.json.part'))
    symlinkSync(at('victim'), at('out.json'))
    await saveBody(body('the answer'), at('out.json'))
    await saveText('other', at('second.xml'))
    expect(readFileSync(at('victim'), 'utf8')).toBe('precious')
    expect(lstatSync(at('out.json')).isFile()).toBe(true)
    expect(readFileSync(at('out.json'), 'utf8')).toBe('the answer')
    expect(readFileSync(at('second.xml'), 'utf8')).toBe('other')
  })

  it.skipIf(process.platform === 'win32')('gets mode 600, even in place of a file with mode 644', async () => {
    for (const _ of ['new', 'replaced']) {
      await saveText('words of a hidden source', at('out.json'))
      expect((statSync(at('out.json')).mode & 0o777).toString(8)).toBe('600')
      writeFileSync(at('out.json'), 'old')
      chmodSync(at('out.json'), 0o644)
    }
  })

  it.skipIf(process.platform === 'win32')('can be a named pipe, which is not replaced by a file', async () => {
    execaSync('mkfifo', [at('pipe')], { reject: false })
    const reader = execa('cat', [at('pipe')], { stdio: ['ignore', 'pipe', 'inherit'], buffer: false, reject: false })
    const pieces: Buffer[] = []
    reader.stdout.on('data', (piece: Buffer) => pieces.push(piece))
    const ended = once(reader, 'close')
    await saveBody(body('for the reader'), at('pipe'))
    expect(lstatSync(at('pipe')).isFIFO()).toBe(true)
    await ended
    expect(Buffer.concat(pieces).toString()).toBe('for the reader')
  })

  it('does not remain when the response is interrupted', async () => {
    const broken = new Readable({ read: () => {} })
    broken.push('half')
    setImmediate(() => broken.destroy(new Error('connection lost')))
    await expect(saveBody(broken, at('out'))).rejects.toThrow('connection lost')
    expect(readdirSync(folder)).toEqual([])
  })
})

describe('the output on stdout', () => {
  it('leaves no listeners after twenty bodies', async () => {
    const names = ['error', 'close', 'finish', 'drain']
    const before = names.map((name) => process.stdout.listenerCount(name))
    for (let index = 0; index < 20; index++) await saveBody(body(''), undefined)
    expect(names.map((name) => process.stdout.listenerCount(name))).toEqual(before)
  })
})
