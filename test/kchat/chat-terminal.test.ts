import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { createChatTerminal, hasTmux } from '../helpers/chat-terminal.js'
import { cliHome } from '../helpers/cli.js'
import { type FakeOpenAi, startFakeOpenAi } from '../helpers/fake-openai.js'
import { until } from '../helpers/until.js'

if (!hasTmux) process.stdout.write('kchat chat at terminals of all kinds is not tested: tmux is not installed\n')

const home = cliHome()
let model: FakeOpenAi

/** Several screens of text; half a second a paragraph. */
const PARAGRAPHS = 24
const LONG = Array.from(
  { length: PARAGRAPHS },
  (_, at) => `Paragraph ${at} of a story that takes more than one line of most terminals, so that it wraps. END${at}.`,
).join('\n\n')

beforeAll(async () => {
  model = await startFakeOpenAi({
    deltaMs: 15,
    answer: (messages) =>
      messages.at(-1)?.content.includes('Tell me') === true ? LONG : 'The shop opens at nine. [1]',
  })
  const provider = { pluginId: 'openai-compatible', provider: 'fake', baseUrl: `${model.url}/v1` }
  const defaultGenerator = { pluginId: 'openai-compatible', provider: 'fake', model: 'talker' }
  home.file('data/config.json', JSON.stringify({ providers: [provider], defaultGenerator }))
  const every = (text: string) => Array.from({ length: PARAGRAPHS }, (_, at) => `${text}${at}`).join(' ')
  const story = `Paragraph ${every('')} of a story that takes more than one line of most terminals, so that it wraps.`
  home.file('handbook/shop.md', `# Shop\n\nThe shop opens at nine.\n\n${story} ${every('END')}\n`)
  const ingested = await home.ks(['ingest', 'handbook', '--wait', '--space', 'handbook', '--create'])
  expect(ingested, ingested.stderr).toMatchObject({ code: 0 })
  const made = await home.kchat(['apps', 'create', 'Handbook', '--space', 'handbook'])
  expect(made, made.stderr).toMatchObject({ code: 0 })
})
afterEach(() => model.clear())
afterAll(async () => {
  await home.end()
  await model.close()
})

/** Questions of the last conversation. */
async function asked(): Promise<string[]> {
  const [newest] = JSON.parse((await home.kchat(['conversations', '--json'])).stdout)
  const { stdout } = await home.kchat(['history', newest.id, '--json'])
  return JSON.parse(stdout).map(({ query }: { query: string }) => query)
}

