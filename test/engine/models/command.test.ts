import { mkdtempSync, readdirSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { removeFolder } from '../../../bench/lib/removed-folder.js'
import { createModelRegistry } from '../../../src/engine/models/registry.js'
import { createPathWithout } from '../../helpers/path-without.js'
import { isRunning } from '../../helpers/running-process.js'
import { until } from '../../helpers/until.js'

const NODE = process.execPath
const REFERENCE = { pluginId: 'command', provider: 'local', model: 'm1' }
/** The smallest WAV file: one sample. */
const WAV = Buffer.from('UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQIAAAAAAA==', 'base64')
const AUDIO = { bytes: WAV, extension: 'wav', mimeType: 'audio/wav' }

let dir: string

beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'ks-command-test-'))
  // The default folder contains folders of other running tests.
  process.env.TMPDIR = dir
})
afterAll(() => removeFolder(dir))

/** A JavaScript program; its arguments follow. */
function script(name: string, source: string): string[] {
  const path = join(dir, `${name}.cjs`)
  writeFileSync(path, source)
  return [NODE, path]
}

const clock = { now: Date.now }
const listening = (argv: string[], more: object = {}) =>
  createModelRegistry(
    [{ pluginId: 'command', provider: 'local', transcription: { argv, ...more }, timeoutMs: 20_000 }],
    clock,
  )
const speaking = (argv: string[], more: object = {}) =>
  createModelRegistry([{ pluginId: 'command', provider: 'local', speech: { argv, ...more } }], clock)

const printArguments = 'process.stdout.write(JSON.stringify(process.argv.slice(2)))'

