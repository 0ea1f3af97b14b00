import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { execaSync } from 'execa'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { formatCandidates, parseCompletionLine, splitOpenLine } from '../../src/cli/completing/completion-line.js'
import { findCompletionKind, KCHAT_NAMES, KS_NAMES } from '../../src/cli/completing/kinds.js'
import { SHELLS } from '../../src/cli/completion.js'
import { cliHome, KS } from '../helpers/cli.js'
import { until } from '../helpers/until.js'

const has = (program: string, flag = '--version') => !execaSync(program, [flag], { reject: false }).failed
const hasTmux = has('tmux', '-V')
const found = SHELLS.filter((shell) => has(shell))
for (const shell of SHELLS)
  if (!found.includes(shell)) process.stdout.write(`completion in ${shell} is not tested: it is not installed\n`)

const HOSTILE = 'docs/$(touch pwned).md'
const QUOTED = 'docs/it\'s a "q" `id` name.md'
const home = cliHome()
const empty = join(home.dir, 'empty')

beforeAll(async () => {
  for (const name of [HOSTILE, QUOTED, 'docs/plain.md']) home.file(name, `# About ${name}\n`)
  const ingested = await home.ks(['ingest', 'docs', '--wait', '--space', 'one-space', '--create'])
  expect(ingested, ingested.stderr).toMatchObject({ code: 0 })
  mkdirSync(empty)
  chmodSync(home.file('bin/ks', `#!/bin/sh\nexec '${process.execPath}' '${KS}' "$@"\n`), 0o755)
  for (const shell of SHELLS) writeFileSync(join(empty, `c.${shell}`), (await home.ks(['completion', shell])).stdout)
})
afterAll(() => home.end())

const env = () => ({ ...home.env, PATH: `${join(home.dir, 'bin')}:${process.env.PATH ?? ''}`, LANG: 'C.UTF-8' })

/** A busy machine may take longer than Tab waits: then Tab is pressed again. */
async function again(what: () => Promise<boolean> | boolean): Promise<boolean> {
  for (let tries = 0; tries < 15; tries++) {
    if (await what()) return true
    await sleep(200)
  }
  return false
}

/** Waits until a shell shows a text; repeats if that takes too long. */
const shown = (holds: () => boolean, timeoutMs: number) => until(holds, timeoutMs).catch(() => undefined)

