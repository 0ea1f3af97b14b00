import { expect, test } from 'vitest'
import { filesBelow, readFile } from './tree.js'

/** Files that parse JSON of other origins: models, files, requests. */
const ELSEWHERE = [
  'src/engine/chat/agent/tools.ts',
  'src/engine/chat/text-model.ts',
  'src/engine/parse/',
  'src/engine/base/cursor.ts',
  'src/engine/base/json-body.ts',
  'src/engine/bundles/',
  'src/engine/graph/model-reader.ts',
  'src/engine/integrity/rows.ts',
  'src/engine/models/',
  'src/engine/query/mode.ts',
  'src/engine/research/plan-questions.ts',
  'src/engine/search/',
  'src/engine/sources/credentials.ts',
  'src/engine/storage/',
]

test('in the engine only `fromCell` parses JSON of a database cell, so that damage is reported with its row', () => {
  const own = filesBelow('src/engine').filter((file) => !ELSEWHERE.some((place) => file.startsWith(place)))
  expect(own.length).toBeGreaterThan(200)
  expect(own.filter((file) => readFile(file).includes('JSON.parse('))).toEqual([])
})
