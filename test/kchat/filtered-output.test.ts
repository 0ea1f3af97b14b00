import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { cliHome, KCHAT } from '../helpers/cli.js'
import { type FakeOpenAi, startFakeOpenAi } from '../helpers/fake-openai.js'
import { hasTerminal, runInTerminal } from '../helpers/terminal.js'

const home = cliHome()
let model: FakeOpenAi
let conversation = ''

const LINES = Array.from({ length: 60 }, (_, at) => `- item ${at}`).join('\n')

beforeAll(async () => {
  model = await startFakeOpenAi({
    answer: (messages) => (messages.at(-1)?.content.includes('list') === true ? LINES : 'The shop opens at nine. [1]'),
  })
  const provider = { pluginId: 'openai-compatible', provider: 'fake', baseUrl: `${model.url}/v1` }
  const defaultGenerator = { pluginId: 'openai-compatible', provider: 'fake', model: 'talker' }
  home.file('data/config.json', JSON.stringify({ providers: [provider], defaultGenerator }))
  for (const name of ['Handbook', 'Other "one"'])
    expect(await home.kchat(['apps', 'create', name])).toMatchObject({ code: 0 })
  const sent = await home.kchat(['send', 'Give me a list.', '--json'])
  expect(sent, sent.stderr).toMatchObject({ code: 0 })
  conversation = JSON.parse(sent.stdout).conversation_id
})
afterAll(async () => {
  await home.end()
  await model.close()
})

describe('--jq and --template of kchat', () => {
  it('print their result for the JSON of a command', async () => {
    const jq = await home.kchat(['apps', '--jq', 'map(.name) | sort | .[]'])
    expect(jq).toMatchObject({ code: 0, stdout: 'Handbook\nOther "one"\n', stderr: '' })
    const template = await home.kchat(['apps', '--template', '{{#.}}<{{name}}>\\n{{/.}}'])
    expect(template.stdout.trim().split('\n').sort()).toEqual(['<Handbook>', '<Other "one">'])
    const lines = await home.kchat(['apps', '--format', 'jsonl', '--jq', '{name}'])
    expect(lines.stdout.trim().split('\n').sort()).toEqual(['{"name":"Handbook"}', '{"name":"Other \\"one\\""}'])
  })

  it('extract the answer of `kchat send` and `kchat chat`, even in the fast path', async () => {
    const sent = await home.kchat(['send', 'When does it open?', '--jq', '.answer'])
    expect(sent, sent.stderr).toMatchObject({ code: 0, stdout: 'The shop opens at nine. [1]\n' })
    const stdin = 'When?\nAnd when on Mondays?\n'
    const chat = await home.kchat(['chat', '--jq', '.answer | length'], { stdin })
    expect(chat, chat.stderr).toMatchObject({ code: 0, stdout: '27\n27\n' })
  })

  it('refuse incompatible flags, and keep the exit code of a failed command', async () => {
    const wrong = await home.kchat(['apps', '--jq', 'nonsense'])
    expect(wrong).toMatchObject({ code: 2, stdout: '' })
    expect(wrong.stderr).toContain('nonsense/0 is not defined')
    expect(await home.kchat(['apps', '--jq', '.', '--template', 'x'])).toMatchObject({ code: 2, stdout: '' })
    expect(await home.kchat(['apps', '--jq', '.', '--format', 'tsv'])).toMatchObject({ code: 2, stdout: '' })
    const none = '018f0000-0000-7000-8000-000000000001'
    expect(await home.kchat(['history', none, '--jq', '.'])).toMatchObject({ code: 5, stdout: '' })
  })
})

describe('an alias of kchat', () => {
  it('expands to a command with arguments, and hides no command; ks has separate aliases', async () => {
    expect(await home.kchat(['alias', 'set', 'askshort', 'send $1 --jq .answer'])).toMatchObject({ code: 0 })
    expect(await home.kchat(['askshort', 'When does it open?'])).toMatchObject({
      code: 0,
      stdout: 'The shop opens at nine. [1]\n',
    })
    expect((await home.kchat(['alias', '--jq', '.[].command'])).stdout).toBe('send $1 --jq .answer\n')
    expect((await home.kchat(['askshort'])).stderr).toContain('the alias askshort needs 1 or more arguments')
    expect(await home.ks(['askshort', 'x'])).toMatchObject({ code: 2 })
    for (const [name, line] of [
      ['send', 'apps'],
      ['x', 'nothing such'],
      ['-x', 'apps'],
    ])
      expect(await home.kchat(['alias', 'set', '--', name ?? '', line ?? ''])).toMatchObject({ code: 2 })
    const path = join(home.dir, 'config', 'chat-aliases.json')
    const kept = JSON.parse(readFileSync(path, 'utf8'))
    home.file('config/chat-aliases.json', JSON.stringify({ ...kept, apps: 'alias' }))
    expect((await home.kchat(['apps', '--jq', 'length'])).stdout).toBe('2\n')
    expect(await home.kchat(['alias', 'delete', 'askshort'])).toMatchObject({ code: 0 })
    expect(await home.kchat(['askshort', 'x'])).toMatchObject({ code: 2 })
    expect(await home.kchat(['alias', 'delete', 'askshort'])).toMatchObject({ code: 5 })
  })
})

describe.skipIf(!hasTerminal)('the pager of kchat at a terminal', () => {
  const shown = async (name: string, line: string) => {
    const file = join(home.dir, name)
    const env = { ...home.env, KS_PAGER: `cat > '${file}'` }
    const { screen, code } = await runInTerminal(`'${process.execPath}' '${KCHAT}' ${line}`, { cwd: home.dir, env })
    expect(code, screen).toBe(0)
    return { screen, paged: existsSync(file) ? readFileSync(file, 'utf8') : undefined }
  }

  it('gets all output that is longer than the screen, and nothing of it appears on the screen', async () => {
    const { screen, paged } = await shown('history.txt', `history ${conversation}`)
    expect(paged).toContain('item 0')
    expect(paged).toContain('item 59')
    expect(screen).not.toContain('item')
  })

  it('gets no short output, no output with the pager disabled, and no streamed answer', async () => {
    const short = await shown('short.txt', 'apps')
    expect(short).toMatchObject({ paged: undefined })
    expect(short.screen).toContain('Handbook')
    for (const [name, line] of [
      ['unwanted.txt', `history ${conversation} --no-pager`],
      ['sent.txt', `send 'Give me a list.'`],
    ] as const) {
      const { screen, paged } = await shown(name, line)
      expect(paged).toBeUndefined()
      expect(screen).toContain('item 0')
      expect(screen).toContain('item 59')
    }
  })
})