describe('values for completion', () => {
  const values = async (...args: string[]) =>
    (await home.ks(['__complete', ...args])).stdout.split('\n').filter(Boolean)

  it('include spaces, and paths and ids of documents, of a running daemon', async () => {
    expect(await again(async () => (await values('zsh', 'one', 'docs', '--space')).join() === 'one-space')).toBe(true)
    expect(await again(async () => (await values('bash', 'o', 'ks docs --space=o')).join() === 'one-space')).toBe(true)
    expect(await again(async () => (await values('zsh', 'docs/', 'docs', 'show')).length === 3)).toBe(true)
    expect(await again(async () => (await values('zsh', 'docs/it', 'docs', 'show')).join() === QUOTED)).toBe(true)
    const [{ id }] = JSON.parse((await home.ks(['docs', '--space', 'one-space', '--json'])).stdout)
    expect(await again(async () => (await values('zsh', id.slice(0, -2), 'docs', 'show')).includes(id))).toBe(true)
    const kchat = async (...args: string[]) =>
      (await home.kchat(['__complete', ...args])).stdout.split('\n').filter(Boolean)
    expect(await again(async () => (await kchat('zsh', 'one', 'apps', 'create', 'X', '--space')).length === 1)).toBe(
      true,
    )
    expect(await home.kchat(['apps', 'create', 'Shop help', '--space', 'one-space'])).toMatchObject({ code: 0 })
    expect(await again(async () => (await kchat('zsh', '', 'apps', 'show')).includes('Shop help'))).toBe(true)
    expect(await kchat('zsh', '', 'use')).toEqual(['Shop help'])
    expect(await home.kchat(['send', 'hello'])).toMatchObject({ code: 0 })
    const [conversation] = JSON.parse((await home.kchat(['conversations', '--json'])).stdout)
    expect(await again(async () => (await kchat('zsh', '', 'history')).join() === conversation.id)).toBe(true)
    expect(await kchat('zsh', 'n', 'send', 'x', '--conversation')).toEqual(['new'])
    expect(await home.kchat(['annotations', 'add', '--question', 'When?', '--answer', 'Now.'])).toMatchObject({
      code: 0,
    })
    expect(await again(async () => (await kchat('zsh', '', 'annotations', 'delete')).length === 1)).toBe(true)
  })

  it('include the entries of one folder at a time, and in a long folder only names that match the typed letters', async () => {
    for (let at = 0; at < 3; at++) home.file(`many/sub${at}/note-${at}.txt`, `Note ${at}.\n`)
    for (let at = 0; at < 600; at++) home.file(`many/flat/note-${at}.txt`, `Flat note ${at}.\n`)
    const args = ['ingest', 'many', '--wait', '--space', 'many', '--create', '--quiet']
    expect(await home.ks(args, { timeoutMs: 100_000 })).toMatchObject({ code: 0 })
    const shown = (typed: string) => values('zsh', typed, 'docs', 'show', '--space', 'many')
    expect(await again(async () => (await shown('')).join() === 'many/')).toBe(true)
    expect(
      await again(async () => (await shown('many/')).join() === 'many/flat/,many/sub0/,many/sub1/,many/sub2/'),
    ).toBe(true)
    // In order of names it is far behind the start of the folder.
    expect(await again(async () => (await shown('many/flat/note-98')).join() === 'many/flat/note-98.txt')).toBe(true)
    const path = '/sources/uploads/many/flat/note-98'
    expect(
      await again(async () => (await values('zsh', path, 'fs', 'cat', '-s', 'many')).join() === `${path}.txt`),
    ).toBe(true)
  })

  it('stay empty for a token that the daemon refuses', async () => {
    expect(await again(async () => (await values('zsh', '', 'docs', '--space')).includes('one-space'))).toBe(true)
    const { stdout } = await home.ks(['__complete', 'zsh', 'one', 'docs', '--space'], { env: { KS_TOKEN: 'another' } })
    expect(stdout).toBe('')
  })

  it('stay empty, without an error or a started daemon, if no daemon runs or the command is unknown', async () => {
    const elsewhere = { env: { KS_DATA_DIR: join(home.dir, 'none') } }
    expect(await home.ks(['__complete', 'zsh', '', 'docs', 'show'], elsewhere)).toMatchObject({
      code: 0,
      stdout: '',
      stderr: '',
    })
    expect(existsSync(join(home.dir, 'none'))).toBe(false)
    for (const args of [[], ['bash'], ['zsh', ''], ['fish', '-', 'docs'], ['zsh', 'x', 'no', 'such']])
      expect(await home.ks(['__complete', ...args])).toMatchObject({ code: 0, stdout: '', stderr: '' })
  })

  it('follow from the typed word, even with an open quotation mark or split by bash at a colon', () => {
    expect(splitOpenLine(`ks docs 'a b`)).toEqual(['ks', 'docs', 'a b'])
    expect(parseCompletionLine(['bash', 'b\\ c', 'ks docs show a:b\\ c'])).toMatchObject({
      typed: 'a:b c',
      replaceStart: 2,
    })
    const kind = (...words: string[]) => findCompletionKind(parseCompletionLine(['zsh', ...words]), KS_NAMES)
    expect(kind('', 'docs', '-s', 'x', 'show')?.kind).toBe('document')
    expect(kind('', 'docs', '--format', 'json', 'reindex')?.kind).toBe('document')
    expect(kind('', 'sources', 'import', 'a')).toBeUndefined()
    expect(kind('', 'docs', 'delete', 'a.md')?.kind).toBe('document')
    expect(kind('--doc=a', 'query')).toEqual({ kind: 'document', flagPrefix: '--doc=' })
    expect(formatCandidates(['a\nb', 'a\u001b[2J', 'ab'], { words: [], typed: 'a', replaceStart: 0 })).toBe('ab\n')
  })

  it('include only existing commands', async () => {
    const script = (await home.ks(['completion', 'fish'])).stdout
    const chat = (await home.kchat(['completion', 'fish'])).stdout
    for (const [names, text] of [
      [KS_NAMES, script],
      [KCHAT_NAMES, chat],
    ] as const)
      for (const words of Object.keys(names.args)) expect(text).toContain(` -a '${words.split(' ').at(-1)}' `)
  })
})

