import { KsError } from '../../../contract/errors.js'
import type { RepairBody, RepairReport } from '../../../contract/gateway/integrity.js'
import { newId } from '../../../lib/ids.js'
import { omitUndefined } from '../../../lib/omit-undefined.js'
import { fillVectors } from '../../ingest/index.js'
import { isTrained, queueCompilations } from '../../library/index.js'
import type { Write } from '../../store/program.js'
import { insertMissingObjectRow } from '../../store/rows/objects.js'
import { findLiveDocument } from '../rows/integrity/repairs.js'
import { removeVector } from '../rows/retention/versions.js'
import type { IntegrityFinding, IntegrityScan, RepairRemedy } from './findings.js'
import { collectCommit, collectStrayNodes, removeObject } from './gc-execute.js'
import { getVectorSpaceInUse } from './model-in-use.js'
import { checkPage } from './pages.js'
import { repairVersion } from './repair-version.js'

type RepairItem = RepairReport['items'][number]

const ACTION_TEXTS: Record<Exclude<RepairRemedy['by'], 'person'>, string> = {
  nobody: 'none: no repair is possible',
  'removing-object': 'remove the object',
  'noting-object': 'write the row of the object',
  'removing-staged': 'remove the temporary file',
  'collecting-commit': 'remove the ended upload with its files',
  'reading-again': 'read the document again, or rebuild it from its passages',
  'compiling-again': 'queue the document to be read again',
  'removing-nodes': 'remove the passage',
  'removing-vector': 'compute the vector again from the passage',
  'filling-vectors': 'compute the missing vectors',
  'rebuilding-index': 'rebuild the indexes of the space from rows',
}

/**
 * Checks one page and repairs what needs neither a person nor a model. Issues are detected again: those that the client
 * reports do not count. Each repair is one durable step, so that an interrupted one is repeated.
 */
export async function repairPage(scan: IntegrityScan, body: RepairBody): Promise<RepairReport> {
  const { scanned, findings, cursor } = await checkPage(scan, body)
  const selected = findings.filter(({ issue }) => body.types === undefined || body.types.includes(issue.type))
  const results = new Map<string, Promise<RepairOutcome>>()
  const items: RepairItem[] = []
  for (const found of selected) items.push(await repairFinding(scan, found, body.dryRun, results))
  const count = (status: RepairItem['status']) => items.filter((item) => item.status === status).length
  return {
    knowledgeSpaceId: scan.space.id,
    tenantId: scan.space.tenant,
    scannedAt: new Date(scan.now).toISOString(),
    dryRun: body.dryRun,
    ...omitUndefined({ cursor }),
    summary: {
      scanned,
      wouldRepair: count('would-repair'),
      repaired: count('repaired'),
      failed: count('failed'),
      manual: count('manual'),
      notRepairable: count('not-repairable'),
    },
    items,
  }
}

interface RepairOutcome {
  repaired: boolean
  action: string
}

async function repairFinding(
  scan: IntegrityScan,
  { issue, remedy }: IntegrityFinding,
  dryRun: boolean,
  results: Map<string, Promise<RepairOutcome>>,
): Promise<RepairItem> {
  if (remedy.by === 'person') return { issue, status: 'manual', action: remedy.advice }
  if (remedy.by === 'nobody') return { issue, status: 'not-repairable', action: ACTION_TEXTS.nobody }
  if (dryRun) return { issue, status: 'would-repair', action: ACTION_TEXTS[remedy.by] }
  // many issues may share one remedy, such as rebuilding an index
  const key = JSON.stringify(remedy)
  const running = results.get(key) ?? tryRemedy(scan, remedy)
  results.set(key, running)
  const { repaired, action } = await running
  return { issue, status: repaired ? 'repaired' : 'failed', action }
}

async function tryRemedy(
  scan: IntegrityScan,
  remedy: Exclude<RepairRemedy, { by: 'person' | 'nobody' }>,
): Promise<RepairOutcome> {
  const action = ACTION_TEXTS[remedy.by]
  try {
    const problem = await applyRemedy(scan, remedy)
    return problem === undefined ? { repaired: true, action } : { repaired: false, action: problem }
  } catch (error) {
    scan.context.log.warn({ space: scan.space.id, remedy, error: String(error) }, 'a repair failed')
    const why = error instanceof KsError ? error.message : 'it failed unexpectedly; see the log of the daemon'
    return { repaired: false, action: `${action}: ${why}` }
  }
}

/** @returns why nothing was done; nothing when it was repaired */
async function applyRemedy(
  scan: IntegrityScan,
  remedy: Exclude<RepairRemedy, { by: 'person' | 'nobody' }>,
): Promise<string | undefined> {
  const { context, space } = scan
  switch (remedy.by) {
    case 'removing-object':
      return inUseUnless(await removeObject(scan, remedy.objectKey))
    case 'noting-object': {
      const object = { tenant: space.tenant, key: remedy.objectKey }
      await context.db.write(() => insertMissingObjectRow(object, newId()))
      return undefined
    }
    case 'removing-staged':
      return inUseUnless(await removeObject(scan, `tmp/${remedy.id}`))
    case 'collecting-commit':
      return inUseUnless(await collectCommit(scan, remedy.commitId))
    case 'reading-again':
      return repairVersion(scan, remedy.versionKey)
    case 'compiling-again':
      return compileAgain(scan, remedy.docKey)
    case 'removing-nodes':
      return inUseUnless((await collectStrayNodes(scan, remedy.first, remedy.last)) > 0)
    case 'removing-vector':
      return renewVector(scan, remedy)
    case 'filling-vectors':
      return fillMissingVectors(scan)
    case 'rebuilding-index':
      await context.indexes.rebuild(space.id)
      return undefined
  }
}

function inUseUnless(isRemoved: boolean): string | undefined {
  return isRemoved ? undefined : 'it is in use again: kept'
}

async function compileAgain({ context, space }: IntegrityScan, docKey: number): Promise<string | undefined> {
  const { db } = context
  if (!isTrained(space)) return 'reading it again would use the embedding model: reindex the document yourself'
  const again = function* (): Write<boolean> {
    const row = yield* findLiveDocument(docKey)
    return row !== undefined && (yield* queueCompilations(space, [row])).length > 0
  }
  const queued = await db.write(again, { lock: space.key })
  context.wake()
  return inUseUnless(queued)
}

async function fillMissingVectors(scan: IntegrityScan): Promise<string | undefined> {
  const { context, space } = scan
  const active = await context.db.read(getVectorSpaceInUse(scan))
  if (active === undefined || !isTrained(space)) return 'this would use the embedding model of a provider'
  await fillVectors(context, space, active, { signal: new AbortController().signal })
  return undefined
}

/** Removes a damaged vector, and computes it again where the passage is live and the model is built in. */
async function renewVector(
  scan: IntegrityScan,
  { vectorSpaceKey, nodeKey }: { vectorSpaceKey: number; nodeKey: number },
): Promise<string | undefined> {
  const { context, space } = scan
  const { db } = context
  const active = await db.read(getVectorSpaceInUse(scan))
  if (active?.key !== vectorSpaceKey) return 'another embedding model is in use now'
  await db.write(() => removeVector(vectorSpaceKey, nodeKey))
  if (isTrained(space)) await fillVectors(context, space, active, { signal: new AbortController().signal })
  return undefined
}
