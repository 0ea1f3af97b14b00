import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { cliHome } from '../helpers/cli.js'

const home = cliHome()
const text = '# Shop\n\nThe shop opens at nine in the morning on weekdays.\n\nOn Sundays the shop stays closed.\n'
let app = ''

beforeAll(async () => {
  home.file('handbook/shop.md', text)
  expect((await home.ks(['ingest', 'handbook', '--wait'])).code).toBe(0)
  const made = await home.kchat(['apps', 'create', 'Handbook', '--space', 'handbook', '--json'])
  expect(made.code).toBe(0)
  app = JSON.parse(made.stdout).id
})
afterAll(() => home.end())

describe('kchat', () => {
  it('explains without a key how to get a key', async () => {
    const other = cliHome()
    const { code, stdout, stderr } = await other.kchat(['send', 'hello'])
    await other.end()
    expect([code, stdout]).toEqual([4, ''])
    expect(stderr).toMatch(/^kchat: no application key is stored\nhint: .*kchat apps create/)
  })

  it('streams an answer with citations', async () => {
    const { code, stdout, stderr } = await home.kchat(['send', 'When does the shop open?'])
    const blocks = 'The shop opens at nine in the morning on weekdays.\n\nOn Sundays the shop stays closed.'
    expect([code, stdout]).toEqual([0, `[1] handbook/shop.md › Shop\n\n${blocks}\n`])
    expect(stderr).toMatch(/^ {2}\[1] handbook\/shop\.md › Shop {2}\d\.\d\d\n$/)
  })

  it('continues the last conversation, and its JSON equals the history', async () => {
    const { stdout } = await home.kchat(['send', 'And on Sundays?', '--conversation', 'last', '--json'])
    const turn = JSON.parse(stdout)
    expect(turn).toMatchObject({ answer: '[1] handbook/shop.md › Shop\n\nOn Sundays the shop stays closed.' })
    expect(turn.metadata.retriever_resources[0]).toMatchObject({
      ...{ position: 1, document_name: 'handbook/shop.md', cited: true },
    })
    const history = await home.kchat(['history', turn.conversation_id, '--json'])
    expect(JSON.parse(history.stdout).map(({ query }: { query: string }) => query)).toEqual([
      'When does the shop open?',
      'And on Sundays?',
    ])
  })

  it('takes the message from stdin, and prints the same in blocking mode', async () => {
    const piped = await home.kchat(['send', '-', '--blocking'], { stdin: 'Is it open on Sundays?\n' })
    expect(piped.stdout).toContain('On Sundays the shop stays closed.')
  })

  it('renames and deletes a conversation, and rates a message', async () => {
    const { message_id, conversation_id } = JSON.parse((await home.kchat(['send', 'Sundays?', '--json'])).stdout)
    const rename = await home.kchat(['conversations', 'rename', conversation_id, 'Opening hours'])
    expect(rename.code).toBe(0)
    const lastHistory = await home.kchat(['history', 'last', '--json'])
    expect(JSON.parse(lastHistory.stdout)).toMatchObject([{ conversation_id }])
    expect((await home.kchat(['conversations', 'vars', 'last', '--json'])).code).toBe(0)
    expect((await home.kchat(['feedback', message_id, 'like', '--note', 'short'])).code).toBe(0)
    expect((await home.kchat(['feedbacks'])).stdout).toContain('like')
    const listed = async () => (await home.kchat(['conversations', 'list'])).stdout
    expect(await listed()).toContain('Opening hours')
    expect((await home.kchat(['conversations', 'delete', conversation_id])).code).toBe(0)
    expect(await listed()).not.toContain('Opening hours')
  })

  it('refuses objects of another end user as if they did not exist', async () => {
    const { conversation_id } = JSON.parse((await home.kchat(['send', 'Sundays?', '--json'])).stdout)
    const { code, stderr } = await home.kchat(['history', conversation_id, '--user', 'somebody-else'])
    expect([code, stderr]).toEqual([5, expect.stringMatching(/^kchat: /)])
  })

  it('stores annotations, and answers by them when enabled', async () => {
    const add = ['annotations', 'add', '--question', 'Is there parking?', '--answer', 'Behind the shop.', '--json']
    const { id } = JSON.parse((await home.kchat(add)).stdout)
    expect((await home.kchat(['annotations', '--fields', 'question,hit_count'])).stdout).toBe('Is there parking?\t0\n')
    const on = await home.kchat(['annotation-reply', 'enable', '--wait', '--json'])
    expect(on, on.stderr).toMatchObject({ code: 0 })
    const job = JSON.parse(on.stdout)
    expect(job).toMatchObject({ job_status: 'completed' })
    expect((await home.kchat(['annotation-reply', 'status', job.job_id])).stdout).toContain('completed')
    expect((await home.kchat(['send', 'Is there parking?'])).stdout).toContain('Behind the shop.')
    const update = ['annotations', 'update', id, '--question', 'Parking?', '--answer', 'None.', '--json']
    expect(JSON.parse((await home.kchat(update)).stdout)).toMatchObject({ question: 'Parking?', hit_count: 1 })
    expect((await home.kchat(['annotation-reply', 'disable', '--wait'])).code).toBe(0)
    expect((await home.kchat(['annotations', 'delete', id])).code).toBe(0)
    expect((await home.kchat(['annotations', 'delete', id])).code).toBe(5)
  })

  it('prints lists in every format, and uploads only existing files', async () => {
    const list = (...words: string[]) => home.kchat(['conversations', ...words])
    expect((await list('--json', '--fields', 'name')).stdout).toMatch(/^\[\{"name":/)
    expect((await list('--format', 'jsonl')).stdout.split('\n')[0]).toMatch(/^\{"id":/)
    expect((await list('--format', 'table')).stdout).toMatch(/^ID +NAME +UPDATED/)
    expect(await list('--format', 'yaml')).toMatchObject({ code: 2 })
    expect(await list('--fields', 'nothing')).toMatchObject({ code: 2 })
    expect((await home.kchat(['app', '--json'])).stdout).toMatch(/^\{"name":"Handbook"/)
    expect(await home.kchat(['upload', 'nowhere.png'])).toMatchObject({ code: 2 })
    expect(await home.kchat(['send', 'look', '--image', home.file('a.txt', 'text')])).toMatchObject({ stdout: '' })
    expect(await home.kchat(['send', 'hello', '--timeout', 'soon'])).toMatchObject({ code: 2 })
    const quiet = cliHome()
    const off = await quiet.kchat(['send', 'hello', '--no-autostart'], { env: { KCHAT_API_KEY: 'app-x' } })
    await quiet.end()
    expect(off).toMatchObject({ code: 8, stdout: '' })
  })

  it('exits with 2 if arguments are missing or wrong', async () => {
    for (const words of [
      [],
      ['send'],
      ['nothing'],
      ['feedback', 'x', 'perhaps'],
      ['send', 'hello', '--input', 'novalue'],
    ])
      expect((await home.kchat(words)).code, words.join(' ')).toBe(2)
  })

  it('stops working when the key is revoked', async () => {
    const { stdout } = await home.kchat(['apps', 'keys', 'list', app, '--json'])
    const keys: { id: string }[] = JSON.parse(stdout)
    for (const { id } of keys) expect((await home.kchat(['apps', 'keys', 'revoke', app, id])).code).toBe(0)
    const { code, stderr } = await home.kchat(['send', 'hello'])
    expect([code, stderr]).toEqual([4, expect.stringMatching(/^kchat: /)])
  })
})
