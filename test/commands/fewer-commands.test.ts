import { fileURLToPath } from 'node:url'
import { Config } from '@oclif/core/config'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { FIRST_COMMANDS } from '../../src/cli/first-page.js'
import { splitLeadingFlags } from '../../src/cli/leading-flags.js'
import { findMovedCommand, MOVED_COMMANDS, translateMovedCommand } from '../../src/cli/moved-commands.js'
import { cliHome } from '../helpers/cli.js'

const MAX_COMMANDS = 90
const MAX_FIRST_PAGE_LINES = 24

const home = cliHome()
let ids: string[]
beforeAll(async () => {
  const { commands } = await Config.load(fileURLToPath(new URL('../..', import.meta.url)))
  const aliases = new Set(commands.flatMap((command) => command.aliases))
  ids = commands.map(({ id }) => id).filter((id) => !aliases.has(id))
})
afterAll(() => home.end())

it('ks has at most 90 commands', () => {
  expect(ids.length).toBeLessThanOrEqual(MAX_COMMANDS)
})

it('the first page has the ten commands of the first week and names all others, in at most 24 lines of 80 columns', async () => {
  const { stdout } = await home.ks([])
  const lines = stdout.trimEnd().split('\n')
  expect(lines.length).toBeLessThanOrEqual(MAX_FIRST_PAGE_LINES)
  expect(lines.filter((line) => line.length > 80)).toEqual([])
  expect(FIRST_COMMANDS).toHaveLength(10)
  const words = new Set(stdout.match(/[a-z]+/g))
  expect(ids.map((id) => id.split(':')[0] ?? '').filter((word) => !words.has(word))).toEqual([])
  expect((await home.ks(['--help'])).stdout).toBe(stdout)
})

it('ks help all lists every command, and ks help flags the common flags', async () => {
  const all = (await home.ks(['help', 'all'])).stdout
  expect(ids.filter((id) => !all.includes(`  ${id.replaceAll(':', ' ')} `))).toEqual([])
  expect((await home.ks(['help', 'flags'])).stdout).toMatch(/--yes[\s\S]*--json[\s\S]*--context[\s\S]*--timeout/)
})

it('help of a command shows usage, at most two examples and its own flags before a line about common flags', async () => {
  for (const id of ['query', 'api', 'docs:show', 'spaces:update', 'watch']) {
    const { stdout } = await home.ks([...id.split(':'), '--help'])
    expect(stdout).not.toContain('--token-file')
    const order = ['USAGE\n', 'EXAMPLES\n', 'ARGUMENTS\n', 'FLAGS\n', 'Common flags: see `ks help flags`']
    const positions = order.map((text) => stdout.indexOf(text))
    expect(positions).toEqual([...positions].sort((one, other) => one - other))
    expect(positions[0]).toBeGreaterThanOrEqual(0)
    const examples = stdout.slice(stdout.indexOf('EXAMPLES\n'), stdout.indexOf('ARGUMENTS\n'))
    expect(examples.match(/^ {2}\S/gm)?.length).toBeLessThanOrEqual(2)
  }
})

it('commands of earlier versions are no commands, and the present ones exist', () => {
  const names = ids.map((id) => id.replaceAll(':', ' '))
  expect(Object.keys(MOVED_COMMANDS).filter((name) => names.includes(name))).toEqual([])
  const missing = Object.values(MOVED_COMMANDS).filter(
    (present) => !names.some((name) => present === name || present.startsWith(`${name} `)),
  )
  expect(missing).toEqual([])
  expect(findMovedCommand(['golden', 'runs', 'delete', 'x'])?.replacement).toBe('golden delete ID --run')
})

it('a command of an earlier version runs as the present one, with its arguments in their places', async () => {
  const translate = (line: string) => {
    const words = line.split(' ')
    const moved = findMovedCommand(words)
    return moved === undefined ? undefined : translateMovedCommand(moved, words)?.join(' ')
  }
  expect(translate('jobs watch a b --format jsonl')).toBe('jobs show a --wait b --format jsonl')
  expect(translate('docs asset --space x a i -o f.png')).toBe('docs show a --item i --space x -o f.png')
  expect(translate('leases notes')).toBe('api listActiveLeases --paginate --space notes')
  expect(translate('leases --space notes')).toBe('api listActiveLeases --paginate --space notes')
  expect(translate('traces history t i')).toBe('api listMissingEvidenceHistory -f traceId=t -f itemKey=i')
  expect(translate('retention set traces=30')).toBe('api updateSpaceRetentionPolicy -F traces=30')
  expect(translate('golden import q.yaml --space x')).toBe('golden add --file q.yaml --space x')
  expect(translate('sources import-files s f --all')).toBe('sources import s f --all')
  expect(translate('daemon run --listen 127.0.0.1:0')).toBe('daemon start --foreground --listen 127.0.0.1:0')
  expect(translate('docs outline')).toBeUndefined()
  // a review without its verdict never becomes one
  expect(translate('traces review t i')).toBeUndefined()
  expect(translate('traces review t i dismissed')).toContain('-f status=dismissed')

  expect((await home.ks(['config', 'set', 'space', 'earlier'])).code).toBe(0)
  expect(await home.ks(['config', 'get', 'space', '--json'])).toEqual(await home.ks(['config', 'space', '--json']))
  expect((await home.ks(['watch', 'list', '--help'])).stdout).toContain('$ ks watch')
})

it('a command of an earlier version without its argument exits with 2 and the present command', async () => {
  for (const argv of [
    ['traces', 'evidence'],
    ['docs', 'outline', '--space', 'x'],
    ['help', 'docs', 'outline'],
  ]) {
    const { code, stderr } = await home.ks(argv)
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: expect.stringMatching(/^ks: `ks [a-z ]+` has moved\nhint: use `ks .+`\n$/),
    })
  }
})

it('common flags before a command have the same effect as behind it', async () => {
  expect(splitLeadingFlags(['--context', 'a', '-q', '--json', 'docs', '--all'])).toEqual({
    leading: ['--context', 'a', '-q', '--json'],
    rest: ['docs', '--all'],
  })
  expect(splitLeadingFlags(['--format=json', '--no', 'docs'])).toEqual({
    leading: ['--format=json'],
    rest: ['--no', 'docs'],
  })
  const behind = await home.ks(['config', '--json'])
  expect(await home.ks(['--json', 'config'])).toEqual(behind)
  expect(await home.ks(['--context', 'none', 'docs'])).toMatchObject({ code: 5 })
})
