import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { cliHome } from '../helpers/cli.js'

/** Folders from someone else: a restored data directory, a cloned repository. Nothing in them may run. */
const home = cliHome()
const canary = join(home.dir, 'canary')
const CODE = `require('node:fs').appendFileSync(${JSON.stringify(canary)}, process.argv.join(' ') + '\\n')`
const HOOKS = { init: './canary.js', prerun: './canary.js', command_not_found: './canary.js' }
/** Modules that `ks` loads; every planted folder contains one of the same name. */
const MODULES = ['better-sqlite3', 'hnswlib-node', '@oclif/core', 'ink', 'zod', 'planted']

function plant(folder: string): void {
  const linked = join(folder, 'linked')
  const oclif = { commands: './commands', hooks: HOOKS }
  home.file(`${folder}/linked/package.json`, JSON.stringify({ name: 'linked', version: '1.0.0', oclif }))
  home.file(`${folder}/linked/canary.js`, CODE)
  home.file(`${folder}/linked/commands/spaces.js`, CODE)
  const plugins = [
    { type: 'user', name: 'planted' },
    { type: 'link', name: 'linked', root: join(home.dir, linked) },
  ]
  home.file(
    `${folder}/package.json`,
    JSON.stringify({ name: 'p', dependencies: { planted: '1.0.0' }, oclif: { ...oclif, plugins } }),
  )
  for (const name of MODULES) {
    home.file(`${folder}/node_modules/${name}/package.json`, JSON.stringify({ name, version: '1.0.0', oclif }))
    for (const file of ['index.js', 'canary.js', 'commands/spaces.js']) {
      home.file(`${folder}/node_modules/${name}/${file}`, CODE)
    }
  }
  for (const file of ['canary.js', '.oclifrc.js', 'oclif.config.js', 'index.js', 'commands/spaces.js', '.pnp.cjs']) {
    home.file(`${folder}/${file}`, CODE)
  }
  home.file(`${folder}/theme.json`, JSON.stringify({ bin: null }))
}

const SOUND = 'sound of the program'
/** A sound of eight bits a sample, whose samples are these letters. */
const WAV = `const data = Buffer.from('${SOUND}'), head = Buffer.alloc(44)
  head.write('RIFF', 0), head.writeUInt32LE(36 + data.length, 4), head.write('WAVEfmt ', 8), head.writeUInt32LE(16, 16)
  head.writeUInt16LE(1, 20), head.writeUInt16LE(1, 22), head.writeUInt32LE(8000, 24), head.writeUInt32LE(8000, 28)
  head.writeUInt16LE(1, 32), head.writeUInt16LE(8, 34), head.write('data', 36), head.writeUInt32LE(data.length, 40)
  process.stdout.write(Buffer.concat([head, data]))`
/** A confined program cannot write files of this machine, so the sound that it produces shows that it ran. */
const PROGRAM = [process.execPath, '-e', `try { ${CODE} } catch {} ${WAV}`]
const PROVIDER = { pluginId: 'command', provider: 'local', speech: { argv: PROGRAM } }

beforeAll(() => {
  for (const folder of ['data', 'config', 'state', 'cache', 'project', 'project/below']) plant(folder)
  const settings = { providers: [PROVIDER], listen: 'x', programs: PROGRAM, PAGER: PROGRAM.join(' ') }
  home.file('project/.ks.json', JSON.stringify({ space: 'notes', ...settings }))
  home.file('data/config.json', JSON.stringify({ providers: [PROVIDER], defaultSpeech: 'command/local/any' }))
  home.file('project/notes.md', '# Notes\n\nThe shop opens at nine.\n')
})
afterAll(() => home.end())

