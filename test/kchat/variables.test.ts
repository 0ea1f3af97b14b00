import { afterAll, beforeAll, expect, it } from 'vitest'
import { cliHome } from '../helpers/cli.js'

const home = cliHome()
const kchat = (...words: string[]) => home.kchat(words)
const conversations = (...words: string[]) => kchat('conversations', ...words)
let id = ''

beforeAll(async () => {
  home.file('handbook/shop.md', '# Shop\n\nThe shop opens at nine in the morning on weekdays.\n')
  home.file(
    'variables.yaml',
    '- { name: city, valueType: string, default: Oslo }\n- { name: city.tags, valueType: "array[string]" }\n- { name: visits, valueType: number }\n',
  )
  expect((await home.ks(['ingest', 'handbook', '--wait', '--space', 'handbook', '--create'])).code).toBe(0)
  const made = await kchat('apps', 'create', 'Handbook', '--space', 'handbook', '--variables', 'variables.yaml')
  expect(made, made.stderr).toMatchObject({ code: 0 })
  const sent = await kchat('send', 'When does the shop open?', '--no-name', '--json')
  id = JSON.parse(sent.stdout).conversation_id
})
afterAll(() => home.end())

it('kchat shows and sets the variables of a conversation by name', async () => {
  expect((await conversations('vars', id)).stdout).toBe(
    'city\tstring\tOslo\ncity.tags\tarray[string]\t[]\nvisits\tnumber\t0\n',
  )
  expect(await conversations('set-var', id, 'city', 'Bergen')).toMatchObject({
    code: 0,
    stdout: '',
    stderr: 'Set city.\n',
  })
  const tags = await home.kchat(['conversations', 'set-var', id, 'city.tags', '-', '--json'], {
    stdin: '["new", "old"]\n',
  })
  expect(JSON.parse(tags.stdout)).toMatchObject({ name: 'city.tags', value: '["new","old"]' })
  expect(await conversations('set-var', id, 'visits', '--', '-3')).toMatchObject({ code: 0 })
  expect(await conversations('set-var', id, 'city', '')).toMatchObject({ code: 0 })
  expect((await conversations('vars', id, '--name', 'S', '--fields', 'name,value')).stdout).toBe(
    'city.tags\t["new","old"]\nvisits\t-3\n',
  )
  const { data } = { data: JSON.parse((await conversations('vars', id, '--json')).stdout) }
  expect(data[0]).toMatchObject({ name: 'city', value: '' })
})

it('kchat reports an invalid value, an unknown variable and an unknown conversation', async () => {
  expect(await conversations('set-var', id, 'visits', 'many')).toMatchObject({
    code: 2,
    stdout: '',
    stderr: expect.stringContaining('value of visits must be of type number'),
  })
  const unknown = await conversations('set-var', id, 'cit', 'x')
  expect(unknown).toMatchObject({ code: 5, stdout: '' })
  expect(unknown.stderr).toContain('the conversation has no variable "cit"')
  expect(await conversations('set-var', '01890000-0000-7000-8000-000000000000', 'city', 'x')).toMatchObject({ code: 5 })
  expect(await conversations('set-var', id, 'city')).toMatchObject({ code: 2 })
})
