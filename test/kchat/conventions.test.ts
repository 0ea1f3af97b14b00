import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { execaSync } from 'execa'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { cliHome, KS, plainEnv, startTestServer } from '../helpers/cli.js'

const KCHAT = fileURLToPath(new URL('../../bin/kchat.js', import.meta.url))

const home = cliHome()
let app = ''
const kchat = (...words: string[]) => home.kchat(words)
const json = async (...words: string[]) => JSON.parse((await kchat(...words, '--json')).stdout)

beforeAll(async () => {
  home.file('handbook/shop.md', '# Shop\n\nThe shop opens at nine in the morning on weekdays.\n')
  expect((await home.ks(['ingest', 'handbook', '--wait', '--space', 'handbook', '--create'])).code).toBe(0)
  const made = await kchat('apps', 'create', 'Handbook', '--space', 'handbook')
  expect(made.stderr).toBe('Stored a key as "Handbook". It is the current key: `kchat send TEXT` uses it.\n')
  app = made.stdout.split('\t')[0] ?? ''
  for (const word of ['one', 'two', 'three']) await kchat('send', `When does shop ${word} open?`, '--no-name')
})
afterAll(() => home.end())

describe('lists of kchat', () => {
  it('continue at their cursor in the requested order, and explain how to get more entries', async () => {
    const first = await kchat('conversations', '--limit', '2', '--sort', 'created_at', '--fields', 'id')
    const ids = first.stdout.trim().split('\n')
    expect(ids).toHaveLength(2)
    expect(first.stderr).toBe(`more: \`--all\`, or \`--cursor ${ids[1]}\`\n`)
    const rest = await kchat('conversations', '--sort', 'created_at', '--cursor', ids[1]!, '--fields', 'id')
    const all = await kchat('conversations', '--all', '--format', 'tsv', '--sort', 'created_at', '--fields', 'id')
    expect(all.stdout).toBe(first.stdout + rest.stdout)
    expect((await kchat('conversations', 'ls', '--format', 'jsonl', '--all')).stdout.trim().split('\n')).toHaveLength(3)
    expect((await kchat('conversations')).stdout).toMatch(/\t\d{4}-\d\d-\d\dT[\d:.]+Z\n/)
  })

  it('use page numbers where the service uses page numbers', async () => {
    for (const word of ['a', 'b', 'c']) await kchat('annotations', 'add', '--question', word, '--answer', word)
    const first = await kchat('annotations', '--limit', '2', '--fields', 'question')
    expect(first).toMatchObject({ stdout: 'c\nb\n', stderr: 'more: `--all`, or `--page 2`\n' })
    expect((await kchat('annotations', '--limit', '2', '--page', '2', '--fields', 'question')).stdout).toBe('a\n')
    expect((await kchat('annotations', '--all', '--fields', 'question')).stdout).toBe('c\nb\na\n')
    expect(await kchat('annotations', '--all', '--limit', '2')).toMatchObject({ code: 2, stdout: '' })
  })

  it('show a history as prose, or as a list with --fields', async () => {
    const [{ id }] = await json('conversations')
    await kchat('send', 'And on Sundays?', '--conversation', id)
    expect((await kchat('history', id)).stdout).toMatch(
      /^> When does shop three open\?\n\[1\] .*\n\nThe shop .*\n\n> And on/,
    )
    expect((await kchat('history', id, '--limit', '1', '--fields', 'query')).stdout).toBe('And on Sundays?\n')
    expect(await json('history', id, '--limit', '1')).toMatchObject([{ query: 'And on Sundays?' }])
  })
})

