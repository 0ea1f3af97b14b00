import { describe, expect, it } from 'vitest'
import { filesBelow, readFile } from './tree.js'

/** Files of the engine that read the rows of all tenants: how often, and why. */
const FOR_ALL: Readonly<Record<string, readonly [count: number, reason: string]>> = {
  'src/engine/engine.ts': [3, 'what starts with the engine, and what is told of the whole deployment'],
  'src/engine/status/health.ts': [1, 'whether anything was ever indexed'],
  'src/engine/base/poll-loop.ts': [
    1,
    'runners look for what is due of all tenants; what they find is worked at for its own',
  ],
  'src/engine/storage/postgres/postgres.ts': [1, 'what recovers rows after a start'],
  'src/engine/spaces/in-space.ts': [1, 'whose a space is, by its row key or id'],
  'src/engine/spaces/stored-budget.ts': [1, 'use that several tenants had since the last write is stored by one'],
  'src/engine/derived/page-index/indexer.ts': [1, 'work behind publications makes room for those of anybody'],
  'src/engine/conflicts/finder.ts': [1, 'the same'],
  'src/engine/sources/delete.ts': [1, 'deletions that were begun are finished, whoever begins the next'],
  'src/engine/sources/operations.ts': [1, 'whether the daemon has to be there for a schedule'],
  'src/engine/local-files/operations.ts': [1, 'the daemon watches the folders of all'],
  'src/engine/status/models-in-use.ts': [1, 'what the operator is told of providers'],
  'src/engine/bundles/import.ts': [
    1,
    'the indexes know a space by its id alone: that of an imported one must be of nobody',
  ],
  'src/engine/gateways/gateway.ts': [1, 'a heartbeat takes up what the dead have left, whosever it is'],
  'src/engine/chat/gateways/turn-watch.ts': [1, 'one look for the answers of all'],
  'src/engine/chat/operations.ts': [2, 'a key, and a signed address, are of nobody before they are found'],
}

const SCOPES = 'src/engine/base/tenant-scope.ts'

describe('work that sees the rows of all tenants', () => {
  const found = new Map(
    filesBelow('src')
      .filter((file) => file !== SCOPES)
      .map((file) => [file, readFile(file).match(/\basDeployment\b(?!,| \}| as\b)/g)?.length ?? 0] as const)
      .filter(([, count]) => count > 0),
  )

  it('occurs in the listed places only, each with a reason', () => {
    expect(Object.fromEntries(found)).toEqual(
      Object.fromEntries(Object.entries(FOR_ALL).map(([file, [count]]) => [file, count])),
    )
  })

  it('cannot be started in another way', () => {
    const others = filesBelow('src').filter((file) => file !== SCOPES && readFile(file).includes("'deployment'"))
    // The tables themselves, and an account of models.
    expect(others).toEqual(['src/engine/models/registry.ts', 'src/engine/storage/postgres/session.ts'])
  })
})
