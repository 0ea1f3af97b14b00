import { chmodSync, existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { execaSync } from 'execa'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ARGUMENTS, kindOf } from '../../src/cli/complete.js'
import { askedOf, candidateLines, openWords } from '../../src/cli/complete-words.js'
import { SHELLS } from '../../src/cli/completion.js'
import { cliHome, KS } from '../helpers/cli.js'

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

/** A busy machine may take longer than Tab waits: then it is pressed again. */
async function again(what: () => Promise<boolean> | boolean): Promise<boolean> {
  for (let tries = 0; tries < 15; tries++) {
    if (await what()) return true
    await sleep(200)
  }
  return false
}

describe('values for completion', () => {
  const values = async (...args: string[]) =>
    (await home.ks(['__complete', ...args])).stdout.split('\n').filter(Boolean)

  it('are spaces, and paths and ids of documents, of a daemon that runs', async () => {
    expect(await again(async () => (await values('zsh', 'one', 'docs', '--space')).join() === 'one-space')).toBe(true)
    expect(await again(async () => (await values('bash', 'o', 'ks docs --space=o')).join() === 'one-space')).toBe(true)
    expect(await again(async () => (await values('zsh', 'docs/', 'docs', 'show')).length === 3)).toBe(true)
    expect(await again(async () => (await values('zsh', 'docs/it', 'docs', 'show')).join() === QUOTED)).toBe(true)
    const [{ id }] = JSON.parse((await home.ks(['docs', '--space', 'one-space', '--json'])).stdout)
    expect(await again(async () => (await values('zsh', id.slice(0, -2), 'docs', 'show')).includes(id))).toBe(true)
    const kchat = await home.kchat(['__complete', 'zsh', 'one', 'apps', 'create', 'X', '--space'])
    expect(kchat).toMatchObject({ code: 0, stderr: '' })
  })

  it('are none, without a word and without starting anything, where no daemon runs or nothing is known', async () => {
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

  it('know the word that is typed, whatever quotation marks are open, and where bash parts it', () => {
    expect(openWords(`ks docs 'a b`)).toEqual(['ks', 'docs', 'a b'])
    expect(askedOf(['bash', 'b\\ c', 'ks docs show a:b\\ c'])).toMatchObject({ typed: 'a:b c', passed: 2 })
    expect(kindOf(askedOf(['zsh', '', 'docs', '-s', 'x', 'show']))?.kind).toBe('document')
    expect(kindOf(askedOf(['zsh', '--doc=a', 'query']))).toEqual({ kind: 'document', head: '--doc=' })
    expect(candidateLines(['a\nb', 'a\u001b[2J', 'ab'], { words: [], typed: 'a', passed: 0 })).toBe('ab\n')
  })

  it('name commands that there are', async () => {
    const script = (await home.ks(['completion', 'fish'])).stdout
    for (const words of Object.keys(ARGUMENTS)) expect(script).toContain(` -a '${words.split(' ').at(-1)}' `)
  })
})

describe.skipIf(!found.includes('fish'))('in fish', () => {
  it('completes spaces and documents, and says how their names are quoted', async () => {
    const complete = (line: string) =>
      execaSync('fish', ['--no-config', '-c', `source c.fish; complete -C "${line}"`], {
        cwd: empty,
        env: env(),
        reject: false,
      }).stdout
    expect(await again(() => complete('ks docs show --space one-').includes('one-space'))).toBe(true)
    expect(await again(() => complete('ks docs show docs/it').includes(QUOTED))).toBe(true)
    expect(await again(() => complete('ks docs show docs/').includes(HOSTILE))).toBe(true)
    expect(existsSync(join(empty, 'pwned'))).toBe(false)
  })
})

describe.skipIf(!hasTmux).each(
  [
    ['bash', 'exec bash --norc', 'source c.bash', 'docs/$'],
    ['zsh', 'exec zsh -f', 'bindkey -e; autoload -U compinit; compinit -u -D; source c.zsh', 'docs/\\$'],
    ['fish', 'exec fish --no-config', 'source c.fish', 'docs/\\$'],
  ].filter(([shell]) => found.some((one) => one === shell)),
)('in a terminal with %s', (shell, start, load, hostile) => {
  const tmux = (...args: string[]) =>
    execaSync('tmux', ['-L', `ks-c-${process.pid}-${shell}`, ...args], { reject: false }).stdout
  const screen = () => tmux('capture-pane', '-p', '-J', '-t', 'c')
  afterAll(() => void tmux('kill-server'))

  it('puts names into the line so that the shell takes each for one word, and runs none', async () => {
    const set = Object.entries({ ...env(), PS1: '$ ' }).map(([name, value]) => `'${name}=${value}'`)
    const script = `cd '${empty}'; exec env ${set.join(' ')} sh -c '${start}'`
    tmux('-f', '/dev/null', 'new-session', '-d', '-s', 'c', '-x', '150', '-y', '30', script)
    await sleep(1000)
    tmux('send-keys', '-t', 'c', `${load}; echo load''ed`, 'Enter')
    expect(await again(() => screen().includes('loaded'))).toBe(true)
    const printed = async (typed: string, name: string) =>
      await again(async () => {
        tmux('send-keys', '-t', 'c', 'C-u')
        tmux('send-keys', '-t', 'c', '-l', `ks docs show --space one-space ${typed}`)
        tmux('send-keys', '-t', 'c', 'Tab')
        await sleep(1500)
        tmux('send-keys', '-t', 'c', 'C-a')
        tmux('send-keys', '-t', 'c', '-l', 'printf "<%s>\\n" ')
        tmux('send-keys', '-t', 'c', 'Enter')
        await sleep(300)
        return screen().split('\n').includes(`<${name}>`)
      })
    expect(await printed('docs/it', QUOTED), screen()).toBe(true)
    expect(await printed(hostile ?? '', HOSTILE), screen()).toBe(true)
    expect(existsSync(join(empty, 'pwned'))).toBe(false)
  })
})
