import { join } from 'node:path'
import stringWidth from 'string-width'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { hasTerminal, runInTerminal } from '../helpers/terminal.js'
import { app, ask, LOST, research, source, space, turn } from './documented/made.js'
import { startWorld, type World } from './documented/world.js'

const COLUMNS = 40

/** Every list at a terminal, and a following command with an id of it. */
const LISTS: readonly (readonly [list: string, next: string | undefined])[] = [
  ['ks spaces', undefined],
  ['ks docs', 'ks docs show ID'],
  ['ks docs show corpus/guide/harbour.md --as outline', undefined],
  ['ks jobs', 'ks jobs show ID'],
  ['ks sources', 'ks sources show ID'],
  ['ks golden', 'ks golden ID'],
  ['ks failed', 'ks failed triage ID irrelevant'],
  ['ks failed --clusters', undefined],
  ['ks traces', 'ks traces show ID'],
  ['ks research', 'ks research show ID'],
  ['ks watch', 'ks watch remove ID'],
  ['ks search who is on call in August', 'ks docs show ID'],
  ['ks fs ls /knowledge/documents', undefined],
  ['ks fs find /knowledge --type document', undefined],
  ['ks graph', undefined],
  ['ks graph communities', undefined],
  ['ks api --list retention', undefined],
  ['ks context', undefined],
  ['kchat apps', 'kchat apps show ID'],
  ['kchat conversations', 'kchat history ID'],
  ['kchat annotations', 'kchat annotations delete ID'],
  ['kchat feedbacks', undefined],
  // Last, since the commands above need this key.
  ['kchat apps keys list Handbook', 'kchat apps keys revoke Handbook ID'],
]

let world: World
const show = (line: string) =>
  runInTerminal(line, { columns: COLUMNS, env: world.home.env, cwd: join(world.home.dir, 'work') })

beforeAll(async () => {
  world = await startWorld()
  await space(world, 'example-space')
  await world.ks('spaces', 'create', 'A space of a long name', '--slug', 'a-space-with-a-slug-of-forty-characters')
  await source(world, '')
  await world.ks('golden', 'add', 'Who is on call in August, and who leads the project?')
  await ask(world, LOST)
  await research(world, '')
  await world.ks('fs', 'write', '/workspaces/audit/notes.md', '--text', 'Start.')
  await world.ks('watch', 'add', join(world.home.dir, 'notes'))
  await app(world, 'Handbook')
  const { message_id } = await turn(world)
  await world.kchat('feedback', message_id, 'like')
  await world.kchat('annotations', 'add', '--question', 'Is there parking?', '--answer', 'Behind the shop.')
}, 120_000)
afterAll(() => world?.end())

/** Lines wider than the terminal, except single words, alone or after a label, and examples of help. */
function tooWide(screen: string): string[] {
  const mayBe = /^\s*(\S+(?: \S+){0,2} {2,})?\S+$|^ {2}(\$|git) /
  return screen.split('\n').filter((line) => stringWidth(line) > COLUMNS && !mayBe.test(line))
}

describe.skipIf(!hasTerminal)('output on a terminal of 40 columns', () => {
  it.each([
    ['ks query "who is on call in August and what did we decide about backups?" --evidence', 0],
    ['ks research start "compare the two gauges and how exact they are" --wait', 0],
    ['ks spaces create Notes --slug example-space', 6],
    ['ks docs show nothing-of-this-name', 5],
    ['ks frobnicate the documents', 2],
    ['ks spaces update', 2],
    ['ks doctor', 0],
    ['ks daemon status', 0],
    ['ks spaces status example-space', 0],
    ['ks why "what does mooring cost a night?" corpus/guide/harbour.md', 0],
    ['ks ingest --help', 0],
    ['kchat send "When does the shop open?"', 0],
    ['kchat history nothing', 2],
  ])('wraps the text of `%s`', async (line, code) => {
    const { screen, ...ended } = await show(line)
    expect([ended.code, tooWide(screen)], screen).toEqual([code, []])
  })

  it.each(LISTS)('contains complete ids for `%s`, as needed by `%s`', async (list, next) => {
    const { code, screen } = await show(list)
    expect(code, screen).toBe(0)
    expect(tooWide(screen)).toEqual([])
    // One line for each item, no block of lines.
    expect(screen.trim()).not.toMatch(/\n\s*\n/)
    // No id and no slug is truncated.
    expect(screen).not.toMatch(/#[0-9a-f]{0,7}…/)
    if (next === undefined) return
    const [id = 'none'] = /#[0-9a-f]{8}\b/.exec(screen) ?? []
    const done = await world.shell(next.replace('ID', `'${id}'`))
    expect(done.code, `${screen}${done.stderr}`).toBe(0)
  })

  it('contains complete slugs, as needed by `ks spaces show`', async () => {
    const { screen } = await show('ks spaces')
    expect(screen).toContain('a-space-with-a-slug-of-forty-characters')
    expect((await world.shell('ks spaces show a-space-with-a-slug-of-forty-characters')).code).toBe(0)
  })

  it('differs from output in a pipe, which is not wrapped', async () => {
    const question = ['query', 'who is on call in August and what did we decide about backups?']
    const { stdout } = await world.home.ks(question, { env: { COLUMNS: '40' } })
    expect(Math.max(...stdout.split('\n').map((line) => line.length))).toBeGreaterThan(COLUMNS)
  })
})
