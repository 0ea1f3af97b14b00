import { expect, it } from 'vitest'
import { describeOperation } from '../../src/cli/api/describe.js'
import { parseApiFields } from '../../src/cli/api/fields.js'
import { buildOperationRequest, findOperation, listOperations } from '../../src/cli/api/operations.js'
import { buildApiRequest } from '../../src/cli/api/request.js'

const ID = '0192f0c1-2b6c-7e1a-9d7e-1c0a5f6b7d8e'

it('typed fields of ks api keep their type, raw fields stay text, and brackets make objects and lists', () => {
  expect(parseApiFields(['a=1', 'b=true', 'c=null', 'd=x'], ['e=1'])).toEqual({
    a: 1,
    b: true,
    c: null,
    d: 'x',
    e: '1',
  })
  expect(parseApiFields(['a[b]=1', 'a[c][]=2', 'a[c][]=3', 'd[]=x'], [])).toEqual({ a: { b: 1, c: [2, 3] }, d: ['x'] })
  for (const wrong of [['a'], ['=1'], ['a[]=1', 'a[b]=2']]) expect(() => parseApiFields(wrong, [])).toThrow()
})

it('an operation of ks api gets its fields in the path, the query and the body', () => {
  const list = findOperation('listStagedCommits')
  expect(buildOperationRequest(list, { id: ID, status: 'published', limit: 5 }, undefined)).toEqual({
    method: 'GET',
    path: `/knowledge-spaces/${ID}/staged-commits?status=published&limit=5`,
  })
  const update = findOperation('updateKnowledgeSpace')
  expect(buildOperationRequest(update, { id: 'a/b', name: 'Notes' }, undefined)).toMatchObject({
    method: 'PATCH',
    path: '/knowledge-spaces/a%2Fb',
    body: '{"name":"Notes"}',
  })
  expect(buildOperationRequest(update, { id: ID }, '{"name":"x"}')).toMatchObject({ body: '{"name":"x"}' })
})

it('ks api rejects unknown and missing fields of an operation with the nearest name as a hint', () => {
  expect(() => buildOperationRequest(findOperation('getJob'), {}, undefined)).toThrow('needs the field id')
  expect(() => buildOperationRequest(findOperation('getJob'), { id: ID, i: 1 }, undefined)).toThrow('has no field "i"')
  expect(() => buildOperationRequest(findOperation('getJob'), { id: ID }, '{}')).toThrow('takes no JSON body')
  expect(() => buildOperationRequest(findOperation('uploadDocument'), { id: ID }, undefined)).toThrow('takes files')
  expect(() => findOperation('getJobb')).toThrow('unknown operation "getJobb"')
})

it('ks api lists operations by a word and describes one with its fields', () => {
  expect(listOperations('retention').map(({ id }) => id)).toContain('updateSpaceRetentionPolicy')
  expect(listOperations('no such word')).toEqual([])
  const lines = [...describeOperation(findOperation('updateSpaceRetentionPolicy'), '1.0.0')]
  expect(lines[1]).toContain('PATCH /knowledge-spaces/{id}/retention-policy')
  expect(lines.find((line) => line.includes('answerTraceRetentionDays'))).toMatch(/body .*integer/)
})

it('a path of ks api without a method is read, and with fields is written', () => {
  const call = (fields: Record<string, unknown>) =>
    buildApiRequest({ method: undefined, path: '/knowledge-spaces', fields, input: undefined })
  expect(call({})).toEqual({ method: 'GET', path: '/knowledge-spaces' })
  expect(call({ name: 'x' })).toMatchObject({ method: 'POST', body: '{"name":"x"}' })
})
