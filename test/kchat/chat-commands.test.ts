import { chmodSync, existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { COMMANDS, formatHelp } from '../../src/kchat/chat/commands.js'
import { completeLine } from '../../src/kchat/chat/line-completion.js'
import { createChatTerminal, hasTmux } from '../helpers/chat-terminal.js'
import { cliHome } from '../helpers/cli.js'
import { type FakeOpenAi, startFakeOpenAi } from '../helpers/fake-openai.js'
import { until } from '../helpers/until.js'

if (!hasTmux) process.stdout.write('the commands of kchat chat are not tested: tmux is not installed\n')

const home = cliHome()
let model: FakeOpenAi

beforeAll(async () => {
  model = await startFakeOpenAi({
    answer: (messages) =>
      messages.at(-1)?.content.includes('table') === true
        ? '# Hours\n\n**Nine** o\u2019clock.\n\n| Day | Opens |\n|---|---:|\n| Monday | 9 |\n'
        : 'The shop opens at nine. [1]',
  })
  const provider = { pluginId: 'openai-compatible', provider: 'fake', baseUrl: `${model.url}/v1` }
  const defaultGenerator = { pluginId: 'openai-compatible', provider: 'fake', model: 'talker' }
  home.file('data/config.json', JSON.stringify({ providers: [provider], defaultGenerator }))
  home.file('handbook/shop.md', '# Shop\n\nThe shop opens at nine. On Monday it opens at 9 o\u2019clock.\n')
  const ingested = await home.ks(['ingest', 'handbook', '--wait', '--space', 'handbook', '--create'])
  expect(ingested, ingested.stderr).toMatchObject({ code: 0 })
  const prices = ['--prompt-price', '0.01', '--completion-price', '0.03', '--price-unit', '0.001']
  const questions = ['--question', 'When does it open?', '--question', 'Where is it?']
  const made = await home.kchat(['apps', 'create', 'Handbook', '--space', 'handbook', ...prices, ...questions])
  expect(made, made.stderr).toMatchObject({ code: 0 })
})
afterAll(async () => {
  await home.end()
  await model.close()
})

describe('conversation commands', () => {
  it('appear in /help and in Tab completion', () => {
    for (const { name, description } of COMMANDS) {
      expect(formatHelp()).toMatch(new RegExp(`^/${name}( .*)? {2,}${description.replace(/[.$[\]()]/g, '\\$&')}$`, 'm'))
      expect(completeLine(`/${name}`, [])?.text).toMatch(new RegExp(`^/${name}`))
    }
    expect(
      Math.max(
        ...formatHelp()
          .split('\n')
          .filter((line) => line.startsWith('/'))
          .map((line) => line.length),
      ),
    ).toBeLessThan(80)
  })

  it('complete up to their common prefix, and complete file names after commands that take a file', () => {
    expect(completeLine('/re', [])).toEqual({ text: '/re', candidates: ['/rename', '/regenerate', '/resend'] })
    expect(completeLine('/exp', [])).toEqual({ text: '/export ', candidates: [] })
    expect(completeLine(`/export -f ${home.dir}/handb`, [])?.text).toBe(`/export -f ${home.dir}/handbook/`)
    expect(completeLine(`/image ${home.dir}/handbook/`, [])?.text).toBe(`/image ${home.dir}/handbook/shop.md`)
    expect(completeLine('/rename ha', [])).toBeUndefined()
    expect(completeLine('plain words', ['one'])).toBeUndefined()
    expect([
      completeLine('', ['a', 'b'])?.text,
      completeLine('a', ['a', 'b'])?.text,
      completeLine('b', ['a', 'b'])?.text,
    ]).toEqual(['a', 'b', 'a'])
  })
})

describe.skipIf(!hasTmux)('kchat chat in a terminal', () => {
  const { tmux, screen, history, type, shows, open, end } = createChatTerminal(home)
  afterAll(end)
  const leave = async () => {
    type('C-d')
    await shows('left with 0')
  }

  it('suggests questions, renders Markdown, and shows tokens, price and time', async () => {
    await open()
    await shows('/ask 2 Where is it?')
    type('Tab')
    await shows('> When does it open?')
    type('Tab')
    await shows('> Where is it?')
    type('C-u')
    type('/ask 1', 'Enter')
    await shows('› When does it open?')
    await until(() => /\d+ tokens · 0\.\d+ USD · \d+\.\d s/.test(screen()))
    type('Show it as a table.', 'Enter')
    await shows('Monday  9 [1]')
    expect(screen()).toContain('Nine o\u2019clock.')
    expect(screen()).not.toContain('**')
    await leave()
  })

  it('searches earlier messages, and resends a message or returns it for editing', async () => {
    await open()
    for (const text of ['First about apples.', 'Second about pears.']) {
      type(text, 'Enter')
      await shows(`› ${text}`)
      await until(() => !screen().includes('answering'))
    }
    type('half', 'C-r', 'APPLES')
    await shows('> First about apples.')
    await shows('searching for APPLES')
    type('Escape')
    await shows('> half')
    type('C-u', 'C-r', 'about')
    await shows('> Second about pears.')
    type('C-r')
    await shows('> First about apples.')
    type('Enter')
    await until(() => !screen().includes('searching'))
    type('!', 'Enter')
    await shows('› First about apples.!')
    await until(() => !screen().includes('answering'))
    type('/regenerate', 'Enter')
    await until(() => (history().match(/› First about apples\.!/g) ?? []).length === 2)
    await until(() => !screen().includes('answering'))
    type('/resend', 'Enter')
    await shows('> First about apples.!')
    type('C-u')
    await leave()
  })

  it('opens $EDITOR for a message, with the terminal as its input', async () => {
    const editor = home.file(
      'bin/editor',
      '#!/bin/sh\nprintf "now: "; read line < /dev/tty\nprintf " and %s" "$line" >> "$2"\n',
    )
    chmodSync(editor, 0o755)
    await open([], { EDITOR: `${editor} --wait` })
    type('typed', 'C-x', 'C-e')
    await shows('now: ')
    type('from the editor', 'Enter')
    await shows('> typed and from the editor')
    type('C-u')
    await leave()
    await open([], { EDITOR: 'false' })
    type('/edit some words', 'Enter')
    await shows('! false exited with 1; the message is unchanged')
    await shows('> some words')
    type('C-u')
    await leave()
  })

  it('writes the conversation to a file with /export, and replaces a file only with -f', async () => {
    home.file('kept.md', 'mine')
    await open()
    type('When does it open?', 'Enter')
    await shows('tokens')
    type('/export kept.md', 'Enter')
    await shows('kept.md exists already; /export -f kept.md replaces it.')
    expect(readFileSync(join(home.dir, 'kept.md'), 'utf8')).toBe('mine')
    type('/export -f kept.md', 'Enter')
    await shows('Wrote kept.md: 1 message.')
    expect(readFileSync(join(home.dir, 'kept.md'), 'utf8')).toContain(
      '> When does it open?\n\nThe shop opens at nine. [1]\n',
    )
    type('/export all.json', 'Enter')
    await shows('Wrote all.json')
    expect(JSON.parse(readFileSync(join(home.dir, 'all.json'), 'utf8'))).toMatchObject([
      { query: 'When does it open?' },
    ])
    expect(existsSync(join(home.dir, 'none'))).toBe(false)
    await leave()
  })

  it('copies an answer to the clipboard only with /copy', async () => {
    await open()
    tmux('set', '-g', 'set-clipboard', 'on')
    type('When does it open?', 'Enter')
    await shows('tokens')
    expect(tmux('list-buffers')).toBe('')
    type('/copy', 'Enter')
    await until(() => tmux('show-buffer') === 'The shop opens at nine. [1]')
    await leave()
  })

  it('renames, searches and deletes conversations, and deletes only after confirmation', async () => {
    await open()
    type('A question about walruses.', 'Enter')
    await shows('tokens')
    type('/rename Animals of the sea', 'Enter')
    await shows('The conversation is now called "Animals of the sea".')
    type('/search WALRUSES', 'Enter')
    await shows('1* Animals of the sea: A question about walruses.')
    type('/delete 1', 'Enter')
    await shows('Delete this conversation with its messages? [y/N]')
    type('no', 'Enter')
    await shows('Cancelled.')
    expect((await home.kchat(['conversations', '--json'])).stdout).toContain('Animals of the sea')
    type('/delete', 'Enter')
    await shows('[y/N]')
    type('y', 'Enter')
    await shows('Deleted.')
    expect((await home.kchat(['conversations', '--json'])).stdout).not.toContain('Animals of the sea')
    await leave()
  })
})
