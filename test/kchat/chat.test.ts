import { once } from 'node:events'
import { chmodSync, existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { execa, execaSync } from 'execa'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createChatTerminal, hasTmux } from '../helpers/chat-terminal.js'
import { cliHome, isAlive } from '../helpers/cli.js'
import { type FakeOpenAi, startFakeOpenAi } from '../helpers/fake-openai.js'
import { until } from '../helpers/until.js'

const KCHAT = fileURLToPath(new URL('../../bin/kchat.js', import.meta.url))
if (!hasTmux) process.stdout.write('the view of kchat is not tested: tmux is not installed\n')

const { PATH = '' } = process.env
const home = cliHome()
let model: FakeOpenAi

/** Sentences of the document, streamed slowly enough to be stopped between two words. */
const LONG = [
  'Every visit is a long story [1].',
  ...Array.from({ length: 200 }, (_, index) => {
    const word = `${index % 10 === 0 ? 'Then ' : ''}word${index}`
    return index % 10 === 9 ? `${word} [1].` : word
  }),
].join(' ')

beforeAll(async () => {
  model = await startFakeOpenAi({
    deltaMs: 25,
    answer: (messages) => {
      const asked = messages.at(-1)?.content ?? ''
      if (asked.includes('Think about')) return '<think>\nhm let me</think>\n\nIt is nine. [1]'
      return asked.includes('Tell me') ? LONG : 'The shop opens at nine. [1]'
    },
  })
  const provider = { pluginId: 'openai-compatible', provider: 'fake', baseUrl: `${model.url}/v1` }
  const defaultGenerator = { pluginId: 'openai-compatible', provider: 'fake', model: 'talker' }
  home.file(
    'data/config.json',
    JSON.stringify({ providers: [provider], defaultGenerator, defaultSpeech: 'openai-compatible/fake/voice' }),
  )
  const story = LONG.replaceAll(' [1]', '')
  home.file('handbook/shop.md', `# Shop\n\nThe shop opens at nine. ${story}\n`)
  const ingested = await home.ks(['ingest', 'handbook', '--wait', '--space', 'handbook', '--create'])
  expect(ingested, ingested.stderr).toMatchObject({ code: 0 })
  home.file('variables.json', '[{"name":"city","valueType":"string","default":"Oslo"}]')
  const variables = ['--variables', 'variables.json']
  const look = ['--space', 'handbook', '--opening', 'Welcome in.', '--text-to-speech', ...variables]
  const made = await home.kchat(['apps', 'create', 'Handbook', ...look])
  expect(made, made.stderr).toMatchObject({ code: 0 })
})
afterAll(async () => {
  await home.end()
  await model.close()
})

const titles = async () => {
  const { stdout } = await home.kchat(['conversations', '--json'])
  return JSON.parse(stdout) as { id: string }[]
}
const lastAnswers = async (): Promise<string[]> => {
  const [newest] = await titles()
  const { stdout } = await home.kchat(['history', newest!.id, '--json'])
  return JSON.parse(stdout).map(({ answer }: { answer: string }) => answer)
}

