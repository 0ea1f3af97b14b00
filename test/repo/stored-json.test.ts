import { expect, test } from 'vitest'
import { filesBelow, readFile } from './tree.js'

/** Files that parse JSON of other origins: models, files, requests. */
const ELSEWHERE = [
  'src/engine/answers/chat/agent/tools.ts',
  'src/engine/answers/chat/text-model.ts',
  'src/engine/readers/',
  'src/engine/base/cursor.ts',
  'src/engine/base/json-body.ts',
  'src/engine/upkeep/bundles/',
  'src/engine/knowledge/graph/model-reader.ts',
  'src/engine/upkeep/integrity/rows.ts',
  'src/engine/models/',
  'src/engine/retrieval/query/mode.ts',
  'src/engine/answers/research/plan-questions.ts',
  'src/engine/search/',
  'src/engine/ingest/sources/credentials.ts',
  'src/engine/store/',
]

test('in the engine only `fromCell` parses JSON of a database cell, so that damage is reported with its row', () => {
  const own = filesBelow('src/engine').filter((file) => !ELSEWHERE.some((place) => file.startsWith(place)))
  expect(own.length).toBeGreaterThan(200)
  expect(own.filter((file) => readFile(file).includes('JSON.parse('))).toEqual([])
})
