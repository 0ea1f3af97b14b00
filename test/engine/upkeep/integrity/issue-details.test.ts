import { afterAll, beforeAll, expect, it } from 'vitest'
import type { ConsistencyIssue } from '../../../../src/contract/gateway/integrity.js'
import { rowsOf } from '../../../helpers/databases.js'
import { ADA, startEngine, type TestEngine } from '../../../helpers/engine.js'
import { allIssues, repairAll, spaceWith } from './space.js'

let running: TestEngine
beforeAll(async () => {
  running = await startEngine()
})
afterAll(() => running.end())

interface Damage {
  /** SQL for the only document of a space; `:space` is the key of the space. */
  by: string
  code: string
  type: ConsistencyIssue['type']
  severity: ConsistencyIssue['severity']
  target: ConsistencyIssue['target']['type']
  repairability: ConsistencyIssue['repairability']
  says: RegExp
  /** The issue names the document, so that permissions can be applied. */
  document: boolean
}

const ONE_NODE = 'WHERE key = (SELECT min(key) FROM nodes WHERE space_key = :space)'
const DAMAGES: Record<string, Damage> = {
  'a changed text of a passage': {
    by: `UPDATE nodes SET text = text || '!' ${ONE_NODE}`,
    ...{ code: 'node-hash', type: 'segment-hash-mismatch', severity: 'error', target: 'knowledge-node' },
    ...{ repairability: 'auto-repairable', says: /passage/, document: true },
  },
  'a missing passage': {
    by: `DELETE FROM nodes ${ONE_NODE}`,
    ...{ code: 'node-missing', type: 'missing-node-target', severity: 'error', target: 'artifact-object' },
    ...{
      repairability: 'auto-repairable',
      says: /^version 1 of "notes\/.*" has \d passages?, \d were stored$/,
      document: true,
    },
  },
  'a section missing in the outline': {
    by: `UPDATE nodes SET outline_node = '9.9' ${ONE_NODE}`,
    ...{ code: 'section-missing', type: 'broken-path-target', severity: 'warning', target: 'knowledge-node' },
    ...{ repairability: 'auto-repairable', says: /refers to section "9\.9", which the outline lacks$/, document: true },
  },
  'an element missing in the artifact': {
    by: `UPDATE nodes SET elements = '["e-lost"]' ${ONE_NODE}`,
    ...{ code: 'element-missing', type: 'broken-path-target', severity: 'warning', target: 'knowledge-node' },
    ...{
      repairability: 'auto-repairable',
      says: /refers to element "e-lost", which the artifact lacks$/,
      document: true,
    },
  },
  'an invalid list of elements': {
    by: `UPDATE nodes SET elements = '[1]' ${ONE_NODE}`,
    ...{ code: 'elements-unreadable', type: 'broken-path-target', severity: 'warning', target: 'knowledge-node' },
    ...{ repairability: 'auto-repairable', says: /has a list of elements that cannot be read$/, document: true },
  },
  'an artifact with other bytes': {
    by: "UPDATE versions SET artifact = x'00' WHERE space_key = :space",
    ...{ code: 'artifact-unreadable', type: 'segment-hash-mismatch', severity: 'error', target: 'artifact-object' },
    ...{ repairability: 'auto-repairable', says: /./, document: true },
  },
  'an outline with other bytes': {
    by: "UPDATE versions SET outline = x'00' WHERE space_key = :space",
    ...{ code: 'outline-unreadable', type: 'segment-hash-mismatch', severity: 'error', target: 'artifact-object' },
    ...{ repairability: 'auto-repairable', says: /./, document: true },
  },
  'a list of items with other bytes': {
    by: "UPDATE versions SET items = x'00' WHERE space_key = :space",
    ...{ code: 'items-unreadable', type: 'segment-hash-mismatch', severity: 'error', target: 'artifact-object' },
    ...{ repairability: 'auto-repairable', says: /./, document: true },
  },
  'an invalid time': {
    by: 'UPDATE versions SET created_at = -1 WHERE space_key = :space',
    ...{ code: 'row-damaged', type: 'checksum-mismatch', severity: 'critical', target: 'artifact-object' },
    ...{
      repairability: 'manual',
      says: /^row "\d+" of table versions is damaged: column created_at is not a time$/,
      document: true,
    },
  },
  'an invalid offset of a passage': {
    by: `UPDATE nodes SET kind = 'poem', section = '{}' ${ONE_NODE}`,
    ...{ code: 'row-damaged', type: 'checksum-mismatch', severity: 'critical', target: 'knowledge-node' },
    ...{
      repairability: 'auto-repairable',
      says: /column section is not a JSON array, column kind has no known value$/,
      document: true,
    },
  },
}

it.each(Object.entries(DAMAGES))('%s is reported with all fields, and repaired if possible', async (name, damage) => {
  const { engine, dataDir } = running
  const slug = name.replaceAll(' ', '-')
  const { id } = await spaceWith(engine, slug, 1)
  const [document] = (await engine.documents.list(ADA, id, { limit: 1 })).items
  const space = rowsOf(dataDir).value('SELECT key FROM spaces WHERE id = ?', id)
  expect(await rowsOf(dataDir).run(damage.by.replaceAll(':space', String(space)))).toBeGreaterThan(0)
  const found = await allIssues(engine, id)
  const { by: _, says, document: isNamed, target, ...told } = damage
  const issue = found.find(({ code }) => code === damage.code)
  expect(issue).toMatchObject({ ...told, message: expect.stringMatching(says), target: { type: target } })
  expect(issue?.target.documentAssetId).toBe(isNamed ? document?.id : undefined)
  const counted = await engine.integrity.fsck(ADA, id, { check: checkOf(damage), deep: false })
  const ofSeverity = counted.issues.filter(({ severity }) => severity === damage.severity).length
  expect(counted.summary[damage.severity]).toBe(ofSeverity)
  expect(counted.summary.repairable).toBe(
    counted.issues.filter(({ repairability }) => repairability === 'auto-repairable').length,
  )
  const dry = await repairAll(engine, id, true)
  expect(new Set(dry.map(({ status }) => status))).toEqual(
    new Set([damage.repairability === 'manual' ? 'manual' : 'would-repair']),
  )
  expect((await allIssues(engine, id)).map(({ code }) => code)).toEqual(found.map(({ code }) => code))
  await repairAll(engine, id)
  const left = (await allIssues(engine, id)).map(({ code }) => code)
  expect(left).toEqual(damage.repairability === 'manual' ? [damage.code] : [])
})

function checkOf({ code }: Damage): 'references' | 'artifact-segments' {
  return /^(node-missing|section|element)/.test(code) ? 'references' : 'artifact-segments'
}