describe('kchat chat in a pipe', () => {
  it('sends each line as a message of one conversation, and prints the answers', async () => {
    const before = (await titles()).length
    const stdin = 'When does the shop open?\n\nWhen on Mondays?\n'
    const run = await home.kchat(['chat'], { stdin })
    expect(run.code).toBe(0)
    expect(run.stderr).toMatch(/^( {2}\[1\] handbook\/shop\.md › Shop {2}\d\.\d\d\n){2}$/)
    expect(run.stdout).toBe('The shop opens at nine. [1]\nThe shop opens at nine. [1]\n')
    expect(await titles()).toHaveLength(before + 1)
    expect(await lastAnswers()).toHaveLength(2)
  })

  it('continues a conversation, and prints JSON lines or events', async () => {
    const stdin = 'When does the shop open?\nAnd on Mondays?\n'
    const json = await home.kchat(['chat', '--json', '--conversation', 'last'], { stdin })
    const turns = json.stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(turns).toMatchObject([{ answer: 'The shop opens at nine. [1]' }, { answer: 'The shop opens at nine. [1]' }])
    expect(await lastAnswers()).toHaveLength(4)
    const events = await home.kchat(['chat', '--format', 'jsonl'], { stdin: 'When does the shop open?\n' })
    const names = events.stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).event)
    expect([names[0], names.at(-1)]).toEqual(['message', 'message_end'])
  })

  it('prints the sources on stdout with --sources, and nowhere with --quiet', async () => {
    const question = 'When does the shop open?'
    for (const run of [
      await home.kchat(['chat', '--sources'], { stdin: question }),
      await home.kchat(['send', question, '--sources']),
    ]) {
      expect(run).toMatchObject({ code: 0, stderr: '' })
      expect(run.stdout).toMatch(/^The shop opens at nine\. \[1\]\n {2}\[1\] handbook\/shop\.md › Shop {2}\d\.\d\d\n$/)
    }
    expect(await home.kchat(['send', question, '--quiet'])).toMatchObject({
      stdout: 'The shop opens at nine. [1]\n',
      stderr: '',
    })
  })

  it('folds thoughts of the model, as `kchat send` does; --thoughts prints them, --json contains them', async () => {
    const question = 'Think about the hours.'
    const plain = [await home.kchat(['chat'], { stdin: question }), await home.kchat(['send', question])]
    plain.push(await home.kchat(['send', question, '--blocking']))
    expect(plain.map(({ stdout }) => stdout)).toEqual(plain.map(() => 'It is nine. [1]\n'))
    const whole = '<think>\nhm let me</think>\n\nIt is nine. [1]'
    const asked = [await home.kchat(['chat', '--thoughts'], { stdin: question })]
    asked.push(await home.kchat(['send', '--thoughts', question]))
    expect(asked.map(({ stdout }) => stdout)).toEqual(asked.map(() => `${whole}\n`))
    expect(JSON.parse((await home.kchat(['send', question, '--json'])).stdout)).toMatchObject({ answer: whole })
  })

  it('ends at the first failure, with its exit code', async () => {
    const run = await home.kchat(['chat', '--conversation', '018f0000-0000-7000-8000-000000000001'], {
      stdin: 'hello\nhello again\n',
    })
    expect(run).toMatchObject({ code: 5, stdout: '' })
    expect(run.stderr).toMatch(/^kchat: /)
  })

  it('keeps the text so far at Ctrl-C, and exits with 130', async () => {
    const env = { ...process.env, ...home.env }
    const child = execa(process.execPath, [KCHAT, 'chat'], {
      env,
      stdio: ['pipe', 'pipe', 'inherit'],
      buffer: false,
      reject: false,
      extendEnv: false,
    })
    let out = ''
    child.stdout.on('data', (chunk) => {
      out += chunk
    })
    child.stdin.write('Tell me the long story of the shop.\n')
    await until(() => out.includes('word5'))
    child.kill('SIGINT')
    expect((await once(child, 'exit'))[0]).toBe(130)
    const [answer] = await lastAnswers()
    expect(LONG.startsWith(answer!.trim())).toBe(true)
    expect(answer).toContain('word5')
    expect(answer).not.toContain('word199')
  })
})