describe.skipIf(!found.includes('fish'))('completion in fish', () => {
  it('completes spaces and documents, and explains the quoting of their names', async () => {
    const complete = (line: string) =>
      execaSync('fish', ['--no-config', '-c', `source c.fish; complete -C "${line}"`], {
        cwd: empty,
        env: env(),
        reject: false,
      }).stdout
    expect(await again(() => complete('ks docs show --space one-').includes('one-space'))).toBe(true)
    expect(await again(() => complete('ks docs show --space one-space docs/it').includes(QUOTED))).toBe(true)
    expect(await again(() => complete('ks docs show --space one-space docs/').includes(HOSTILE))).toBe(true)
    expect(existsSync(join(empty, 'pwned'))).toBe(false)
  })
})

describe.skipIf(!hasTmux).each(
  [
    ['bash', 'exec bash --norc', 'source c.bash', 'docs/$'],
    ['bash, as installed', 'exec bash --norc', 'source $XDG_DATA_HOME/bash-completion/completions/ks', 'docs/$'],
    ['zsh', 'exec zsh -f', 'bindkey -e; autoload -U compinit; compinit -u -D; source c.zsh', 'docs/\\$'],
    [
      'zsh, as installed',
      'exec zsh -f',
      'bindkey -e; fpath=($XDG_DATA_HOME/zsh/site-functions $fpath); autoload -Uz compinit; compinit -u -D',
      'docs/\\$',
    ],
    ['fish', 'exec fish --no-config', 'source c.fish', 'docs/\\$'],
  ].filter(([name]) => found.some((shell) => name?.startsWith(shell))),
)('completion in a terminal with %s', (name, start, load, hostile) => {
  const tmux = (...args: string[]) =>
    execaSync('tmux', ['-L', `ks-c-${process.pid}-${name?.replace(/\W+/g, '-')}`, ...args], { reject: false }).stdout
  const screen = () => tmux('capture-pane', '-p', '-J', '-t', 'c')
  afterAll(() => void tmux('kill-server'))

  it('inserts names of documents so that the shell treats each name as one word, and executes none', async () => {
    const data = join(home.dir, 'installed')
    const place = { env: { XDG_DATA_HOME: data, ZDOTDIR: data } }
    const installed = await home.ks(['completion', '--install', /^\w+/.exec(name ?? '')?.[0] ?? '', '--yes'], place)
    expect(installed, installed.stderr).toMatchObject({ code: 0 })
    const set = Object.entries({ ...env(), PS1: '$ ', XDG_DATA_HOME: data }).map(
      ([name, value]) => `'${name}=${value}'`,
    )
    const script = `cd '${empty}'; exec env ${set.join(' ')} sh -c '${start}'`
    tmux('-f', '/dev/null', 'new-session', '-d', '-s', 'c', '-x', '150', '-y', '30', script)
    await shown(() => screen().trim() !== '', 1000)
    tmux('send-keys', '-t', 'c', `${load}; echo load''ed`, 'Enter')
    expect(await again(() => screen().includes('loaded'))).toBe(true)
    const printed = async (typed: string, name: string) =>
      await again(async () => {
        const isTyped = () => screen().trimEnd().endsWith(`one-space ${typed}`)
        tmux('send-keys', '-t', 'c', 'C-u')
        tmux('send-keys', '-t', 'c', '-l', `ks docs show --space one-space ${typed}`)
        await shown(isTyped, 1500)
        tmux('send-keys', '-t', 'c', 'Tab')
        await shown(() => !isTyped(), 1500)
        tmux('send-keys', '-t', 'c', 'C-a')
        tmux('send-keys', '-t', 'c', '-l', 'printf "<%s>\\n" ')
        tmux('send-keys', '-t', 'c', 'Enter')
        const isPrinted = () => screen().split('\n').includes(`<${name}>`)
        await shown(isPrinted, 1000)
        return isPrinted()
      })
    expect(await printed('docs/it', QUOTED), screen()).toBe(true)
    expect(await printed(hostile ?? '', HOSTILE), screen()).toBe(true)
    expect(existsSync(join(empty, 'pwned'))).toBe(false)
  })
})

