import fc from 'fast-check'
import { expect, test } from 'vitest'
import { CHAT_LIMITS } from '../../../../src/contract/chat/limits.js'
import {
  EMPTY_VALUES,
  parseVariableDefault,
  parseVariableValue,
  VALUE_TYPES,
  type ValueType,
} from '../../../../src/contract/chat/values.js'

const small = { maxLength: 10 }
const number = fc.double({ noNaN: true, noDefaultInfinity: true })
const object = fc.dictionary(fc.string(small), fc.jsonValue({ maxDepth: 3 }), { maxKeys: 5 })
const VALUES: Record<ValueType, fc.Arbitrary<unknown>> = {
  string: fc.string(),
  number,
  boolean: fc.boolean(),
  object,
  'array[string]': fc.array(fc.string(small), small),
  'array[number]': fc.array(number, small),
  'array[object]': fc.array(object, small),
}
const types = fc.constantFrom(...VALUE_TYPES)
const typed = types.chain((type) => VALUES[type].map((value) => ({ type, value })))

/** The types of a value, computed independently of the code under test. */
function typesOf(value: unknown): string[] {
  if (Array.isArray(value))
    return ['string', 'number', 'object']
      .filter((element) => value.every((entry) => typesOf(entry).includes(element)))
      .map((element) => `array[${element}]`)
  return value === null ? [] : [typeof value]
}

test('a chat variable accepts a value and the JSON text of the value, and both give the same text', () => {
  fc.assert(
    fc.property(typed, ({ type, value }) => {
      const read = parseVariableValue(type, value)
      if (!('text' in read)) throw new Error(read.rule)
      if (type === 'string') expect(read.text).toBe(value)
      // JSON does not distinguish the two zeros.
      else expect(JSON.stringify(JSON.parse(read.text))).toBe(JSON.stringify(value))
      expect(parseVariableValue(type, read.text)).toEqual(read)
      expect(parseVariableDefault(type, value)).toEqual(read)
    }),
  )
})

test('a chat variable rejects a value of another type, and its default is never parsed from text', () => {
  fc.assert(
    fc.property(types, fc.jsonValue(), (type, value) => {
      const fits = typesOf(value).includes(type)
      expect('text' in parseVariableDefault(type, value)).toBe(fits)
      if (typeof value !== 'string') expect('text' in parseVariableValue(type, value)).toBe(fits)
      else if (type !== 'string') {
        const parsed = (() => {
          try {
            return JSON.parse(value)
          } catch {
            return null
          }
        })()
        expect('text' in parseVariableValue(type, value)).toBe(typesOf(parsed).includes(type))
      }
    }),
  )
})

test('any value of a chat variable is either read within the length limit or rejected with a rule', () => {
  fc.assert(
    fc.property(types, fc.anything(), (type, value) => {
      const read = parseVariableValue(type, value)
      if ('text' in read) expect(read.text.length).toBeLessThanOrEqual(CHAT_LIMITS.variableValue)
      else expect(read.rule).toMatch(/^must /)
    }),
  )
})

test('the empty value of every type of chat variable is valid for that type', () => {
  for (const type of VALUE_TYPES)
    expect(parseVariableValue(type, EMPTY_VALUES[type])).toEqual({ text: EMPTY_VALUES[type] })
})

test.each<[ValueType, unknown, string]>([
  ['string', 'x'.repeat(CHAT_LIMITS.variableValue + 1), 'at most 10000 characters'],
  ['array[string]', ['x'.repeat(CHAT_LIMITS.variableValue)], 'at most 10000 characters'],
  ['object', `{"a":${'['.repeat(4900)}${']'.repeat(4900)}}`, 'nested deeper than 64 levels'],
  ['number', '1e999', 'number out of range'],
  ['object', '{"a":1e999}', 'number out of range'],
  ['number', '0x10', 'of type number'],
  ['number', '', 'of type number'],
  ['boolean', 'yes', 'of type boolean'],
  ['array[number]', '[1,"2"]', 'of type array[number]'],
  ['array[object]', [null], 'of type array[object]'],
  ['object', 'null', 'of type object'],
  ['string', 5, 'of type string'],
])('a chat variable of type %s rejects %j: %s', (type, value, rule) => {
  expect(parseVariableValue(type, value)).toEqual({ rule: expect.stringContaining(rule) })
})

test('a lone surrogate in a chat variable becomes the replacement character', () => {
  expect(parseVariableValue('string', 'a\ud800b')).toEqual({ text: 'a\ufffdb' })
})