describe.skipIf(!hasTmux)('kchat chat in a terminal', () => {
  const { tmux, screen, history, type, shows, open, end } = createChatTerminal(home)
  afterAll(end)

  it('shows the opening statement, streams answers with sources, and leaves everything in the scrollback', async () => {
    await open()
    expect(screen()).toContain('Welcome in.')
    expect(screen()).toContain('Handbook · /help')
    expect(screen()).toMatch(/^before\n/)
    type('When does the shop open?', 'Enter')
    await shows('[1] handbook/shop.md')
    expect(screen()).toContain('› When does the shop open?')
    expect(screen()).toContain('The shop opens at nine. [1]')
    type('/help', 'Enter')
    await shows('Ctrl-C stops an answer')
    type('/quit', 'Enter')
    await shows('left with 0')
    expect(screen()).toContain('continues this conversation')
    // Only the messages, once: no line of the view remains.
    const all = history()
    expect(all.match(/The shop opens at nine\. \[1\]/g)).toHaveLength(1)
    expect(all).toMatch(
      /^before\nHandbook\nAnswers from handbook \(1 document\); newest change \d{4}-\d\d-\d\d\.\nEnter sends, .*\n(?:.*\n)?\nWelcome in\.\n\n› When does the shop open\?\n/,
    )
    expect(all).not.toContain('Handbook ·')
  })

  it('stops an answer at Ctrl-C and keeps its text; without an answer, Ctrl-C clears the line, then exits', async () => {
    await open()
    type('Tell me the long story of the shop.', 'Enter')
    await shows('word5')
    type('C-c')
    await shows('(stopped)')
    const [answer] = await lastAnswers()
    expect(answer).toContain('word5')
    expect(answer).not.toContain('word199')
    type('never mind')
    await shows('> never mind')
    type('C-c')
    await until(() => !screen().includes('never mind'))
    type('C-c')
    await shows('Ctrl-C again exits')
    type('x')
    await until(() => !screen().includes('Ctrl-C again exits'))
    type('BSpace')
    type('C-c')
    await shows('Ctrl-C again exits')
    type('C-c')
    await shows('left with 0')
  })

  it('sends two messages that arrive together in their order', async () => {
    await open()
    tmux('send-keys', '-t', 'chat', '-l', 'Tell me the first.\rWhen is the second?\r')
    await shows('1 message queued')
    await shows('› When is the second?')
    await until(() => !screen().includes('answering'))
    const [newest] = await titles()
    const { stdout } = await home.kchat(['history', newest!.id, '--json'])
    expect(JSON.parse(stdout).map(({ query }: { query: string }) => query)).toEqual([
      'Tell me the first.',
      'When is the second?',
    ])
    type('C-d')
    await shows('left with 0')
  })

  it('returns queued messages for editing when Ctrl-C stops the answer before them', async () => {
    await open()
    tmux('send-keys', '-t', 'chat', '-l', 'Tell me the first.\rTell me the second.\r')
    await shows('word5')
    type('C-c')
    await shows('(stopped)')
    await shows('> Tell me the second.')
    type('C-c')
    type('C-d')
    await shows('left with 0')
  })

  it('folds thoughts of the model, and shows them with /thoughts', async () => {
    await open()
    type('Think about the hours.', 'Enter')
    await shows('It is nine. ')
    expect(screen()).toContain('thought first: 3 words')
    expect(screen()).not.toContain('hm let me')
    type('/thoughts', 'Enter')
    await shows('hm let me')
    type('C-d')
    await shows('left with 0')
  })

  it('exits at the second Ctrl-C during an answer', async () => {
    model.script({ kind: 'hang' })
    await open()
    type('When does the shop open?', 'Enter')
    await shows('answering')
    type('C-c')
    type('C-c')
    await shows('left with 130')
    model.clear()
  })

  it('exits at a Ctrl-C directly after the Ctrl-C that stopped an answer, even if the answer has ended meanwhile', async () => {
    model.script({ kind: 'hang' })
    await open()
    type('When does the shop open?', 'Enter')
    await shows('answering')
    type('C-c')
    await shows('Ctrl-C again exits')
    type('a')
    await shows('> a')
    type('C-c')
    await until(() => !screen().includes('> a'))
    model.script({ kind: 'hang' })
    type('And on Sundays?', 'Enter')
    await shows('answering')
    type('C-c')
    await shows('Ctrl-C again exits')
    type('C-c')
    await shows('left with 130')
    model.clear()
  })

  it('recalls messages, starts a new conversation, and opens earlier conversations', async () => {
    await open()
    type('When does the shop open?', 'Enter')
    await shows('[1] handbook/shop.md')
    type('half a')
    type('Up')
    await shows('> When does the shop open?')
    type('Down')
    await shows('> half a')
    type('C-u')
    type('/new', 'Enter')
    await shows('─── new conversation ───')
    type('C-o')
    await shows('/open N opens one')
    type('/open 1', 'Enter')
    type('/like', 'Enter')
    await until(() => (history().match(/› When does the shop open\?/g) ?? []).length === 2)
    await shows('Marked as a good answer to "When does the shop open?".')
    type('/dislike too short', 'Enter')
    await shows(', because: too short.')
    const { stdout } = await home.kchat(['feedbacks', '--json'])
    expect(JSON.parse(stdout)[0]).toMatchObject({ rating: 'dislike', content: 'too short' })
    type('/vars', 'Enter')
    await shows('city: Oslo')
    type('/nothing', 'Enter')
    await shows('There is no command /nothing')
    type('C-d')
    await shows('left with 0')
  })

  it('continues the last conversation, and wraps an answer to the new size of the terminal when the size changes', async () => {
    await open(['--conversation', 'last'])
    await shows('The shop opens at nine. [1]')
    type('Tell me the long story of the shop.', 'Enter')
    await shows('word30')
    tmux('resize-window', '-t', 'chat', '-x', '40', '-y', '16')
    await shows('word199')
    await until(() => !screen().includes('answering'))
    const lines = history()
      .split('\n')
      .filter((line) => /^(?:Every|story|word\d|Then|\[1\])/.test(line))
    // A frame that was drawn before the program learned the new size may remain above; the answer below it is complete.
    const answer = lines.slice(lines.findLastIndex((line) => line.startsWith('Every visit ')))
    expect(answer.join(' ')).toBe(LONG)
    expect(Math.max(...answer.map((line) => line.length))).toBeLessThanOrEqual(40)
    type('C-d')
    await shows('left with 0')
  })

  it('reads the last answer aloud until Ctrl-C, or into a file', async () => {
    const playing = join(home.dir, 'playing')
    const player = home.file('bin/ffplay', `#!/bin/sh\necho $$ > "${playing}"\nexec /bin/sleep 60\n`)
    chmodSync(player, 0o755)
    process.env.PATH = `${join(home.dir, 'bin')}:${PATH}`
    await open(['--conversation', 'last'])
    process.env.PATH = PATH
    type('/speak', 'Enter')
    await shows('reading aloud, Ctrl-C stops')
    await until(() => existsSync(playing))
    type(`/speak ${join(home.dir, 'answer.mp3')}`, 'Enter')
    await shows('Wrote ')
    expect(readFileSync(join(home.dir, 'answer.mp3'), 'utf8')).toMatch(/^ID3/)
    // One voice at a time.
    await until(() => !isAlive(Number(readFileSync(playing, 'utf8'))))
    rmSync(playing)
    type('/speak', 'Enter')
    await until(() => existsSync(playing))
    type('C-c')
    await until(() => !screen().includes('reading aloud'))
    await until(() => !isAlive(Number(readFileSync(playing, 'utf8'))))
    type('C-d')
    await shows('left with 0')
  })

  it('leaves the conversation on the screen when kchat is terminated', async () => {
    await open()
    // Only this terminal; other runs on the machine have others.
    const shell = tmux('list-panes', '-t', 'chat', '-F', '#{pane_pid}').trim()
    const { stdout: pid } = execaSync('pgrep', ['-P', shell, '-f', 'kchat.js chat'])
    process.kill(Number(pid), 'SIGTERM')
    await shows('left with 143')
    expect(screen()).toContain('before')
  })
})
