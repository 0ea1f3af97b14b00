import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { cliHome } from '../helpers/cli.js'

const has = spawnSync('espeak-ng', ['--version']).status === 0
if (!has) process.stdout.write('speech of kchat is not tested: espeak-ng is not installed\n')

const home = cliHome()
afterAll(() => home.end())

describe.skipIf(!has)('kchat', () => {
  beforeAll(async () => {
    const speech = { argv: ['espeak-ng', '--stdout', '--stdin', '-v', '{voice}'], voice: 'en-us' }
    // what it hears is how long the file is
    const transcription = { argv: ['wc', '-c', '{input}'] }
    const providers = [{ pluginId: 'command', provider: 'local', speech, transcription }]
    const config = { providers, defaultSpeech: 'command/local/espeak', defaultTranscription: 'command/local/counter' }
    home.file('data/config.json', JSON.stringify(config))
    const made = await home.kchat(['apps', 'create', 'Voice', '--text-to-speech', '--speech-to-text'])
    expect(made, made.stderr).toMatchObject({ code: 0 })
  })

  it('reads a text aloud into a file, and writes down what a file says', async () => {
    const run = await home.kchat(['speak', '-', '-o', 'hello.wav'], { stdin: 'Hello there.' })
    expect(run, run.stderr).toMatchObject({ code: 0, stdout: '' })
    expect(readFileSync(join(home.dir, 'hello.wav')).subarray(0, 4).toString()).toBe('RIFF')
    const heard = await home.kchat(['transcribe', 'hello.wav', '--json'])
    expect(heard, heard.stderr).toMatchObject({ code: 0 })
    expect(JSON.parse(heard.stdout).text).toMatch(/\d{3,}/)
  })

  it('asks for one thing to read', async () => {
    expect(await home.kchat(['speak'])).toMatchObject({ code: 2 })
    expect(await home.kchat(['speak', 'a', '--message', 'b'])).toMatchObject({ code: 2 })
  })
})