describe('code planted in a data directory, a configuration folder or the working directory', () => {
  const cwd = join(home.dir, 'project', 'below')

  it.each([
    ['--help'],
    ['spaces', '--help'],
    ['config', '--daemon'],
    ['no-such-command'],
    ['doctor'],
    ['spaces', 'create', 'Notes', '--slug', 'notes'],
    ['ingest', '../notes.md', '--wait'],
    ['query', 'When does the shop open?'],
    ['completion', 'bash'],
    ['daemon', 'status'],
    ['daemon', 'restart'],
    ['spaces'],
  ])('does not run during ks %s %s', async (...args) => {
    await home.ks(args, { cwd })
    expect(existsSync(canary)).toBe(false)
  })

  it.each([['--help'], ['apps', 'list'], ['conversations']])('does not run during kchat %s %s', async (...args) => {
    await home.kchat(args, { cwd })
    expect(existsSync(canary)).toBe(false)
  })

  it('does not affect the result of a command', async () => {
    const spaces = await home.ks(['spaces', '--fields', 'slug', '--no-header'], { cwd })
    expect(spaces).toMatchObject({ code: 0, stdout: 'notes\n' })
  })
})

describe('a program in the config.json of a data directory', () => {
  const speak = async () => {
    const made = await home.kchat(['apps', 'create', 'Voice', '--space', 'notes', '--text-to-speech'])
    expect(made, made.stderr).toMatchObject({ code: 0 })
    return await home.kchat(['speak', 'Hello.', '-o', 'hello.wav', '--app', 'Voice'])
  }

  /** The text in the sound of the program; undefined without one. */
  const soundOf = async () => {
    await home.kchat(['speak', 'Hello.', '-o', 'hello.wav', '--app', 'Voice'])
    const path = join(home.dir, 'hello.wav')
    if (!existsSync(path)) return undefined
    const sound = readFileSync(path, 'utf8')
    rmSync(path)
    return sound
  }

  it('does not start before it is allowed on this machine; `ks doctor` explains how', async () => {
    const said = await speak()
    expect([said.code, existsSync(canary)]).toEqual([2, false])
    expect(said.stderr).toContain('has no speech model')
    const finding = (await home.ks(['doctor', '--format', 'tsv'])).stdout.split('\n').find((line) => /local/.test(line))
    expect(finding).toMatch(/disabled: its program .* is not allowed on this machine.*ks config --allow-programs/)
    expect(readFileSync(join(home.dataDir, 'logs/daemon.log'), 'utf8')).toMatch(/has not allowed its program/)
  })

  it('appears in `ks config --allow-programs`, and starts after it is allowed there', async () => {
    const asked = await home.ks(['config', '--allow-programs'])
    expect(asked).toMatchObject({ code: 2, stdout: `${JSON.stringify(PROGRAM)}\n` })
    expect(await home.ks(['config', '--allow-programs', '--yes'])).toMatchObject({ code: 0 })
    expect(await home.ks(['daemon', 'restart'])).toMatchObject({ code: 0 })
    expect(await soundOf()).toContain(SOUND)
  })

  it('does not start with arguments other than the allowed ones', async () => {
    const speech = { argv: [...PROGRAM, 'other'] }
    home.file(
      'data/config.json',
      JSON.stringify({ providers: [{ ...PROVIDER, speech }], defaultSpeech: 'command/local/any' }),
    )
    expect(await home.ks(['daemon', 'restart'])).toMatchObject({ code: 0 })
    expect((await home.kchat(['speak', 'Hello.', '-o', 'hello.wav', '--app', 'Voice'])).code).toBe(2)
    expect(existsSync(canary)).toBe(false)
  })

  it('counts as allowed if the user sets it with `ks config` on this machine', async () => {
    const providers = JSON.stringify([{ ...PROVIDER, speech: { argv: [...PROGRAM, 'typed'] } }])
    expect(await home.ks(['config', 'providers', providers, '--daemon'])).toMatchObject({ code: 0 })
    expect(await home.ks(['daemon', 'restart'])).toMatchObject({ code: 0 })
    expect(await soundOf()).toContain(SOUND)
  })
})
