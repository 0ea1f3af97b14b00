import { describe, expect, it } from 'vitest'
import { filesBelow, readFile } from './tree.js'

/** Files of the engine that read the rows of all tenants: how often, and why. */
const FOR_ALL: Readonly<Record<string, readonly [count: number, reason: string]>> = {
  'src/engine/engine.ts': [3, 'work at the start, and statistics of the complete deployment'],
  'src/engine/upkeep/status/health.ts': [1, 'whether the deployment has indexed rows'],
  'src/engine/base/background-service.ts': [
    1,
    'background services find due work of all tenants, and run each in the scope of its tenant',
  ],
  'src/engine/store/postgres/postgres.ts': [1, 'recovery of rows after a start'],
  'src/engine/library/spaces/in-space.ts': [1, 'the tenant of a space, by its row key or id'],
  'src/engine/library/spaces/stored-budget.ts': [1, 'one write stores the usage of several tenants'],
  'src/engine/knowledge/derived/page-index/indexer.ts': [1, 'background work yields to publications of all tenants'],
  'src/engine/knowledge/conflicts/finder.ts': [1, 'background work yields to publications of all tenants'],
  'src/engine/ingest/sources/delete.ts': [1, 'a deletion also finishes interrupted ones of other tenants'],
  'src/engine/ingest/sources/operations.ts': [1, 'whether a schedule needs the daemon'],
  'src/engine/library/local-files/operations.ts': [1, 'the daemon watches the folders of all tenants'],
  'src/engine/upkeep/status/models-in-use.ts': [1, 'the report about providers for the operator'],
  'src/engine/upkeep/bundles/import.ts': [
    1,
    'the indexes identify a space by its id only: an imported id must be unused',
  ],
  'src/engine/answers/chat/operations.ts': [2, 'the tenant of a key or signed URL is unknown before the lookup'],
}

const SCOPES = 'src/engine/base/tenant-scope.ts'

describe('work that sees the rows of all tenants', () => {
  const found = new Map(
    filesBelow('src')
      .filter((file) => file !== SCOPES)
      .map((file) => [file, readFile(file).match(/\basDeployment\b(?!,| \}| as\b)/g)?.length ?? 0] as const)
      .filter(([, count]) => count > 0),
  )

  it('occurs only in the files that are listed with a reason', () => {
    expect(Object.fromEntries(found)).toEqual(
      Object.fromEntries(Object.entries(FOR_ALL).map(([file, [count]]) => [file, count])),
    )
  })

  it('cannot be started except by asDeployment', () => {
    const others = filesBelow('src').filter((file) => file !== SCOPES && readFile(file).includes("'deployment'"))
    // The tables themselves, and an account of models.
    expect(others).toEqual(['src/engine/models/registry.ts', 'src/engine/store/postgres/session.ts'])
  })
})