describe('a command of a provider', () => {
  test('gets its input on stdin and its arguments unchanged, without a shell', async () => {
    const registry = listening(
      [...script('args', printArguments), '-l', '{language}', '--model={model}', '$(id) ; `id` | {other'],
      {
        language: 'no',
      },
    )
    const heard = registry.transcriber(REFERENCE)
    expect(JSON.parse(await heard.transcribe(AUDIO))).toEqual(['-l', 'no', '--model=m1', '$(id) ; `id` | {other'])
    const hostile = '; rm -rf / {model} "'
    expect(JSON.parse(await heard.transcribe({ ...AUDIO, language: hostile }))[1]).toBe(hostile)
    const echo = speaking(script('cat', 'process.stdin.pipe(process.stdout)'))
    const spoken = await echo.speaker(REFERENCE).speak({ text: 'ID3 says hello' })
    expect({ ...spoken, audio: String(spoken.audio) }).toEqual({ audio: 'ID3 says hello', mimeType: 'audio/mpeg' })
  })

  test('reads and writes files in a private folder that is removed afterwards', async () => {
    const copy = `const fs = require('fs'); const [from, to] = process.argv.slice(2)
      fs.writeFileSync(to, fs.readFileSync(from) + ' of ' + from)`
    const registry = speaking([...script('copy', copy), '{input}', '{output}'])
    const { audio } = await registry.speaker(REFERENCE).speak({ text: 'ID3 file' })
    expect(String(audio)).toMatch(/^ID3 file of \S+\/ks-command-\w+\/input\.txt$/)
    expect(readdirSync(tmpdir()).filter((name) => name.startsWith('ks-command-'))).toEqual([])
  })

  test('may get its input from a converter', async () => {
    const convert = [
      ...script(
        'convert',
        `const fs = require('fs'); const [from, to] = process.argv.slice(2)
      fs.writeFileSync(to, 'converted ' + fs.readFileSync(from).length)`,
      ),
      '{input}',
      '{output}',
    ]
    const read = `process.stdout.write(process.argv[2].slice(-4) + ' ' + require('fs').readFileSync(process.argv[2]))`
    const registry = listening([...script('read', read), '{input}'], { convert })
    expect(await registry.transcriber(REFERENCE).transcribe(AUDIO)).toBe(`.wav converted ${WAV.length}`)
  })

  test('gets a converted recording on stdin, streamed without a copy in memory', async () => {
    const copy = `const fs = require('fs'); const [from, to] = process.argv.slice(2)
      fs.writeFileSync(to, Buffer.alloc(70 * 1024 * 1024, fs.readFileSync(from)))`
    const count = `let n = 0; process.stdin.on('data', (part) => (n += part.length)).on('end', () => process.stdout.write(String(n)))`
    const registry = listening(script('count', count), { convert: [...script('grow', copy), '{input}', '{output}'] })
    const { text } = await registry.transcriber(REFERENCE).listen(AUDIO)
    expect(text).toBe(String(70 * 1024 * 1024))
  })

  test('may write timestamps, which documents keep and chats drop', async () => {
    const lines = '[00:00.000 --> 00:01.000]  Good morning.\n[00:00:01.000 --> 00:00:02.000]   Good night.\n'
    const heard = listening(script('times', `process.stdout.write(${JSON.stringify(lines)})`)).transcriber(REFERENCE)
    expect(await heard.listen(AUDIO)).toEqual({ text: lines })
    expect(await heard.transcribe(AUDIO)).toBe('Good morning. Good night.')
  })

  test('gets no environment variable that could be a credential', async () => {
    process.env.KS_TEST_SECRET = 'canary'
    const registry = listening(script('env', 'process.stdout.write(Object.keys(process.env).join(" "))'))
    const names = await registry.transcriber(REFERENCE).transcribe(AUDIO)
    delete process.env.KS_TEST_SECRET
    expect(names).toContain('PATH')
    expect(names).not.toContain('SECRET')
  })

  test.each([
    ['is not installed', ['/no/such/program'], 'its program is not installed'],
    ['fails', script.bind(null, 'fails', 'process.exit(3)'), 'its program ended with code 3'],
    ['writes too much output', ['yes'], 'more than'],
  ])('causes a failure of the provider if it %s', async (_what, argv, sentence) => {
    const registry = listening(Array.isArray(argv) ? argv : argv())
    const failed = registry.transcriber(REFERENCE).transcribe(AUDIO)
    await expect(failed).rejects.toMatchObject({ code: 'provider-failed', message: expect.stringContaining(sentence) })
  })

  test('reads no unlisted file, and returns no target of a link in its output', async () => {
    const secret = join(dir, 'secret')
    writeFileSync(secret, 'ID3 the key of the daemon')
    const read = `try { process.stdout.write('ID3 ' + require('fs').readFileSync(${JSON.stringify(secret)})) } catch (error) { process.stdout.write('ID3 ' + error.code) }`
    const heard = async (more: object) =>
      String((await speaking(script('read', read), more).speaker(REFERENCE).speak({ text: 'x' })).audio)
    expect(await heard({})).toBe('ID3 ENOENT')
    expect(await heard({ paths: [secret] })).toBe('ID3 ID3 the key of the daemon')
    const link = `require('fs').symlinkSync(${JSON.stringify(secret)}, process.argv[2])`
    const linking = speaking([...script('link', link), '{output}'])
      .speaker(REFERENCE)
      .speak({ text: 'x' })
    await expect(linking).rejects.toMatchObject({ message: expect.stringContaining('wrote no output') })
    const converting = listening(script('cat', 'process.stdin.pipe(process.stdout)'), {
      convert: [...script('link-second', link.replace('argv[2]', 'argv[3]')), '{input}', '{output}'],
    })
    await expect(converting.transcriber(REFERENCE).transcribe(AUDIO)).rejects.toMatchObject({
      message: expect.stringContaining('wrote no output'),
    })
  })

  test('does not start on a machine that cannot confine it, and the failure names the setting', async () => {
    const path = process.env.PATH
    process.env.PATH = createPathWithout(['bwrap', 'unshare'], join(dir, 'without'))
    const refused = listening(script('args', printArguments)).transcriber(REFERENCE).transcribe(AUDIO)
    await expect(refused)
      .rejects.toMatchObject({ code: 'provider-failed', message: expect.stringContaining('unconfinedPrograms') })
      .finally(() => {
        process.env.PATH = path
      })
  })

  test('causes a failure of the provider if its output is no audio', async () => {
    const registry = speaking(script('mute', 'console.log("no audio device")'))
    await expect(registry.speaker(REFERENCE).speak({ text: 'x' })).rejects.toMatchObject({ code: 'provider-failed' })
  })

  test('ends with all its processes on abort and at the timeout', async () => {
    const parent = `const { spawn } = require('child_process')
      spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000) // ks-of-parent'], { detached: true })
      setInterval(() => {}, 1000)`
    const leave = new AbortController()
    const registry = listening(script('parent', parent))
    const going = registry.transcriber(REFERENCE).transcribe(AUDIO, leave.signal)
    going.catch(() => {})
    await until(() => isRunning('ks-of-parent'))
    leave.abort(new Error('gone'))
    await expect(going).rejects.toThrow('gone')
    expect(isRunning('ks-of-parent')).toBe(false)
    const slow = createModelRegistry(
      [{ pluginId: 'command', provider: 'local', transcription: { argv: script('slow', parent) }, timeoutMs: 1000 }],
      clock,
    )
    await expect(slow.transcriber(REFERENCE).transcribe(AUDIO)).rejects.toThrow('no answer within 1000 ms')
    expect(isRunning('ks-of-parent')).toBe(false)
  })
})

describe('the configuration of a command provider', () => {
  test.each([
    [{}, 'needs speech or transcription'],
    [{ speech: { argv: [] } }, 'must start with the path of a program'],
    [{ speech: { argv: ['x', '{voices}'] } }, '{voices}'],
    [{ transcription: { argv: ['x'], convert: ['y', '{input}'] } }, 'must contain {input} and {output}'],
  ])('rejects %j', (entry, sentence) => {
    expect(() => createModelRegistry([{ pluginId: 'command', provider: 'p', ...entry }], clock)).toThrow(sentence)
  })

  test('offers the models that it has commands for', () => {
    const registry = speaking(['x'])
    const has = (kind: 'speech' | 'transcription' | 'generation') => registry.has(REFERENCE, kind)
    expect([has('speech'), has('transcription'), has('generation')]).toEqual([true, false, false])
    expect(() => registry.generator(REFERENCE)).toThrow('has no models for generation')
    expect(registry.describe()).toMatchObject([{ pluginId: 'command', provider: 'local', credential: 'none' }])
  })
})