describe('ids of kchat', () => {
  const shown = async (...words: string[]) =>
    /#[0-9a-f]{8}/.exec((await kchat(...words, '--format', 'table')).stdout)![0]

  it('can be given by their last eight characters, which a table shows', async () => {
    const conversation = await shown('conversations')
    expect((await kchat('history', conversation)).stdout).toMatch(/^> /)
    expect((await kchat('conversations', 'rename', conversation, 'Renamed')).code).toBe(0)
    const turn = await json('send', 'And on Sundays?', '--conversation', conversation)
    expect(turn.conversation_id.replaceAll('-', '').endsWith(conversation.slice(1))).toBe(true)
    await kchat('feedback', turn.message_id, 'like')
    const message = await shown('feedbacks')
    expect((await kchat('feedback', message.slice(1), 'dislike')).code).toBe(0)
    await kchat('annotations', 'add', '--question', 'x', '--answer', 'y')
    expect((await kchat('annotations', 'delete', await shown('annotations'))).code).toBe(0)
    expect((await json('apps', 'show', await shown('apps'))).id).toBe(app)
    const { id } = await json('apps', 'keys', 'create', 'Handbook')
    expect(await shown('apps', 'keys', 'list', app)).toMatch(/^#/)
    const revoked = await json('apps', 'keys', 'revoke', app, `#${id.slice(-8)}`)
    expect(revoked).toEqual({ id, revoked: true })
    expect(await kchat('history', '#00000000')).toMatchObject({ code: 5, stdout: '' })
  })
})

describe('output of kchat', () => {
  it('consists of the result with --json, else of a note on stderr', async () => {
    const turn = await json('send', 'When does the shop open?')
    expect(await json('feedback', turn.message_id, 'like')).toEqual({ result: 'success' })
    expect(await kchat('feedback', turn.message_id, 'none')).toMatchObject({
      code: 0,
      stdout: '',
      stderr: 'Removed the rating.\n',
    })
    expect(await json('stop', turn.task_id)).toEqual({ result: 'success' })
    const { conversation_id: id } = turn
    expect(await json('conversations', 'delete', id)).toEqual({ id, deleted: true })
    expect(await kchat('use', 'Handbook', '--quiet')).toMatchObject({ code: 0, stdout: '', stderr: '' })
  })

  it('demands confirmation before an application is deleted', async () => {
    const made = await json('apps', 'create', 'Gone')
    await kchat('use', 'Handbook')
    const asked = await kchat('apps', 'delete', 'Gone')
    expect(asked).toMatchObject({ code: 2, stdout: '' })
    expect(asked.stderr).toMatch(/^kchat: deleting application "Gone" .* needs confirmation\nhint: use `--yes`/)
    expect(await json('apps', 'delete', 'Gone', '--yes')).toEqual({ id: made.id, deleted: true })
    expect(await kchat('apps', 'show', 'Gone')).toMatchObject({ code: 5 })
  })

  it('follows the options, else the environment', async () => {
    expect((await home.kchat(['conversations'], { env: { KS_FORMAT: 'json' } })).stdout).toMatch(/^\[\{/)
    expect(await home.kchat(['conversations'], { env: { KS_FORMAT: 'yaml' } })).toMatchObject({ code: 2 })
    expect(await home.kchat(['conversations'], { env: { KS_TIMEOUT: '1ms' } })).toMatchObject({ code: 8 })
    expect((await home.kchat(['app'], { env: { KS_DEBUG: '1' } })).stderr).toMatch(/^debug: GET \/v1\/info/)
    const table = await kchat('conversations', '--format', 'table', '--no-header')
    expect(table.stdout).not.toContain('UPDATED')
    expect((await kchat('app', '-v')).stderr).toMatch(
      /^kchat: using the local daemon of .* \(default\) with the key of "Handbook" as /,
    )
    expect((await kchat('conversations', '--format', 'table', '--color')).stdout).toContain('\u001b[')
  })
})

describe('a failure of kchat', () => {
  it('consists of one sentence with a hint, or with --json of one JSON object', async () => {
    const lines: [string[], string][] = [
      [['send'], 'kchat: `kchat send` needs TEXT\n'],
      [['send', 'a', 'b'], 'kchat: `kchat send` takes 1 argument, received 2\n'],
      [['send', 'a', '--spek'], 'kchat: unknown flag `--spek` for `kchat send`\nhint: did you mean `--speak`?\n'],
      [
        ['--app', 'x', 'send', 'a'],
        'kchat: `--app` is before the command\nhint: flags follow the command: `kchat COMMAND --app …`\n',
      ],
      [['sned', 'a'], 'kchat: unknown command `kchat sned`\nhint: did you mean `kchat send`?\n'],
      [['apps', 'creat'], 'kchat: unknown command `kchat apps creat`\nhint: did you mean `kchat apps create`?\n'],
      [['feedback', 'a', 'b'], 'kchat: rating must be one of like, dislike, none, received "b"\n'],
      [['apps', 'create', 'A', '--mode', 'b'], 'kchat: --mode must be one of chat, agent-chat, received "b"\n'],
      [['annotations', 'add', '--question', 'a'], 'kchat: `kchat annotations add` needs `--answer <text>`\n'],
      [['send', 'a', '--user'], 'kchat: `--user <user>` needs a value\n'],
    ]
    for (const [words, text] of lines) {
      const run = await kchat(...words)
      expect([run.code, run.stdout], words.join(' ')).toEqual([2, ''])
      expect(run.stderr.startsWith(text), run.stderr).toBe(true)
    }
    for (const run of [
      await kchat('send', '--json'),
      await kchat('app', '--json', '--format', 'tsv'),
      await home.kchat(['send', 'a', 'b'], { env: { KS_FORMAT: 'json' } }),
    ])
      expect(JSON.parse(run.stderr)).toMatchObject({ error: { code: 'usage', exitCode: 2 } })
  })

  it('contains a hint for an error of the service', async () => {
    const { stderr } = await kchat('send', 'hello', '--conversation', app)
    expect(stderr).toMatch(/^kchat: Conversation Not Exists\.\nhint: the conversation was deleted/)
    const refused = await home.kchat(['app'], { env: { KCHAT_API_KEY: 'app-wrong' } })
    expect(refused).toMatchObject({ code: 4, stdout: '' })
    expect(refused.stderr).toMatch(/hint: `kchat use` lists the stored keys/)
  })

  it.skipIf(!existsSync('/dev/full'))('to write to stdout leads to exit 1 with the reason', () => {
    const env = { ...plainEnv(), ...home.env }
    for (const program of [`'${KCHAT}' conversations`, `'${KCHAT}' send hello`, `'${KS}' spaces`]) {
      const run = execaSync('sh', ['-c', `'${process.execPath}' ${program} > /dev/full`], {
        env,
        reject: false,
        extendEnv: false,
      })
      expect([run.exitCode, run.stderr]).toEqual([
        1,
        expect.stringMatching(/^k(s|chat): stdout cannot be written: ENOSPC/),
      ])
    }
  })

  it('results from a service that a project file selects, and the key of the environment is not sent there', async () => {
    const server = await startTestServer((_request, response) => response.end('{}'))
    await home.ks(['context', 'elsewhere', '--url', server.url])
    home.file('project/.ks.json', JSON.stringify({ context: 'elsewhere' }))
    const run = await home.kchat(['app'], { cwd: `${home.dir}/project`, env: { KCHAT_API_KEY: 'app-secret' } })
    await server.end()
    expect(run).toMatchObject({ code: 4, stdout: '' })
    expect(server.seen).toEqual([])
  })
})

it('kchat prints one note a day if the version of the service differs', async () => {
  const server = await startTestServer((_request, response) =>
    response.writeHead(200, { 'x-ks-version': '9.9.0', 'content-type': 'application/json' }).end('{"name":"Far"}'),
  )
  const env = { KCHAT_URL: server.url, KCHAT_API_KEY: 'app-far' }
  const runs = [await home.kchat(['app', '--json'], { env }), await home.kchat(['app', '--json'], { env })]
  await server.end()
  expect(runs.map(({ stdout }) => stdout)).toEqual(['{"name":"Far"}\n', '{"name":"Far"}\n'])
  expect(runs[0]!.stderr).toMatch(/^kchat: the daemon is 9\.9\.0, kchat is \d+\.\d+\.\d+; `ks daemon restart`\n$/)
  expect(runs[1]!.stderr).toBe('')
})

describe('completion of kchat', () => {
  it.skipIf(execaSync('bash', ['--version'], { reject: false }).failed)(
    'offers commands and options in bash',
    async () => {
      home.file('completion.sh', (await kchat('completion', 'bash')).stdout)
      const offers = (...words: string[]) => {
        const typed = words.map((word) => `'${word}'`).join(' ')
        const script = `source completion.sh; COMP_WORDS=(kchat ${typed}); COMP_CWORD=${words.length}; _kchat; echo "\${COMPREPLY[@]}"`
        return execaSync('bash', ['-c', script], { cwd: home.dir, reject: false }).stdout.trim()
      }
      expect(offers('annotation')).toBe('annotations annotation-reply')
      expect(offers('apps', 'up')).toBe('update')
      expect(offers('send', '--conv')).toBe('--conversation')
      expect(offers('apps', 'update', '--mode', '')).toBe('chat agent-chat')
    },
  )
})