describe.skipIf(!hasTmux)('kchat chat in a terminal', () => {
  const { tmux, screen, history, type, shows, open, end } = createChatTerminal(home)
  afterAll(end)
  const leave = async () => {
    type('C-d')
    await shows('left with 0')
  }

  it('supports editing a message by lines, by words and in both directions', async () => {
    await open()
    type('one two')
    await shows('> one two')
    type('C-j', 'three four')
    await shows('three four')
    // Up moves to the line above; in the first line it recalls the previous message.
    type('Up', 'X', 'C-Left', 'DC')
    await shows('> one woX')
    type('End', 'M-Enter', 'new', 'Home', 'BSpace', 'M-b', 'C-d')
    await shows('> one oXnew')
    type('Enter')
    await shows('The shop opens at nine')
    expect(await asked()).toEqual(['one oXnew\nthree four'])
    await leave()
  })

  it('takes a paste of many lines as one message, and shows the line of the cursor', async () => {
    await open()
    home.file('paste.txt', Array.from({ length: 200 }, (_, at) => `pasted ${at}`).join('\n'))
    tmux('load-buffer', join(home.dir, 'paste.txt'))
    tmux('paste-buffer', '-p', '-t', 'chat')
    await shows('line 200 of 200')
    await shows('pasted 199')
    expect(screen()).not.toContain('pasted 100')
    type('Enter')
    await shows('The shop opens at nine')
    expect((await asked()).map((text) => text.split('\n').length)).toEqual([200])
    await leave()
  })

  it('explains matching commands while a command is typed', async () => {
    await open()
    type('/ex')
    await shows('/export [-f] FILE  export the conversation as Markdown')
    type('port x')
    await shows('> /export x')
    expect(screen()).toContain('/export [-f] FILE  export the conversation')
    type('C-u', '/')
    await shows(/\d+ more, Tab lists them/)
    type('Tab')
    await shows('/quit')
    type('C-u', '//')
    await until(() => !screen().includes('/quit'))
    type('C-u')
    await leave()
  })

  it('shows the elapsed time of an answer', async () => {
    model.script({ kind: 'hang' })
    await open()
    type('When does it open?', 'Enter')
    await shows(/answering, Ctrl-C stops · [2-9] s/)
    type('C-c', 'C-c')
    await shows('left with 130')
  })

  it('loses no paragraph of an answer while the terminal changes its size', async () => {
    await open()
    type('Tell me the story.', 'Enter')
    for (const [columns, rows] of [
      [50, 12],
      [120, 40],
      [30, 10],
      [200, 50],
      [40, 15],
    ]) {
      const before = /END(\d+)\./g
      const last = Math.max(-1, ...[...history().matchAll(before)].map(([, at]) => Number(at)))
      tmux('resize-window', '-t', 'chat', '-x', String(columns), '-y', String(rows))
      await until(() => history().includes(`END${Math.min(last + 3, PARAGRAPHS - 1)}.`))
    }
    await shows(`END${PARAGRAPHS - 1}.`)
    await until(() => !screen().includes('answering'))
    await leave()
    // A frame that was drawn before the program learned the new size may remain above.
    const ends = new Set([...history().matchAll(/END(\d+)\./g)].map(([, at]) => Number(at)))
    expect([...ends]).toEqual(Array.from({ length: PARAGRAPHS }, (_, at) => at))
    expect(history()).not.toContain('answering, Ctrl-C stops')
  })

  it('continues after the daemon was killed during an answer, and keeps the text received so far', async () => {
    await open()
    type('Tell me the story.', 'Enter')
    await shows('END1.')
    process.kill(JSON.parse(readFileSync(join(home.dataDir, 'daemon.json'), 'utf8')).pid, 'SIGKILL')
    await shows('! the connection broke before the answer was complete')
    type('When does it open?', 'Enter')
    await shows('The shop opens at nine. [1]')
    expect(history()).toContain('END1.')
    await leave()
  })

  it('shares a conversation with another terminal', { timeout: 300_000 }, async () => {
    const other = createChatTerminal(home)
    try {
      await open()
      type('First of all.', 'Enter')
      await shows('The shop opens at nine. [1]')
      await other.open(['--conversation', 'last'])
      await other.shows('› First of all.')
      type('Tell me the story.', 'Enter')
      await shows('END0.')
      other.type('From elsewhere.', 'Enter')
      await other.shows('› From elsewhere.')
      // Hundreds of deltas, each after a delay.
      await shows(`END${PARAGRAPHS - 1}.`, 200_000)
      // The view shows a message before the service stores it.
      await expect.poll(asked).toEqual(['First of all.', 'Tell me the story.', 'From elsewhere.'])
      await until(() => !screen().includes('answering') && !other.screen().includes('answering'))
      await leave()
    } finally {
      other.end()
    }
  })

  it('uses no colours if NO_COLOR is set', async () => {
    const coloured = () => /\u001b\[[\d;]*3[1-7]/.test(tmux('capture-pane', '-p', '-e', '-t', 'chat'))
    await open([], { NO_COLOR: '' })
    type('/open 99', 'Enter')
    await shows('! the list has no conversation 99')
    expect(coloured()).toBe(true)
    await leave()
    await open([], { NO_COLOR: '1' })
    type('/open 99', 'Enter')
    await shows('! the list has no conversation 99')
    expect(coloured()).toBe(false)
    await leave()
  })

  it('reads messages line by line at a terminal that does not support the view', async () => {
    await open([], { TERM: 'dumb' }, 'Each line is a message; Ctrl-D exits.')
    await shows(/^> *$/m)
    type('When does it open?', 'Enter')
    await shows(
      /^> When does it open\?\nThe shop opens at nine\. \[1]\n {2}\[1] handbook\/shop\.md › Shop {2}\d\.\d\d\n>/m,
    )
    type('Enter', 'C-d')
    await shows('left with 0')
  })
})
