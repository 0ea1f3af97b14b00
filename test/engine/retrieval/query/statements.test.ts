import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { ADA, ask, ingest, startEngine, type TestEngine } from '../../../helpers/engine.js'
import { planOf, statementsDuring } from '../../../helpers/plans.js'

const FILES = {
  'lighthouse.md': '# Lighthouse\n\nThe lighthouse of Westerheversand was built in 1908 and is forty metres tall.\n',
  'retention.md': '# Retention\n\nAnswer traces are kept for 90 days unless the policy says otherwise.\n',
}
const QUESTION = 'When was the lighthouse built?'

let test: TestEngine
let spaceId: string

beforeEach(async () => {
  test = await startEngine({ quotas: { maxActiveSessionCount: 1 } })
  spaceId = (await test.engine.spaces.create(ADA, { name: 'N', slug: 'n' })).id
  await ingest(test.engine, ADA, spaceId, FILES)
  await ask(test.engine, ADA, spaceId, QUESTION)
})
afterEach(() => test.end())

/** SQL statements that a query runs. */
const statementsOf = (query: string) => statementsDuring(() => ask(test.engine, ADA, spaceId, query))
const file = () => join(test.dataDir, 'db', 'main.sqlite')

describe('the SQL statements of a query', () => {
  it('load the texts of its passages once', async () => {
    const loads = (await statementsOf(QUESTION)).filter((statement) => statement.includes('nodes.row_hash'))
    expect(loads).toHaveLength(1)
  })

  it('find the oldest idle sessions by an index, without sorting all sessions of the space', async () => {
    const [giveWay] = (await statementsOf(QUESTION)).filter((statement) =>
      /SELECT id FROM sessions INDEXED/.test(statement),
    )
    expect(giveWay).toBeDefined()
    const plan = planOf(file(), giveWay ?? '')
    expect(plan.join('\n')).toContain('INDEX sessions_space')
    expect(plan.join('\n')).not.toContain('TEMP B-TREE')
  })
})
