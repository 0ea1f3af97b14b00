import { expect, test } from 'vitest'
import { ToolCallCollector } from '../../../src/engine/models/openai-compatible/tool-calls.js'

type Fragment = { index?: number; id?: string; function: { name?: string; arguments?: unknown } }

function collect(...messages: Fragment[][]) {
  const calls = new ToolCallCollector()
  for (const tool_calls of messages) calls.addFragment({ tool_calls })
  return calls.list().map(({ name, arguments: text }) => [name, text])
}

const fragment = (fields: Omit<Fragment, 'function'>, name?: string, args?: unknown): Fragment => ({
  ...fields,
  function: { ...(name === undefined ? {} : { name }), ...(args === undefined ? {} : { arguments: args }) },
})

const TWO = [
  ['search', '{"q":1}'],
  ['search', '{"q":2}'],
]

test('tool calls are told apart by their ids where a server sends no index, or the same for all', () => {
  for (const index of [{}, { index: 0 }])
    expect(
      collect(
        [fragment({ ...index, id: 'a' }, 'search', '{"q":1}')],
        [fragment({ ...index, id: 'b' }, 'search', '{"q":2}')],
      ),
    ).toEqual(TWO)
})

test('tool calls without ids and index begin with their name', () => {
  expect(collect([fragment({}, 'search', '{"q":1}')], [fragment({}, 'search', '{"q":2}')])).toEqual(TWO)
  expect(collect([fragment({}, 'search', '{"q":1}'), fragment({}, 'search', '{"q":2}')])).toEqual(TWO)
  expect(collect([fragment({ index: 0 }, 'search', '{"q":1}')], [fragment({ index: 0 }, 'search', '{"q":2}')])).toEqual(
    TWO,
  )
})

test('fragments of interleaved tool calls are joined by index, or by id', () => {
  const key = [{ index: 0 }, { index: 1 }]
  const [a = {}, b = {}] = key
  expect(
    collect(
      [fragment({ ...a, id: 'a' }, 'search', ''), fragment({ ...b, id: 'b' }, 'sea')],
      [fragment(a, undefined, '{"q":'), fragment(b, 'rch')],
      [fragment(b, undefined, '{"q":2}'), fragment(a, undefined, '1}')],
    ),
  ).toEqual(TWO)
  expect(
    collect(
      [fragment({ id: 'a' }, 'search', '{"q":')],
      [fragment({ id: 'b' }, 'search', '{"q":2}')],
      [fragment({ id: 'a' }, 'search', '1}')],
    ),
  ).toEqual(TWO)
})

test('fragments without index and id continue the last tool call', () => {
  expect(
    collect([fragment({ id: 'a' }, 'search')], [fragment({}, undefined, '{"q":')], [fragment({}, undefined, '1}')]),
  ).toEqual(TWO.slice(0, 1))
})

test('arguments of a tool call may be an object, or absent', () => {
  expect(collect([fragment({ id: 'a' }, 'search', { q: 1 })])).toEqual(TWO.slice(0, 1))
  expect(collect([fragment({ id: 'a' }, 'list')], [fragment({ id: 'b' }, 'list', '')])).toEqual([
    ['list', '{}'],
    ['list', '{}'],
  ])
})