describe('completion scripts in the folders of a user', () => {
  it.each(SHELLS)('can be previewed, installed and removed for %s; foreign files are kept', async (shell) => {
    const folder = { bash: 'bash-completion/completions', zsh: 'zsh/site-functions', fish: 'fish/completions' }[shell]
    const name = { bash: 'ks', zsh: '_ks', fish: 'ks.fish' }[shell]
    const xdg = join(home.dir, `xdg-${shell}`)
    const place = { env: { XDG_DATA_HOME: xdg, XDG_CONFIG_HOME: xdg, SHELL: `/bin/${shell}`, ZDOTDIR: xdg } }
    const path = join(xdg, folder, name)
    const dry = await home.ks(['completion', '--install', '--dry-run'], place)
    expect(dry).toMatchObject({ code: 0 })
    expect(dry.stdout).toContain(`would be written: ${path}`)
    expect(existsSync(xdg)).toBe(false)
    expect(await home.ks(['completion', '--install'], place)).toMatchObject({ code: 2 })
    const first = await home.ks(['completion', '--install', '--yes'], place)
    expect(first, first.stderr).toMatchObject({ code: 0 })
    expect(readFileSync(path, 'utf8')).toBe((await home.ks(['completion', shell])).stdout)
    expect(
      readFileSync(
        path.replace(/ks/g, (text, at) => (at > xdg.length ? 'kchat' : text)),
        'utf8',
      ),
    ).toBe((await home.kchat(['completion', shell])).stdout)
    const again = await home.ks(['completion', '--install', shell, '--json'], place)
    expect(JSON.parse(again.stdout)).toMatchObject({ written: [] })
    writeFileSync(path, 'mine\n')
    const over = await home.ks(['completion', '--install', shell, '--yes', '--json'], place)
    const [{ backup }] = JSON.parse(over.stdout).written
    expect(readFileSync(backup, 'utf8')).toBe('mine\n')
    expect(await home.ks(['completion', '--uninstall', shell, '--yes'], place)).toMatchObject({ code: 0 })
    expect(existsSync(path)).toBe(false)
    writeFileSync(path, 'mine\n')
    const kept = await home.ks(['completion', '--uninstall', shell, '--yes'], place)
    expect(kept.stderr).toContain(`not installed by ks, kept: ${path}`)
    expect(readFileSync(path, 'utf8')).toBe('mine\n')
  })

  it.skipIf(!found.includes('fish'))('complete commands and spaces in fish without further settings', async () => {
    const config = join(home.dir, 'fish-config')
    const place = { XDG_CONFIG_HOME: config, XDG_DATA_HOME: config }
    expect(await home.ks(['completion', '--install', 'fish', '--yes'], { env: place })).toMatchObject({ code: 0 })
    const complete = (line: string) =>
      execaSync('fish', ['-c', `complete -C "${line}"`], { cwd: empty, env: { ...env(), ...place }, reject: false })
        .stdout
    expect(await again(() => complete('ks jobs sh').includes('show'))).toBe(true)
    expect(await again(() => complete('ks docs show --space one-').includes('one-space'))).toBe(true)
  })
})
