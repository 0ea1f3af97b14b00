import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { DocumentFilter } from '../../src/contract/gateway/document-filter.js'
import { describeIssue } from '../../src/contract/issues.js'
import { ModelReference, opaqueCursor, queryInt, slug } from '../../src/contract/primitives.js'

const Body = z.strictObject({
  name: z.string().min(1).max(160),
  slug: slug.optional(),
  limit: queryInt({ min: 1, max: 100 }).optional(),
  from: queryInt({ min: 0 }).optional(),
  mode: z.enum(['fast', 'deep']).optional(),
  only: z.literal('x').optional(),
  ids: z.array(z.uuid()).min(1).max(3).optional(),
  at: z.iso.datetime().optional(),
  count: z.int().min(1).optional(),
  share: z.number().min(0).max(1).optional(),
  flag: z.boolean().optional(),
  model: ModelReference.optional(),
  cursor: opaqueCursor.optional(),
  metadata: z.record(z.string(), z.unknown()).optional(),
})

function refuse(input: unknown, schema: z.ZodType = Body): string {
  const result = schema.safeParse(input)
  if (result.success) throw new Error(`${JSON.stringify(input)} was accepted`)
  return describeIssue(result.error, schema, input, 'the body')
}

describe('the message of an invalid request body', () => {
  test.each<[unknown, string]>([
    [{ name: 'x', limit: '101' }, 'limit must be between 1 and 100, received 101'],
    [{ name: 'x', limit: '0' }, 'limit must be between 1 and 100, received 0'],
    [{ name: 'x', limit: '1e1' }, 'limit must be an integer, received "1e1"'],
    [{ name: 'x', from: '-1' }, 'from must be at least 0, received -1'],
    [{ name: '' }, 'name must be 1 to 160 characters long, received 0 characters'],
    [{ name: 'x'.repeat(161) }, 'name must be 1 to 160 characters long, received 161 characters'],
    [{}, 'name is required'],
    [{ name: 5 }, 'name must be a string, received 5'],
    [{ name: null }, 'name must be a string, received null'],
    [{ name: 'x', extra: 1 }, 'unknown key "extra"'],
    [
      { name: 'x', slug: 'A B' },
      'slug must be lowercase letters and digits in groups joined by single hyphens, received "A B"',
    ],
    [{ name: 'x', mode: 'quick' }, 'mode must be one of fast, deep, received "quick"'],
    [{ name: 'x', only: 'y' }, 'only must be "x", received "y"'],
    [{ name: 'x', ids: [] }, 'ids must hold 1 to 3 items, received 0 items'],
    [{ name: 'x', ids: ['no'] }, 'ids[0] must be a uuid, received "no"'],
    [{ name: 'x', at: 'yesterday' }, 'at must be an ISO-8601 datetime with a time zone, received "yesterday"'],
    [{ name: 'x', count: 1.5 }, 'count must be an integer, received 1.5'],
    [{ name: 'x', count: 0 }, 'count must be at least 1, received 0'],
    [{ name: 'x', share: 2 }, 'share must be between 0 and 1, received 2'],
    [{ name: 'x', flag: 'yes' }, 'flag must be a boolean, received "yes"'],
    [{ name: 'x', model: { pluginId: 'a', provider: 'b' } }, 'model.model is required'],
    [{ name: 'x', model: { pluginId: 'a', provider: 'b', model: 'c', key: 1 } }, 'unknown key "key" in model'],
    [{ name: 'x', metadata: [] }, 'metadata must be a JSON object, received an array of 0'],
    [[], 'the body must be a JSON object, received an array of 0'],
    [null, 'the body must be a JSON object, received null'],
  ])('states key, rule and value of %j', (input, sentence) => {
    expect(refuse(input)).toBe(sentence)
  })

  test('equals the text of the rule if the rule concerns several keys', () => {
    const schema = Body.refine(() => false, 'exactly one of a or b must be given')
    expect(refuse({ name: 'x' }, schema)).toBe('exactly one of a or b must be given')
  })
})

test('the message of an invalid request body is one line of limited length, whatever the body', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: 'binary', maxLength: 500 }),
      fc.string({ unit: 'binary', maxLength: 500 }),
      (key, value) => {
        fc.pre(key !== '' && !Object.hasOwn(Body.shape, key))
        for (const input of [
          { name: 'x', [key]: 1 },
          { name: 'x', mode: value },
          { name: 'x', ids: [value] },
        ]) {
          if (Body.safeParse(input).success) continue
          const sentence = refuse(input)
          expect(sentence.length).toBeLessThan(300)
          // No line breaks or control characters of terminals.
          expect(sentence).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/)
        }
      },
    ),
  )
})

test('an invalid date in a filter is refused with an example', () => {
  expect(refuse({ dateFrom: '31.1.2025' }, DocumentFilter)).toBe(
    'dateFrom must be a date like `2025-01-31` or an instant like `2025-01-31T08:00:00Z`, received "31.1.2025"',
  )
  expect(refuse({ dateTo: 7 }, DocumentFilter)).toContain('dateTo must be a date like `2025-01-31` or an instant')
})

test('an invalid language in a filter is refused with an example', () => {
  expect(refuse({ language: 'German!' }, DocumentFilter)).toBe(
    'language must be a language code like `en`, `de` or `en-GB`, received "German!"',
  )
})
