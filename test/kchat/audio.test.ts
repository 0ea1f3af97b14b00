import { once } from 'node:events'
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { execa, execaSync } from 'execa'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { cliHome, isAlive } from '../helpers/cli.js'
import { until } from '../helpers/until.js'

const KCHAT = fileURLToPath(new URL('../../bin/kchat.js', import.meta.url))
const has = !execaSync('espeak-ng', ['--version'], { reject: false }).failed
if (!has) process.stdout.write('speech of kchat is not tested: espeak-ng is not installed\n')

const home = cliHome()
afterAll(() => home.end())

/** A fake player, the only program on the PATH. */
function player(name: string, script: string): { env: Record<string, string> } {
  const path = home.file(`${name}/aplay`, `#!/bin/sh\n${script}\n`)
  chmodSync(path, 0o755)
  mkdirSync(join(home.dir, 'tmp'), { recursive: true })
  return { env: { PATH: join(home.dir, name), TMPDIR: join(home.dir, 'tmp') } }
}
const heard = (file: string) => readFileSync(join(home.dir, file)).subarray(0, 4).toString()
const left = () => readdirSync(join(home.dir, 'tmp'))
const count = async () => JSON.parse((await home.kchat(['conversations', '--json'])).stdout).length

describe.skipIf(!has)('kchat with audio', () => {
  beforeAll(async () => {
    const speech = { argv: ['espeak-ng', '--stdout', '--stdin', '-v', '{voice}'], voice: 'en-us' }
    // Its transcript is the size of the file.
    const transcription = { argv: ['wc', '-c', '{input}'] }
    const providers = [{ pluginId: 'command', provider: 'local', speech, transcription }]
    const config = { providers, defaultSpeech: 'command/local/espeak', defaultTranscription: 'command/local/counter' }
    home.file('data/config.json', JSON.stringify(config))
    expect(await home.ks(['config', '--allow-programs', '--yes'])).toMatchObject({ code: 0 })
    home.file('handbook/shop.md', '# Shop\n\nThe shop opens at nine in the morning on weekdays.\n')
    const ingested = await home.ks(['ingest', 'handbook', '--wait', '--space', 'handbook', '--create'])
    expect(ingested, ingested.stderr).toMatchObject({ code: 0 })
    const made = await home.kchat([
      'apps',
      'create',
      'Voice',
      '--space',
      'handbook',
      '--text-to-speech',
      '--speech-to-text',
    ])
    expect(made, made.stderr).toMatchObject({ code: 0 })
  })

  it('reads a text aloud into a file, and transcribes a file or stdin', async () => {
    const run = await home.kchat(['speak', '-', '-o', 'hello.wav'], { stdin: 'Hello there.' })
    expect(run, run.stderr).toMatchObject({ code: 0, stdout: '' })
    expect(heard('hello.wav')).toBe('RIFF')
    const written = await home.kchat(['transcribe', 'hello.wav', '--json'])
    expect(written, written.stderr).toMatchObject({ code: 0 })
    expect(JSON.parse(written.stdout).text).toMatch(/\d{3,}/)
    const bytes = readFileSync(join(home.dir, 'hello.wav'))
    const piped = await home.kchat(['transcribe', '-', '--json'], { stdin: bytes })
    expect(JSON.parse(piped.stdout).text.split(' ')[0]).toBe(String(bytes.length))
  })

  it('recognizes the audio type of stdin by --name', async () => {
    const stdin = 'these bytes do not say what they are'
    expect(await home.kchat(['transcribe', '-'], { stdin })).toMatchObject({ code: 2, stdout: '' })
    expect(await home.kchat(['transcribe', '-', '--name', 'talk.mp3'], { stdin })).toMatchObject({ code: 0 })
    expect(await home.kchat(['transcribe', '-'], { stdin: '' })).toMatchObject({ code: 2, stdout: '' })
  })

  it('demands either a text or a message to speak', async () => {
    expect(await home.kchat(['speak'])).toMatchObject({ code: 2 })
    expect(await home.kchat(['speak', 'a', '--message', 'b'])).toMatchObject({ code: 2 })
  })

  it('reads an answer aloud with a player on the PATH, and leaves no file', async () => {
    const run = player('copies', `/bin/cp "$2" "${home.dir}/heard.wav"`)
    const said = await home.kchat(['send', 'When does the shop open?', '--speak'], run)
    expect(said, said.stderr).toMatchObject({ code: 0, stderr: expect.stringMatching(/^ {2}\[1] .*shop\.md.*\n$/) })
    expect(said.stdout).toMatch(/^\[1\] .*shop\.md.*\n\nThe shop opens at nine in the morning on weekdays\./)
    expect(heard('heard.wav')).toBe('RIFF')
    expect(left()).toEqual([])
  })

  it('writes the audio of an answer to a file, in every format', async () => {
    const words = ['send', 'When does the shop open?', '--json', '-o']
    for (const [file, more] of [
      ['streamed.wav', []],
      ['whole.wav', ['--blocking']],
    ] as const) {
      const said = await home.kchat([...words, file, ...more])
      expect(JSON.parse(said.stdout)).toMatchObject({ answer: expect.stringContaining('nine') })
      expect(said.stderr).toMatch(new RegExp(`^Wrote ${file}, \\d+ KiB\\.\n$`))
      expect(heard(file)).toBe('RIFF')
    }
  })

  it('reports a file that cannot be written', async () => {
    mkdirSync(join(home.dir, 'folder'), { recursive: true })
    for (const file of ['no/such/folder.wav', 'folder']) {
      const run = await home.kchat(['speak', 'Hello.', '-o', file])
      expect([run.code, run.stdout, run.stderr]).toEqual([
        2,
        '',
        expect.stringMatching(`^kchat: "${file}" cannot be written: `),
      ])
    }
    expect(existsSync(join(home.dir, 'folder.part'))).toBe(false)
  })

  it('reports a missing player or disabled text-to-speech before it sends the question', async () => {
    const before = await count()
    const deaf = await home.kchat(['send', 'When?', '--speak'], { env: { PATH: '/nowhere' } })
    expect(deaf).toMatchObject({ code: 9, stdout: '' })
    expect(deaf.stderr).toMatch(/no player for audio is on the PATH \(.*aplay.*\)\nhint: give `-o FILE`/)
    expect((await home.kchat(['apps', 'update', 'Voice', '--no-text-to-speech'])).code).toBe(0)
    const mute = await home.kchat(['send', 'When?', '-o', 'never.wav'])
    expect((await home.kchat(['apps', 'update', 'Voice', '--text-to-speech'])).code).toBe(0)
    expect(mute).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringMatching(/text-to-speech of the application is disabled/),
    })
    expect(existsSync(join(home.dir, 'never.wav'))).toBe(false)
    expect(await count()).toBe(before)
  })

  it('prints the output of a failed player after the answer', async () => {
    const run = player('fails', 'echo no sound card >&2; exit 1')
    const said = await home.kchat(['send', 'When does the shop open?', '--speak'], run)
    expect(said.code).toBe(1)
    expect(said.stdout).toContain('nine')
    expect(said.stderr).toMatch(/\n?kchat: aplay could not play the audio\nno sound card\n$/)
    expect(left()).toEqual([])
  })

  it('ends the player at Ctrl-C, and exits with 130', async () => {
    const { env } = player('waits', `echo $$ > "${home.dir}/player.pid"; exec /bin/sleep 60`)
    const child = execa(process.execPath, [KCHAT, 'send', 'When does the shop open?', '--speak'], {
      env: { ...process.env, ...home.env, ...env },
      stdio: ['ignore', 'ignore', 'inherit'],
      buffer: false,
      reject: false,
      extendEnv: false,
    })
    await until(() => existsSync(join(home.dir, 'player.pid')))
    const pid = Number(readFileSync(join(home.dir, 'player.pid'), 'utf8'))
    child.kill('SIGINT')
    expect((await once(child, 'exit'))[0]).toBe(130)
    await until(() => !isAlive(pid))
    expect(left()).toEqual([])
  })
})
